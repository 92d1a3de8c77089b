import { Connection, ScheduleClient } from '@temporalio/client';
import pg from 'pg';
import { afterAll, inject } from 'vitest';
import { type RunningProcess, startProcess } from '../../cli/process.ts';
import { needsSubject, type Role } from '../../contract/keys.ts';
import type { Config } from '../../runtime/config.ts';
import { readConfig } from '../../runtime/config.ts';
import { QUEUE_ATTRIBUTE } from '../../runtime/followers/publisher.ts';
import type { Limits } from '../../runtime/limits.ts';
import { api, type Client, type Json } from './client.ts';
import { onDatabase } from './database.ts';
import { atEndOfFile } from './endings.ts';
import { createKey } from './keys.ts';
import './workflow-threads.ts';

export interface TestSystem {
  running: RunningProcess;
  api: Client;
  config: Config;
  databaseUrl: string;
  namespace: string;
  /** A client with an API key of its own. @param subject the person or model that it speaks for, else its name */
  keyed(role: Role, subject?: string): Promise<Client>;
  /** Straight to the database, past the API: to look at rows and to make faults. */
  sql<T extends pg.QueryResultRow = pg.QueryResultRow>(text: string, values?: unknown[]): Promise<T[]>;
  /** The first cell of what a statement gives. */
  cell(text: string, values?: unknown[]): Promise<Json>;
  stop(): Promise<void>;
}

export interface TestStores {
  databaseUrl: string;
  namespace: string;
  temporalAddress: string;
}

/** One for all files of the process. */
const temporal = Connection.lazy({ address: inject('temporal') });
const KEYWORD = 2;

async function registerNamespace(namespace: string): Promise<void> {
  const workflowExecutionRetentionPeriod = { seconds: 86_400 as never };
  await temporal.workflowService.registerNamespace({ namespace, workflowExecutionRetentionPeriod });
  await temporal.operatorService.addSearchAttributes({ namespace, searchAttributes: { [QUEUE_ATTRIBUTE]: KEYWORD } });
}

/** Ends what would still fire where no worker is left: it costs Temporal more than all tests that run meanwhile. */
async function endSchedules(namespace: string): Promise<void> {
  const schedules = new ScheduleClient({ connection: temporal, namespace });
  for await (const { scheduleId } of schedules.list()) await schedules.getHandle(scheduleId).delete();
}

/** A database made from the migrated template, and a Temporal namespace nobody else uses. */
export async function testStores(): Promise<TestStores> {
  const server = inject('postgres');
  const n = await onDatabase(new URL('/postgres', server).href, async (admin) => {
    const { rows } = await admin.query<{ n: string }>(`select nextval('test_file') as n`);
    await admin.query(`create database t${rows[0]?.n} template docket`);
    return Number(rows[0]?.n);
  });
  const databaseUrl = new URL(`/t${n}`, server).href;
  const namespace = `test-${n}`;
  await registerNamespace(namespace);
  atEndOfFile(() => endSchedules(namespace));
  return {
    databaseUrl,
    namespace,
    temporalAddress: inject('temporal'),
  };
}

/** The whole of Docket in this process, on real servers. Stopped after the file's tests. */
export async function startTestSystem(
  env: Record<string, string> = {},
  options: { role?: 'api' | 'worker' | 'all'; stores?: TestStores; limits?: Partial<Limits> } = {},
): Promise<TestSystem> {
  const stores = options.stores ?? (await testStores());
  const config = readConfig(
    {
      PORT: '0',
      DOCKET_CACHE: inject('cacheDir'),
      DOCKET_ALLOW_PRIVATE_CALLBACKS: '1',
      TEMPORAL_NAMESPACE: stores.namespace,
      DOCKET_POOL: '6',
      LOG_LEVEL: 'error',
      ...env,
    },
    options.limits,
  );
  const running = await startProcess(options.role ?? 'all', config, {
    ...stores,
    temporalUiUrl: 'http://127.0.0.1:8233',
  });
  const pool = new pg.Pool({ connectionString: stores.databaseUrl, max: 2 });
  pool.on('error', () => {});
  let stopped = false;
  const stop = async () => {
    if (stopped) return;
    stopped = true;
    await running.stop();
    await pool.end();
  };
  afterAll(stop);
  // vitest forgets an afterAll of a running test
  atEndOfFile(stop);
  const client = api(running.url ?? '');
  return {
    running,
    config,
    ...stores,
    api: client,
    keyed: async (role, subject = role) => {
      const wanted = { name: subject, role, subject: needsSubject(role) ? subject : null };
      return client.as((await createKey(running.runtime.db, wanted)).key);
    },
    sql: async (text, values) => (await pool.query(text, values)).rows,
    cell: async (text, values) => (await pool.query({ text, values, rowMode: 'array' })).rows[0]?.[0],
    stop,
  };
}

/** Two processes on the same stores: nothing may depend on what one of them keeps in memory. Only the first has a worker. */
export async function startTwoSystems(role: 'api' | 'all' = 'all'): Promise<[TestSystem, TestSystem]> {
  const stores = await testStores();
  return [await startTestSystem({}, { role, stores }), await startTestSystem({}, { role: 'api', stores })];
}
