import type { Change, Item, ShownTicket } from '../../contract/items.ts';
import type { Kind } from '../../contract/snapshot.ts';
import * as table from '../../db/items.ts';
import { columnsOf, type Mover, type Receipt } from '../../db/pool.ts';
import { BY_ID, sharePerGroup, shareRows, shareSets } from '../shared/batching.ts';
import { type Context, perContext } from '../shared/service.ts';
import * as rules from './rules.ts';

type Added = Change & Pick<Item, 'run'>;

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

const adding = (how: 'add_items' | 'add_shown') => {
  const shared = perContext((ctx) =>
    sharePerGroup<table.NewItem[], (Added | undefined | Error)[], Kind>((kind) =>
      shareSets((items) => addTogether(ctx, kind, items, how), { keys: (item) => [item.id ?? item.hash] }),
    ),
  );
  return async (ctx: Context, kind: Kind, items: table.NewItem[]) => {
    const outcomes = await shared(ctx)(kind, items);
    for (const one of outcomes) if (one && !(one instanceof Error)) ctx.tracing?.saw(kind, one.id);
    return outcomes;
  };
};

/** Adds items, in statements with those that come at the same time. Undefined: the id exists. */
export const add = adding('add_items');

/** The same with whole rows, also for items that the database names. */
export const addWhole = adding('add_shown') as (...of: Parameters<typeof add>) => Promise<(Item | undefined | Error)[]>;

const settlements = perContext(({ db }) =>
  sharePerGroup<table.Settlement, ShownTicket | undefined, Kind>((kind) =>
    shareRows((all) => table.settleItems(db, kind, all), { ...BY_ID, keys: ({ id, token }) => [`id/${id}`, token] }),
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

/** Settles one item likewise. Undefined: no live lease has the token, or the form has changed. */
export const settle = (ctx: Context, kind: Kind, settlement: table.Settlement): Promise<ShownTicket | undefined> =>
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

/** Those of these items that exist. */
export const getAll = ({ db }: Context, kind: Kind, ids: string[]): Promise<Item[]> =>
  db.run('get_items', { kind, ids });

/** A page, newest first. */
export const list = ({ db }: Context, kind: Kind, filter: table.ItemFilter, limit: number): Promise<Item[]> =>
  table.listItems(db.lists, kind, filter, limit);

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

async function addTogether(
  ctx: Context,
  kind: Kind,
  items: table.NewItem[],
  how: 'add_items' | 'add_shown',
): Promise<(Added | undefined)[]> {
  const insert = async (tx: Mover) => settleDue<Added>(tx, kind, await table.addItems(tx, kind, items, how));
  // one that comes with its age may have reached escalations, and has their priority from the first
  const aged = items.some(({ createdAt }) => createdAt != null);
  const rows = await rules.settled(ctx, await (aged ? ctx.db.transaction(insert) : insert(ctx.db)));
  // the hash of an item whose id the database has assigned is random
  const keyOf = (row: Added) =>
    items[0]?.id === null ? Buffer.from((row as Item).content_hash).toString('hex') : row.id;
  const found = new Map(rows.map((row) => [keyOf(row), row]));
  return items.map((item) => found.get(item.id ?? item.hash));
}

const isDue = ({ wake_at, updated_at }: Change) => wake_at !== null && wake_at <= updated_at;

/**
 * Makes the transitions that are due for these rows now, so that the answer and the next claim go by them (S0.2).
 * @returns the rows, followed by each later state of theirs
 */
export async function settleDue<Row extends Change>(db: Mover, kind: Kind, rows: Row[]): Promise<(Row | Item)[]> {
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
