import { type Client, WorkflowNotFoundError } from '@temporalio/client';
import { KINDS } from '../../contract/kinds.ts';
import type { Driven, Kind, Message } from '../../contract/snapshot.ts';
import type { Db } from '../../db/pool.ts';
import { kindOfWorkflow, workflowId, workflowOf } from '../../domain/kinds.ts';
import { snapshotOf } from '../../runtime/followers/messages.ts';
import { startDelivery } from '../deliveries/deliveries.ts';
import { inBatches } from '../shared/batching.ts';
import { restart } from '../upkeep/reconciler.ts';
import { type Check, eachOf, type Found } from './checks.ts';

interface WorkflowOptions {
  db: Db;
  client: Client;
  /** Age of a state in PostgreSQL after which Temporal must have it too. */
  overSeconds: number;
}

/** An item or review, which a workflow drives. */
interface Subject {
  kind: Driven;
  id: string;
}

/** Items that one statement reads or marks. */
const BATCH = 5_000;
const PAGE = 1_000;
const AT_ONCE = 16;
const TIMEOUT_MS = 10_000;
/** Violations of one check that are listed; above this number, a repair runs a full reconcile. */
const MOST = 10_000;
const DELIVERY = 'delivery/';
const ITEMS: ReadonlySet<string> = new Set(KINDS);

/** Compares rows with workflows, in both directions. */
export function workflowChecks(o: WorkflowOptions): Check[] {
  // listed once, by the first check that needs it; a second look describes single workflows
  let listed: Promise<Set<string>> | undefined;
  const running = () => {
    listed ??= listRunning(o.client);
    return listed;
  };
  return [missing(o, running), stranded(o, running), undelivered(o, running), leftOver(o, running)];
}

/**
 * The ids of Docket's running workflows from Temporal's visibility store, which is some seconds late. A million of them
 * take about a minute and 100 MB.
 */
async function listRunning(client: Client): Promise<Set<string>> {
  const ids = new Set<string>();
  const own = new Set([workflowOf('review').type, 'redelivery']);
  for await (const { workflowId: id, type } of client.workflow.list({
    query: "ExecutionStatus = 'Running'",
    pageSize: PAGE,
  }))
    if (own.has(type) || kindOfWorkflow(type)) ids.add(id);
  return ids;
}

/** The item or review of a workflow. */
function subjectOf(id: string): Subject {
  const at = id.indexOf('/');
  return { kind: id.slice(0, at) as Driven, id: id.slice(at + 1) };
}

const columnsOf = (all: Subject[]) => ({ kinds: all.map(({ kind }) => kind), ids: all.map(({ id }) => id) });
const foundOf = (subject: Subject, says: string): Found => ({ id: workflowId(subject), says });

/** Temporal's status of each of these workflows, `none` for unknown ones. */
async function statusesOf(client: Client, ids: string[]): Promise<Map<string, string>> {
  const statuses = new Map<string, string>();
  await eachOf(ids, AT_ONCE, async (id) => {
    try {
      const ask = () => client.workflow.getHandle(id).describe();
      statuses.set(id, (await client.withDeadline(Date.now() + TIMEOUT_MS, ask)).status.name);
    } catch (error) {
      if (!(error instanceof WorkflowNotFoundError)) throw error;
      statuses.set(id, 'none');
    }
  });
  return statuses;
}

const RUNNING = 'RUNNING';
const START_AGAIN = 'Run docket doctor --repair while a worker runs: followers of the log start these workflows again.';
/** The running ones among these workflows, which are described one by one. */
async function stillRunning(client: Client, ids: string[]): Promise<Set<string>> {
  const statuses = await statusesOf(client, [...new Set(ids)]);
  return new Set(ids.filter((id) => statuses.get(id) === RUNNING));
}

const describedAs = (status: string | undefined) =>
  status === undefined || status === 'none' ? 'it has no workflow' : `its workflow is ${status.toLowerCase()}`;

function missing({ db, client }: WorkflowOptions, running: () => Promise<Set<string>>): Check {
  /** Items that need a workflow, and have none in the list of running ones. */
  const suspected = async (): Promise<Subject[]> => {
    const known = await running();
    const subjects: Subject[] = [];
    let after = { afterKind: '', afterId: '' };
    for (;;) {
      const part = await db.run('driven_part', { ...after, limit: BATCH });
      const last = part.find(({ wanted }) => wanted === null);
      if (!last || subjects.length >= MOST) return subjects;
      for (const row of part) if (row.wanted && !known.has(workflowId(row))) subjects.push(row);
      after = { afterKind: last.kind, afterId: last.id };
    }
  };
  return {
    name: 'workflows-missing',
    severity: 'broken',
    rule: 'each item for which time or its outcome matters has a running workflow',
    advice: (found) =>
      found.some(({ says }) => says === describedAs('COMPLETED'))
        ? 'A workflow that has completed is not started again: go on with a namespace that was never used, as after a restore.'
        : START_AGAIN,
    async look(before) {
      const subjects = before ? before.map(({ id }) => subjectOf(id)) : await suspected();
      const driven = await inBatches(subjects, BATCH, (batch) => db.run('still_driven', columnsOf(batch)));
      if (!before) return driven.map((subject) => foundOf(subject, 'it has no workflow'));
      const statuses = await statusesOf(client, driven.map(workflowId));
      return driven.flatMap((subject) => {
        const status = statuses.get(workflowId(subject));
        return status === RUNNING ? [] : [foundOf(subject, describedAs(status))];
      });
    },
    async repair(found) {
      if (found.length >= MOST) {
        await restart(db);
        return `${found.length} or more are missing: a pass over all rows has begun, as with docket reconcile.`;
      }
      return publishAgain(db, found);
    },
  };
}

