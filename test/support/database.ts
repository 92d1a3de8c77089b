import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { eventually } from './client.ts';

/** Gives `work` a connection of its own. */
export async function onDatabase<T>(url: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

/** Runs a statement on a database, and gives the rows. */
export const rowsOf = <T extends pg.QueryResultRow>(url: string, text: string, values?: unknown[]): Promise<T[]> =>
  onDatabase(url, async (client) => (await client.query<T>(text, values)).rows);

/** A database that nothing was put into, not even the schema. @param server URL of any database of its server */
export async function emptyDatabase(server: string): Promise<string> {
  const name = `empty_${randomBytes(6).toString('hex')}`;
  await rowsOf(server, `create database ${name}`);
  return new URL(`/${name}`, server).href;
}

type Sql = [text: string, values?: unknown[]];

/** Makes a call that has to wait for what `lock` takes; `meanwhile` is done in that transaction before it is let go on. */
export const behind = <T>(url: string, lock: Sql, call: () => Promise<T>, meanwhile: Sql[]): Promise<T> =>
  onDatabase(url, async (client) => {
    await client.query('begin');
    await client.query(...lock);
    const answer = call();
    const waiters = 'select from pg_locks where not granted and pg_backend_pid() = any (pg_blocking_pids(pid))';
    await eventually(async () => (await client.query(waiters)).rowCount);
    for (const sql of meanwhile) await client.query(...sql);
    await client.query('commit');
    return await answer;
  });
