import type { Item, ShownTicket } from '../../contract/items.ts';
import type { Kind } from '../../contract/snapshot.ts';
import { addItems, type ItemFilter, listItems, type NewItem, type Settlement, settleItems } from '../../db/items.ts';
import type { Mover, Receipt, RowOf } from '../../db/pool.ts';
import type { Runtime } from '../../runtime/runtime.ts';
import { share, sharePerGroup } from '../shared/batching.ts';
import type { Rules } from './rules.ts';

interface Hold {
  id: string;
  token: string;
  subject: string | null;
}

/** What items of all kinds have in common. Statements of concurrent calls are shared (services/shared/batching.ts). */
export interface ItemService {
  /** Adds one item; undefined when the id exists. */
  add(input: { kind: Kind; item: NewItem }): Promise<Item | undefined>;
  /** Undefined: the token is of no live lease, or the form has changed. */
  settle(input: { kind: Kind; settlement: Settlement }): Promise<ShownTicket | undefined>;
  /** Undefined: the token is of no live lease. */
  renew(input: { kind: Kind; hold: Hold }): Promise<Item | undefined>;
  get(kind: Kind, id: string): Promise<Item | undefined>;
  /** The queues of these items, one for each that there is. */
  queuesOf(kind: Kind, ids: string[]): Promise<string[]>;
  /** A page, newest first. */
  list(kind: Kind, filter: ItemFilter, limit: number): Promise<Item[]>;
  /** An item's history behind the event `after`, oldest first. */
  events(kind: Kind, id: string, after: number, limit: number): Promise<RowOf<'list_events'>[]>;
  /**
   * With the database's time of reading it, and its epoch; undefined when the item is gone (retention). Its wake time is
   * not before that at which its failing transition is tried again.
   */
  read(kind: Kind, id: string): Promise<(Item & { now: Date; epoch: number }) | undefined>;
  /** Does what is due for an item by the database's clock, asked by its own workflow. */
  wake(kind: Kind, id: string): Promise<void>;
}

export function itemService({ db, tracing }: Runtime, rules: Rules): ItemService {
  const seen = <T extends { id: string } | undefined>(kind: Kind, found: Promise<T>): Promise<T> =>
    tracing
      ? found.then((item) => {
          if (item) tracing.saw(kind, item.id);
          return item;
        })
      : found;
  const adds = sharePerGroup<NewItem, Item | undefined, Kind>((kind) =>
    share(
      async (items) => {
        const add = async (tx: Mover) => settleDue(tx, kind, await addItems(tx, kind, items));
        // one that comes with its age may have reached escalations, and has their priority from the first
        const aged = items.some((item) => item.createdAt !== null);
        const rows = await rules.settled(await (aged ? db.transaction(add) : add(db)));
        const [byId, byHash] = [firstBy(rows, (row) => row.id), firstBy(rows, hashOf)];
        return items.map((item) => (item.id === null ? byHash.get(item.hash) : byId.get(item.id)));
      },
      { keys: (item) => [item.id ?? item.hash] },
    ),
  );
  const settlements = sharePerGroup<Settlement, ShownTicket | undefined, Kind>((kind) =>
    share(
      async (all) => {
        const rows = new Map((await settleItems(db, kind, all)).map((row) => [row.id, row]));
        return all.map(({ id }) => rows.get(id));
      },
      { keys: ({ id, token }) => [`id/${id}`, token] },
    ),
  );
  const renewals = sharePerGroup<Hold, Item | undefined, Kind>((kind) =>
    share(
      async (all) => {
        const rows = await db.move('renew_items', {
          kind,
          ids: all.map((hold) => hold.id),
          tokens: all.map((hold) => hold.token),
          subjects: all.map((hold) => hold.subject),
        });
        return all.map((hold) => rows.find((row) => row.lease_id === hold.token));
      },
      { keys: ({ id, token }) => [`id/${id}`, token] },
    ),
  );
  return {
    add: ({ kind, item }) => seen(kind, adds(kind, item)),
    settle: ({ kind, settlement }) => seen(kind, settlements(kind, settlement)),
    renew: ({ kind, hold }) => seen(kind, renewals(kind, hold)),
    get: async (kind, id) => (await db.run('get_items', { kind, ids: [id] }))[0],
    queuesOf: async (kind, ids) => (await db.run('get_items', { kind, ids })).map((row) => row.queue),
    list: (kind, filter, limit) => listItems(db.lists, kind, filter, limit),
    events: (kind, id, after, limit) => db.lists.run('list_events', { kind, id, after, limit }),
    async read(kind, id) {
      const [row] = await db.run('read_item', { kind, id });
      if (!row) return undefined;
      const { parked_until, ...item } = row;
      const { wake_at } = item;
      return wake_at && parked_until && parked_until > wake_at ? { ...item, wake_at: parked_until } : item;
    },
    async wake(kind, id) {
      for (let pass = 0; pass < MAX_WAKES; pass++) {
        const moved = await db.move('tick_item', { kind, id }, { receivedBy: id });
        if (moved.length === 0) return;
      }
    },
  };
}

/** By it an item is found that the database has named: it is then drawn at random. */
const hashOf = (row: Item) => Buffer.from(row.content_hash).toString('hex');

/** Each key with the first of its rows. */
const firstBy = (rows: Item[], key: (row: Item) => string) => new Map(rows.toReversed().map((row) => [key(row), row]));

/** Transitions that a workflow's wake does at most; there is one a pass. */
const MAX_WAKES = 10;
/** Transitions of one item that can be due at once: its lease, its delay, an escalation. */
const MAX_PASSES = 5;

const isDue = ({ wake_at, updated_at }: Item) => wake_at !== null && wake_at <= updated_at;

/**
 * Does what is due for these rows now, so that the answer and the next claim go by it (S0.2).
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
