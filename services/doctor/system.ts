import { schemaObjects } from '../../db/objects.ts';
import { only } from '../../db/pool.ts';
import { schemaState, wrongSettings } from '../../runtime/database.ts';
import * as publisher from '../../runtime/followers/publisher.ts';
import { storeOf } from '../upkeep/reconciler.ts';
import { asked, type Check, type Examined, type Found } from './checks.ts';

/** Types of task queues in Temporal's API. */
const WORKFLOW = 1;
const ACTIVITY = 2;

/** What happens where a setting is off. */
const RISKS = [
  ['fsync', 'a crash of the machine destroys the database'],
  ['full_page_writes', 'a crash of the machine destroys pages'],
  ['synchronous_commit', 'a crash loses what was answered as done'],
] as const;

/** Checks the schema as a whole; where it is wrong, no other check can be made. */
export const SCHEMA_CHECK: Check = {
  name: 'schema',
  severity: 'broken',
  rule: 'the schema is the one that this program works with',
  advice: 'Run docket migrate, then docket doctor again.',
  async look({ db }) {
    const state = await schemaState(db.pool);
    if (state === 'ok') return [];
    const newer = 'Run docket doctor of the version that migrated the database.';
    return [{ id: state, ...(state === 'too_new' && { advice: newer }) }];
  },
};

export const DATABASE_CHECKS: readonly Check[] = [
  {
    name: 'objects',
    severity: 'broken',
    rule: 'the schema has all its tables, indexes, constraints and triggers, and they are in force',
    advice:
      'Make what is missing as in db/schema.sql, reindex what is not valid, and enable what is disabled; then look at the other checks again.',
    async look({ db }) {
      const present = new Set((await db.run('present_objects')).map(({ name }) => name));
      const missing = schemaObjects().filter((name) => !present.has(name));
      return [...missing.map((id) => ({ id, says: 'is missing' })), ...(await db.run('broken_objects'))];
    },
  },
  {
    name: 'settings',
    severity: 'warning',
    rule: 'PostgreSQL keeps what is committed, and has the settings that statements expect',
    advice: 'Change this in postgresql.conf and reload or restart PostgreSQL.',
    async look({ db }) {
      const f = only(await db.run('server_facts'));
      const found: Found[] = RISKS.filter(([name]) => f[name] === 'off').map(([id, why]) => ({
        id,
        says: `is off: ${why}`,
      }));
      for (const { name: id, value, wanted } of await wrongSettings(db.pool))
        found.push({ id, says: `is ${value}: Docket relies on ${wanted}` });
      return found;
    },
  },
  {
    name: 'secrets',
    severity: 'warning',
    rule: 'DOCKET_SECRETS_KEY opens all secrets of callbacks',
    advice:
      'Put the missing key behind the others in DOCKET_SECRETS_KEY, of all processes, or set these callbacks again.',
    async look({ db, secrets, deep }) {
      const all = await db.run('sealed_with', { all: deep });
      return all
        .filter(({ name }) => !secrets.has(name))
        .map(({ name, what, n }) => ({ id: `${what} sealed with the key ${name}`, says: String(n), n }));
    },
  },
];

/** @throws Error of Temporal, where it does not know the namespace or cannot be reached */
export async function reachTemporal(of: Examined): Promise<void> {
  const { client } = of;
  const { namespace } = client.options;
  // with a time limit of its own, because the first connection of a process may take most of that of the call
  await client.connection.ensureConnected();
  await asked(of, () => client.workflowService.describeNamespace({ namespace }));
}

/** Checks of Temporal, which must be reachable. */
export const TEMPORAL_CHECKS: readonly Check[] = [
  {
    name: 'processes',
    severity: 'warning',
    rule: 'an API and a worker are alive, workers poll all task queues, and all processes have the same Temporal',
    advice: 'Start docket api and docket worker, with the same TEMPORAL_ADDRESS and TEMPORAL_NAMESPACE everywhere.',
    async look(of) {
      const nodes = await of.db.run('live_nodes');
      const found: Found[] = [];
      if (!nodes.some(({ role }) => role !== 'worker')) found.push({ id: 'api', says: 'no such process is alive' });
      if (!only(await of.db.run('is_followed')).followed) found.push({ id: 'worker', says: 'none follows the log' });
      for (const [name, type] of [
        [publisher.TASK_QUEUE, WORKFLOW],
        [publisher.URGENT_TASK_QUEUE, WORKFLOW],
        [publisher.DELIVERY_TASK_QUEUE, ACTIVITY],
      ] as const)
        if (!(await isPolled(of, name, type))) found.push({ id: `task queue ${name}`, says: 'no worker polls it' });
      const own = await storeOf(of.client);
      for (const { id, role, store } of nodes)
        if (own !== undefined && store !== null && !store.startsWith(`${own}/`))
          found.push({ id: `${role} ${id}`, says: `has another Temporal, or not ${of.client.options.namespace}` });
      return found;
    },
  },
  {
    name: 'search-attribute',
    severity: 'warning',
    rule: 'Temporal knows the search attribute by which workflows are found by queue',
    advice: 'Run docket migrate with TEMPORAL_ADDRESS set; workflows that were started without it go on without it.',
    async look(of) {
      const { namespace } = of.client.options;
      const list = () => of.client.connection.operatorService.listSearchAttributes({ namespace });
      const { customAttributes } = await asked(of, list);
      return customAttributes?.[publisher.QUEUE_ATTRIBUTE] === undefined
        ? [{ id: publisher.QUEUE_ATTRIBUTE, says: 'is not registered' }]
        : [];
    },
  },
  {
    name: 'reconciliation',
    severity: 'warning',
    rule: 'no pass is under way that puts back what Temporal has lost',
    advice: 'Wait until it has ended, with processes that run, then run docket doctor again.',
    async look({ db, client }) {
      const [pass] = await db.run('reconciling');
      if (!pass) return [];
      const { stage, started_at, store } = pass;
      if (stage !== null) return [{ id: `stage ${stage}`, says: `since ${started_at.toISOString()}` }];
      const namespace = await storeOf(client);
      const known = store === '' || namespace === undefined || store.startsWith(`${namespace}/`);
      return known ? [] : [{ id: 'store', says: 'Temporal has another store than the one that Docket has filled' }];
    },
  },
  {
    name: 'versions',
    severity: 'info',
    rule: '',
    advice: 'Include these when you report a problem.',
    async look(of) {
      const [edition] = await of.db.run('recorded_edition');
      const { version: postgres } = only(await of.db.run('server_facts'));
      const { serverVersion } = await asked(of, () => of.client.workflowService.getSystemInfo({}));
      return [
        { id: `Docket ${of.version}` },
        { id: `schema edition ${edition?.edition ?? 0}` },
        { id: `PostgreSQL ${postgres}` },
        { id: `Temporal ${serverVersion || '(unknown)'}` },
      ];
    },
  },
];

async function isPolled(of: Examined, name: string, taskQueueType: number): Promise<boolean> {
  const { namespace } = of.client.options;
  const describe = () => of.client.workflowService.describeTaskQueue({ namespace, taskQueue: { name }, taskQueueType });
  const { pollers } = await asked(of, describe);
  return (pollers ?? []).length > 0;
}
