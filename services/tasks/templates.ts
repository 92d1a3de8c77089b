import type { TaskTemplateRow } from '../../db/statements.ts';
import type { Runtime } from '../../runtime/runtime.ts';
import { addOnce, found, Problem } from '../shared/problems.ts';
import { contentHash, newId } from '../shared/tokens.ts';

type TemplateContent = Pick<TaskTemplateRow, 'name' | 'params'>;

const missing = (id: string) => `there is no template ${id}`;

/** Templates: what tasks' parameters must look like. */
export const templateService = ({ db }: Runtime) => ({
  /** @param id left out: one is drawn. @throws Problem `id_conflict` */
  async add(id = newId(), content: TemplateContent): Promise<{ template: TaskTemplateRow; created: boolean }> {
    const hash = contentHash(content);
    const { item: template, created } = await addOnce(
      { what: 'template', id, hash },
      async () => (await db.run('add_template', { id, hash, ...content }))[0],
      async () => (await db.run('get_template', { id }))[0],
    );
    return { template, created };
  },
  /** @throws Problem `not_found` */
  find: async (id: string) => found(await db.run('get_template', { id }), missing(id)),
  /** Newest first; `before`: the last one of the page before. */
  list: (before: number | undefined, limit: number) => db.lists.run('list_templates', { before, limit }),
  /** @throws Problem `not_found`, or `id_conflict` while active tasks use it */
  async remove(id: string) {
    const [row] = await db.run('delete_template', { id });
    if (row?.outcome === 'not_found') throw new Problem('not_found', missing(id));
    if (row?.outcome === 'used')
      throw new Problem('id_conflict', `active tasks use template ${id}, so it cannot be deleted`);
  },
});
