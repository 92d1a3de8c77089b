import type { Client } from '@temporalio/client';
import { DELIVERED_KINDS } from '../../contract/kinds.ts';
import type { Driven, Kind } from '../../contract/snapshot.ts';
import type { Mover, ParamsOf, RowOf } from '../../db/pool.ts';
import type { DeliveryRow } from '../../db/statements.ts';
import { isInvitation } from '../../domain/callbacks.ts';
import { isItem } from '../../domain/kinds.ts';
import { TASK_QUEUE } from '../../runtime/followers/publisher.ts';
import { type Context, erased, Problem, unreachable } from '../shared/service.ts';

/** A delivery without its body: that of a review's change is the whole review. */
export type ListedDelivery = RowOf<'list_deliveries'>;

/** The kinds with deliveries; jobs are pushed instead. */
export type DeliveredKind = 'ticket' | 'case' | 'task' | 'review';

type DeliveryFilter = Pick<ParamsOf<'list_recent_deliveries'>, 'queue' | 'host'> &
  Partial<Pick<ListedDelivery, 'state' | 'kind'>>;

/** The result of one attempt; `delaySeconds` until the next one, null: there will be none. */
type Attempt = Omit<ParamsOf<'attempt_delivery'>, 'kind' | 'id' | 'n' | 'version'>;

export type Conclusion = 'delivered' | 'delivery_failed';

const missing = (kind: DeliveredKind, id: string) =>
  new Problem('not_found', kind === 'task' ? `there is no occurrence ${id}, or not yet` : `there is no ${kind} ${id}`);

const STATES: DeliveryRow['state'][] = ['pending', 'failed', 'delivered'];

/** Whether the item's own workflow is delivering. @throws Problem `not_found` */
async function isDelivering({ db }: Context, kind: DeliveredKind, id: string): Promise<boolean> {
  if (kind === 'review') {
    if ((await db.run('get_review', { id })).length === 0) throw missing(kind, id);
    // a second sender of the same message does no harm, and the workflow may have been ended by an operator
    return false;
  }
  const [item] = await db.run('get_items', { kind, ids: [id] });
  if (!item) throw missing(kind, id);
  return item.delivery_pending;
}

export const get = async ({ db }: Context, kind: Driven, id: string, n: number): Promise<DeliveryRow | undefined> =>
  (await db.run('get_delivery', { kind, id, n }))[0];

/** Deliveries of one item, newest first. @throws Problem `not_found` when there is no such item */
export async function list(ctx: Context, kind: DeliveredKind, id: string, before: number, limit: number) {
  await isDelivering(ctx, kind, id);
  return ctx.db.lists.run('list_deliveries', { kind, id, before, limit });
}

/** Deliveries of all items, newest first, those before the number `before`. */
export function listAll(ctx: Context, { state, kind, queue, host }: DeliveryFilter, before: number, limit: number) {
  const of = { kinds: kind ? [kind] : [...DELIVERED_KINDS], states: state ? [state] : STATES, queue, host };
  return ctx.db.lists.run('list_recent_deliveries', { ...of, before, limit });
}

/**
 * Sends a delivery again, with the same message id (S0.10).
 * @throws Problem `not_found`, `erased`, `not_open` for an invitation that has ended, or `unavailable` while Temporal cannot
 * be reached
 */
export async function redeliver(ctx: Context, kind: DeliveredKind, id: string, n: number): Promise<DeliveryRow> {
  const { db, client, log } = ctx;
  const underWay = await isDelivering(ctx, kind, id);
  const known = await get(ctx, kind, id, n);
  if (!known) throw new Problem('not_found', `${kind} ${id} has no delivery ${n}`);
  // the item's workflow makes this delivery; without one, a call that failed half-way may have reopened it
  if (known.state === 'pending' && underWay && n === 1) return known;
  if (isInvitation(known) && (await db.run('open_invitation', { id, n })).length === 0)
    throw new Problem('not_open', 'the invitation has ended, so it is not sent again');
  const [reopened] = await db.run('reopen_delivery', { kind, id, n });
  if (!reopened && known.state !== 'pending') throw erased(`${kind} ${id}`);
  // a workflow that is left from a recorded outcome is about to end, and would not read the reopened row
  const ifRunning = reopened ? 'TERMINATE_EXISTING' : 'USE_EXISTING';
  await startDelivery(client, kind, id, n, ifRunning).catch((error: Error) => {
    throw unreachable(log, error);
  });
  return reopened ?? known;
}

/** Opens the one delivery of an item's outcome. @returns undefined when its callback is not needed any more */
export const open = async (
  { db }: Context,
  kind: Kind,
  id: string,
  how: { type: string; version: number; url: string; body: object | null },
) => (await db.run('open_delivery', { kind, id, ...how }))[0];

/** Records an attempt. @returns undefined when the delivery had ended before: this attempt does not count */
export const record = ({ db }: Context, delivery: DeliveryRow, attempt: Attempt) =>
  db.transaction(async (tx) => {
    const { kind, item_id: id, n } = delivery;
    const [updated] = await tx.run('attempt_delivery', { kind, id, n, version: delivery.version, ...attempt });
    const { state, status } = attempt;
    if (updated && state !== 'pending' && isItem(kind) && n === 1)
      await conclude(tx, kind, id, state === 'delivered' ? 'delivered' : 'delivery_failed', { n, status });
    return updated;
  });

/** Records that attempts are over, because of `why`. @returns undefined when the delivery had ended before, or has not begun */
export const giveUp = ({ db }: Context, kind: Driven, id: string, n: number, why?: string) =>
  db.transaction(async (tx) => {
    const [given] = await tx.run('fail_delivery', { kind, id, n, why });
    if (given && isItem(kind) && n === 1)
      await conclude(tx, kind, id, 'delivery_failed', { n, status: given.status, error: given.error });
    return given;
  });

/** Ends a delivery whose message is not needed any more, because of `why`. */
export async function drop({ db }: Context, { kind, item_id: id, n }: DeliveryRow, why: string): Promise<void> {
  await db.run('fail_delivery', { kind, id, n, why });
}

/** Writes the last event of an item: its outcome has been delivered, or never will be. */
export async function conclude(db: Mover, kind: Kind, id: string, event: Conclusion, data: object): Promise<void> {
  await db.move('conclude_delivery', { kind, id, event, data });
}

/**
 * Starts the workflow that makes one delivery.
 * @param ifRunning whether a workflow that already makes this delivery is terminated or goes on
 * @throws Error when Temporal cannot be reached
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
