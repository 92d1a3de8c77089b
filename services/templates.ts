import type { TaskTemplateRow } from '../db/statements.ts';
import type { Runtime } from '../runtime/runtime.ts';
import { Problem, sameContent } from './problems.ts';
import { contentHash, newId } from './tokens.ts';

type TemplateContent = Pick<TaskTemplateRow, 'name' | 'params'>;

/** Templates: what tasks' parameters must look like. Functions throw Problem. */
export interface TemplateService {
  /** @param id left out: one is drawn */
  add(id: string | undefined, content: TemplateContent): Promise<{ template: TaskTemplateRow; created: boolean }>;
  find(id: string): Promise<TaskTemplateRow>;
  /** Newest first; `before`: the last one of the page before. */
  list(before: number | undefined, limit: number): Promise<TaskTemplateRow[]>;
  remove(id: string): Promise<void>;
}

export function templateService({ db }: Runtime): TemplateService {
  const get = async (id: string) => (await db.run('get_template', { id }))[0];
  const notFound = (id: string) => new Problem('not_found', `there is no template ${id}`);
  return {
    async add(given, content) {
      const id = given ?? newId();
      const hash = contentHash(content);
      const [template] = await db.run('add_template', { id, hash, ...content });
      if (template) return { template, created: true };
      return { template: sameContent(await get(id), 'template', id, hash), created: false };
    },
    async find(id) {
      const template = await get(id);
      if (!template) throw notFound(id);
      return template;
    },
    list: (before, limit) => db.lists.run('list_templates', { before, limit }),
    async remove(id) {
      const [row] = await db.run('delete_template', { id });
      if (row?.outcome === 'not_found') throw notFound(id);
      if (row?.outcome === 'used')
        throw new Problem('id_conflict', `active tasks use template ${id}, so it cannot be deleted`);
    },
  };
}
