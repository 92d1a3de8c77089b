import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { Connection, connectionTo, needSessions, UnfitDatabaseError } from './connecting.ts';
import { EDITION, MIN_COMPATIBLE } from './edition.ts';
import { sqlFiles } from './load.ts';

/** An advisory lock: exclusive for changes of the schema, shared for readers that need it to stay. */
export const MIGRATE_LOCK = 7236000;
/** The first major version that has every feature of the migrations. */
const OLDEST_SERVER = 15;
const MIGRATIONS = 'migrations/';
const DEPENDENT_OBJECTS_STILL_EXIST = '2BP01';
const INVALID_FUNCTION_DEFINITION = '42P13';
/** The same in every language of PostgreSQL's messages. */
const DROP_FIRST = /DROP FUNCTION (.+\))/;

interface Step {
  name: string;
  sql: string;
  hash: string;
}

/** The database's record of the edition that it was last migrated to. */
interface Recorded {
  edition: number;
  min_compatible: number;
}

/** `too_new`: made by a later version of Docket that this program does not work with. */
type SchemaState = 'ok' | 'outdated' | 'too_new';

/** The database was migrated by a later version of Docket. */
export class SchemaAheadError extends Error {
  /** Whether this program works on it all the same. */
  readonly compatible: boolean;

  constructor(why: string, compatible: boolean) {
    super(
      `the database was migrated by a later version of Docket (${why}): migrate with that version` +
        (compatible ? '; this one can run on it as it is' : ', and run that one'),
    );
    this.compatible = compatible;
  }
}

/**
 * Brings the schema up to date: numbered migrations once each, in order, then every file of
 * db/functions whose text changed. Each step is its own transaction; an advisory lock keeps two
 * processes from doing it at once. Functions that no file defines any more are dropped once no
 * compatible edition calls them.
 * @returns the names of the steps that were applied
 * @throws UnfitDatabaseError, having changed nothing
 * @throws SchemaAheadError, having changed nothing, when a later version has migrated the database
 * @throws when an applied migration's text was changed afterwards
 */
export async function migrate(url: string, log: (line: string) => void = () => {}): Promise<string[]> {
  const client = new Connection(connectionTo(url, { options: '-c statement_timeout=0' }));
  await client.connect();
  try {
    await checkServer(client);
    await needSessions(url);
    await client.query('select pg_advisory_lock($1)', [MIGRATE_LOCK]);
    await client.query(`create table if not exists schema_step (
      name text primary key, hash text not null, applied_at timestamptz not null default clock_timestamp())`);
    await client.query(`create table if not exists schema_edition (
      one boolean primary key default true check (one), edition integer not null, min_compatible integer not null)`);
    await client.query(`create table if not exists schema_function (
      signature text primary key, step text not null, hash text not null, edition integer not null)`);
    const applied = await appliedSteps(client);
    const known = await recorded(client);
    const ahead = aheadOf(applied, known);
    if (ahead) throw ahead;
    const todo = pending(applied);
    await recordFunctions(client, known?.edition ?? 0);
    // before the steps: programs that will not work afterwards stop being ready now, the others stay ready throughout
    await client.query(
      `insert into schema_edition (edition, min_compatible) values ($1, $2)
       on conflict (one) do update set edition = excluded.edition, min_compatible = excluded.min_compatible`,
      [EDITION, MIN_COMPATIBLE],
    );
    for (const step of todo) {
      log(`migrate ${step.name}`);
      await apply(client, step);
    }
    await recordFunctions(client, EDITION);
    await dropFunctions(client, log);
    return todo.map((step) => step.name);
  } finally {
    await client.end();
  }
}

async function checkServer(client: pg.Client): Promise<void> {
  const { rows } = await client.query<{ number: string; version: string; encoding: string }>(
    `select current_setting('server_version_num') as number, current_setting('server_version') as version,
            current_setting('server_encoding') as encoding`,
  );
  const [{ number, version, encoding } = { number: '', version: '', encoding: '' }] = rows;
  if (Number(number) < OLDEST_SERVER * 10_000)
    throw new UnfitDatabaseError(
      `PostgreSQL ${version} is too old, Docket needs ${OLDEST_SERVER} or newer; name a newer server`,
    );
  if (encoding !== 'UTF8')
    throw new UnfitDatabaseError(
      `the database has the encoding ${encoding}, which cannot hold all characters, and Docket needs UTF8; name one made ` +
        'by createdb --encoding=UTF8 --template=template0',
    );
}

/**
 * Applies a step in a transaction. A function whose columns or parameters' names have changed cannot be replaced: the
 * transaction begins again and drops it first (`anew`).
 */
async function apply(client: pg.Client, step: Step, anew: string[] = []): Promise<void> {
  try {
    await client.query('begin');
    await client.query("set local lock_timeout = '5s'");
    // functions call each other across files
    await client.query('set local check_function_bodies = off');
    for (const signature of anew) await client.query(`drop function ${signature}`);
    await client.query(step.sql);
    await client.query(
      `insert into schema_step (name, hash) values ($1, $2)
       on conflict (name) do update set hash = excluded.hash, applied_at = clock_timestamp()`,
      [step.name, step.hash],
    );
    await client.query('commit');
  } catch (error) {
    const { code, hint } = error as pg.DatabaseError;
    const [, signature] = (code === INVALID_FUNCTION_DEFINITION && DROP_FIRST.exec(hint ?? '')) || [];
    if (signature === undefined || anew.includes(signature)) throw error;
    await client.query('rollback');
    await apply(client, step, [...anew, signature]);
  }
}

