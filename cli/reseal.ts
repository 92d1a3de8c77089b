import type { Config } from '../runtime/config.ts';
import { Secrets } from '../runtime/secrets.ts';
import { reseal } from '../services/upkeep/secrets.ts';
import { withStore } from './database.ts';

/** `docket reseal`: all secrets of callbacks with the first key. @throws Error where one is left that no key opens */
export async function resealCommand(config: Config): Promise<void> {
  const secrets = new Secrets(config.secretKeys);
  const name = secrets.sealing;
  if (name === undefined) throw new Error('DOCKET_SECRETS_KEY is not set; set it to the new key, then the old ones');
  await withStore(config, async (db) => {
    const { sealed, unopened } = await reseal(db, secrets, name);
    console.log(`${sealed} callbacks are sealed anew, with the key ${name}`);
    if (unopened > 0)
      throw new Error(
        `DOCKET_SECRETS_KEY opens ${unopened} secrets not: put the keys that docket doctor --deep names behind the others`,
      );
  });
}
