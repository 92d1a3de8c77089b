import pg from 'pg';
import type { Change, Item } from '../contract/items.ts';
import type { Kind } from '../contract/snapshot.ts';
import { Connection, connectionTo, READ_ONLY } from './connecting.ts';
import { loadStatements, type Statement } from './load.ts';
import { bounded } from './pages.ts';
import { rowsOf, types } from './rows.ts';
import type { Statements } from './statements.ts';

const statements = new Map<string, Statement>();
for (const [name, statement] of loadStatements()) statements.set(name, { ...statement, text: bounded(statement.text) });

/** Statements that move items or reviews. */
type MoveName = {
  [N in keyof Statements]: Statements[N] extends { moves: unknown } ? N : never;
}[keyof Statements];
/** The others. */
type ReadName = Exclude<keyof Statements, MoveName>;

export type RowOf<N extends keyof Statements> = Statements[N]['row'];
export type ParamsOf<N extends keyof Statements> = Statements[N]['params'];
/** The arguments after the name: none are needed where every parameter may be left out. */
type Given<N extends keyof Statements> = object extends ParamsOf<N> ? [params?: ParamsOf<N>] : [params: ParamsOf<N>];

/** `moved` is required where the rows do not show it. */
type How<N extends MoveName> = [RowOf<N>] extends [Change]
  ? [how?: Move<RowOf<N>>]
  : Statements[N]['moves'] extends 'unseen'
    ? [how?: Receipt]
    : [how: Move<RowOf<N>> & Required<Pick<Move<RowOf<N>>, 'moved'>>];

export interface Queryable {
  /** Runs a statement of db/queries that moves nothing; prepared once per connection. */
  run<N extends ReadName>(name: N, ...given: Given<N>): Promise<RowOf<N>[]>;
}

export interface Mover extends Queryable {
  /**
   * Runs a statement that moves items or reviews, and publishes the moves once they are committed. Such a statement
   * runs in no other way, so no move can be missed.
   */
  move<N extends MoveName>(name: N, params: ParamsOf<N>, ...how: How<N>): Promise<RowOf<N>[]>;
}

interface Move<T> extends Receipt {
  /** The moves, by the rows of the answer; left out: each row is a moved item, unless the statement is marked `:unseen`. */
  moved?: (rows: T[]) => Moved;
}

/** The changes; or a function that reads them after the commit; or items that are read then while the caller goes on. */
type Moved = Change[] | ((db: Queryable) => Promise<Change[]>) | { rows?: Change[]; kind: Kind; ids: string[] };

export interface Receipt {
  /** The item whose workflow asked for the move, so that it is not published to that. */
  receivedBy?: string;
}

export interface Db extends Mover {
  /**
   * Calls `listener` after each commit that moved something, with rows as the statement left them; an item may be there
   * more than once. It must not throw, nor take long.
   */
  onCommit(listener: (changes: Change[]) => void): void;
  /** Runs `work` in one transaction on one connection. */
  transaction<T>(work: (tx: Mover) => Promise<T>, receipt?: Receipt): Promise<T>;
  readonly pool: pg.Pool;
  /** For lists, statistics and metrics. */
  readonly lists: Lists;
  end(): Promise<void>;
}

/**
 * Lists have a few connections of their own, so that expensive lists do not delay claims and decisions. A list is
 * planned for its filters, and ends after seconds; both would be wrong for statements that run a thousand times a
 * second.
 */
interface Lists extends Queryable {
  readonly pool: pg.Pool;
}

export interface DbOptions {
  url: string;
  /** This process's name (`node.id`). */
  node: string;
  max?: number;
  onError?: (error: Error) => void;
  /** The time of a statement outside of a transaction that moved items or reviews, waits included. */
  onMove?: (statement: string, ms: number) => void;
}

/**
 * A plan made while a table was nearly empty is kept when it is not, so none reads a whole table where an index will do.
 * Nothing is compiled, which takes seconds where the planner is forced to one sort of plan.
 */
