import type { Change } from '../contract/items.ts';
import type { Item, Kind } from './items.ts';
import type { Mover, Queryable, Receipt } from './pool.ts';

export interface Notice {
  seq: number;
  at: Date;
  kind: Kind;
  item_id: string;
  queue: string;
  person: string;
  type: 'lease_lost' | 'changed' | 'invited';
  data: Record<string, unknown>;
}

export interface NodeRow {
  id: string;
  url: string | null;
  seen_at: Date;
}

/** One batch of everything due; see db/functions/tick.sql. */
export const tick = (db: Mover, limit: number) => db.move('tick', [limit], { byTime: true });

/** What is due for one item; see db/functions/tick.sql. */
export const tickItem = (db: Mover, kind: Kind, id: string, how?: Receipt) => db.move('tick_item', [kind, id], how);

/** What is due for these items, one transition each; see db/functions/tick.sql. */
export const tickItems = (db: Mover, kind: Kind, ids: string[], how?: Receipt) =>
  db.move('tick_items', [kind, ids], how);

/** An item with the database's time of reading it. */
export async function readItem(db: Queryable, kind: Kind, id: string): Promise<(Item & { now: Date }) | undefined> {
  return (await db.run<Item & { now: Date }>('read_item', [kind, id]))[0];
}

/** Seconds until something is due (negative: overdue), or null. */
export async function nextDue(db: Queryable): Promise<number | null> {
  const [row] = await db.run<{ seconds: number | null }>('next_due');
  return row?.seconds ?? null;
}

export const acknowledge = (db: Queryable, versions: number[]) => db.run('acknowledge', [versions]);

export type OutboxRow = Change & { outbox_version: number };

export const adoptOutbox = (db: Queryable, node: string, limit: number) =>
  db.run<OutboxRow>('adopt_outbox', [node, limit]);

export const ownOutbox = (db: Queryable, node: string, after: number, limit: number) =>
  db.run<OutboxRow>('own_outbox', [node, after, limit]);

export async function outboxLag(db: Queryable): Promise<{ waiting: number; oldest_seconds: number }> {
  const [row] = await db.run<{ waiting: number; oldest_seconds: number }>('outbox_lag');
  return row ?? { waiting: 0, oldest_seconds: 0 };
}

export const beat = (db: Queryable, node: string, url: string | null, role: string) =>
  db.run('beat', [node, url, role]);
export const leave = (db: Queryable, node: string) => db.run('leave', [node]);
export const liveNodes = (db: Queryable) => db.run<NodeRow>('live_nodes');

export const recentNotices = (db: Queryable) => db.run<Notice>('notices');

/** Whose notices: of a person, or of a ticket queue. */
export type NoticeFilter = { person: string } | { queue: string };

/** Up to a thousand; see db/queries/runtime.sql. */
export const noticesAfter = (db: Queryable, seq: number, of: NoticeFilter) =>
  db.run<Notice>('notices_after', [seq, 'person' in of ? of.person : null, 'queue' in of ? of.queue : null]);

export async function lastNotice(db: Queryable): Promise<number> {
  return (await db.run<{ seq: number }>('last_notice'))[0]?.seq ?? 0;
}

export async function parkedCount(db: Queryable): Promise<number> {
  return (await db.run<{ n: number }>('parked_count'))[0]?.n ?? 0;
}

/** Clears what has been over of tasks for so many days, one batch of it (S4.10). */
export const forgetTasks = (db: Mover, days: number) => db.move('forget_tasks', { days });

/** Fresh statistics, and away with what has served its time: parked rows, notices, silent nodes, rows of the counts. */
export async function tidy(db: Queryable): Promise<void> {
  await db.run('refresh_statistics');
  await db.run('unpark');
  await db.run('forget_notices');
  await db.run('forget_nodes');
  await db.run('compact_tally');
}

/** True the first time an operator's command is seen, in the transaction that carries it out. */
export async function commandOnce(db: Queryable, key: string, kind: Kind, id: string): Promise<boolean> {
  return (await db.run('command_once', [key, kind, id])).length === 1;
}
