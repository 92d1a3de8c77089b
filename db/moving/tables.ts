import type pg from 'pg';
import { Connection, connectionTo } from '../connecting.ts';
import { EDITION } from '../edition.ts';
import { ownMigrations } from '../migrate.ts';
import { schemaObjects } from '../objects.ts';
import type { Sequence, Table } from './file.ts';

const named = (what: string) =>
  schemaObjects().flatMap((object) => (object.startsWith(`${what} `) ? [object.slice(what.length + 1)] : []));

/** Tables whose rows migrations write, or processes about themselves or from others. */
const NOT_MOVED = new Set([
  'schema_step',
  'schema_edition',
  'schema_function',
  'node',
  'draw_key',
  'ticket_text',
  'full_text',
]);
/** All tables whose rows a dump has. */
export const MOVED: string[] = named('table').filter((name) => !NOT_MOVED.has(name));
/** Tables with rows in a database that nothing was put into: made by migrations, or by processes that only run. */
export const NEVER_EMPTY = ['erasure_key', 'feed_state', 'log_shard', 'reconciliation', 'sample_state'];

/**
 * Values with a meaning on one server only, and their replacements in a dump: numbers of transactions, which every server
 * counts for itself, and the process that follows a part of the log. Without `stocked_by` and `seen` nothing counts as passed
 * by until the next completion (decision 19). A hole of the feed is read once more and then given up: no transaction of
 * the old server can fill it.
 */
export const INSTEAD: Record<string, Record<string, string>> = {
  feed_hole: { seen_by: "'0'" },
  item: { stocked_by: 'null' },
  lease: { seen: 'null' },
  look_back: { first_seen: 'null', seen: 'null' },
  member: { joined_by: 'null' },
  log_shard: { owner: 'null', seen_at: 'null' },
  notice: { xid: 'null', snap: 'null' },
};

/** Numbers keep all digits, and no time limit ends the copying of millions of rows. */
const OPTIONS = '-c extra_float_digits=3 -c statement_timeout=0 -c idle_in_transaction_session_timeout=0';

/** A connection for one long piece of work. */
export async function connect(url: string, name: string): Promise<pg.Client> {
  const client = new Connection(connectionTo(url, { application_name: name, options: OPTIONS }));
  // the next statement fails on a lost connection
  client.on('error', () => {});
  await client.connect();
  return client;
}

/** How migrations differ from this program's. */
export function differences(edition: number, migrations: string[]): { later: boolean; earlier: boolean } {
  const own = ownMigrations();
  return {
    later: edition > EDITION || migrations.some((name) => !own.includes(name)),
    earlier: own.some((name) => !migrations.includes(name)),
  };
}

/** The edition and migrations of a database. */
export async function schemaOf(client: pg.Client): Promise<{ edition: number; migrations: string[] }> {
  const steps = await client.query<{ name: string }>(
    "select name from schema_step where name like 'migrations/%' order by name",
  );
  const known = await client.query<{ edition: number }>('select edition from schema_edition');
  return { edition: known.rows[0]?.edition ?? 0, migrations: steps.rows.map(({ name }) => name) };
}

/** The tables to be moved, with their columns but those that PostgreSQL computes. */
export async function tablesIn(client: pg.Client): Promise<Table[]> {
  const { rows } = await client.query<Table>(
    `select table_name as name, array_agg(column_name::text order by ordinal_position) as columns
       from information_schema.columns
      where table_schema = current_schema() and table_name = any ($1) and is_generated = 'NEVER'
      group by table_name order by table_name`,
    [MOVED],
  );
  const missing = MOVED.filter((name) => !rows.some((table) => table.name === name));
  if (missing.length > 0)
    throw new Error(`the schema has no table ${missing.join(', ')}: name the one of Docket first in the search_path`);
  return rows;
}

/** Sequences that were used, those of identity columns too. Read after the snapshot: its rows have no higher numbers. */
export async function sequencesIn(client: pg.Client): Promise<Sequence[]> {
  const { rows } = await client.query<Sequence>(
    `select s.sequencename as name, s.last_value::text as last from pg_sequences s
      where s.schemaname = current_schema() and s.last_value is not null
        and (s.sequencename = any ($1) or s.sequencename in (
          select split_part(pg_get_serial_sequence(c.table_name, c.column_name), '.', 2) from information_schema.columns c
           where c.table_schema = current_schema() and c.table_name = any ($2) and c.is_identity = 'YES'))
      order by s.sequencename`,
    [named('sequence'), MOVED],
  );
  return rows;
}