/**
 * Records which functions the applied steps define, and `edition` as the last one that has them. A function belongs
 * to the step whose row the same transaction wrote; functions that are not Docket's belong to none. In a restored
 * database one transaction wrote all rows: there, only steps applied since then add to the record.
 */
async function recordFunctions(client: pg.Client, edition: number): Promise<void> {
  await client.query(
    `insert into schema_function (signature, step, hash, edition)
     select p.oid::regprocedure, s.name, s.hash, $1 from schema_step s join pg_proc p on p.xmin = s.xmin
      where s.name like 'functions/%' and not exists (select from schema_step o where o.xmin = s.xmin and o.name <> s.name)
     on conflict (signature) do update set step = excluded.step, hash = excluded.hash`,
    [edition],
  );
  await client.query(
    `update schema_function f set edition = $1 from schema_step s
      where s.name = f.step and s.hash = f.hash and s.name = any ($2)`,
    [edition, functionFiles()],
  );
}

/** During a rolling update older programs still run, so functions of the oldest compatible edition stay. */
async function dropFunctions(client: pg.Client, log: (line: string) => void): Promise<void> {
  const { rows } = await client.query<{ signature: string }>(
    'select signature from schema_function where edition < $1 order by signature',
    [MIN_COMPATIBLE],
  );
  for (const { signature } of rows) {
    try {
      await client.query(`drop function if exists ${signature}`);
      await client.query('delete from schema_function where signature = $1', [signature]);
      log(`drop function ${signature}`);
    } catch (error) {
      if (!(error instanceof pg.DatabaseError && error.code === DEPENDENT_OBJECTS_STILL_EXIST)) throw error;
      log(`function ${signature} is no longer used, but stays: ${error.message}`);
    }
  }
  // a file that comes back under that name with the same text has to be applied again
  await client.query(
    `delete from schema_step s where name like 'functions/%' and name <> all ($1)
        and not exists (select from schema_function f where f.step = s.name)`,
    [functionFiles()],
  );
}

const functionFiles = () => steps('functions').map((s) => s.name);

/** Whether this program can work on the database as it is. */
export async function schemaState(pool: pg.Pool): Promise<SchemaState> {
  const applied = await appliedSteps(pool);
  const ahead = aheadOf(applied, await recorded(pool));
  if (ahead && !ahead.compatible) return 'too_new';
  const missing = pending(applied).filter((step) => !ahead || step.name.startsWith(MIGRATIONS));
  return missing.length === 0 ? 'ok' : 'outdated';
}

async function appliedSteps(on: pg.Pool | pg.Client): Promise<Map<string, string>> {
  const { rows } = await on.query<{ name: string; hash: string }>('select name, hash from schema_step');
  return new Map(rows.map((r) => [r.name, r.hash]));
}

/** Undefined: last migrated by a version that recorded no edition. */
async function recorded(on: pg.Pool | pg.Client): Promise<Recorded | undefined> {
  const known = await on.query<{ it: string | null }>("select to_regclass('schema_edition') as it");
  if (known.rows[0]?.it == null) return undefined;
  return (await on.query<Recorded>('select edition, min_compatible from schema_edition')).rows[0];
}

/** Functions' files may have been renamed or removed since; migrations' never are. */
function aheadOf(applied: Map<string, string>, known: Recorded | undefined): SchemaAheadError | undefined {
  const compatible = (known?.min_compatible ?? 0) <= EDITION;
  if (known && known.edition > EDITION)
    return new SchemaAheadError(`it is of edition ${known.edition}, this program of edition ${EDITION}`, compatible);
  const ours = new Set(steps('migrations').map((s) => s.name));
  const unknown = [...applied.keys()].filter((name) => name.startsWith(MIGRATIONS) && !ours.has(name)).sort();
  if (unknown.length > 0)
    return new SchemaAheadError(`it has steps that this program does not know: ${unknown.join(', ')}`, compatible);
  return undefined;
}

function pending(applied: Map<string, string>): Step[] {
  const migrations = steps('migrations').filter((s) => {
    const hash = applied.get(s.name);
    if (hash !== undefined && hash !== s.hash) throw new Error(`${s.name} was changed after it had been applied`);
    return hash === undefined;
  });
  const functions = steps('functions').filter((s) => applied.get(s.name) !== s.hash);
  return [...migrations, ...functions];
}

/** The names of this program's migrations, in order. */
export const ownMigrations = (): string[] => steps('migrations').map((s) => s.name);

const cache = new Map<string, Step[]>();

function steps(kind: 'migrations' | 'functions'): Step[] {
  const folder = fileURLToPath(new URL(`${kind}/`, import.meta.url));
  const found = cache.get(kind) ?? sqlFiles(folder).map((file) => readStep(`${kind}/${file}`, folder + file));
  cache.set(kind, found);
  return found;
}

function readStep(name: string, path: string): Step {
  const sql = readFileSync(path, 'utf8');
  return { name, sql, hash: createHash('sha256').update(sql).digest('hex') };
}
