import type { Queryable } from './pool.ts';
import type { Schedule } from './schedules.ts';

/** What Temporal may have otherwise than its row says: a schedule (topic, name) or a delivery (kind, item, number). */
export interface Resync {
  id: number;
  what: 'schedule' | 'delivery';
  parent: string;
  name: string;
  n: number;
}

/** A batch of a reconciliation. `put` null: too many rows wait to be published. */
export interface PutBack {
  stage: string;
  put: number | null;
}

/**
 * Remembers Temporal's store. When it is another one than was seen before, a pass over all rows begins.
 * @returns undefined when it is known; else whether it is the first one ever
 */
export async function noticeStore(db: Queryable, store: string): Promise<{ first: boolean } | undefined> {
  return (await db.run<{ first: boolean }>('notice_store', [store]))[0];
}

/** Begins a pass over all rows, whatever is known of Temporal's store. */
export const restartReconciliation = (db: Queryable) => db.run('restart_reconciliation');

/** Undefined: no pass is under way, or another process is at it. See db/functions/reconcile.sql. */
export async function putBack(db: Queryable, limit: number, most: number): Promise<PutBack | undefined> {
  return (await db.run<PutBack>('put_back', [limit, most]))[0];
}

export async function isReconciled(db: Queryable): Promise<boolean> {
  return (await db.run<{ done: boolean }>('is_reconciled'))[0]?.done ?? true;
}

/** To be removed by `unmarkResync` when Temporal and the row agree; else a process makes them agree later. */
export async function markResync(db: Queryable, what: Resync['what'], parent: string, name: string): Promise<number> {
  const [row] = await db.run<{ id: number }>('mark_resync', [what, parent, name]);
  if (!row) throw new Error('mark_resync returned no row');
  return row.id;
}

export const unmarkResync = (db: Queryable, ids: number[]) => db.run('unmark_resync', [ids]);
export const takeResync = (db: Queryable, limit: number) => db.run<Resync>('take_resync', [limit]);

export async function resyncCount(db: Queryable): Promise<number> {
  return (await db.run<{ n: number }>('resync_count'))[0]?.n ?? 0;
}

/** No other transaction changes this schedule until this one ends. */
export const lockSchedule = (tx: Queryable, topic: string, name: string) => tx.run('lock_schedule', [topic, name]);

export async function scheduleToSync(
  tx: Queryable,
  topic: string,
  name: string,
): Promise<(Schedule & { missed_from: Date; missed_to: Date }) | undefined> {
  return (await tx.run<Schedule & { missed_from: Date; missed_to: Date }>('schedule_to_sync', [topic, name]))[0];
}