/** Marks items, whose workflows are then started or signalled by the followers of the log. */
async function publishAgain(db: Db, found: Found[]): Promise<string> {
  await inBatches(found, BATCH, (batch) => db.run('publish_again', columnsOf(batch.map(({ id }) => subjectOf(id)))));
  return `${found.length} are marked to be published again, which workers do within seconds.`;
}

/** A review's workflow runs only while there is work; a repeated delivery of a change has a workflow of its own. */
function stranded({ db, client, overSeconds: seconds }: WorkflowOptions, running: () => Promise<Set<string>>): Check {
  return {
    name: 'reviews-stranded',
    severity: 'broken',
    rule: 'reviews with callbacks to apply or changes to deliver have a running workflow',
    advice: START_AGAIN,
    async look(before) {
      const rows = (await db.run('driven_reviews', { seconds, limit: MOST })).map(({ id, n }) => {
        const subject = { kind: 'review' as const, id };
        const own = workflowId(subject);
        return { subject, drivers: n === null ? [own] : [own, `${DELIVERY}${own}/${n}`] };
      });
      const known = before
        ? await stillRunning(
            client,
            rows.flatMap(({ drivers }) => drivers),
          )
        : await running();
      const left = rows.filter(({ drivers }) => !drivers.some((id) => known.has(id)));
      const found = left.map(({ subject }) => foundOf(subject, 'callbacks or changes of it are left'));
      return [...new Map(found.map((one) => [one.id, one])).values()];
    },
    repair: (found) => publishAgain(db, found),
  };
}

/** Repeated deliveries and invitations have their own workflows. */
function undelivered(
  { db, client, overSeconds: seconds }: WorkflowOptions,
  running: () => Promise<Set<string>>,
): Check {
  return {
    name: 'deliveries-stranded',
    severity: 'broken',
    rule: 'pending deliveries that are repeated or invitations have a running workflow',
    advice: 'Run docket doctor --repair, which queues these deliveries again.',
    async look(before) {
      const rows = await db.run('own_deliveries', { seconds, limit: MOST });
      const ids = rows.map(({ kind, item_id, n }) => `${DELIVERY}${kind}/${item_id}/${n}`);
      const known = before ? await stillRunning(client, ids) : await running();
      return ids.filter((id) => !known.has(id)).map((id) => ({ id, says: 'it is pending, and no one makes it' }));
    },
    async repair(found) {
      await eachOf(found, AT_ONCE, async ({ id }) => {
        const { kind, id: rest } = subjectOf(id.slice(DELIVERY.length));
        const at = rest.lastIndexOf('/');
        await startDelivery(client, kind, rest.slice(0, at), Number(rest.slice(at + 1)), 'USE_EXISTING');
      });
      return `${found.length} are queued again.`;
    },
  };
}

function leftOver(o: WorkflowOptions, running: () => Promise<Set<string>>): Check {
  const { db, client, overSeconds: seconds } = o;
  return {
    name: 'workflows-left',
    severity: 'broken',
    rule: 'no workflow runs for an item that is over or does not exist',
    advice:
      'Run docket doctor --repair while a worker runs: it sends these workflows the state of their items, and they end; terminate in the Temporal UI those that fail all the same.',
    async look(before) {
      const ids = before ? before.map(({ id }) => id) : [...(await running())];
      // the workflow of a review ends by itself, that of a delivery with the delivery
      const subjects = ids.map(subjectOf).filter(({ kind }) => ITEMS.has(kind));
      const rows = await inBatches(subjects, BATCH, (batch) =>
        db.run('needless_items', { ...columnsOf(batch), seconds }),
      );
      const left = rows.slice(0, MOST).map(({ present, ...row }) => {
        const subject = { kind: row.kind as Driven, id: row.id };
        return foundOf(subject, present ? 'its item is over' : 'there is no such item');
      });
      if (!before) return left;
      const known = await stillRunning(
        client,
        left.map(({ id }) => id),
      );
      return left.filter(({ id }) => known.has(id));
    },
    async repair(found) {
      await eachOf(found, AT_ONCE, ({ id }) => sendState(o, id));
      return `${found.length} were sent the state of their items; each ends with its next workflow task.`;
    },
  };
}

/** Sends a workflow the state of its item. */
async function sendState({ db, client }: WorkflowOptions, id: string): Promise<void> {
  const subject = subjectOf(id);
  const [row] = await db.run('read_item', { kind: subject.kind as Kind, id: subject.id });
  const handle = client.workflow.getHandle(id);
  const message: Message | undefined = row && { snapshot: snapshotOf(row, row.now, row.epoch), events: [] };
  try {
    // there is no state of a missing item: an unknown signal makes its workflow read the row, and end
    await client.withDeadline(Date.now() + TIMEOUT_MS, () =>
      message ? handle.signal('changed', message) : handle.signal('doctor'),
    );
  } catch (error) {
    if (!(error instanceof WorkflowNotFoundError)) throw error;
  }
}
