import { type ChildProcess, spawn } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { Client, Connection } from '@temporalio/client';
import type pg from 'pg';
import { startPostgres } from '../cli/servers/postgres.ts';
import { startTemporal } from '../cli/servers/temporal.ts';
import { findTemporalCli } from '../cli/servers/temporal-cli.ts';
import { migrate } from '../db/migrate.ts';
import { type Db, openDb } from '../db/pool.ts';
import type { Limits } from '../runtime/limits.ts';

export interface Child {
  /** Where it listens; '' for a worker. */
  url: string;
  pid: number;
  stop(): Promise<void>;
}

interface Running {
  url: string;
  api: Child;
  worker: Child;
  /**
   * Lets a rival have its turn while the worker is stopped and what it had not published is forgotten. The API goes on:
   * one that has run for a while is what callers meet.
   */
  aside(turn: () => Promise<void>): Promise<void>;
  stop(): Promise<void>;
}

/** Servers of our own in a temporary folder, with the durability that a user gets. */
export interface Lab {
  quick: boolean;
  /** For the servers of rivals; removed at the end. */
  dir: string;
  cacheDir: string;
  postgresUrl: string;
  databaseUrl: string;
  temporalAddress: string;
  temporalPid: number;
  db: Db;
  client: Client;
  say(line: string): void;
  /** Docket's own processes, as `docket api` and `docket worker` start them. */
  docket(env?: Record<string, string>, limits?: Partial<Limits>): Promise<Running>;
  child(script: string, args: string[], env?: Record<string, string>): Promise<Child>;
  sql<T extends pg.QueryResultRow>(text: string, values?: unknown[]): Promise<T[]>;
  stop(): Promise<void>;
}

const WARM_MS = 3_000;

/** Opens everything; `stop` ends it and removes the folder. */
export async function openLab(quick: boolean, say: (line: string) => void): Promise<Lab> {
  const dir = mkdtempSync(join(tmpdir(), 'docket-bench-'));
  chmodSync(dir, 0o755); // as root the database runs as another user
  mkdirSync(join(dir, 'pg'));
  const cacheDir = process.env.DOCKET_CACHE || join(homedir(), '.cache', 'docket');
  const cli = await findTemporalCli({ given: process.env.TEMPORAL_CLI, cacheDir, say });
  const postgres = await startPostgres(join(dir, 'pg', 'postgres'), {
    ...(process.env.BENCH_PG && { settings: JSON.parse(process.env.BENCH_PG) as Record<string, string> }),
  });
  const temporal = await startTemporal({ cli, dir: join(dir, 'temporal'), port: 0, uiPort: 0, namespace: 'default' });
  await migrate(postgres.url);
  const db = openDb({ url: postgres.url, node: 'bench', max: 4 });
  const connection = await Connection.connect({ address: temporal.address });
  const stores = { DATABASE_URL: postgres.url, TEMPORAL_ADDRESS: temporal.address, DOCKET_CACHE: cacheDir, PORT: '0' };
  const children = new Set<Child>();
  const child: Lab['child'] = async (script, args, env = {}) => {
    const started = await startChild(script, args, { ...process.env, ...stores, ...env });
    children.add(started);
    return started;
  };
  const sql: Lab['sql'] = async (text, values) => (await db.pool.query(text, values)).rows;
  const docket: Lab['docket'] = async (env, limits = {}) => {
    const program = fileURLToPath(new URL('process.mjs', import.meta.url));
    const part = (role: string) => child(program, [role, JSON.stringify(limits)], env);
    const api = await part('api');
    const running: Running = {
      ...{ url: api.url, api, worker: await part('worker') },
      async aside(turn) {
        await running.worker.stop();
        await forgetUnpublished({ sql });
        await turn();
        running.worker = await part('worker');
        await ready(api.url);
        // its code is compiled, its first pass over the log is over
        await sleep(WARM_MS);
      },
      stop: async () => void (await Promise.all([api.stop(), running.worker.stop()])),
    };
    await ready(api.url);
    return running;
  };
  await meet(sql, docket);
  return {
    ...{
      quick,
      dir,
      cacheDir,
      postgresUrl: postgres.url,
      databaseUrl: postgres.url,
      temporalAddress: temporal.address,
      temporalPid: temporal.pid,
    },
    ...{ db, say, child, docket, client: new Client({ connection }) },
    sql,
    async stop() {
      await Promise.all([...children].map((c) => c.stop()));
      await db.end();
      await connection.close();
      await temporal.stop();
      await postgres.stop();
      rmSync(dir, { recursive: true, force: true });
    },
  };
}

