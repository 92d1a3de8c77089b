import pg from 'pg';
import { urlsOf } from '../domain/database-url.ts';

/**
 * Settings of a session on which the driver's reading or a statement's result depends. A server, a database or a role may have
 * others, so each connection sets them.
 */
const SET: Record<string, string> = {
  DateStyle: 'ISO, MDY',
  IntervalStyle: 'postgres',
  TimeZone: 'UTC',
  bytea_output: 'hex',
  standard_conforming_strings: 'on',
  array_nulls: 'on',
  transform_null_equals: 'off',
  default_transaction_isolation: 'read committed',
  row_security: 'off',
  lock_timeout: '0',
};
/** Those that no connection can set, or that it must not. */
const NEEDED = {
  client_encoding: 'UTF8',
  server_encoding: 'UTF8',
  session_replication_role: 'origin',
  transaction_read_only: 'off',
};
const PROBE_MS = 3_000;
/** SQLSTATE of a write where none is accepted: on a standby, or by a setting. */
export const READ_ONLY = '25006';
export const POOLED =
  'a pooler between (pgbouncer) shares sessions between transactions, and Docket needs sessions of its own; name PostgreSQL ' +
  'itself, or a pooler in session mode,';

/** The server lacks features, its database cannot hold all characters, or a pooler stands before it. */
export class UnfitDatabaseError extends Error {}

/** A value in `options` of a connection: spaces and backslashes are escaped. */
const option = ([name, value]: [string, string]) => `-c ${name}=${value.replace(/[\\ ]/g, '\\$&')}`;

interface Target extends pg.ClientConfig {
  /** One URL for each host, in order of preference. */
  urls: string[];
  /** Whether the server must accept writes. */
  writes: boolean;
}

/**
 * How a connection is made, for `Connection` and pools of it: with all settings that Docket relies on, and those of the URL.
 * @param options more of its settings, each `-c name=value`
 */
export function connectionTo(url: string, more: pg.ClientConfig = {}): Target {
  let [own, attributes] = ['', 'any'];
  const urls = urlsOf(url).map((each) => {
    const [base = '', query] = each.split('?', 2);
    const params = new URLSearchParams(query);
    own = params.get('options') ?? '';
    attributes = params.get('target_session_attrs') ?? 'any';
    for (const name of ['options', 'target_session_attrs']) params.delete(name);
    return params.size > 0 ? `${base}?${params}` : base;
  });
  // the last one counts
  const options = [own, ...Object.entries(SET).map(option), more.options].filter(Boolean).join(' ');
  const writes = attributes === 'read-write' || attributes === 'primary';
  return {
    connectionTimeoutMillis: 10_000,
    keepAlive: true,
    ...more,
    connectionString: urls[0],
    options,
    urls,
    writes,
  };
}

/** A connection to the first host of its URL that can be reached, and that accepts writes where these are asked for. */
export class Connection extends pg.Client {
  readonly #target: Target;

  constructor(target: Target) {
    super(target);
    this.#target = target;
  }

  override connect(): Promise<pg.Client>;
  override connect(callback: (error: Error) => void): void;
  override connect(callback?: (error: Error) => void): Promise<pg.Client> | undefined {
    const connected = this.#choose().then(() => super.connect());
    if (!callback) return connected as Promise<never>;
    connected.then(() => callback(undefined as never), callback);
    return undefined;
  }

  async #choose(): Promise<void> {
    const { urls, writes } = this.#target;
    if (urls.length === 1 && !writes) return;
    let failure: unknown;
    for (const connectionString of urls) {
      const probe = new pg.Client({ ...this.#target, connectionString, connectionTimeoutMillis: PROBE_MS });
      probe.on('error', () => {});
      try {
        await probe.connect();
        const { rows } = await probe.query<{ is: string }>(`select current_setting('transaction_read_only') as is`);
        if (!writes || rows[0]?.is === 'off') {
          Object.assign(this, { host: probe.host, port: probe.port });
          return;
        }
        failure ??= Object.assign(new Error('none of its servers accepts writes'), { code: READ_ONLY });
      } catch (error) {
        failure = error;
      } finally {
        await probe.end().catch(() => {});
      }
    }
    throw failure;
  }
}

/** A setting of a session with another value than Docket relies on. */
interface WrongSetting {
  name: string;
  value: string;
  wanted: string;
}

/**
 * Settings that are wrong all the same: those that no connection can set, those that a pooler has dropped, and a server that
 * accepts no writes. The connection that has them is not used again, because a new one may have others.
 */
export async function wrongSettings(pool: pg.Pool): Promise<WrongSetting[]> {
  const wanted = { ...SET, ...NEEDED };
  const client = await pool.connect();
  let wrong: WrongSetting[] | undefined;
  try {
    const { rows } = await client.query<WrongSetting>(
      `select name, current_setting(name) as value, wanted from unnest($1::text[], $2::text[]) as s (name, wanted)
        where current_setting(name) <> wanted`,
      [Object.keys(wanted), Object.values(wanted)],
    );
    wrong = rows;
    return rows;
  } finally {
    client.release(wrong?.length !== 0);
  }
}

/**
 * Refuses a pooler that gives each transaction another session: prepared statements, locks and settings of a session, and
 * notifications would be lost without a sign.
 * @throws UnfitDatabaseError
 */
export async function needSessions(url: string): Promise<void> {
  const [one, other] = [new Connection(connectionTo(url)), new Connection(connectionTo(url))];
  const ends = [one, other];
  for (const each of ends) each.on('error', () => {});
  try {
    for (const each of ends) await each.connect();
    const seen: number[] = [];
    // two live connections have two sessions, each the same every time
    for (const each of [one, other, other, one])
      seen.push((await each.query<{ pid: number }>('select pg_backend_pid() as pid')).rows[0]?.pid ?? 0);
    if (seen[0] !== seen[3] || seen[1] !== seen[2] || seen[0] === seen[1]) throw new UnfitDatabaseError(POOLED);
  } finally {
    await Promise.all(ends.map((each) => each.end().catch(() => {})));
  }
}
