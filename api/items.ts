import { Page, pageOf } from '../contract/common.ts';
import type { Role } from '../contract/keys.ts';
import type { Kind } from '../contract/snapshot.ts';
import { TicketEvent, TicketWorkflow } from '../contract/tickets.ts';
import type { RowOf } from '../db/pool.ts';
import * as items from '../services/items/items.ts';
import type { Context } from '../services/shared/context.ts';
import { type Delivered, idIn } from './deliveries.ts';
import { endpoint, ok } from './endpoint.ts';
import { page } from './paging.ts';
import { askWorkflow, type Followed } from './workflows.ts';

interface Shown extends Delivered {
  /** `a ticket` */
  one: string;
  /** Default: producer and agent. */
  roles?: Role[];
  /** @throws Problem `not_found` */
  find(ctx: Context, id: string): Promise<Followed>;
}

const READERS: Role[] = ['producer', 'agent'];

const eventView = (e: RowOf<'list_events'>) => ({
  seq: e.seq,
  type: e.type,
  actor: e.actor,
  at: e.at.toISOString(),
  data: e.data,
});

/** The endpoints for the history and the workflow of one item. */
export function itemEndpoints(kind: Kind, shown: Shown) {
  const { one, tag, operations, base, params: named, scope, roles = READERS, idOf = idIn, find } = shown;
  const events = endpoint(`list${operations}Events`, `GET ${base}/events`, {
    tag,
    summary: `${one.replace(/^a/, 'A')}'s whole history, oldest first`,
    roles,
    scope,
    params: named,
    query: Page,
    answers: { 200: pageOf(TicketEvent) },
    problems: ['not_found'],
    async handle({ ctx, params, query: { limit, cursor } }) {
      const { id } = await find(ctx, idOf(params));
      const rows = await items.events(ctx, kind, id, cursor ?? 0, limit + 1);
      return ok(page(rows, limit, eventView, (e) => e.seq));
    },
  });
  return [events, workflowEndpoint(shown, `What ${one.replace(/^an?/, 'the')}'s workflow itself says`)];
}

export const workflowEndpoint = (shown: Omit<Shown, 'one'>, summary: string) =>
  endpoint(`get${shown.operations}Workflow`, `GET ${shown.base}/workflow`, {
    tag: shown.tag,
    summary,
    roles: shown.roles ?? READERS,
    scope: shown.scope,
    params: shown.params,
    answers: { 200: TicketWorkflow },
    problems: ['not_found'],
    async handle({ api, ctx, params }) {
      const { idOf = idIn, find } = shown;
      return ok(await askWorkflow(api, await find(ctx, idOf(params))));
    },
  });
