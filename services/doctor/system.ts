import type { Client } from '@temporalio/client';
import { schemaObjects } from '../../db/objects.ts';
import { type Db, only } from '../../db/pool.ts';
import { schemaState } from '../../runtime/database.ts';
import {
  DELIVERY_TASK_QUEUE,
  QUEUE_ATTRIBUTE,
  TASK_QUEUE,
  URGENT_TASK_QUEUE,
} from '../../runtime/followers/publisher.ts';
import type { Secrets } from '../../runtime/secrets.ts';
import { storeOf } from '../upkeep/reconciler.ts';
import type { Check, Found } from './checks.ts';

interface SystemOptions {
  db: Db;
  client: Client;
  /** The version of this program. */
  version: string;
  secrets: Secrets;
  /** Whether to read every item. */
  deep: boolean;
}

const TIMEOUT_MS = 10_000;
/** Types of task queues in Temporal's API. */
const WORKFLOW = 1;
const ACTIVITY = 2;

/** Checks the schema as a whole; where it is wrong, no other check can be made. */
export const schemaCheck = ({ db }: Pick<SystemOptions, 'db'>): Check => ({
  name: 'schema',
  severity: 'broken',
  rule: 'the schema is the one that this program works with',
  advice: ([found]) =>
    found?.id === 'too_new'
      ? 'Run docket doctor of the version that migrated the database.'
      : 'Run docket migrate, then docket doctor again.',
  async look() {
    const state = await schemaState(db.pool);
    return state === 'ok' ? [] : [{ id: state }];
  },
});

/** Checks of PostgreSQL. */
export function databaseChecks(o: SystemOptions): Check[] {
  return [objects(o), settings(o), sealed(o)];
}

/** Checks of Temporal, which must be reachable. */
export function temporalChecks(o: SystemOptions): Check[] {
  return [processes(o), attribute(o), reconciliation(o), versions(o)];
}

function objects({ db }: SystemOptions): Check {
  return {
    name: 'objects',
    severity: 'broken',
    rule: 'the schema has all its tables, indexes, constraints and triggers, and they are in force',
    advice:
      'Make what is missing as in db/schema.sql, reindex what is not valid, and enable what is disabled; then look at the other checks again.',
    async look() {
      const present = new Set((await db.run('present_objects')).map(({ name }) => name));
      const missing = schemaObjects().filter((name) => !present.has(name));
      return [...missing.map((id) => ({ id, says: 'is missing' })), ...(await db.run('broken_objects'))];
    },
  };
}

function settings({ db }: SystemOptions): Check {
  return {
    name: 'settings',
    severity: 'warning',
    rule: 'PostgreSQL keeps what is committed, and isolates transactions as statements expect',
    advice: 'Change this in postgresql.conf and reload or restart PostgreSQL.',
    async look() {
      const f = only(await db.run('server_facts'));
      const found: Found[] = [];
      const want = (name: string, value: string, wanted: string, why: string) => {
        if (value !== wanted) found.push({ id: name, says: `is ${value}: ${why}` });
      };
      want('fsync', f.fsync, 'on', 'a crash of the machine destroys the database');
      want('full_page_writes', f.full_page_writes, 'on', 'a crash of the machine destroys pages');
      if (f.synchronous_commit === 'off')
        found.push({ id: 'synchronous_commit', says: 'is off: a crash loses what was answered as done' });
      want('default_transaction_isolation', f.isolation, 'read committed', 'statements rely on it');
      return found;
    },
  };
}

function sealed({ db, secrets, deep }: SystemOptions): Check {
  return {
    name: 'secrets',
    severity: 'warning',
    rule: 'DOCKET_SECRETS_KEY opens all secrets of callbacks',
    advice:
      'Put the missing key behind the others in DOCKET_SECRETS_KEY, of all processes, or set these callbacks again.',
    async look() {
      const all = await db.run('sealed_with', { all: deep });
      return all
        .filter(({ name }) => !secrets.has(name))
        .map(({ name, what, n }) => ({ id: `${what} sealed with the key ${name}`, says: String(n), n }));
    },
  };
}

