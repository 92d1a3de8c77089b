import type { Driven } from '../contract/snapshot.ts';
import type { Item, Kind } from './items.ts';
import type { Queryable } from './pool.ts';

export interface Delivery {
  kind: Driven;
  item_id: string;
  n: number;
  type: string;
  version: number;
  url: string;
  state: 'pending' | 'delivered' | 'failed';
  attempts: number;
  status: number | null;
  error: string | null;
  /** What was to be told, where that isn't the item as it is. */
  body: unknown;
  created_at: Date;
  updated_at: Date;
}

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
}

export const attemptDelivery = (db: Queryable, kind: Driven, id: string, n: number, a: Attempt) =>
  db.run<Delivery>('attempt_delivery', [kind, id, n, a.status, a.error, a.state, a.url]);

export const itemTold = (db: Queryable, kind: Kind, id: string, event: string, data: object) =>
  db.run<Item>('told', [kind, id, event, JSON.stringify(data)]);

export const listDeliveries = (db: Queryable, kind: Driven, id: string, after: number, limit: number) =>
  db.run<Omit<Delivery, 'body'>>('list_deliveries', [kind, id, after, limit]);

export const setDeliveryFailed = (db: Queryable, kind: Driven, id: string, n: number) =>
  db.run<Delivery>('fail_delivery', [kind, id, n]);

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
