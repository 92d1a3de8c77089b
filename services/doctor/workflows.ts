import { type Client, WorkflowNotFoundError } from '@temporalio/client';
import { KINDS } from '../../contract/kinds.ts';
import type { Driven, Kind, Message } from '../../contract/snapshot.ts';
import { columnsOf } from '../../db/pool.ts';
import { kindOfWorkflow, workflowId, workflowOf } from '../../domain/kinds.ts';
import { snapshotOf } from '../../runtime/followers/messages.ts';
import { startDelivery } from '../deliveries/deliveries.ts';
import { inBatches } from '../shared/batching.ts';
import { restart } from '../upkeep/reconciler.ts';
import { asked, type Check, type Examined, eachOf, type Found } from './checks.ts';

/** An item or review, which a workflow drives. */
interface Subject {
  kind: Driven;
  id: string;
}

/** Items that one statement reads or marks. */
const BATCH = 5_000;
const PAGE = 1_000;
const AT_ONCE = 16;
/** Violations of one check that are listed; above this number, a repair runs a full reconcile. */
const MOST = 10_000;
const DELIVERY = 'delivery/';
const ITEMS: ReadonlySet<string> = new Set(KINDS);
const RUNNING = 'RUNNING';
/** It runs, and its next task has yet to: on a busy machine later than the second look. */
const BUSY = 'BUSY';
const START_AGAIN = 'Run docket doctor --repair while a worker runs: followers of the log start these workflows again.';
const NOT_AGAIN =
  'A workflow that has completed is not started again: go on with a namespace that was never used, as after a restore.';

/** Compares rows with workflows, in both directions. A first look lists running workflows, a second one describes single ones. */
export const WORKFLOW_CHECKS: readonly Check[] = [
  {
    name: 'workflows-missing',
    severity: 'broken',
    rule: 'each item for which time or its outcome matters has a running workflow',
    advice: START_AGAIN,
    async look(of, before) {
      const subjects = before ? before.map(({ id }) => subjectOf(id)) : await withoutWorkflow(of);
      const driven = await inBatches(subjects, BATCH, (batch) => of.db.run('still_driven', keysOf(batch)));
      const statuses = before ? await statusesOf(of, driven.map(workflowId)) : new Map<string, string>();
      return driven.flatMap((subject) => {
        const status = statuses.get(workflowId(subject)) ?? 'none';
        if (status === RUNNING || status === BUSY) return [];
        const says = status === 'none' ? 'it has no workflow' : `its workflow is ${status.toLowerCase()}`;
        return [{ ...foundOf(subject, says), ...(status === 'COMPLETED' && { advice: NOT_AGAIN }) }];
      });
    },
    async repair(of, found) {
      if (found.length < MOST) return publishAgain(of, found);
      await restart(of.db);
      return `${found.length} or more are missing: a pass over all rows has begun, as with docket reconcile.`;
    },
  },
  {
    // a review's workflow runs only while there is work; a repeated delivery of a change has a workflow of its own
    name: 'reviews-stranded',
    severity: 'broken',
    rule: 'reviews with callbacks to apply or changes to deliver have a running workflow',
    advice: START_AGAIN,
    async look(of, before) {
      const rows = (await of.db.run('driven_reviews', { seconds: of.limits.overSeconds, limit: MOST })).map((row) => {
        const subject = { kind: 'review' as const, id: row.id };
        const own = workflowId(subject);
        return { subject, drivers: row.n === null ? [own] : [own, `${DELIVERY}${own}/${row.n}`] };
      });
      const drivers = rows.flatMap((row) => row.drivers);
      const known = await runningOf(of, drivers, before);
      const left = rows.filter((row) => !row.drivers.some((id) => known.has(id)));
      const found = left.map(({ subject }) => foundOf(subject, 'callbacks or changes of it are left'));
      return [...new Map(found.map((one) => [one.id, one])).values()];
    },
    repair: publishAgain,
  },
  {
    // repeated deliveries and invitations have workflows of their own
    name: 'deliveries-stranded',
    severity: 'broken',
    rule: 'pending deliveries that are repeated or invitations have a running workflow',
    advice: 'Run docket doctor --repair, which queues these deliveries again.',
    async look(of, before) {
      const rows = await of.db.run('own_deliveries', { seconds: of.limits.overSeconds, limit: MOST });
      const ids = rows.map(({ kind, item_id, n }) => `${DELIVERY}${kind}/${item_id}/${n}`);
      const known = await runningOf(of, ids, before);
      return ids.filter((id) => !known.has(id)).map((id) => ({ id, says: 'it is pending, and no one makes it' }));
    },
    async repair({ client }, found) {
      await eachOf(found, AT_ONCE, async ({ id }) => {
        const { kind, id: rest } = subjectOf(id.slice(DELIVERY.length));
        const at = rest.lastIndexOf('/');
        await startDelivery(client, kind, rest.slice(0, at), Number(rest.slice(at + 1)), 'USE_EXISTING');
      });
      return `${found.length} are queued again.`;
    },
  },
  {
    name: 'workflows-left',
    severity: 'broken',
    rule: 'no workflow runs for an item that is over or does not exist',
    advice:
      'Run docket doctor --repair while a worker runs: it sends these workflows the state of their items, and they end; terminate in the Temporal UI those that fail all the same.',
    async look(of, before) {
      const ids = before ? before.map(({ id }) => id) : [...(await of.running())];
      // the workflow of a review ends by itself, that of a delivery with the delivery
      const subjects = ids.map(subjectOf).filter(({ kind }) => ITEMS.has(kind));
      const seconds = of.limits.overSeconds;
      const rows = await inBatches(subjects, BATCH, (batch) =>
        of.db.run('needless_items', { ...keysOf(batch), seconds }),
      );
      const left = rows.slice(0, MOST).map(({ present, kind, id }) => {
        const subject = { kind: kind as Driven, id };
        return foundOf(subject, present ? 'its item is over' : 'there is no such item');
      });
      const leftIds = left.map(({ id }) => id);
      const known = await runningOf(of, leftIds, before, [RUNNING]);
      return left.filter(({ id }) => known.has(id));
    },
    async repair(of, found) {
      await eachOf(found, AT_ONCE, ({ id }) => sendState(of, id));
      return `${found.length} were sent the state of their items; each ends with its next workflow task.`;
    },
  },
];