/** @throws Error of Temporal, where it does not know the namespace or cannot be reached */
export const reachTemporal = async (client: Client): Promise<unknown> => {
  const { namespace } = client.options;
  // with a time limit of its own, because the first connection of a process may take most of that of the call
  await client.connection.ensureConnected();
  return client.withDeadline(Date.now() + TIMEOUT_MS, () => client.workflowService.describeNamespace({ namespace }));
};

function processes({ db, client }: SystemOptions): Check {
  const { namespace } = client.options;
  const polled = async (name: string, taskQueueType: number) => {
    const ask = () => client.workflowService.describeTaskQueue({ namespace, taskQueue: { name }, taskQueueType });
    const { pollers } = await client.withDeadline(Date.now() + TIMEOUT_MS, ask);
    return (pollers ?? []).length > 0;
  };
  return {
    name: 'processes',
    severity: 'warning',
    rule: 'an API and a worker are alive, and workers poll all task queues',
    advice: 'Start docket api and docket worker, with the same TEMPORAL_NAMESPACE everywhere.',
    async look() {
      const nodes = await db.run('live_nodes');
      const found: Found[] = [];
      if (!nodes.some(({ role }) => role !== 'worker')) found.push({ id: 'api', says: 'no such process is alive' });
      if (!only(await db.run('is_followed')).followed) found.push({ id: 'worker', says: 'none follows the log' });
      for (const [name, type] of [
        [TASK_QUEUE, WORKFLOW],
        [URGENT_TASK_QUEUE, WORKFLOW],
        [DELIVERY_TASK_QUEUE, ACTIVITY],
      ] as const)
        if (!(await polled(name, type))) found.push({ id: `task queue ${name}`, says: 'no worker polls it' });
      return found;
    },
  };
}

function attribute({ client }: SystemOptions): Check {
  const { namespace } = client.options;
  return {
    name: 'search-attribute',
    severity: 'warning',
    rule: 'Temporal knows the search attribute by which workflows are found by queue',
    advice: 'Run docket migrate with TEMPORAL_ADDRESS set; workflows that were started without it go on without it.',
    async look() {
      const ask = () => client.connection.operatorService.listSearchAttributes({ namespace });
      const { customAttributes } = await client.withDeadline(Date.now() + TIMEOUT_MS, ask);
      return customAttributes?.[QUEUE_ATTRIBUTE] === undefined
        ? [{ id: QUEUE_ATTRIBUTE, says: 'is not registered' }]
        : [];
    },
  };
}

function reconciliation({ db, client }: SystemOptions): Check {
  return {
    name: 'reconciliation',
    severity: 'warning',
    rule: 'no pass is under way that puts back what Temporal has lost',
    advice: 'Wait until it has ended, with processes that run, then run docket doctor again.',
    async look() {
      const [pass] = await db.run('reconciling');
      if (!pass) return [];
      const { stage, started_at, store } = pass;
      if (stage !== null) return [{ id: `stage ${stage}`, says: `since ${started_at.toISOString()}` }];
      const namespace = await storeOf(client);
      const known = store === '' || namespace === undefined || store.startsWith(`${namespace}/`);
      return known ? [] : [{ id: 'store', says: 'Temporal has another store than the one that Docket has filled' }];
    },
  };
}

function versions({ db, client, version }: SystemOptions): Check {
  return {
    name: 'versions',
    severity: 'info',
    rule: '',
    advice: 'Include these when you report a problem.',
    async look() {
      const [edition] = await db.run('recorded_edition');
      const { version: postgres } = only(await db.run('server_facts'));
      const ask = () => client.workflowService.getSystemInfo({});
      const { serverVersion } = await client.withDeadline(Date.now() + TIMEOUT_MS, ask);
      const facts = [
        `Docket ${version}`,
        `schema edition ${edition?.edition ?? 0}`,
        `PostgreSQL ${postgres}`,
        `Temporal ${serverVersion || '(unknown)'}`,
      ];
      return facts.map((id) => ({ id }));
    },
  };
}
