import type { z } from '@hono/zod-openapi';
import { IdParam, Page, pageOf } from '../contract/common.ts';
import { Delivery, DeliveryNumber } from '../contract/deliveries.ts';
import type { Callback } from '../contract/items.ts';
import { refuseUrl } from '../domain/callbacks.ts';
import type { DeliveredKind, ListedDelivery } from '../services/deliveries/deliveries.ts';
import { invalid } from '../services/shared/problems.ts';
import type { Api } from './api.ts';
import type { Caller } from './auth.ts';
import { answer, endpoint, ok } from './endpoint.ts';
import { page } from './paging.ts';
import type { Scope, ScopedCall } from './scopes.ts';

export const deliveryView = (row: ListedDelivery) => ({
  n: row.n,
  type: row.type,
  version: row.version,
  url: row.url,
  state: row.state,
  attempts: row.attempts,
  status: row.status,
  error: row.error,
  createdAt: row.created_at.toISOString(),
  updatedAt: row.updated_at.toISOString(),
  nextAttemptAt: row.state === 'pending' ? (row.next_attempt_at?.toISOString() ?? null) : null,
});

/** Above every number of a delivery and every place in the list of all. */
export const NEWEST = Number.MAX_SAFE_INTEGER;

/** A callback's secret is for those who may set it. */
export const shownCallback = <C extends Callback>(
  { runtime }: Api,
  callback: C | null,
  { role }: Pick<Caller, 'role'>,
) => (callback && role !== 'admin' ? { ...callback, secret: 'whsec_hidden' } : runtime.secrets.show(callback));

/** @throws Problem `invalid_request` when messages may not go to this URL, as far as the URL alone tells */
export function checkUrl(api: Api, path: string, url: string | undefined): void {
  const refused = url !== undefined && refuseUrl(url, api.config.privateCallbacks);
  if (refused) throw invalid(path, refused);
}

/** What a path names an item by. */
export type Named = { id: string; occurrence?: string };

export interface Delivered {
  kind: DeliveredKind;
  tag: string;
  /** `Ticket`: the noun in the names of its operations. */
  operations: string;
  /** `/v1/tickets/{id}` */
  base: string;
  params: z.ZodObject;
  scope: Scope<ScopedCall<Named, never, never>>;
  /** The item that a path names. */
  idOf(named: Named): string;
}

/** Of what has a path of its own. */
export const byId = { params: IdParam, idOf: ({ id }: Named) => id };

/** What was sent to whom, and sending it again, for anything that has a callback (S0.10). */
export function deliveryEndpoints({ kind, tag, operations, base, params: named, scope, idOf }: Delivered) {
  const list = endpoint({
    operation: `list${operations}Deliveries`,
    method: 'get',
    path: `${base}/deliveries`,
    tag,
    summary: 'What was sent to the callback, and with what outcome; newest first',
    roles: ['producer', 'agent'],
    scope,
    params: named,
    query: Page,
    answers: { 200: pageOf(Delivery) },
    problems: ['not_found'],
    async handle({ api, params, query: { limit, cursor } }) {
      const id = idOf(params as unknown as Named);
      const rows = await api.services.deliveries.list(kind, id, cursor ?? NEWEST, limit + 1);
      return ok(page(rows, limit, deliveryView, (d) => d.n));
    },
  });
  const again = endpoint({
    operation: `redeliver${operations}Delivery`,
    method: 'post',
    path: `${base}/deliveries/{n}/redeliver`,
    tag,
    summary: 'Send it again, with the same message id',
    roles: ['producer'],
    scope,
    params: named.extend({ n: DeliveryNumber }),
    answers: { 202: Delivery },
    problems: ['not_found'],
    async handle({ api, params }) {
      const row = await api.services.deliveries.redeliver(kind, idOf(params as unknown as Named), Number(params.n));
      return answer(202, deliveryView(row));
    },
  });
  return { list, again };
}
