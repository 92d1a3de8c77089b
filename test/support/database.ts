import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { onTestFinished } from 'vitest';
import { type Db, openDb } from '../../db/pool.ts';
import { eventually } from './client.ts';
import { atEndOfFile } from './endings.ts';

/** A database as the API has it, until the end of the file. @param max its connections: one keeps its plans */
export function openTestDb(url: string, max = 1, node = 'test'): Db {
  const db = openDb({ url, node, max });
  atEndOfFile(() => db.end());
  return db;
}

/** A connection of its own until the end of the file. */
export async function connected(url: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  atEndOfFile(() => client.end());
  return client;
}

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

/** Changes a ticket in a transaction that has drawn its number in the log. @returns a function that commits it */
export async function changedLate(url: string, id: string): Promise<() => Promise<unknown>> {
  const late = new pg.Client({ connectionString: url });
  await late.connect();
  onTestFinished(() => late.end());
  await late.query('begin');
  const text = `update item set version = nextval('item_version'), event_seq = event_seq + 1, last_event = 'changed',
    priority = 7, updated_at = clock_timestamp() where kind = 'ticket' and id = $1`;
  await late.query(text, [id]);
  return () => late.query('commit');
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

/** All that a database has in its tables, as one text. */
export async function storedText(url: string): Promise<string> {
  const tables = await rowsOf<{ name: string }>(
    url,
    `select tablename as name from pg_tables where schemaname = 'public'`,
  );
  const select = ({ name }: { name: string }) => `select string_agg(t::text, '') as text from ${name} t`;
  const found = await rowsOf<{ text: string | null }>(url, tables.map(select).join(' union all '));
  return found.map(({ text }) => text ?? '').join('');
}
