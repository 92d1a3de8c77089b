import type { z } from '@hono/zod-openapi';
import { Deleted, Page, pageOf } from '../../contract/common.ts';
import type { Role } from '../../contract/keys.ts';
import type { SavedFilter } from '../../contract/lists.ts';
import * as contract from '../../contract/saved.ts';
import type { SavedRow } from '../../db/statements.ts';
import * as saved from '../../services/access/saved.ts';
import * as queues from '../../services/items/queues.ts';
import { Problem } from '../../services/shared/service.ts';
import type { Caller } from '../auth.ts';
import { deleted, endpoint, ok } from '../endpoint.ts';
import { inScope } from '../scopes.ts';
import { knownQueue, listed, page } from '../views.ts';

const shown = ({ name, owner, shared, updated_at }: SavedRow) => {
  return { name, by: owner, shared, updatedAt: updated_at.toISOString() };
};
const viewOf = (row: SavedRow) => ({ ...shown(row), filter: row.value as SavedFilter });
const macroOf = (row: SavedRow) => ({ ...shown(row), decision: row.value });

/** Whose it is. @throws Problem `forbidden` */
function ownerOf({ actor, role }: Caller, by = actor): string {
  if (by !== actor && role !== 'admin') throw new Problem('forbidden', `this is changed by ${by} only`);
  return by;
}

/** Of those who list tickets. */
const viewing = {
  ...{ tag: 'Tickets' as const, scope: 'handler' as const },
  roles: ['producer', 'reviewer', 'agent', 'supervisor'] as Role[],
};
const oneView = { ...viewing, params: contract.SavedParam, query: contract.SavedBy };
const VIEW = { kind: 'view', queue: '' } as const;

export const putView = endpoint('putView', 'PUT /v1/views/{name}', {
  ...oneView,
  summary:
    "Save a filter of the list of tickets, or replace one's own of this name; an administrator may replace others'",
  body: contract.PutView,
  answers: { 200: contract.SavedView },
  handle: async ({ ctx, caller, params: { name }, query: { by }, body: { filter, shared } }) =>
    ok(viewOf(await saved.put(ctx, { ...VIEW, owner: ownerOf(caller, by), name, value: filter, shared }))),
});

export const listViews = endpoint('listViews', 'GET /v1/views', {
  ...viewing,
  summary: "One's own saved filters and those that are shared, newest first",
  query: Page,
  answers: { 200: pageOf(contract.SavedView) },
  async handle({ ctx, caller, query: { limit, cursor } }) {
    const { actor: owner } = caller;
    // bound keys: of others' those of their queues
    const isShown = ({ by, filter: { queue } }: ReturnType<typeof viewOf>) =>
      by === owner || caller.queues === null || (queue !== undefined && inScope(caller, queue));
    const rows = await saved.list(ctx, { ...VIEW, owner, before: cursor, limit: limit + 1 });
    const { items, nextCursor } = page(rows, limit, viewOf, ({ seq }) => seq);
    return ok({ items: items.filter(isShown), nextCursor });
  },
});

export const deleteView = endpoint('deleteView', 'DELETE /v1/views/{name}', {
  ...oneView,
  summary: "Delete a saved filter of one's own; an administrator may delete others'",
  answers: { 200: Deleted },
  problems: ['not_found'],
  handle: ({ ctx, caller, params: { name }, query: { by } }) =>
    deleted(saved.remove(ctx, { ...VIEW, owner: ownerOf(caller, by), name })),
});

/** Of those who decide tickets, and who lead them. */
const deciding = { ...knownQueue, tag: 'Tickets' as const, roles: ['reviewer', 'agent', 'supervisor'] as Role[] };
const oneMacro = { ...deciding, params: contract.MacroParam, query: contract.SavedBy };
const MACRO = { kind: 'macro' } as const;

export const putMacro = endpoint('putMacro', 'PUT /v1/queues/{queue}/macros/{name}', {
  ...oneMacro,
  summary:
    "Save an answer with which the queue's form can be filled, or replace one's own of this name; supervisors may share theirs",
  body: contract.PutMacro,
  answers: { 200: contract.Macro },
  async handle({ ctx, caller, params, query: { by }, body: { decision, shared } }) {
    await queues.checkThere(ctx, 'ticket', [params.queue]);
    if (shared && caller.role !== 'supervisor' && caller.role !== 'admin')
      throw new Problem('forbidden', 'answers are shared by supervisors');
    return ok(
      macroOf(await saved.put(ctx, { ...MACRO, ...params, owner: ownerOf(caller, by), value: decision, shared })),
    );
  },
});

export const listMacros = endpoint('listMacros', 'GET /v1/queues/{queue}/macros', {
  ...deciding,
  summary: "One's own saved answers of a queue and those that are shared, newest first",
  query: Page.extend(contract.SavedBy.shape),
  answers: { 200: pageOf(contract.Macro) },
  handle: ({ ctx, caller, params: { queue }, query: { by, limit, cursor } }) => {
    const wanted = { ...MACRO, queue, owner: ownerOf(caller, by), before: cursor, limit: limit + 1 };
    return listed(saved.list(ctx, wanted), limit, macroOf, ({ seq }) => seq);
  },
});

export const deleteMacro = endpoint('deleteMacro', 'DELETE /v1/queues/{queue}/macros/{name}', {
  ...oneMacro,
  summary: "Delete a saved answer of one's own; an administrator may delete others'",
  answers: { 200: Deleted },
  handle: ({ ctx, caller, params, query: { by } }) =>
    deleted(saved.remove(ctx, { ...MACRO, ...params, owner: ownerOf(caller, by) })),
});

const defaulting = {
  tag: 'Sessions' as const,
  scope: 'any' as const,
  roles: ['reviewer', 'agent', 'supervisor'] as Role[],
};
const DEFAULTS = { kind: 'defaults', queue: '', shared: false, name: 'defaults' } as const;

export const putDefaults = endpoint('putDefaults', 'PUT /v1/session/defaults', {
  ...defaulting,
  summary: 'Keep how I want things shown, in place of what was kept',
  body: contract.Defaults,
  answers: { 200: contract.Defaults },
  async handle({ ctx, caller: { actor: owner }, body: { defaults } }) {
    await saved.put(ctx, { ...DEFAULTS, owner, value: defaults });
    return ok({ defaults });
  },
});

export const getDefaults = endpoint('getDefaults', 'GET /v1/session/defaults', {
  ...defaulting,
  summary: 'How I want things shown; empty where nothing was kept',
  answers: { 200: contract.Defaults },
  async handle({ ctx, caller: { actor: owner } }) {
    const [row] = await saved.list(ctx, { ...DEFAULTS, owner, before: null, limit: 1 });
    return ok({ defaults: (row?.value ?? {}) as z.output<typeof contract.Defaults>['defaults'] });
  },
});
