import { WorkflowNotFoundError } from '@temporalio/client';
import { Page, pageOf } from '../contract/common.ts';
import type { Item } from '../contract/items.ts';
import type { Role } from '../contract/keys.ts';
import type { Driven, ItemView, Kind } from '../contract/snapshot.ts';
import { TicketEvent, TicketWorkflow } from '../contract/tickets.ts';
import { workflowId } from '../domain/kinds.ts';
import * as items from '../services/items/items.ts';
import { type Context, unreachable } from '../services/shared/service.ts';
import { retentionSeconds } from '../services/upkeep/reconciler.ts';
import type { Api } from './api.ts';
import { type Delivered, idIn } from './deliveries.ts';
import { endpoint, ok } from './endpoint.ts';
import { listed, viewOf } from './views.ts';

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

const TIMEOUT_MS = 5_000;
const DEFAULT_RETENTION_SECONDS = 86_400;

/** The part of an item or review by which its workflow is found. */
export type Followed = Pick<Item, 'id' | 'ended_at'> & { kind: Driven };

/**
 * The state of an item as its workflow knows it, asked by a query.
 * @throws Problem `unavailable` while Temporal or its worker cannot be reached
 */
async function askWorkflow(api: Api, item: Followed) {
  const id = workflowId(item);
  const { client } = api.ctx;
  try {
    return await client.withDeadline(Date.now() + TIMEOUT_MS, async () => {
      const handle = client.workflow.getHandle(id);
      const { runId, status } = await handle.describe();
      const { version, state, ...rest } = await handle.query<ItemView>('state');
      const snapshot = version === null || state === null ? null : { version, state, ...rest };
      return { workflowId: id, runId, status: status.name.toLowerCase(), snapshot, uiUrl: uiUrl(api, id, runId) };
    });
  } catch (error) {
    if (!(error instanceof WorkflowNotFoundError)) throw unreachable(api.ctx.log, error);
    const kept = (await retentionSeconds(client)) || DEFAULT_RETENTION_SECONDS;
    const over = item.ended_at !== null && Date.now() - item.ended_at.getTime() > kept * 1_000;
    return { workflowId: id, runId: null, status: over ? 'gone' : 'not_started', snapshot: null, uiUrl: null };
  }
}

function uiUrl(api: Api, workflowId: string, runId: string): string | null {
  const { temporalUiUrl, temporalNamespace } = api.config;
  if (temporalUiUrl === null) return null;
  return `${temporalUiUrl}/namespaces/${temporalNamespace}/workflows/${encodeURIComponent(workflowId)}/${runId}/history`;
}
