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
  /** This machine's clock, in milliseconds since 1970. */
  now(): number;
  /** How far clocks may be apart. */
  skewMs: number;
  /** Dead rows of a table that are bloat, where they are more than a share of its live ones. */
  bloatRows: number;
  bloatShare: number;
  /** How long a transaction may last. */
  transactionSeconds: number;
  secrets: Secrets;
  /** Whether to read every item. */
  deep: boolean;
}

const MOST = 1_000;
const TIMEOUT_MS = 10_000;
/** Share of the server's connections above which the check warns. */
const MOST_USED = 0.9;
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
  return [objects(o), settings(o), sealed(o), clock(o), bloat(o), horizon(o)];
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
    rule: 'PostgreSQL keeps what is committed, and has connections left',
    advice: 'Change this in postgresql.conf, or for connections lower DOCKET_POOL, and reload or restart PostgreSQL.',
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
      want('autovacuum', f.autovacuum, 'on', 'tables grow without end');
      want('default_transaction_isolation', f.isolation, 'read committed', 'statements rely on it');
      if (f.sessions > f.most_sessions * MOST_USED)
        found.push({ id: 'max_connections', says: `${f.sessions} of ${f.most_sessions} connections are used` });
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

function clock({ db, now, skewMs }: SystemOptions): Check {
  return {
    name: 'clock',
    severity: 'warning',
    rule: "this machine's clock and PostgreSQL's agree",
    advice: 'Set the clocks of both machines by NTP: Docket goes by that of PostgreSQL, callers often by their own.',
    async look() {
      const before = now();
      const server = only(await db.run('server_facts')).now.getTime();
      const after = now();
      const aheadMs = (before + after) / 2 - server;
      if (Math.abs(aheadMs) - (after - before) / 2 <= skewMs) return [];
      const how = aheadMs > 0 ? 'ahead of' : 'behind';
      return [{ id: 'this machine', says: `is ${(Math.abs(aheadMs) / 1000).toFixed(1)} s ${how} PostgreSQL` }];
    },
  };
}

function bloat({ db, bloatRows: rows, bloatShare: share }: SystemOptions): Check {
  return {
    name: 'bloat',
    severity: 'warning',
    rule: 'VACUUM keeps up with what is deleted',
    advice:
      'See the check horizon first, then VACUUM these tables and give autovacuum more (autovacuum_vacuum_cost_limit).',
    look: () => db.run('bloated_tables', { rows, share, limit: MOST }),
  };
}

function horizon({ db, transactionSeconds: seconds }: SystemOptions): Check {
  return {
    name: 'horizon',
    severity: 'warning',
    rule: 'no old transaction or slot keeps VACUUM from its work',
    advice:
      'End the session (pg_terminate_backend), commit or roll back the prepared transaction, or drop the slot, if no one needs it.',
    look: () => db.run('old_horizons', { seconds, limit: MOST }),
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
