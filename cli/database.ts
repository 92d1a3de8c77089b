import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Db } from '../db/pool.ts';
import type { Config } from '../runtime/config.ts';
import { withDatabase } from '../runtime/database.ts';
import { type Database, databaseFailure, reasonOf } from '../runtime/failures.ts';

const FORM = 'postgres://user:password@host:5432/database';

/**
 * Gives `work` the database of DATABASE_URL, or else that of the data folder.
 * @throws Error that names the setting, where the database cannot be used
 */
export const withStore = (config: Config, work: (db: Db) => Promise<void>): Promise<void> =>
  withStoreUrl(config, (url) => withDatabase(url, work));

/** The same for work that opens its own connections. */
export async function withStoreUrl(config: Config, work: (url: string) => Promise<void>): Promise<void> {
  const database = databaseOf(config);
  try {
    await work(database.url);
  } catch (error) {
    throw databaseFailure(error, database);
  }
}

/** @throws Error where it is not set */
export function needDatabaseUrl({ databaseUrl }: Config): string {
  if (!databaseUrl) throw new Error(`DATABASE_URL is not set; set it to ${FORM}`);
  return databaseUrl;
}

/** A running system writes the URL of its database into a file of its data folder. */
function databaseOf({ databaseUrl, dataDir }: Config): Database {
  if (databaseUrl) return { url: databaseUrl, setting: 'DATABASE_URL' };
  const file = join(dataDir, 'database.url');
  if (!existsSync(file))
    throw new Error(
      `DATABASE_URL is not set, and no Docket has run on ${dataDir}; set DATABASE_URL to ${FORM}, ` +
        'or start Docket there (DOCKET_DATA) first',
    );
  try {
    const todo = `start Docket on ${dataDir}, or set DATABASE_URL`;
    return { url: readFileSync(file, 'utf8').trim(), setting: 'DOCKET_DATA', todo };
  } catch (error) {
    const todo = 'run this as the user who started Docket, or set DATABASE_URL';
    throw new Error(`DOCKET_DATA: cannot read ${file} (${reasonOf(error)}); ${todo}`, { cause: error });
  }
}
