import type { Item } from '../contract/items.ts';
import type { CoreState, Kind } from '../contract/snapshot.ts';
import type { Move, Mover, Queryable } from './pool.ts';

export type { CoreState, Item, Kind };

/** What `add_items` reads; `hash` is hex. */
export interface NewItem {
  /** null: named after its queue and number. */
  id: string | null;
  queue: string;
  priority: number;
  body: unknown;
  hash: string;
  requires: string[];
  exclude: string[];
  callback: Item['callback'];
  delaySeconds: number;
  deadlineSeconds: number | null;
  createdAt: string | null;
  /** A lease time of its own; left out: the queue's. */
  leaseSeconds?: number;
  /** Who adds it. */
  actor: string;
  /** Jobs: length of the body on beanstalkd's wire. */
  bodyBytes?: number;
}

export interface Settlement {
  id: string;
  token: string;
  /** JSON text of the result. */
  result: string;
  /** SHA-256 of the canonical result, hex. */
  hash: string;
  /** Only if this is the holder; null: anybody with the token. */
  subject: string | null;
  /** Settings version whose form the result was checked against. */
  formVersion: number | null;
  nextWanted: boolean;
}

export interface Verdict extends Item {
  named_holder: string | null;
  named_ended_at: Date | null;
  named_why: string | null;
  overdue: boolean | null;
}

/** Neither a renewal nor a line in the log is a new version, so there is nothing to publish. */
const UNSEEN: Move<Item> = { moved: () => [] };

export const addItems = (db: Mover, kind: Kind, items: NewItem[]) =>
  db.move('add_items', [kind, JSON.stringify(items.map((item, no) => ({ no, ...item })))]);

export const getItems = (db: Queryable, kind: Kind, ids: string[]) => db.run<Item>('get_items', [kind, ids]);

export async function getItem(db: Queryable, kind: Kind, id: string): Promise<Item | undefined> {
  return (await getItems(db, kind, [id]))[0];
}

export const settleItems = (db: Mover, kind: Kind, all: Settlement[]) =>
  db.move('settle_items', [
    kind,
    all.map((s) => s.id),
    all.map((s) => s.token),
    all.map((s) => s.result),
    all.map((s) => s.hash),
    all.map((s) => s.subject),
    all.map((s) => s.formVersion),
    all.map((s) => s.nextWanted),
  ]);

export interface Hold {
  id: string;
  token: string;
  subject: string | null;
}

export const renewItems = (db: Mover, kind: Kind, holds: Hold[]) =>
  db.move(
    'renew_items',
    [kind, holds.map((h) => h.id), holds.map((h) => h.token), holds.map((h) => h.subject)],
    UNSEEN,
  );

export interface Release {
  id: string;
  /** null: an operator takes it away. */
  token: string | null;
  subject: string | null;
  delaySeconds: number;
  reason: string | null;
  skip: boolean;
  actor: string;
  /** The hand-out never reached the caller: it doesn't count as an attempt. */
  undelivered?: boolean;
}

export const releaseItem = (db: Mover, kind: Kind, r: Release) =>
  db.move('release_item', [
    kind,
    r.id,
    r.token,
    r.subject,
    r.delaySeconds,
    r.reason,
    r.skip,
    r.actor,
    r.undelivered ?? false,
  ]);

export interface Transfer {
  id: string;
  token: string | null;
  subject: string | null;
  queue: string;
  reason: string | null;
  actor: string;
}

export const transferItem = (db: Mover, kind: Kind, t: Transfer) =>
  db.move('transfer_item', [kind, t.id, t.token, t.subject, t.queue, t.reason, t.actor]);

export interface Closing {
  state: 'settled' | 'invalidated';
  items: { id: string; result?: unknown }[];
  reason: string;
  actor: string;
  /** Only items of this queue. */
  queue?: string;
}

export const closeItems = (db: Mover, kind: Kind, c: Closing) =>
  db.move('close_items', [
    kind,
    c.items.map((i) => i.id),
    c.state,
    c.items.map((i) => (c.state === 'settled' ? JSON.stringify(i.result) : null)),
    c.reason,
    c.actor,
    c.queue ?? null,
  ]);

export interface ItemChange {
  priority?: number;
  body?: unknown;
  requires?: string[];
  exclude?: string[];
  deadlineAt?: string | null;
}

export const changeItem = (db: Mover, kind: Kind, id: string, change: ItemChange, actor: string) =>
  db.move('change_item', [kind, id, JSON.stringify(change), actor]);

export const noteItem = (db: Mover, kind: Kind, id: string, type: string, actor: string, data: object) =>
  db.move('note_item', [kind, id, type, actor, JSON.stringify(data)], UNSEEN);

export async function findVerdict(
  db: Queryable,
  kind: Kind,
  id: string,
  token: string | null,
): Promise<Verdict | undefined> {
  return (await db.run<Verdict>('find_verdict', [kind, id, token]))[0];
}

export const refuseLease = (db: Queryable, kind: Kind, id: string, token: string) =>
  db.run<{ holder: string; why: string }>('refuse_lease', [token, kind, id]);

export interface ItemEvent {
  seq: number;
  type: string;
  actor: string;
  at: Date;
  data: unknown;
}

export const listEvents = (db: Queryable, kind: Kind, id: string, after: number, limit: number) =>
  db.run<ItemEvent>('list_events', [kind, id, after, limit]);

export interface ItemFilter {
  queue?: string;
  state?: CoreState;
  /** Who holds or decided them. */
  person?: string;
  createdAfter?: string;
  createdBefore?: string;
  /** (created_at, seq) of the last row of the page before. */
  before?: { createdAt: string; seq: number };
}

/** A page, newest first. */
export function listItems(lists: Queryable, kind: Kind, f: ItemFilter, limit: number): Promise<Item[]> {
  const { queue, state, createdAfter, createdBefore, before } = f;
  const filter = [kind, queue, state, createdAfter, createdBefore, before?.createdAt, before?.seq];
  return f.person !== undefined || f.state === 'held'
    ? lists.run<Item>('list_items_of_person', [...filter, f.person, limit])
    : lists.run<Item>('list_items', [...filter, limit]);
}

export interface BulkFilter {
  queue: string;
  state: CoreState | null;
  createdBefore: string | null;
  priorityBelow: number | null;
}

export const filterItems = (db: Queryable, kind: Kind, f: BulkFilter, after: string, limit: number) =>
  db.run<{ id: string }>('filter_items', [kind, f.queue, f.state, f.createdBefore, after, f.priorityBelow, limit]);

export async function countFiltered(db: Queryable, kind: Kind, f: BulkFilter): Promise<number> {
  const [row] = await db.run<{ n: number }>('count_filtered', [
    kind,
    f.queue,
    f.state,
    f.createdBefore,
    f.priorityBelow,
  ]);
  return row?.n ?? 0;
}

/** Those of the ids that are open in the queue. */
export const openAmong = (db: Queryable, kind: Kind, queue: string, ids: string[]) =>
  db.run<{ id: string }>('open_among', [kind, queue, ids]);
