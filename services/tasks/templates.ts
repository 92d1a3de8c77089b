import type { TaskTemplateRow } from '../../db/statements.ts';
import { type Context, found, Problem } from '../shared/service.ts';
import { addEach, added, met, one } from '../shared/sets.ts';
import { contentHash, newId } from '../shared/tokens.ts';

const missing = (id: string) => `there is no template ${id}`;

/**
 * Adds a template, which describes the parameters of its tasks (S4.1).
 * @param id undefined: a random one
 * @throws Problem `id_conflict`
 */
export async function add({ db }: Context, id = newId(), content: Pick<TaskTemplateRow, 'name' | 'params'>) {
  const hash = contentHash(content);
  const insert = added(() => db.run('add_template', { id, hash, ...content }));
  const find = met('template', () => db.run('get_template', { id }));
  const { item: template, created } = one(await addEach('template', [{ id, hash }], [insert, find]));
  return { template, created };
}

/** @throws Problem `not_found` */
export const find = async ({ db }: Context, id: string) => found(await db.run('get_template', { id }), missing(id));

/** @param changes a field that is undefined stays as it is @throws Problem `not_found` */
export const change = async ({ db }: Context, id: string, changes: Partial<Pick<TaskTemplateRow, 'name' | 'params'>>) =>
  found(await db.run('change_template', { id, ...changes }), missing(id));

/** Newest first, those before the number `before`. */
export const list = ({ db }: Context, before: number | undefined, limit: number) =>
  db.lists.run('list_templates', { before, limit });

/** @throws Problem `not_found`, or `in_use` while active tasks use it */
export async function remove({ db }: Context, id: string): Promise<void> {
  const [row] = await db.run('delete_template', { id });
  if (row?.outcome === 'not_found') throw new Problem('not_found', missing(id));
  if (row?.outcome === 'used') throw new Problem('in_use', `active tasks use template ${id}, so it cannot be deleted`);
}
