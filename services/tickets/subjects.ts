import type { Mover } from '../../db/pool.ts';

/**
 * Decides tickets, and with them the others of their subjects where their queue says so (S0.4).
 * @param tx of its own: many of these would hold up decisions of a shared statement
 * @param end decides those of `ids` that can be, and returns them
 */
export async function decideSubjects<T extends { id: string }>(
  tx: Mover,
  ids: string[],
  end: (tx: Mover) => Promise<T[]>,
): Promise<{ ended: T[]; synced: number }> {
  await tx.run('lock_subjects', { ids });
  const ended = await end(tx);
  if (ended.length === 0) return { ended, synced: 0 };
  const has = new Set(ended.map(({ id }) => id));
  const synced = await tx.move('sync_subjects', { ids: ids.filter((id) => has.has(id)) });
  return { ended, synced: synced.length };
}
