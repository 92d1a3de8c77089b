import { Deleted, Page, pageOf } from '../../contract/common.ts';
import { NewTemplate, PatchTemplate, Template } from '../../contract/tasks.ts';
import * as templates from '../../services/tasks/templates.ts';
import { wantedId } from '../adding.ts';
import { answer, deleted, endpoint, ok } from '../endpoint.ts';
import { listed, templateById, viewOf } from '../views.ts';

const view = viewOf(Template);

export const addTemplateEndpoint = endpoint('addTemplate', 'POST /v1/templates', {
  tag: 'Tasks',
  summary: 'A template, against which the parameters of tasks are checked',
  roles: ['producer', 'supervisor'],
  scope: 'any',
  body: NewTemplate,
  takesKey: true,
  answers: { 200: Template, 201: Template },
  problems: ['id_conflict'],
  async handle({ ctx, caller, body: { id: sent, ...content }, header }) {
    const id = wantedId(sent, caller, 'template', header('idempotency-key'));
    const { template, created } = await templates.add(ctx, id, content);
    return answer(created ? 201 : 200, view(template));
  },
});

export const getTemplateEndpoint = endpoint('getTemplate', 'GET /v1/templates/{id}', {
  ...templateById,
  summary: 'A template',
  roles: ['producer', 'reviewer', 'agent', 'supervisor'],
  scope: 'any',
  answers: { 200: Template },
  handle: async ({ ctx, params: { id } }) => ok(view(await templates.find(ctx, id))),
});

export const patchTemplateEndpoint = endpoint('updateTemplate', 'PATCH /v1/templates/{id}', {
  ...templateById,
  summary: 'Change a template; tasks keep the version that they were made with',
  roles: ['producer', 'supervisor'],
  body: PatchTemplate,
  answers: { 200: Template },
  handle: async ({ ctx, params: { id }, body }) => ok(view(await templates.change(ctx, id, body))),
});

export const deleteTemplateEndpoint = endpoint('deleteTemplate', 'DELETE /v1/templates/{id}', {
  ...templateById,
  summary: 'Delete a template that no active task uses',
  roles: ['producer', 'supervisor'],
  answers: { 200: Deleted },
  problems: ['not_found', 'in_use'],
  handle: ({ ctx, params: { id } }) => deleted(templates.remove(ctx, id)),
});

export const listTemplatesEndpoint = endpoint('listTemplates', 'GET /v1/templates', {
  tag: 'Tasks',
  summary: 'Templates, newest first',
  roles: ['producer', 'reviewer', 'agent', 'supervisor'],
  scope: 'any',
  query: Page,
  answers: { 200: pageOf(Template) },
  handle: ({ ctx, query: { limit, cursor } }) =>
    listed(templates.list(ctx, cursor, limit + 1), limit, view, (t) => t.seq),
});