/**
 * The first start of all finds a Temporal that knows no workflow of this database, and has one started for each item that
 * waits: with what a scenario seeds, for hours beside what it measures.
 */
async function meet(sql: Lab['sql'], docket: Lab['docket']): Promise<void> {
  const first = await docket();
  while ((await sql('select from reconciliation where finished_at is not null')).length === 0) await sleep(100);
  await first.stop();
}

/** Runs a script of ours until it says that it is ready, with its address if it has one. */
function startChild(script: string, args: string[], env: NodeJS.ProcessEnv): Promise<Child> {
  const process_ = spawn(process.execPath, [...(process.env.BENCH_NODE?.split(' ') ?? []), script, ...args], {
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  return new Promise((resolve, reject) => {
    process_.once('exit', (code) => reject(new Error(`${script} ${args.join(' ')} ended with ${code}`)));
    process_.stdout?.setEncoding('utf8').on('data', (text: string) => {
      if (!text.includes('ready')) return;
      const url = /http:\/\/[^\s,]+/.exec(text)?.[0] ?? '';
      resolve({ url, pid: process_.pid ?? 0, stop: () => end(process_) });
    });
  });
}

function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return Promise.resolve();
  return new Promise((resolve) => {
    child.removeAllListeners('exit');
    child.once('exit', () => resolve());
    child.kill('SIGTERM');
  });
}

async function ready(url: string): Promise<void> {
  for (let tries = 0; tries < 600; tries++) {
    if ((await fetch(`${url}/readyz`)).ok) return;
    await sleep(100);
  }
  throw new Error(`${url} is not ready`);
}

/** Waits until every transition has been told to its workflow. @returns seconds */
export async function drained(lab: Lab, seconds = 600): Promise<number> {
  const start = performance.now();
  for (;;) {
    const [lag] = await lab.db.run('publishing_lag');
    const passed = (performance.now() - start) / 1000;
    if (lag?.waiting === 0) return passed;
    if (passed > seconds) throw new Error(`not everything is published after ${seconds} s`);
    await sleep(50);
  }
}

/** Forgets what has not been published, else that would go on beside what is measured next. */
export async function forgetUnpublished(lab: Pick<Lab, 'sql'>): Promise<void> {
  await lab.sql(`update log_shard set owner = null, epoch = epoch + 1,
    reviews = (select coalesce(max(arrival), 0) from review_callback), outcomes = m.id, rest = m.id, idle = m.id
    from (select coalesce(max(id), 0) as id from event) m`);
  await lab.sql('truncate unpublished');
}

/** What `work` adds is published to no workflow. */
export async function withoutWorkflows(lab: Lab, work: () => Promise<unknown>): Promise<void> {
  await lab.sql(`create or replace function leave_unpublished() returns trigger language plpgsql as $$
    begin new.version := null; return new; end $$`);
  await lab.sql(
    'create trigger leave_unpublished before insert on event for each row execute function leave_unpublished()',
  );
  try {
    await work();
  } finally {
    await lab.sql('drop trigger leave_unpublished on event');
  }
}

/** CPU seconds that a process has used. Linux only. */
export function cpuSeconds(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
    .replace(/^.*\) /, '')
    .split(' ');
  return (Number(fields[11]) + Number(fields[12])) / 100;
}
