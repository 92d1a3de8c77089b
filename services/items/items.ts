import type { Item, ShownTicket } from '../../contract/items.ts';
import type { Kind } from '../../contract/snapshot.ts';
import { addItems, type ItemFilter, listItems, type NewItem, type Settlement, settleItems } from '../../db/items.ts';
import { columnsOf, type Mover, type Receipt } from '../../db/pool.ts';
import { BY_ID, share, sharePerGroup, shareRows } from '../shared/batching.ts';
import { type Context, perContext } from '../shared/service.ts';
import * as rules from './rules.ts';

/** A lease, as calls name it. */
export interface Hold {
  id: string;
  token: string;
  /** The holder that the token must belong to; null: any. */
  subject: string | null;
}

/** Transitions that one wake of a workflow makes at most, one a pass. */
const MAX_WAKES = 10;
/** Transitions of one item that can be due at once: its lease, its delay, an escalation. */
const MAX_PASSES = 5;

const adds = perContext((ctx) =>
  sharePerGroup<NewItem, Item | undefined, Kind>((kind) =>
    share((items) => addTogether(ctx, kind, items), { keys: (item) => [item.id ?? item.hash] }),
  ),
);

const settlements = perContext(({ db }) =>
  sharePerGroup<Settlement, ShownTicket | undefined, Kind>((kind) =>
    shareRows((all) => settleItems(db, kind, all), { ...BY_ID, keys: ({ id, token }) => [`id/${id}`, token] }),
  ),
);

const renewals = perContext(({ db }) =>
  sharePerGroup<Hold, Item | undefined, Kind>((kind) =>
    shareRows(
      (all) => db.move('renew_items', { kind, ...columnsOf(all, { ids: 'id', tokens: 'token', subjects: 'subject' }) }),
      { call: ({ token }) => token, row: (item) => item.lease_id, keys: ({ id, token }) => [`id/${id}`, token] },
    ),
  ),
);

/** Adds one item, in a statement with those that come at the same time. Undefined: the id exists. */
export const add = (ctx: Context, kind: Kind, item: NewItem): Promise<Item | undefined> =>
  traced(ctx, kind, adds(ctx)(kind, item));

/** Settles one item likewise. Undefined: no live lease has the token, or the form has changed. */
export const settle = (ctx: Context, kind: Kind, settlement: Settlement): Promise<ShownTicket | undefined> =>
  traced(ctx, kind, settlements(ctx)(kind, settlement));

/** Renews one lease likewise. Undefined: no live lease has the token. */
export const renew = (ctx: Context, kind: Kind, hold: Hold): Promise<Item | undefined> =>
  traced(ctx, kind, renewals(ctx)(kind, hold));

async function traced<T extends { id: string } | undefined>({ tracing }: Context, kind: Kind, moved: Promise<T>) {
  const item = await moved;
  if (item) tracing?.saw(kind, item.id);
  return item;
}

export const get = async ({ db }: Context, kind: Kind, id: string): Promise<Item | undefined> =>
  (await db.run('get_items', { kind, ids: [id] }))[0];

/** The queue of each of these items that exists. */
export const queuesOf = async ({ db }: Context, kind: Kind, ids: string[]): Promise<string[]> =>
  (await db.run('get_items', { kind, ids })).map((row) => row.queue);

/** A page, newest first. */
export const list = ({ db }: Context, kind: Kind, filter: ItemFilter, limit: number): Promise<Item[]> =>
  listItems(db.lists, kind, filter, limit);

/** An item's history behind the event `after`, oldest first. */
export const events = ({ db }: Context, kind: Kind, id: string, after: number, limit: number) =>
  db.lists.run('list_events', { kind, id, after, limit });

/**
 * Reads an item with the database's time of reading it, and its epoch. Its wake time is not before the time at which a
 * transition that failed is tried again. Undefined: the item is gone (retention).
 */
export async function read({ db }: Context, kind: Kind, id: string) {
  const [row] = await db.run('read_item', { kind, id });
  if (!row) return undefined;
  const { parked_until, ...item } = row;
  const { wake_at } = item;
  return wake_at && parked_until && parked_until > wake_at ? { ...item, wake_at: parked_until } : item;
}

/** Makes the due transitions of an item by the database's clock, for its own workflow. */
export async function wake({ db }: Context, kind: Kind, id: string): Promise<void> {
  for (let pass = 0; pass < MAX_WAKES; pass++) {
    const moved = await db.move('tick_item', { kind, id }, { receivedBy: id });
    if (moved.length === 0) return;
  }
}

async function addTogether(ctx: Context, kind: Kind, items: NewItem[]): Promise<(Item | undefined)[]> {
  const insert = async (tx: Mover) => settleDue(tx, kind, await addItems(tx, kind, items));
  // one that comes with its age may have reached escalations, and has their priority from the first
  const aged = items.some((item) => item.createdAt !== null);
  const rows = await rules.settled(ctx, await (aged ? ctx.db.transaction(insert) : insert(ctx.db)));
  const [byId, byHash] = [firstBy(rows, (row) => row.id), firstBy(rows, hashOf)];
  return items.map((item) => (item.id === null ? byHash.get(item.hash) : byId.get(item.id)));
}

/** Key for matching items whose id the database assigned (a random hash). */
const hashOf = (row: Item) => Buffer.from(row.content_hash).toString('hex');

const firstBy = (rows: Item[], key: (row: Item) => string) => new Map(rows.toReversed().map((row) => [key(row), row]));

const isDue = ({ wake_at, updated_at }: Item) => wake_at !== null && wake_at <= updated_at;

/**
 * Makes the transitions that are due for these rows now, so that the answer and the next claim go by them (S0.2).
 * @returns the rows, followed by each later state of theirs
 */
export async function settleDue(db: Mover, kind: Kind, rows: Item[]): Promise<Item[]> {
  const due = rows.filter(isDue).map((row) => row.id);
  return [...rows, ...(await tickThrough(db, kind, due))];
}

/** @returns every row that moved, once for each of its transitions */
export async function tickThrough(db: Mover, kind: Kind, ids: string[], how?: Receipt): Promise<Item[]> {
  const all: Item[] = [];
  let due = ids;
  for (let pass = 0; pass < MAX_PASSES && due.length > 0; pass++) {
    const moved = await db.move('tick_items', { kind, ids: due }, how);
    all.push(...moved);
    due = moved.filter(isDue).map((row) => row.id);
  }
  return all;
}
