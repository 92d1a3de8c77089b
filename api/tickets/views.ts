import { Deleted, Page, pageOf } from '../../contract/common.ts';
import type { Role } from '../../contract/keys.ts';
import { PutView, SavedView, ViewOwner, ViewParam } from '../../contract/lists.ts';
import type { SavedViewRow } from '../../db/statements.ts';
import { Problem } from '../../services/shared/problems.ts';
import * as views from '../../services/tickets/views.ts';
import type { Caller } from '../auth.ts';
import { endpoint, ok } from '../endpoint.ts';
import { page } from '../paging.ts';
import { inScope } from '../scopes.ts';

/** Of those who list tickets. */
const shared = {
  ...{ tag: 'Tickets' as const, scope: 'handler' as const },
  roles: ['producer', 'reviewer', 'agent', 'supervisor'] as Role[],
};
const one = { ...shared, params: ViewParam, query: ViewOwner };

const view = ({ name, owner, shared, filter, updated_at }: SavedViewRow) => {
  return { name, by: owner, shared, filter, updatedAt: updated_at.toISOString() };
};

/** Whose view is meant. @throws Problem `forbidden` */
function ownerOf({ actor, role }: Caller, by = actor): string {
  if (by !== actor && role !== 'admin') throw new Problem('forbidden', `this view is changed by ${by} only`);
  return by;
}

export const putView = endpoint('putView', 'PUT /v1/views/{name}', {
  ...one,
  summary:
    "Save a filter of the list of tickets, or replace one's own of this name; an administrator may replace others'",
  body: PutView,
  answers: { 200: SavedView },
  handle: async ({ ctx, caller, params: { name }, query: { by }, body }) =>
    ok(view(await views.put(ctx, { owner: ownerOf(caller, by), name, ...body }))),
});

export const listViews = endpoint('listViews', 'GET /v1/views', {
  ...shared,
  summary: "One's own saved filters and those that are shared, newest first",
  query: Page,
  answers: { 200: pageOf(SavedView) },
  async handle({ ctx, caller, query: { limit, cursor } }) {
    const { actor } = caller;
    // bound keys: of others' those of their queues
    const isShown = ({ by, filter: { queue } }: ReturnType<typeof view>) =>
      by === actor || caller.queues === null || (queue !== undefined && inScope(caller, queue));
    const { items, nextCursor } = page(await views.list(ctx, actor, cursor, limit + 1), limit, view, ({ seq }) => seq);
    return ok({ items: items.filter(isShown), nextCursor });
  },
});

export const deleteView = endpoint('deleteView', 'DELETE /v1/views/{name}', {
  ...one,
  summary: "Delete a saved filter of one's own; an administrator may delete others'",
  answers: { 200: Deleted },
  problems: ['not_found'],
  async handle({ ctx, caller, params: { name }, query: { by } }) {
    await views.remove(ctx, ownerOf(caller, by), name);
    return ok({ deleted: true });
  },
});
