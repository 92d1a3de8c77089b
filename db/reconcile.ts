import type { Queryable } from './pool.ts';

/** To be removed by `unmarkResync` when Temporal and the row agree; else a process makes them agree later. */
export async function markResync(db: Queryable, what: 'schedule', parent: string, name: string): Promise<number> {
  const [row] = await db.run('mark_resync', { what, parent, name });
  if (!row) throw new Error('mark_resync returned no row');
  return row.id;
}

export const unmarkResync = (db: Queryable, ids: number[]) => db.run('unmark_resync', { ids });

/** No other transaction changes this schedule until this one ends. */
export const lockSchedule = (tx: Queryable, topic: string, name: string) => tx.run('lock_schedule', { topic, name });

export async function scheduleToSync(tx: Queryable, topic: string, name: string) {
  return (await tx.run('schedule_to_sync', { topic, name }))[0];
}
