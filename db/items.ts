import type { Item } from '../contract/items.ts';
import type { SavedFilter } from '../contract/lists.ts';
import type { CoreState, Kind } from '../contract/snapshot.ts';
import { columnsOf, type Mover, type Queryable } from './pool.ts';

/** An item for `add_items`; `hash` is hex. */
export interface NewItem {
  /** null: named after its queue and number. */
  id: string | null;
  queue: string;
  priority: number;
  body: unknown;
  hash: string;
  requires?: string[];
  exclude?: string[];
  callback?: Item['callback'];
  delaySeconds: number;
  deadlineSeconds?: number | null;
  createdAt?: string | null;
  /** A lease time of its own; left out: the queue's. */
  leaseSeconds?: number;
  /** Tickets: what it is about. */
  subject?: string | null;
  /** The caller that adds it. */
  actor: string;
  /** Jobs: names this add. */
  key?: string | undefined;
  /** Jobs: length of the body on beanstalkd's wire. */
  bodyBytes?: number;
}

/** Adds items, in their order. @param how `add_shown`: answers whole rows */
export const addItems = (db: Mover, kind: Kind, items: NewItem[], how: 'add_items' | 'add_shown' = 'add_items') =>
  db.move<'add_items' | 'add_shown'>(how, { kind, items, keyed: items.some(({ key }) => key !== undefined) });

export interface Settlement {
  id: string;
  token: string;
  /** JSON text of the result. */
  result: string;
  /** SHA-256 of the canonical result, hex. */
  hash: string;
  /** The only permitted holder; null: any caller with the token. */
  subject: string | null;
  /** Settings version whose form the result was checked against. */
  formVersion: number | null;
  /** The version that the decider saw; null: any. */
  seen: number | null;
}

const settling = (all: Settlement[]) => ({
  ...columnsOf(all, { ids: 'id', tokens: 'token', results: 'result', hashes: 'hash', subjects: 'subject' }),
  ...columnsOf(all, { formVersions: 'formVersion', seen: 'seen' }),
});

/**
 * Settles items.
 * @param synced the caller also decides the others of their subjects; without it none of a queue that syncs is settled
 * @returns them, then the looks that were drawn for them
 */
export const settleItems = (db: Mover, kind: Kind, all: Settlement[], synced = false) =>
  db.move('settle_items', { kind, ...settling(all), synced });

/** Settles items and hands each decider the next one by the same commit. @param skills of all of them */
export const settleNext = (db: Mover, kind: Kind, all: (Settlement & { next: string })[], skills: string[]) =>
  db.move('settle_next', { kind, ...settling(all), ...columnsOf(all, { next: 'next' }), skills });

export interface Closing {
  state: 'settled' | 'invalidated';
  items: { id: string; result?: unknown }[];
  reason: string;
  actor: string;
  /** Only items of this queue. */
  queue?: string;
}

/** Ends items in any open state, from outside. @returns those that it ended */
export const closeItems = (db: Mover, kind: Kind, { items, ...closing }: Closing) =>
  db.move('close_items', {
    kind,
    ids: items.map((i) => i.id),
    results: items.map((i) => (closing.state === 'settled' ? JSON.stringify(i.result) : null)),
    ...closing,
  });

export interface ItemFilter {
  queue?: string;
  state?: CoreState;
  /** Their holder, or the person who decided them. */
  person?: string;
  createdAfter?: string;
  createdBefore?: string;
  /** Creation time and number of the last row on the previous page. */
  before?: Position;
}

interface Position {
  time: string;
  seq: number;
}

/** A page, newest first. */
export const listItems = (lists: Queryable, kind: Kind, { before, ...filter }: ItemFilter, limit: number) =>
  lists.run('list_items', { kind, ...filter, beforeCreatedAt: before?.time, beforeSeq: before?.seq, limit });

/** What `list_items` has no index or no order for; `unseen`: without tickets that have an open look. */
export type Walked = Omit<SavedFilter, keyof ItemFilter | 'reviewer'> & { unseen?: boolean | undefined };

/** A page of tickets. @returns the rows, and where the page has ended because so many tickets were looked at */
export async function listTickets(
  lists: Queryable,
  { before, ...filter }: ItemFilter,
  walked: Walked,
  limit: number,
): Promise<{ rows: Item[]; walkedTo?: Position }> {
  if (Object.values(walked).every((value) => value === undefined))
    return { rows: await listItems(lists, 'ticket', { ...filter, ...(before && { before }) }, limit) };
  const from = { beforeCreatedAt: before?.time, beforeSeq: before?.seq };
  const rows = await lists.run('walk_tickets', { filter: { ...filter, ...walked, ...from }, limit });
  const last = rows.at(-1);
  if (!last || last.id !== null) return { rows };
  const walkedTo = { time: last.walked_at?.toISOString() ?? '', seq: last.walked_seq ?? 0 };
  return { rows: rows.slice(0, -1), walkedTo };
}
