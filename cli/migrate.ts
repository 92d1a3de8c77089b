import { Connection } from '@temporalio/client';
import type { Config } from '../runtime/config.ts';
import { migrate } from '../runtime/database.ts';
import { databaseFailure, throwing } from '../runtime/failures.ts';
import { QUEUE_ATTRIBUTE } from '../runtime/followers/publisher.ts';
import { needDatabaseUrl } from './database.ts';
import { isWithoutNamespace, temporalFailure, temporalOptions } from './temporal.ts';

const KEYWORD = 2;

/** Brings the schema of both stores to this version. Safe to repeat. */
export async function migrateCommand(config: Config): Promise<void> {
  const url = needDatabaseUrl(config);
  const applied = await migrate(url, (line) => console.log(line)).catch((error: unknown) => {
    throw databaseFailure(error, { url, setting: 'DATABASE_URL' });
  });
  console.log(applied.length === 0 ? 'the schema is up to date' : `${applied.length} steps applied`);
  if (!config.temporalAddress) return;
  const temporal = temporalOptions(config, config.temporalAddress);
  const { namespace } = temporal;
  const connection = await Connection.connect(temporal.connection).catch(
    throwing((error) => temporalFailure(error, temporal)),
  );
  try {
    const known = await connection.operatorService.listSearchAttributes({ namespace });
    if (known.customAttributes?.[QUEUE_ATTRIBUTE] === undefined)
      await connection.operatorService.addSearchAttributes({
        namespace,
        searchAttributes: { [QUEUE_ATTRIBUTE]: KEYWORD },
      });
    console.log(`Temporal knows the search attribute ${QUEUE_ATTRIBUTE}`);
  } catch (error) {
    if (isWithoutNamespace(error)) throw temporalFailure(error, temporal);
    console.log(
      `Temporal: ${QUEUE_ATTRIBUTE} could not be registered, workflows go without it: ${(error as Error).message}`,
    );
  } finally {
    await connection.close();
  }
}
