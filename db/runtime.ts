import type { Item, Kind } from './items.ts';
import type { Mover, Queryable, Receipt } from './pool.ts';

/** What is due for one item; see db/functions/tick.sql. */
export const tickItem = (db: Mover, kind: Kind, id: string, how?: Receipt) => db.move('tick_item', { kind, id }, how);

/** What is due for these items, one transition each; see db/functions/tick.sql. */
export const tickItems = (db: Mover, kind: Kind, ids: string[], how?: Receipt) =>
  db.move('tick_items', { kind, ids }, how);

/** An item with the database's time of reading it. */
export async function readItem(db: Queryable, kind: Kind, id: string): Promise<(Item & { now: Date }) | undefined> {
  return (await db.run('read_item', { kind, id }))[0];
}

/** True the first time an operator's command is seen, in the transaction that carries it out. */
export async function commandOnce(db: Queryable, key: string, kind: Kind, id: string): Promise<boolean> {
  return (await db.run('command_once', { key, kind, id })).length === 1;
}