const PLANNED = '-c enable_seqscan=off -c jit=off';
/** Statements that run a thousand times a second are planned once per connection, for any arguments: planning takes longer. */
const STEADY = `${PLANNED} -c plan_cache_mode=force_generic_plan`;
const LIST_MS = 5_000;
/** The longest wait of a list for a connection. */
const LIST_WAIT_MS = 5_000;
const listConnections = (max: number) => Math.ceil(max / 5);

/** Every statement has a time limit, so that a lost server blocks no caller for ever. */
export function openDb({ url, node, max = 20, onError = () => {}, onMove = () => {} }: DbOptions): Db {
  const open = (more: pg.PoolConfig) =>
    new pg.Pool({
      ...connectionTo(url, { types, application_name: `docket ${node}`, ...more }),
      Client: Connection as never,
    });
  const pool = open({
    max,
    query_timeout: 60_000,
    options: `-c statement_timeout=55000 -c idle_in_transaction_session_timeout=60000 ${STEADY}`,
  });
  const lists = open({
    max: listConnections(max),
    connectionTimeoutMillis: LIST_WAIT_MS,
    query_timeout: LIST_MS * 2,
    options: `-c statement_timeout=${LIST_MS} ${PLANNED} -c plan_cache_mode=force_custom_plan`,
  });
  for (const each of [pool, lists]) each.on('error', onError);
  const listeners: ((changes: Change[]) => void)[] = [];
  const tell = (changes: Change[]) => {
    if (changes.length > 0) for (const listener of listeners) listener(changes);
  };
  const published = async (commits: Moved[]) => {
    for (const moved of commits)
      if (Array.isArray(moved)) tell(moved);
      else if (typeof moved === 'function') tell(await moved(db));
      else {
        const { rows = [], ...others } = moved;
        tell(rows);
        // listeners hurry what is done anyway, so a read that fails loses nothing
        if (others.ids.length > 0) void db.run('get_items', others).then(tell, onError);
      }
  };
  const onLists = (name: string, given?: Params) => onceMore(() => run(lists, name, given));
  const transaction: Db['transaction'] = async (work, receipt) => {
    const [result, commits] = await onceMore(() => transact(pool, onError, work, receipt));
    await published(commits);
    return result;
  };
  const runOwn = (name: string, given?: Params) => onceMore(() => run(pool, name, given));
  const own = mover(
    async (name, given) => {
      const start = performance.now();
      const rows = await runOwn(name, given);
      onMove(name, performance.now() - start);
      return rows;
    },
    (moved) => published([moved]),
  );
  const move = (name: MoveName, params: never, { receivedBy, ...how }: Move<never> = {}) =>
    receivedBy === undefined
      ? own.move(name, params, how as never)
      : transaction((tx) => tx.move(name, params, how as never), { receivedBy });
  const db: Db = {
    ...{ pool, transaction, run: runOwn as Db['run'], move: move as Db['move'] },
    lists: { pool: lists, run: onLists as Db['run'] },
    onCommit: (listener) => void listeners.push(listener),
    end: async () => {
      await Promise.all([pool.end(), lists.end()]);
    },
  };
  return db;
}

/** @returns the result of `work`, and its moves, which are committed and to be published */
async function transact<T>(
  pool: pg.Pool,
  onError: (error: Error) => void,
  work: (tx: Mover) => Promise<T>,
  { receivedBy }: Receipt = {},
): Promise<[T, Moved[]]> {
  const commits: Moved[] = [];
  return await withClient(pool, onError, async (client, discard) => {
    try {
      await client.query('begin');
      if (receivedBy !== undefined)
        await client.query("select set_config('docket.received_by', $1, true)", [receivedBy]);
      const result = await work(
        mover(
          (name, given) => run(client, name, given),
          async (moved) => void commits.push(moved),
        ),
      );
      await client.query('commit');
      return [result, commits];
    } catch (error) {
      await client.query('rollback').catch(discard);
      if ((error as pg.DatabaseError).code === READ_ONLY) discard(error as Error);
      throw error;
    }
  });
}

