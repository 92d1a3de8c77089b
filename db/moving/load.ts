import { pipeline } from 'node:stream/promises';
import pg from 'pg';
import { from } from 'pg-copy-streams';
import { EDITION } from '../edition.ts';
import { loadStatements } from '../load.ts';
import { MIGRATE_LOCK, migrate } from '../migrate.ts';
import { DumpFileError, DumpReader, type Header, type Table } from './file.ts';
import { connect, differences, MOVED, NEVER_EMPTY } from './tables.ts';

/** The dump's header, and the number of rows that each table has got. */
export interface Loaded extends Header {
  rows: Map<string, number>;
}

const EMPTY = MOVED.filter((name) => !NEVER_EMPTY.includes(name));
const LOCK_TRIES = 5;
/** Deadlock, lock time-out. */
const BUSY = new Set(['40P01', '55P03']);

const listed = (names: string[]) => names.map((name) => pg.escapeIdentifier(name)).join(', ');

/**
 * Migrates an empty database and fills it from a dump, in one transaction. As after `docket reconcile`, the processes that
 * run on it or will put back workflows, schedules and deliveries. Processes may run on it meanwhile: their writes wait.
 * @param name of the file, for messages
 * @param log is given a line for each migration
 * @throws DumpFileError when the file is none, not whole, or of another schema; Error when the database has anything in it
 *   already. Nothing was loaded then
 */
export async function load(
  url: string,
  chunks: AsyncIterable<Buffer>,
  name: string,
  log: (line: string) => void = () => {},
): Promise<Loaded> {
  const reader = new DumpReader(chunks, name);
  const header = await reader.header();
  checkSchema(header, name);
  const client = await connect(url, 'docket load');
  try {
    await needEmpty(client);
    await migrate(url, log);
    await lockTables(client);
    await needEmpty(client);
    const rows = await fill(client, reader, name);
    await client.query('commit');
    await client.query(`analyze ${listed(MOVED)}`);
    return { ...header, rows };
  } finally {
    await client.end();
  }
}

function checkSchema({ docket, edition, migrations }: Header, name: string): void {
  const { later, earlier } = differences(edition, migrations);
  const made = `${name} was made by Docket ${docket} (edition ${edition})`;
  if (later)
    throw new DumpFileError(`${made}, and this program is earlier (edition ${EDITION}); load it with that version`);
  if (earlier)
    throw new DumpFileError(
      `${made}, and this program is later (edition ${EDITION}): load it with that version into an empty database, then run ` +
        'docket migrate of this one',
    );
}

/** @throws Error when there is anything that a load would mix with, or that callers know */
async function needEmpty(client: pg.Client): Promise<void> {
  const { rows } = await client.query<{ name: string }>(
    `select c.relname as name from pg_class c
      where c.relnamespace = current_schema()::regnamespace and c.relkind = 'r' and c.relname = any ($1) order by 1`,
    [EMPTY],
  );
  if (rows.length === 0) return;
  const one = ({ name }: { name: string }) =>
    `select ${pg.escapeLiteral(name)} as name where exists (select from ${pg.escapeIdentifier(name)})`;
  const used = await client.query<{ name: string }>(rows.map(one).join(' union all '));
  if (used.rows.length === 0) return;
  throw new Error(
    `the database is not empty, it has rows in ${used.rows.map(({ name }) => name).join(', ')}; ` +
      'load into another one: an empty database (DATABASE_URL), or a docket start on another folder (DOCKET_DATA)',
  );
}

/** Begins the transaction. Processes that run on the database wait for its commit, and then find the loaded rows. */
async function lockTables(client: pg.Client): Promise<void> {
  for (let tries = 1; ; tries++) {
    await client.query('begin');
    try {
      await client.query("set local lock_timeout = '10s'");
      await client.query('select pg_advisory_xact_lock($1)', [MIGRATE_LOCK]);
      await client.query(`lock table ${listed(MOVED)} in share row exclusive mode`);
      return;
    } catch (error) {
      await client.query('rollback');
      if (!BUSY.has((error as pg.DatabaseError).code ?? '')) throw error;
      if (tries === LOCK_TRIES)
        throw new Error(`the database is in use (${(error as Error).message}); stop what uses it, and try again`);
    }
  }
}

async function fill(client: pg.Client, reader: DumpReader, name: string): Promise<Map<string, number>> {
  const rows = new Map<string, number>();
  const own = await client.query<{ epoch: string | null; store: string | null }>(
    'select (select max(epoch) from log_shard) as epoch, (select store from reconciliation) as store',
  );
  // they write the consequences of a change, which are in the dump
  const { rows: triggered } = await client.query<{ name: string }>(
    `select distinct c.relname as name from pg_trigger t join pg_class c on c.oid = t.tgrelid
      where c.relnamespace = current_schema()::regnamespace and c.relname = any ($1) and not t.tgisinternal`,
    [MOVED],
  );
  const triggers = async (how: 'enable' | 'disable') => {
    for (const { name: table } of triggered) await client.query(`alter table ${listed([table])} ${how} trigger user`);
  };
  await triggers('disable');
  for (const table of NEVER_EMPTY) await client.query(`delete from ${listed([table])}`);
  for (let line = await reader.line(); line.word !== 'end'; line = await reader.line()) {
    if (line.word === 'table') rows.set(line.name, await copy(client, line, reader));
    if (line.word === 'sequence') await client.query('select setval($1::regclass, $2::bigint)', [line.name, line.last]);
  }
  const missing = MOVED.filter((name) => !rows.has(name));
  if (missing.length > 0) throw new DumpFileError(`${name} has no rows of ${missing.join(', ')}; make the dump again`);
  await triggers('enable');
  const broken = await client.query('select kind, id from item i where broken_invariant(i) is not null limit 1');
  const [one] = broken.rows;
  if (one) throw new DumpFileError(`${name} has a ${one.kind} that cannot be: ${one.id}`);
  await handOver(client, own.rows[0] ?? { epoch: null, store: null });
  return rows;
}

async function copy(client: pg.Client, { name, columns }: Table, reader: DumpReader): Promise<number> {
  const into = client.query(from(`copy ${listed([name])} (${listed(columns)}) from stdin`));
  await pipeline(reader.rows(), into);
  return into.rowCount;
}

/**
 * The workflows are in another store of Temporal: all of them are put back. Followers that run on this database begin anew,
 * because the log is another one. The store that they are connected to stays the known one.
 */
async function handOver(client: pg.Client, { epoch, store }: { epoch: string | null; store: string | null }) {
  await client.query('update log_shard set epoch = greatest(epoch, $1::bigint) + 1', [epoch ?? 0]);
  const restart = loadStatements().get('restart_reconciliation');
  if (!restart) throw new Error('no statement named restart_reconciliation in db/queries');
  await client.query(restart.text);
  if (store !== null) await client.query('update reconciliation set store = $1', [store]);
}
