import pg from 'pg';
import { afterAll, inject } from 'vitest';
import { type RunningProcess, startProcess } from '../../cli/process.ts';
import type { Config } from '../../runtime/config.ts';
import { readConfig } from '../../runtime/config.ts';
import { api, type Client } from './client.ts';

export interface TestSystem {
  running: RunningProcess;
  api: Client;
  config: Config;
  databaseUrl: string;
  namespace: string;
  /** Straight to the database, past the API: to look at rows and to make faults. */
  sql<T extends pg.QueryResultRow = pg.QueryResultRow>(text: string, values?: unknown[]): Promise<T[]>;
  stop(): Promise<void>;
}

export interface TestStores {
  databaseUrl: string;
  namespace: string;
  temporalAddress: string;
}

/** A database made from the migrated template, and a Temporal namespace nobody else uses. */
export async function testStores(): Promise<TestStores> {
  const server = inject('postgres');
  const admin = new pg.Client({ connectionString: new URL('/postgres', server).href });
  await admin.connect();
  const { rows } = await admin.query<{ n: string }>(`select nextval('test_file') as n`);
  const n = Number(rows[0]?.n);
  await admin.query(`create database t${n} template docket`);
  await admin.end();
  return {
    databaseUrl: new URL(`/t${n}`, server).href,
    namespace: `test-${n - 1}`,
    temporalAddress: inject('temporal'),
  };
}

/** The whole of Docket in this process, on real servers. Stopped after the file's tests. */
export async function startTestSystem(
  env: Record<string, string> = {},
  options: { role?: 'api' | 'worker' | 'all'; stores?: TestStores } = {},
): Promise<TestSystem> {
  const stores = options.stores ?? (await testStores());
  const config = readConfig({
    PORT: '0',
    DOCKET_CACHE: inject('cacheDir'),
    DOCKET_ALLOW_PRIVATE_CALLBACKS: '1',
    TEMPORAL_NAMESPACE: stores.namespace,
    DOCKET_POOL: '12',
    LOG_LEVEL: 'error',
    ...env,
  });
  const running = await startProcess(options.role ?? 'all', config, {
    ...stores,
    temporalUiUrl: 'http://127.0.0.1:8233',
  });
  const pool = new pg.Pool({ connectionString: stores.databaseUrl, max: 4 });
  pool.on('error', () => {});
  let stopped = false;
  const stop = async () => {
    if (stopped) return;
    stopped = true;
    await running.stop();
    await pool.end();
  };
  afterAll(stop);
  return {
    running,
    config,
    ...stores,
    api: api(running.url ?? ''),
    sql: async (text, values) => (await pool.query(text, values)).rows,
    stop,
  };
}
