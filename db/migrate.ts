import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import pg from 'pg';

const MIGRATE_LOCK = 7236000;

interface Step {
  name: string;
  sql: string;
  hash: string;
}

/**
 * Brings the schema up to date: numbered migrations once each, in order, then every file of
 * db/functions whose text changed. Each step is its own transaction; an advisory lock keeps two
 * processes from doing it at once.
 * @returns the names of the steps that were applied
 * @throws when an applied migration's text was changed afterwards
 */
export async function migrate(url: string, log: (line: string) => void = () => {}): Promise<string[]> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 10_000 });
  await client.connect();
  try {
    await client.query('select pg_advisory_lock($1)', [MIGRATE_LOCK]);
    await client.query(`create table if not exists schema_step (
      name text primary key, hash text not null, applied_at timestamptz not null default clock_timestamp())`);
    const { rows } = await client.query<{ name: string; hash: string }>('select name, hash from schema_step');
    const applied = new Map(rows.map((r) => [r.name, r.hash]));
    const done: string[] = [];
    for (const step of pending(applied)) {
      log(`migrate ${step.name}`);
      await client.query('begin');
      await client.query("set local lock_timeout = '5s'");
      // functions call each other across files
      await client.query('set local check_function_bodies = off');
      await client.query(step.sql);
      await client.query(
        `insert into schema_step (name, hash) values ($1, $2)
         on conflict (name) do update set hash = excluded.hash, applied_at = clock_timestamp()`,
        [step.name, step.hash],
      );
      await client.query('commit');
      done.push(step.name);
    }
    return done;
  } finally {
    await client.end();
  }
}

/** Whether the database is at the schema this code was written for. */
export async function schemaIsCurrent(pool: pg.Pool): Promise<boolean> {
  const { rows } = await pool.query<{ name: string; hash: string }>('select name, hash from schema_step');
  return pending(new Map(rows.map((r) => [r.name, r.hash]))).length === 0;
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

const cache = new Map<string, Step[]>();

function steps(kind: 'migrations' | 'functions'): Step[] {
  const known = cache.get(kind);
  if (known) return known;
  const folder = fileURLToPath(new URL(`${kind}/`, import.meta.url));
  const found = readdirSync(folder)
    .filter((f) => f.endsWith('.sql'))
    .sort()
    .map((f) => {
      const sql = readFileSync(folder + f, 'utf8');
      return { name: `${kind}/${f}`, sql, hash: createHash('sha256').update(sql).digest('hex') };
    });
  cache.set(kind, found);
  return found;
}
