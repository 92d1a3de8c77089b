import { pageOf } from '../../contract/common.ts';
import { Delivery, DeliveryFilter, DeliveryParam, ListedDelivery } from '../../contract/deliveries.ts';
import { withoutQuery } from '../../domain/callbacks.ts';
import { isItem } from '../../domain/kinds.ts';
import * as deliveries from '../../services/deliveries/deliveries.ts';
import { Problem } from '../../services/shared/problems.ts';
import type { Caller } from '../auth.ts';
import { deliveryView, NEWEST } from '../deliveries.ts';
import { answer, endpoint } from '../endpoint.ts';
import { listed } from '../paging.ts';

const view = (caller: Caller) => (row: deliveries.ListedDelivery) => ({
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
    return listed(deliveries.listAll(ctx, wanted, cursor ?? NEWEST, limit + 1), limit, view(caller), (d) => d.seq);
  },
});

export const redeliverEndpoint = endpoint('redeliverDelivery', 'POST /v1/deliveries/{kind}/{itemId}/{n}/redeliver', {
  tag: 'Deliveries',
  summary: 'Send one again, with the same message id',
  roles: ['producer', 'supervisor'],
  scope: { item: ({ params: { kind, itemId } }) => (isItem(kind) ? [kind, itemId] : undefined) },
  params: DeliveryParam,
  answers: { 202: Delivery },
  problems: ['not_found', 'erased'],
  async handle({ ctx, caller, params: { kind, itemId, n } }) {
    // jobs are pushed, not delivered
    if (kind === 'job') throw new Problem('not_found', `job ${itemId} has no delivery ${n}`);
    return answer(202, deliveryView(caller, await deliveries.redeliver(ctx, kind, itemId, n)));
  },
});
