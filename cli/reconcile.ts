import type { Config } from '../runtime/config.ts';
import { Secrets } from '../runtime/secrets.ts';
import { restart, walk } from '../services/upkeep/reconciler.ts';
import { reseal } from '../services/upkeep/secrets.ts';
import { withStore } from './database.ts';

const SAY_MS = 5_000;

/**
 * Puts everything back that needs a workflow or a schedule in Temporal; running processes publish it. Safe to repeat, and
 * to break off: running processes go on with it.
 */
export async function reconcileCommand(config: Config): Promise<void> {
  await withStore(config, async (db) => {
    await restart(db);
    const counts = new Map<string, number>();
    let saidAt = Date.now();
    await walk(db, undefined, (stage, put) => {
      counts.set(stage, (counts.get(stage) ?? 0) + (put ?? 0));
      if (put !== null || Date.now() - saidAt < SAY_MS) return;
      saidAt = Date.now();
      console.log(
        `${stage}: ${counts.get(stage)} put back, waiting until running processes have published more of them`,
      );
    });
    for (const [stage, n] of counts) console.log(`${stage}: ${n} put back`);
    console.log(
      'Running processes publish them; docket_unpublished_rows and docket_resync_rows in /metrics show how far they are.',
    );
  });
}

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