/**
 * The ids of Docket's running workflows from Temporal's visibility store, which is some seconds late. A million of them
 * take about a minute and 100 MB.
 */
export async function listRunning(client: Client): Promise<Set<string>> {
  const ids = new Set<string>();
  const own = new Set([workflowOf('review').type, 'redelivery']);
  const running = { query: "ExecutionStatus = 'Running'", pageSize: PAGE };
  for await (const { workflowId: id, type } of client.workflow.list(running))
    if (own.has(type) || kindOfWorkflow(type)) ids.add(id);
  return ids;
}

/** The item or review of a workflow. */
function subjectOf(id: string): Subject {
  const at = id.indexOf('/');
  return { kind: id.slice(0, at) as Driven, id: id.slice(at + 1) };
}

const keysOf = (all: Subject[]) => columnsOf(all, { kinds: 'kind', ids: 'id' });
const foundOf = (subject: Subject, says: string): Found => ({ id: workflowId(subject), says });

/** The running workflows: all, or, where violations are examined again, those of `ids`. */
async function runningOf(of: Examined, ids: string[], before?: Found[], as = [RUNNING, BUSY]): Promise<Set<string>> {
  if (!before) return of.running();
  const statuses = await statusesOf(of, [...new Set(ids)]);
  return new Set(ids.filter((id) => as.includes(statuses.get(id) ?? '')));
}

/** Temporal's status of each of these workflows, `none` for unknown ones. */
async function statusesOf(of: Examined, ids: string[]): Promise<Map<string, string>> {
  const statuses = new Map<string, string>();
  await eachOf(ids, AT_ONCE, async (id) => {
    try {
      const { status, raw } = await asked(of, () => of.client.workflow.getHandle(id).describe());
      statuses.set(id, status.name === RUNNING && raw.pendingWorkflowTask?.attempt === 1 ? BUSY : status.name);
    } catch (error) {
      if (!(error instanceof WorkflowNotFoundError)) throw error;
      statuses.set(id, 'none');
    }
  });
  return statuses;
}

/** Items that need a workflow, and have none in the list of running ones. */
async function withoutWorkflow({ db, running }: Examined): Promise<Subject[]> {
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
}

/** Marks items, whose workflows are then started or signalled by the followers of the log. */
async function publishAgain({ db }: Examined, found: Found[]): Promise<string> {
  await inBatches(found, BATCH, (batch) => db.run('publish_again', keysOf(batch.map(({ id }) => subjectOf(id)))));
  return `${found.length} are marked to be published again, which workers do within seconds.`;
}

async function sendState(of: Examined, id: string): Promise<void> {
  const subject = subjectOf(id);
  const [row] = await of.db.run('read_item', { kind: subject.kind as Kind, id: subject.id });
  const handle = of.client.workflow.getHandle(id);
  const message: Message | undefined = row && { snapshot: snapshotOf(row, row.now, row.epoch), events: [] };
  try {
    // there is no state of a missing item: an unknown signal makes its workflow read the row, and end
    await asked(of, () => (message ? handle.signal('changed', message) : handle.signal('doctor')));
  } catch (error) {
    if (!(error instanceof WorkflowNotFoundError)) throw error;
  }
}
