import type { Client } from '@temporalio/client';
import { DELIVERED_KINDS } from '../../contract/kinds.ts';
import type { Driven, Kind } from '../../contract/snapshot.ts';
import type { Db, Mover, RowOf } from '../../db/pool.ts';
import type { DeliveryRow } from '../../db/statements.ts';
import { isInvitation } from '../../domain/callbacks.ts';
import { isItem } from '../../domain/kinds.ts';
import { TASK_QUEUE } from '../../runtime/followers/publisher.ts';
import type { Runtime } from '../../runtime/runtime.ts';
import { Problem, unreachable } from '../shared/problems.ts';

/** Without what it sends: of a review's change, that is the whole review. */
export type ListedDelivery = RowOf<'list_deliveries'>;

/** Jobs are pushed instead. */
export type DeliveredKind = 'ticket' | 'case' | 'task' | 'review';

interface DeliveryFilter {
  state?: DeliveryRow['state'];
  kind?: Driven;
  queue?: string;
  /** With its port, unless that is the protocol's own. */
  host?: string;
}

/** What came of one attempt. */
interface Attempt {
  url: string;
  status: number | null;
  error: string | null;
  state: DeliveryRow['state'];
  /** Until the next attempt; null: there will be none. */
  delaySeconds: number | null;
}

const missing = (kind: DeliveredKind, id: string) =>
  new Problem('not_found', kind === 'task' ? `there is no occurrence ${id}, or not yet` : `there is no ${kind} ${id}`);

const STATES: DeliveryRow['state'][] = ['pending', 'failed', 'delivered'];

/** Whether its own workflow is at its delivery. @throws Problem `not_found` */
async function isDelivering(db: Db, kind: DeliveredKind, id: string): Promise<boolean> {
  if (kind === 'review') {
    if ((await db.run('get_review', { id })).length === 0) throw missing(kind, id);
    // a second sender of the same message does no harm, and the workflow may have been ended by an operator
    return false;
  }
  const [item] = await db.run('get_items', { kind, ids: [id] });
  if (!item) throw missing(kind, id);
  return item.telling;
}

const conclude = (on: Mover, kind: Kind, id: string, event: 'delivered' | 'delivery_failed', data: object) =>
  on.move('told', { kind, id, event, data });

export type DeliveryService = ReturnType<typeof deliveryService>;

export function deliveryService({ db, client, log }: Runtime) {
  const get = async (kind: Driven, id: string, n: number) => (await db.run('get_delivery', { kind, id, n }))[0];
  return {
    get,
    /** Of one item, newest first. @throws Problem `not_found` of the item */
    async list(kind: DeliveredKind, id: string, before: number, limit: number): Promise<ListedDelivery[]> {
      await isDelivering(db, kind, id);
      return db.lists.run('list_deliveries', { kind, id, before, limit });
    },
    /** Over all items, newest first, beginning before a place in that list. */
    listAll({ state, kind, queue, host }: DeliveryFilter, before: number, limit: number) {
      const page = { kinds: kind ? [kind] : [...DELIVERED_KINDS], states: state ? [state] : STATES, before, limit };
      if (queue !== undefined) return db.lists.run('list_queue_deliveries', { ...page, queue, host });
      if (host !== undefined) return db.lists.run('list_host_deliveries', { ...page, host });
      return db.lists.run('list_all_deliveries', page);
    },
    /**
     * Sends one again, with the same message id (S0.10).
     * @throws Problem `not_found`, or `unavailable` while Temporal cannot be reached
     */
    async redeliver(kind: DeliveredKind, id: string, n: number): Promise<DeliveryRow> {
      const underWay = await isDelivering(db, kind, id);
      const known = await get(kind, id, n);
      if (!known) throw new Problem('not_found', `${kind} ${id} has no delivery ${n}`);
      // its own workflow is still at it; any other one may have been opened by a call that failed half-way
      if (known.state === 'pending' && underWay && !isInvitation(known)) return known;
      const [reopened] = await db.run('reopen_delivery', { kind, id, n });
      // one that is still there after its outcome was recorded has only to end, and would not look again
      const ifRunning = reopened ? 'TERMINATE_EXISTING' : 'USE_EXISTING';
      await startDelivery(client, kind, id, n, ifRunning).catch((error: Error) => {
        throw unreachable(log, error);
      });
      return reopened ?? known;
    },
    /** The one delivery of an item's outcome. Undefined: its callback needs none any more. */
    open: async (kind: Kind, id: string, type: string, url: string) =>
      (await db.run('open_delivery', { kind, id, type, url }))[0],
    /** Records an attempt. Undefined: another one has ended the delivery meanwhile, and this one does not count. */
    record: (delivery: DeliveryRow, attempt: Attempt) =>
      db.transaction(async (tx) => {
        const { kind, item_id: id, n } = delivery;
        const [updated] = await tx.run('attempt_delivery', { kind, id, n, ...attempt });
        const { state, status } = attempt;
        if (updated && state !== 'pending' && isItem(kind) && !isInvitation(delivery))
          await conclude(tx, kind, id, state === 'delivered' ? 'delivered' : 'delivery_failed', { n, status });
        return updated;
      }),
    /** Records that attempts are over. Undefined: it has ended meanwhile. */
    giveUp: (kind: Driven, id: string, n: number) =>
      db.transaction(async (tx) => {
        const [given] = await tx.run('fail_delivery', { kind, id, n });
        if (given && isItem(kind) && !isInvitation(given))
          await conclude(tx, kind, id, 'delivery_failed', { n, status: given.status, error: given.error });
        return given;
      }),
    /** Ends a delivery whose message is not needed any more. */
    async drop(delivery: DeliveryRow) {
      const { kind, item_id: id, n } = delivery;
      if (isInvitation(delivery)) await db.run('end_delivery', { kind, id, n, why: 'the invitation has ended' });
      else await db.run('fail_delivery', { kind, id, n });
    },
    /** The last line of an item's log: its outcome has been delivered, or never will be. */
    conclude: async (kind: Kind, id: string, event: 'delivered' | 'delivery_failed', data: object) =>
      void (await conclude(db, kind, id, event, data)),
  };
}

/**
 * Starts the workflow that makes one delivery.
 * @param ifRunning what becomes of one that is at this delivery already
 * @throws when Temporal cannot be reached
 */
export const startDelivery = (
  client: Client,
  kind: Driven,
  id: string,
  n: number,
  ifRunning: 'TERMINATE_EXISTING' | 'USE_EXISTING',
) =>
  client.workflow.start('redelivery', {
    workflowId: `delivery/${kind}/${id}/${n}`,
    taskQueue: TASK_QUEUE,
    args: [kind, id, n],
    workflowIdConflictPolicy: ifRunning,
  });
