import { reasonOf, throwing } from '../../runtime/failures.ts';
import { partsOf, positionOf, type ReceivedEvent, type Target, Transient } from './target.ts';

const QUERY_MS = 60_000;
/** Of one statement: servers take 4 MiB or more by default. */
const STATEMENT_BYTES = 1_000_000;
/** What passes, besides lost connections: deadlocks, servers that end or have no connection free. */
const PASSING = /^(08|40001|70100)/;
const COLUMNS = ['id', 'seq', 'kind', 'item_id', 'type', 'actor', 'at', 'data'];
/** Case and accents count, as they do in ids. */
const KEPT = 'engine = InnoDB character set utf8mb4 collate utf8mb4_bin';

/**
 * Upserts into a table of MySQL or MariaDB by the event's id, in a transaction with the position. Makes the table and the
 * one that holds the position where they are missing.
 * @param table may be qualified: `database.table`
 * @throws Transient when it cannot be reached; Error with its message when it refuses
 */
export async function openMysql(url: string, table: string): Promise<Target> {
  const { createConnection } = await import('mysql2/promise');
  // the server's rejections have a SQLSTATE, lost connections have none
  const failed = (error: Error & { sqlState?: string; code?: string }): Error => {
    const server = `--url: MySQL at ${new URL(url).host}`;
    const { message, sqlState, code } = error;
    if (sqlState === undefined)
      return new Transient(`${server} cannot be reached (${reasonOf(error)}); start it, or correct --url`);
    const said = `${server} answers "${message}"`;
    if (PASSING.test(sqlState) || code === 'ER_LOCK_WAIT_TIMEOUT') return new Transient(said);
    return new Error(said, { cause: error });
  };
  const connection = await createConnection({ uri: url }).catch(throwing(failed));
  // the next statement fails on a lost connection
  connection.on('error', () => {});
  const run = async (sql: string, values: unknown[] = []): Promise<unknown> => {
    const [rows] = await connection.query({ sql, values, timeout: QUERY_MS }).catch(throwing(failed));
    return rows;
  };
  const [events, position] = [quoted(table), quoted(`${table}_position`)];
  const updated = COLUMNS.slice(1).map((column) => `${column} = values(${column})`);
  const upsert = `insert into ${events} (${COLUMNS.join(', ')}) values ? on duplicate key update ${updated.join(', ')}`;
  try {
    // values that don't fit are errors, and a backslash escapes, as in what the library sends
    await run(`set session sql_mode = 'STRICT_ALL_TABLES'`);
    await run(`create table if not exists ${events} (
      id varchar(300) primary key, seq bigint not null, kind varchar(30) not null, item_id varchar(300) not null,
      type varchar(100) not null, actor text not null, at datetime(6) not null, data json) ${KEPT}`);
    await run(`create table if not exists ${position} (
      one tinyint primary key, seq bigint not null, id varchar(300) not null) ${KEPT}`);
  } catch (error) {
    connection.destroy();
    throw error;
  }
  return {
    name: table,
    async position() {
      const [last] = (await run(`select seq, id from ${position}`)) as { seq: number; id: string }[];
      return last ? { seq: last.seq, id: last.id } : null;
    },
    async write(received) {
      const { seq, id } = positionOf(received);
      await run('start transaction');
      for (const part of partsOf(received, STATEMENT_BYTES)) await run(upsert, [part.map(rowOf)]);
      await run(`replace into ${position} (one, seq, id) values (1, ?, ?)`, [seq, id]);
      await run('commit');
    },
    async erase(items) {
      const keys = items.map(({ kind, itemId }) => [kind, itemId]);
      await run(`update ${events} set data = null where type <> 'erased' and (kind, item_id) in (?)`, [keys]);
    },
    close: async () => connection.destroy(),
  };
}

/** Times are in UTC, which a `datetime` does not say. */
const rowOf = ({ event: e }: ReceivedEvent) => {
  const at = e.at.replace('T', ' ').replace('Z', '');
  return [e.id, e.seq, e.kind, e.itemId, e.type, e.actor, at, JSON.stringify(e.data)];
};

const quoted = (name: string) => `\`${name.replace('.', '`.`')}\``;
