import type { Item } from '../../contract/items.ts';
import { type Mover, only } from '../../db/pool.ts';
import { type Context, Problem } from '../shared/service.ts';

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

/**
 * What is known of a held ticket's subject (S4.9), without ids and names.
 * @param person must hold it; undefined: anybody may
 * @param queues counts tickets of these only; `*` at the end stands for any rest. null: of all
 * @throws Problem `not_found` where they do not hold it
 */
export async function contextOf(ctx: Context, item: Item, person: string | undefined, queues: string[] | null) {
  const { id, holder, state } = item;
  if (state !== 'held' || (person !== undefined && person !== holder))
    throw new Problem(
      'not_found',
      person === undefined ? `nobody holds ticket ${id}` : `${person} does not hold ticket ${id}`,
    );
  const { last, ...counts } = only(await ctx.db.lists.run('subject_context', { id, queues }));
  return { ...counts, last: last.map(({ decision, at }) => ({ decision, at: new Date(at).toISOString() })) };
}
