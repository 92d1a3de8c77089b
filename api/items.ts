import { Page, pageOf } from '../contract/common.ts';
import type { Item } from '../contract/items.ts';
import type { Kind } from '../contract/snapshot.ts';
import { TicketEvent, TicketWorkflow } from '../contract/tickets.ts';
import type { Context } from '../services/shared/context.ts';
import { type Delivered, deliveryEndpoints, type Named } from './deliveries.ts';
import { endpoint, ok } from './endpoint.ts';
import { eventPage } from './events.ts';
import { askWorkflow } from './workflows.ts';

interface Shown extends Delivered {
  kind: Delivered['kind'] & Kind;
  /** With its article: `a ticket`. */
  one: string;
  /** @throws Problem `not_found` */
  find(ctx: Context, id: string): Promise<Item>;
}

/** What an operator looks at of one item, whatever its kind: its history, its workflow, its deliveries. */
export function itemEndpoints({ one, find, ...delivered }: Shown) {
  const { kind, tag, base, params: named, scope, idOf } = delivered;
  const { operations } = delivered;
  const found = (ctx: Context, params: object) => find(ctx, idOf(params as Named));
  const events = endpoint(`list${operations}Events`, `GET ${base}/events`, {
    tag,
    summary: `${one.replace(/^a/, 'A')}'s whole history, oldest first`,
    roles: ['producer', 'agent'],
    scope,
    params: named,
    query: Page,
    answers: { 200: pageOf(TicketEvent) },
    problems: ['not_found'],
    handle: async ({ ctx, params, query }) => ok(await eventPage(ctx, kind, (await found(ctx, params)).id, query)),
  });
  const workflow = endpoint(`get${operations}Workflow`, `GET ${base}/workflow`, {
    tag,
    summary: `What ${one.replace(/^an?/, 'the')}'s workflow itself says`,
    roles: ['producer', 'agent'],
    scope,
    params: named,
    answers: { 200: TicketWorkflow },
    problems: ['not_found'],
    handle: async ({ api, ctx, params }) => ok(await askWorkflow(api, await found(ctx, params))),
  });
  return [events, workflow, ...deliveryEndpoints(delivered)];
}
