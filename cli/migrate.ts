import { Connection } from '@temporalio/client';
import { loadClientConnectConfig } from '@temporalio/envconfig';
import type { Config } from '../runtime/config.ts';
import { migrate } from '../runtime/database.ts';
import { QUEUE_ATTRIBUTE } from '../runtime/followers/publisher.ts';

const KEYWORD = 2;

/** Brings both stores to what this version needs. Safe to repeat. */
export async function migrateCommand(config: Config): Promise<void> {
  if (!config.databaseUrl) throw new Error('docket migrate needs DATABASE_URL');
  const applied = await migrate(config.databaseUrl, (line) => console.log(line));
  console.log(applied.length === 0 ? 'the schema is up to date' : `${applied.length} steps applied`);
  if (!config.temporalAddress) return;
  const { connectionOptions, namespace = config.temporalNamespace } = loadClientConnectConfig();
  const connection = await Connection.connect({ ...connectionOptions, address: config.temporalAddress });
  try {
    const known = await connection.operatorService.listSearchAttributes({ namespace });
    if (known.customAttributes?.[QUEUE_ATTRIBUTE] === undefined)
      await connection.operatorService.addSearchAttributes({
        namespace,
        searchAttributes: { [QUEUE_ATTRIBUTE]: KEYWORD },
      });
    console.log(`Temporal knows the search attribute ${QUEUE_ATTRIBUTE}`);
  } catch (error) {
    console.log(
      `Temporal: ${QUEUE_ATTRIBUTE} could not be registered, workflows go without it: ${(error as Error).message}`,
    );
  } finally {
    await connection.close();
  }
}
