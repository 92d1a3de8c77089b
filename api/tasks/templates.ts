import { Deleted, IdParam, Page, pageOf } from '../../contract/common.ts';
import { NewTemplate, Template } from '../../contract/tasks.ts';
import { addTemplate, deleteTemplate, getTemplate, listTemplates, type TemplateRow } from '../../db/tasks.ts';
import { Problem } from '../../services/problems.ts';
import { contentHash, newId } from '../../services/tokens.ts';
import { keyedId, sameOrConflict } from '../adding.ts';
import { answer, endpoint, ok } from '../endpoint.ts';
import { page } from '../paging.ts';

const view = ({ id, name, params, created_at }: TemplateRow) => ({
  ...{ id, name, params },
  createdAt: created_at.toISOString(),
});

export const addTemplateEndpoint = endpoint({
  method: 'post',
  path: '/v1/templates',
  tag: 'Tasks',
  summary: "What tasks' parameters must look like",
  roles: ['producer'],
  body: NewTemplate,
  answers: { 200: Template, 201: Template },
  problems: ['id_conflict'],
  async handle({ api, caller, body: { id: sent, ...content }, header }) {
    const { db } = api.runtime;
    const id = sent ?? keyedId(caller, 'template', header('idempotency-key')) ?? newId();
    const hash = contentHash(content);
    const added = await addTemplate(db, { id, hash, ...content });
    if (added) return answer(201, view(added));
    return ok(view(sameOrConflict(await getTemplate(db, id), 'template', id, hash).item));
  },
});

export const getTemplateEndpoint = endpoint({
  method: 'get',
  path: '/v1/templates/{id}',
  tag: 'Tasks',
  summary: 'A template',
  roles: ['producer', 'reviewer', 'agent'],
  params: IdParam,
  answers: { 200: Template },
  problems: ['not_found'],
  async handle({ api, params: { id } }) {
    const row = await getTemplate(api.runtime.db, id);
    if (!row) throw new Problem('not_found', `there is no template ${id}`);
    return ok(view(row));
  },
});

export const deleteTemplateEndpoint = endpoint({
  method: 'delete',
  path: '/v1/templates/{id}',
  tag: 'Tasks',
  summary: 'Delete a template that no active task uses',
  roles: ['producer'],
  params: IdParam,
  answers: { 200: Deleted },
  problems: ['not_found', 'id_conflict'],
  async handle({ api, params: { id } }) {
    const outcome = await deleteTemplate(api.runtime.db, id);
    if (outcome === 'not_found') throw new Problem('not_found', `there is no template ${id}`);
    if (outcome === 'used')
      throw new Problem('id_conflict', `active tasks use template ${id}, so it cannot be deleted`);
    return ok({ deleted: true });
  },
});

export const listTemplatesEndpoint = endpoint({
  method: 'get',
  path: '/v1/templates',
  tag: 'Tasks',
  summary: 'Templates, newest first',
  roles: ['producer', 'reviewer', 'agent'],
  query: Page,
  answers: { 200: pageOf(Template) },
  async handle({ api, query: { limit, cursor } }) {
    const rows = await listTemplates(api.runtime.db.lists, cursor ?? null, limit + 1);
    return ok(page(rows, limit, view, (t) => t.seq));
  },
});