/**
 * Gives `work` a connection for itself.
 * @param onError called when the connection is lost meanwhile
 * @param work calls `discard` if the connection must not be used again
 */
async function withClient<T>(
  pool: pg.Pool,
  onError: (error: Error) => void,
  work: (client: pg.PoolClient, discard: (why: Error) => void) => Promise<T>,
): Promise<T> {
  const client = await pool.connect();
  client.on('error', onError);
  let broken: Error | undefined;
  try {
    return await work(client, (why) => {
      broken = why;
    });
  } finally {
    client.off('error', onError);
    client.release(broken);
  }
}

/** Repeats work once after a conflict with another transaction, which has changed nothing. */
async function onceMore<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!isConflict(error)) throw error;
    return work();
  }
}

/** The row of a statement that always returns one. */
export function only<T>([row]: (T | undefined)[]): T {
  if (row === undefined) throw new Error('a statement that returns one row has returned none');
  return row;
}

/** Deadlock, serialization failure, or a person's claim that another one of theirs has overtaken (db/functions/claim.sql). */
export const isConflict = (error: unknown) =>
  error instanceof pg.DatabaseError && (/^(40P01|40001)$/.test(error.code ?? '') || error.constraint === 'item_holder');

/** Fields of rows as the arrays that a statement takes: `{ ids: 'id' }` gives `ids`, the `id` of each row. */
export const columnsOf = <R, C extends Record<string, keyof R>>(rows: readonly R[], columns: C) =>
  Object.fromEntries(Object.entries(columns).map(([name, field]) => [name, rows.map((row) => row[field])])) as {
    [N in keyof C]: R[C[N]][];
  };

type Params = Record<string, unknown>;

function mover(
  runNamed: (name: string, given?: Params) => Promise<object[]>,
  committed: (moved: Moved) => Promise<void>,
): Mover {
  const move = async (name: string, given: Params, { moved }: Move<object> = {}) => {
    const rows = await runNamed(name, given);
    const all = statements.get(name)?.unseen ? [] : (rows as Item[]);
    await committed(moved?.(rows) ?? all);
    return rows;
  };
  // db/statements.ts, generated from the statements, ties names, parameters and rows together
  return { run: runNamed, move } as Mover;
}

async function run(on: pg.Pool | pg.PoolClient, name: string, given?: Params): Promise<object[]> {
  const statement = statements.get(name);
  if (!statement) throw new Error(`no statement named ${name} in db/queries`);
  const { text } = statement;
  const query = { name, text, values: valuesOf(statement, given), rowMode: 'array' } as const;
  return rowsOf(name, await (on instanceof pg.Pool ? onPool(on, query) : on.query(query)));
}

/** SQLSTATEs of a call's own errors: values, constraints, conflicts, raised ones, timeouts. Others may concern the connection. */
const HARMLESS = /^(22|23|40|P0|DK)...$|^(55P03|57014)$/;
const isHarmless = (error: unknown) => error instanceof pg.DatabaseError && HARMLESS.test(error.code ?? '');

/** Unlike the pool's own `query`, keeps a connection, with its prepared statements, after an error of a call. */
const onPool = (pool: pg.Pool, query: pg.QueryArrayConfig): Promise<pg.QueryArrayResult> =>
  // a lost connection fails the query, which reports it
  withClient(pool, ignore, async (client, discard) => {
    try {
      return await client.query(query);
    } catch (error) {
      if (!isHarmless(error)) discard(error as Error);
      throw error;
    }
  });

const ignore = () => {};

/**
 * The values of a statement's parameters in their order. JSON is sent as text; null is JSON's null there, and SQL's
 * where the parameter is optional.
 * @throws when one that is not optional is missing
 */
export function valuesOf({ name, parameters }: Statement, given: Record<string, unknown> = {}): unknown[] {
  return parameters.map((p) => {
    const value = given[p.name];
    if (value === undefined && !p.optional) throw new Error(`statement ${name} needs the parameter ${p.name}`);
    if (p.json && !(p.optional && value == null)) return JSON.stringify(value);
    return value ?? null;
  });
}
