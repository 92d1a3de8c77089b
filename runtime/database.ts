import { type Db, openDb } from '../db/pool.ts';

export { Connection, connectionTo, wrongSettings } from '../db/connecting.ts';
export { migrate, SchemaAheadError, schemaState } from '../db/migrate.ts';
export { dump } from '../db/moving/dump.ts';
export { checkDump } from '../db/moving/file.ts';
export { load } from '../db/moving/load.ts';

/** Runs `work` with a database but no runtime, for commands that need only that. */
export async function withDatabase<T>(url: string, work: (db: Db) => Promise<T>): Promise<T> {
  const db = openDb({ url, node: 'cli', max: 1 });
  try {
    return await work(db);
  } finally {
    await db.end();
  }
}
