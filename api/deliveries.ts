import type { z } from '@hono/zod-openapi';
import { isWorkflow, Page, pageOf, workflowOf } from '../contract/common.ts';
import { Delivery, DeliveryFilter, DeliveryNumber, DeliveryParam, ListedDelivery } from '../contract/deliveries.ts';
import type { Callback, SignedCallback } from '../contract/items.ts';
import type { ProblemCode } from '../contract/problems.ts';
import { withoutQuery } from '../domain/callbacks.ts';
import { isItem } from '../domain/kinds.ts';
import * as deliveries from '../services/deliveries/deliveries.ts';
import { Problem } from '../services/shared/service.ts';
import type { Api } from './api.ts';
import type { Caller } from './auth.ts';
import { answer, endpoint, type Tag } from './endpoint.ts';
import type { Scope, ScopedCall } from './scopes.ts';
import { listed, viewOf } from './views.ts';

const deliveryFields = viewOf(Delivery);
function deliveryView({ role }: Pick<Caller, 'role'>, row: deliveries.ListedDelivery) {
  const view = deliveryFields(row);
  return {
    ...view,
    url: isWorkflow(row.url) || role !== 'admin' ? withoutQuery(row.url) : row.url,
    nextAttemptAt: row.state === 'pending' ? view.nextAttemptAt : null,
  };
}

/** Greater than each delivery's number: a list before it begins with the newest. */
const NEWEST = Number.MAX_SAFE_INTEGER;

/** A receiver as its caller may see it: only administrators, who may set it, see its secret and the query of its URL. */
export const shownReceiver = <C extends SignedCallback>({ ctx }: Api, { role }: Pick<Caller, 'role'>, receiver: C) =>
  role === 'admin'
    ? ctx.secrets.show(receiver)
    : { ...receiver, url: withoutQuery(receiver.url), secret: 'whsec_hidden' };

/** The same of a callback, which may be a workflow: as it was sent. */
export const shownCallback = (api: Api, caller: Pick<Caller, 'role'>, callback: Callback | null) =>
  callback &&
  (callback.secret === undefined ? { temporal: workflowOf(callback.url) } : shownReceiver(api, caller, callback));

/** The parameters by which a path names an item; `occurrence`: of a task. */
type ItemParams = z.ZodObject<{ id: z.ZodType<string>; occurrence?: z.ZodType<string> }>;
export type ItemId = z.output<ItemParams>;

export interface Delivered {
  tag: Tag;
  /** The noun in the names of its operations: `Ticket`. */
  operations: string;
  /** Its path: `/v1/tickets/{id}`. */
  base: string;
  params: ItemParams;
  scope: Scope<ScopedCall<ItemId, unknown, unknown>>;
  problems: readonly ProblemCode[];
  /** The item's id, where that is not the parameter `id`. */
  idOf?(params: ItemId): string;
}

export const idIn = ({ id }: ItemId) => id;

/** The endpoints that list deliveries and send one again, for a kind that has callbacks (S0.10). */
export function deliveryEndpoints(kind: deliveries.DeliveredKind, delivered: Delivered) {
  const { tag, operations, base, params: named, scope, problems, idOf = idIn } = delivered;
  const shared = { tag, params: named, scope, problems };
  const list = endpoint(`list${operations}Deliveries`, `GET ${base}/deliveries`, {
    ...shared,
    summary: 'The deliveries of its callback with their outcomes, newest first',
    roles: ['producer', 'agent', 'supervisor'],
    query: Page,
    answers: { 200: pageOf(Delivery) },
    async handle({ ctx, caller, params, query: { limit, cursor } }) {
      return listed(
        deliveries.list(ctx, kind, idOf(params), cursor ?? NEWEST, limit + 1),
        limit,
        (row) => deliveryView(caller, row),
        (d) => d.n,
      );
    },
  });
  const again = endpoint(`redeliver${operations}Delivery`, `POST ${base}/deliveries/{n}/redeliver`, {
    ...shared,
    summary: 'Send it again, with the same message id',
    roles: ['producer', 'supervisor'],
    params: named.extend({ n: DeliveryNumber }),
    answers: { 202: Delivery },
    problems: ['not_found', 'erased', 'not_open'],
    async handle({ ctx, caller, params }) {
      return answer(202, deliveryView(caller, await deliveries.redeliver(ctx, kind, idOf(params), params.n)));
    },
  });
  return [list, again];
}

const listedView = (caller: Caller) => (row: deliveries.ListedDelivery) => ({
  ...deliveryView(caller, row),
  kind: row.kind,
  itemId: row.item_id,
  queue: row.queue || null,
  url: withoutQuery(row.url),
});

export const listDeliveriesEndpoint = endpoint('listDeliveries', 'GET /v1/deliveries', {
  tag: 'Deliveries',
  summary: 'Deliveries of all items, newest first: what is pending, what has failed, and why',
  roles: ['producer', 'agent', 'supervisor'],
  scope: { list: 'queue', queue: ({ query }) => query.queue },
  query: DeliveryFilter,
  answers: { 200: pageOf(ListedDelivery) },
  async handle({ ctx, caller, query: { limit, cursor, host, ...filter } }) {
    const wanted = { ...filter, host: host?.toLowerCase() };
    return listed(
      deliveries.listAll(ctx, wanted, cursor ?? NEWEST, limit + 1),
      limit,
      listedView(caller),
      (d) => d.seq,
    );
  },
});

export const redeliverEndpoint = endpoint('redeliverDelivery', 'POST /v1/deliveries/{kind}/{itemId}/{n}/redeliver', {
  tag: 'Deliveries',
  summary: 'Send one again, with the same message id',
  roles: ['producer', 'supervisor'],
  scope: { item: ({ params: { kind, itemId } }) => (isItem(kind) ? [kind, itemId] : undefined) },
  params: DeliveryParam,
  answers: { 202: Delivery },
  problems: ['not_found', 'erased', 'not_open'],
  async handle({ ctx, caller, params: { kind, itemId, n } }) {
    // jobs are pushed, not delivered
    if (kind === 'job') throw new Problem('not_found', `job ${itemId} has no delivery ${n}`);
    return answer(202, deliveryView(caller, await deliveries.redeliver(ctx, kind, itemId, n)));
  },
});
