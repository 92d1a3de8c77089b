import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import type { Change, Item } from '../contract/items.ts';
import type { Kind } from '../contract/snapshot.ts';
import { bounded } from './pages.ts';

/** Counts and versions fit a double; a rank may not, and is never reckoned with outside SQL. */
const types = {
  getTypeParser(oid: number, format?: 'text' | 'binary') {
    if (oid === pg.types.builtins.INT8) return Number;
    return pg.types.getTypeParser(oid, format as 'text');
  },
};

const statements = loadStatements();

export type Row = Record<string, unknown>;

export interface Queryable {
  /** Runs a named statement of db/queries; prepared once per connection. */
  run<T extends object = Row>(name: string, values?: unknown[]): Promise<T[]>;
}

export interface Mover extends Queryable {
  /**
   * Runs a statement that moves items or reviews. What it moved is published as soon as it is committed: it has no
   * other way to run, so none can be forgotten.
   */
  move<T extends object = Item>(name: string, values: unknown[], how?: Move<T>): Promise<T[]>;
}

export interface Move<T> extends Receipt {
  /** What moved, by the rows of the answer; left out: each row is an item that did. */
  moved?: (rows: T[]) => Change[] | { kind: Kind; ids: string[] };
}

export interface Receipt {
  /** The item whose own workflow asked for it, and so knows already. */
  receivedBy?: string;
  /** Time did it, not a caller. */
  byTime?: boolean;
}

/** What one commit moved. Rows are as the statement left them; an item may be there more than once. */
export interface Commit extends Receipt {
  changes: Change[];
}

export interface Db extends Mover {
  /** Calls `listener` after each commit that moved something. It must not throw, nor take long. */
  onCommit(listener: (commit: Commit) => void): void;
  /** Runs `work` in one transaction on one connection. */
  transaction<T>(work: (tx: Mover) => Promise<T>, receipt?: Receipt): Promise<T>;
  readonly pool: pg.Pool;
  /** For lists, statistics and metrics. */
  readonly lists: Lists;
  end(): Promise<void>;
}

/**
 * A few connections of their own: whatever lists cost, calls that hand out and settle find theirs free. A list is
 * planned for the filters that it names, and ends after seconds; both would be wrong for what runs a thousand times
 * a second.
 */
export interface Lists extends Queryable {
  readonly pool: pg.Pool;
}

export interface DbOptions {
  url: string;
  /** This process's name in the outbox (`node.id`). */
  node: string;
  max?: number;
  onError?: (error: Error) => void;
}

const LIST_MS = 5_000;
/** How long a list waits for a connection while all of them are at work. */
const LIST_WAIT_MS = 5_000;
const listConnections = (max: number) => Math.ceil(max / 5);

/**
 * A pool whose sessions write their node id into the outbox rows they cause (see db/functions/log.sql).
 * Every statement is bounded: a lost server must not hold a caller for ever.
 */
export function openDb({ url, node, max = 20, onError = () => {} }: DbOptions): Db {
  const base = { connectionString: url, types, keepAlive: true, application_name: `docket ${node}` };
  const pool = new pg.Pool({
    ...base,
    max,
    connectionTimeoutMillis: 10_000,
    query_timeout: 60_000,
    options: `-c docket.node=${node} -c statement_timeout=55000 -c idle_in_transaction_session_timeout=60000`,
  });
  const lists = new pg.Pool({
    ...base,
    max: listConnections(max),
    connectionTimeoutMillis: LIST_WAIT_MS,
    query_timeout: LIST_MS * 2,
    options: `-c statement_timeout=${LIST_MS} -c plan_cache_mode=force_custom_plan -c jit=off`,
  });
  for (const each of [pool, lists]) each.on('error', onError);
  const listeners: ((commit: Commit) => void)[] = [];
  const published = async (commits: Pending[]) => {
    for (const { moved, ...how } of commits) {
      const changes = Array.isArray(moved) ? moved : await run<Item>(pool, 'get_items', [moved.kind, moved.ids]);
      if (changes.length > 0) for (const listener of listeners) listener({ ...how, changes });
    }
  };
  return {
    pool,
    lists: { pool: lists, run: (name, values) => onceMore(() => run(lists, name, values)) },
    run: (name, values) => onceMore(() => run(pool, name, values)),
    async move<T extends object>(name: string, values: unknown[], how: Move<T> = {}) {
      const rows = await onceMore(() => run<T>(pool, name, values));
      await published([pending(rows, how)]);
      return rows;
    },
    onCommit: (listener) => void listeners.push(listener),
    async transaction(work, receipt = {}) {
      const [result, commits] = await onceMore(() => transact(work));
      await published(commits.map((commit) => ({ ...commit, ...receipt })));
      return result;
    },
    end: async () => {
      await Promise.all([pool.end(), lists.end()]);
    },
  };

  async function transact<T>(work: (tx: Mover) => Promise<T>): Promise<[T, Pending[]]> {
    const commits: Pending[] = [];
    const client = await pool.connect();
    client.on('error', onError);
    let broken: Error | undefined;
    try {
      await client.query('begin');
      const result = await work({
        run: (name, values) => run(client, name, values),
        async move<R extends object>(name: string, values: unknown[], how: Move<R> = {}) {
          const rows = await run<R>(client, name, values);
          commits.push(pending(rows, how));
          return rows;
        },
      });
      await client.query('commit');
      return [result, commits];
    } catch (error) {
      await client.query('rollback').catch((e: Error) => {
        broken = e;
      });
      throw error;
    } finally {
      client.off('error', onError);
      client.release(broken);
    }
  }
}

type Pending = Receipt & { moved: Change[] | { kind: Kind; ids: string[] } };

const pending = <T extends object>(rows: T[], { moved = (all) => all as Change[], ...how }: Move<T>): Pending => ({
  moved: moved(rows),
  ...how,
});

/** A deadlock's victim and a serialization failure have changed nothing: once more, and it mostly goes through. */
async function onceMore<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!isConflict(error)) throw error;
    return work();
  }
}

/** Deadlock or serialization failure. */
export const isConflict = (error: unknown) =>
  error instanceof pg.DatabaseError && /^(40P01|40001)$/.test(error.code ?? '');

async function run<T extends object>(on: pg.Pool | pg.PoolClient, name: string, values: unknown[] = []): Promise<T[]> {
  const text = statements.get(name);
  if (text === undefined) throw new Error(`no statement named ${name} in db/queries`);
  const result = await on.query({ name, text, values });
  return result.rows as T[];
}

/** Each `-- name: x` in db/queries/*.sql starts a statement that reaches to the next one. */
function loadStatements(): Map<string, string> {
  const folder = fileURLToPath(new URL('queries/', import.meta.url));
  const found = new Map<string, string>();
  for (const file of readdirSync(folder).filter((f) => f.endsWith('.sql'))) {
    const [, ...parts] = readFileSync(folder + file, 'utf8').split(/^-- name: /m);
    for (const part of parts) {
      const name = part.slice(0, part.indexOf('\n')).trim();
      if (found.has(name)) throw new Error(`two statements are named ${name}`);
      const text = part.slice(part.indexOf('\n') + 1).trim();
      found.set(name, bounded(text.replace(/;$/, '')));
    }
  }
  return found;
}
