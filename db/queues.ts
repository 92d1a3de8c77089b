import type { Kind } from '../contract/snapshot.ts';
import type { Queryable } from './pool.ts';
import type { QueueRow } from './statements.ts';

export type Queue = QueueRow;

export const ensureQueue = (db: Queryable, kind: Kind, name: string) => db.run('ensure_queue', { kind, name });

export async function getQueue(db: Queryable, kind: Kind, name: string): Promise<Queue | undefined> {
  return (await db.run('get_queue', { kind, name }))[0];
}

export const listQueues = (db: Queryable, kind: Kind, before: number | null, limit: number) =>
  db.run('list_queues', { kind, before, limit });

export async function queueStats(db: Queryable, kind: Kind, name: string) {
  const [row] = await db.run('queue_stats', { kind, name });
  if (!row) throw new Error('queue_stats returned no row');
  return row;
}
