import { Page, pageOf } from '../contract/common.ts';
import type { Role } from '../contract/keys.ts';
import type { Kind } from '../contract/snapshot.ts';
import { TicketEvent, TicketWorkflow } from '../contract/tickets.ts';
import * as items from '../services/items/items.ts';
import type { Context } from '../services/shared/context.ts';
import { type Delivered, idIn } from './deliveries.ts';
import { endpoint, ok } from './endpoint.ts';
import { listed } from './paging.ts';
import { viewOf } from './views.ts';
import { askWorkflow, type Followed } from './workflows.ts';

interface Shown extends Delivered {
  /** `a ticket` */
  one: string;
  /** Default: producer and agent. */
  roles?: Role[];
  /** @throws Problem `not_found` */
  find(ctx: Context, id: string): Promise<Followed>;
}

const sharedBy = ({
  tag,
  params,
  scope,
  problems,
  roles = ['producer', 'agent', 'supervisor'],
}: Omit<Shown, 'one'>) => ({
  ...{ tag, params, scope, problems, roles },
});

const eventView = viewOf(TicketEvent);

/** The endpoints for the history and the workflow of one item. */
export function itemEndpoints(kind: Kind, shown: Shown) {
  const { one, operations, base, idOf = idIn, find } = shown;
  const events = endpoint(`list${operations}Events`, `GET ${base}/events`, {
    ...sharedBy(shown),
    summary: `${one.replace(/^a/, 'A')}'s whole history, oldest first`,
    query: Page,
    answers: { 200: pageOf(TicketEvent) },
    async handle({ ctx, params, query: { limit, cursor } }) {
      const { id } = await find(ctx, idOf(params));
      return listed(items.events(ctx, kind, id, cursor ?? 0, limit + 1), limit, eventView, (e) => e.seq);
    },
  });
  return [events, workflowEndpoint(shown, `The state that ${one.replace(/^an?/, 'the')}'s workflow reports`)];
}

export const workflowEndpoint = (shown: Omit<Shown, 'one'>, summary: string) =>
  endpoint(`get${shown.operations}Workflow`, `GET ${shown.base}/workflow`, {
    ...sharedBy(shown),
    summary,
    answers: { 200: TicketWorkflow },
    async handle({ api, ctx, params }) {
      const { idOf = idIn, find } = shown;
      return ok(await askWorkflow(api, await find(ctx, idOf(params))));
    },
  });
