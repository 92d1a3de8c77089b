import { DELIVERED_KINDS } from '../contract/kinds.ts';
import type { Driven } from '../contract/snapshot.ts';
import type { Kind } from './items.ts';
import type { Mover, Queryable } from './pool.ts';

export interface Delivery {
  kind: (typeof DELIVERED_KINDS)[number];
  item_id: string;
  n: number;
  type: string;
  version: number;
  /** Its item's; '' for reviews. */
  queue: string;
  url: string;
  state: 'pending' | 'delivered' | 'failed';
  attempts: number;
  /** Those made before it was sent again by hand. */
  attempts_before: number;
  /** Of a pending one: not before then. */
  next_attempt_at: Date | null;
  status: number | null;
  error: string | null;
  /** Its place in the list of all, newest first. */
  seq: number;
  /** What was to be told, where that isn't the item as it is. */
  body: unknown;
  created_at: Date;
  updated_at: Date;
}

/** Without what it sends: of a review's change, that is the whole review. */
export type ListedDelivery = Omit<Delivery, 'body'>;

/** Undefined: the item has nobody left to tell. */
export async function openDelivery(
  db: Queryable,
  kind: Kind,
  id: string,
  type: string,
  url: string,
): Promise<Delivery | undefined> {
  return (await db.run<Delivery>('open_delivery', [kind, id, type, url]))[0];
}

/** Undefined: unknown, or under way already. */
export async function reopenDelivery(
  db: Queryable,
  kind: Driven,
  id: string,
  n: number,
): Promise<Delivery | undefined> {
  return (await db.run<Delivery>('reopen_delivery', [kind, id, n]))[0];
}

export async function getDelivery(db: Queryable, kind: Driven, id: string, n: number): Promise<Delivery | undefined> {
  return (await db.run<Delivery>('get_delivery', [kind, id, n]))[0];
}

export interface Attempt {
  url: string;
  status: number | null;
  error: string | null;
  state: Delivery['state'];
  /** Until the next attempt; null: there will be none. */
  delaySeconds: number | null;
}

/** Undefined: another attempt has ended it meanwhile, and this one does not count. */
export async function attemptDelivery(
  db: Queryable,
  { kind, item_id, n }: Pick<Delivery, 'kind' | 'item_id' | 'n'>,
  a: Attempt,
): Promise<Delivery | undefined> {
  const values = [kind, item_id, n, a.status, a.error, a.state, a.url, a.delaySeconds];
  return (await db.run<Delivery>('attempt_delivery', values))[0];
}

export const itemTold = (db: Mover, kind: Kind, id: string, event: string, data: object) =>
  db.move('told', [kind, id, event, JSON.stringify(data)], { moved: () => [] });

/** A delivery whose workflow has not been started. */
export type DeliveryStart = Pick<Delivery, 'kind' | 'item_id' | 'n'>;

/** Oldest first. */
export const deliveriesToStart = (db: Queryable, limit: number) =>
  db.run<DeliveryStart>('deliveries_to_start', [limit]);

export const deliveryStarted = (db: Queryable, { kind, item_id, n }: DeliveryStart) =>
  db.run('delivery_started', [kind, item_id, n]);

/** Undefined: the invitation has ended. */
export async function openInvitation(db: Queryable, id: string, n: number) {
  return (await db.run<{ juror: string; expires_at: Date }>('open_invitation', [id, n]))[0];
}

/** Ends a delivery whose message is not needed any more. */
export const endDelivery = (db: Queryable, kind: Driven, id: string, n: number, why: string) =>
  db.run<Delivery>('end_delivery', [kind, id, n, why]);
/** Newest first. */
export const listDeliveries = (db: Queryable, kind: Driven, id: string, before: number, limit: number) =>
  db.run<ListedDelivery>('list_deliveries', [kind, id, before, limit]);

const STATES: Delivery['state'][] = ['pending', 'failed', 'delivered'];

export interface DeliveryFilter {
  state?: Delivery['state'];
  kind?: Driven;
  queue?: string;
  /** With its port, unless that is the protocol's own. */
  host?: string;
}

/** Over all items, newest first, beginning before a place in that list. */
export function listAllDeliveries(db: Queryable, filter: DeliveryFilter, before: number, limit: number) {
  const { state, kind, queue, host } = filter;
  const base = [kind ? [kind] : DELIVERED_KINDS, state ? [state] : STATES, before, limit];
  if (queue !== undefined) return db.run<ListedDelivery>('list_queue_deliveries', [...base, queue, host ?? null]);
  if (host !== undefined) return db.run<ListedDelivery>('list_host_deliveries', [...base, host]);
  return db.run<ListedDelivery>('list_all_deliveries', base);
}

/** How many deliveries of a kind are in which state, and `attempt_<state>`: how many attempts left them in it. */
export const deliveryCounts = (db: Queryable) => db.run<{ kind: Driven; what: string; n: number }>('delivery_counts');

export async function oldestPendingSeconds(db: Queryable): Promise<number> {
  return (await db.run<{ seconds: number }>('oldest_pending_delivery', [DELIVERED_KINDS]))[0]?.seconds ?? 0;
}

/** Undefined: it has ended meanwhile. */
export async function setDeliveryFailed(
  db: Queryable,
  kind: Driven,
  id: string,
  n: number,
): Promise<Delivery | undefined> {
  return (await db.run<Delivery>('fail_delivery', [kind, id, n]))[0];
}
