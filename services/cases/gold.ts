import type { PutGold } from '../../contract/courts.ts';
import type { Mover } from '../../db/pool.ts';
import { type Context, erased, invalid, Problem } from '../shared/service.ts';
import { contentHash } from '../shared/tokens.ts';
import { addCases } from './adding.ts';
import { closeCases } from './cases.ts';
import type { Court } from './courts.ts';

/** Cases with known answers. */
type Gold = PutGold['cases'];

/**
 * Replaces a court's gold, all of it or nothing.
 * @throws Problem `id_conflict` when an id is that of another case, 422 for an answer that is no option of the court
 */
export async function put({ db }: Context, court: Court, gold: Gold, actor: string): Promise<void> {
  gold.forEach(({ answer }, n) => {
    if (!court.options.includes(answer))
      throw invalid(`cases.${n}.answer`, `must be one of ${court.options.join(', ')}`);
  });
  await db.transaction((tx) => replace(tx, court, gold, actor));
}

async function replace(tx: Mover, court: Court, wanted: Gold, actor: string): Promise<void> {
  const { name } = court;
  const known = new Map((await tx.run('gold_of', { court: name })).map((gold) => [gold.id, gold]));
  const rows = wanted.map(({ id, body, answer: gold }) => {
    const plain = { parties: [], callback: null, deadlineSeconds: null };
    return { id, court, body, gold, hash: contentHash({ court: name, body }), actor, ...plain };
  });
  const added = await addCases(
    tx,
    rows.filter(({ id }) => !known.has(id)),
  );
  const made = new Set(added.map((item) => item.id));
  const clash = rows.find(({ id }) => known.get(id)?.ended_at || !(known.has(id) || made.has(id)));
  if (clash && known.get(clash.id)?.erased) throw erased(`case ${clash.id}`);
  if (clash) throw new Problem('id_conflict', `${clash.id} stands for another case`);
  await tx.move('change_gold', { court: name, gold: rows.map(({ id, gold, body }) => ({ id, gold, body })) });
  for (const { id } of rows) known.delete(id);
  const left = [...known.values()].filter((gold) => gold.ended_at === null).map((gold) => gold.id);
  // withdrawn gold is closed like any other case, because its holders see it
  await closeCases(tx, left, 'withdrawn', actor);
}
