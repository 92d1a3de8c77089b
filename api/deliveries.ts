import type { z } from '@hono/zod-openapi';
import { Page, pageOf } from '../contract/common.ts';
import { Delivery, DeliveryNumber } from '../contract/deliveries.ts';
import type { Callback } from '../contract/items.ts';
import { refuseUrl } from '../domain/callbacks.ts';
import * as deliveries from '../services/deliveries/deliveries.ts';
import { invalid } from '../services/shared/problems.ts';
import type { Api } from './api.ts';
import type { Caller } from './auth.ts';
import { answer, endpoint, ok, type Tag } from './endpoint.ts';
import { page } from './paging.ts';
import type { Scope, ScopedCall } from './scopes.ts';

export const deliveryView = (row: deliveries.ListedDelivery) => ({
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

/** Greater than each delivery's number: a list before it begins with the newest. */
export const NEWEST = Number.MAX_SAFE_INTEGER;

/** A callback as its caller may see it: only administrators, who may set the secret, see it. */
export const shownCallback = <C extends Callback>({ ctx }: Api, callback: C | null, { role }: Pick<Caller, 'role'>) =>
  callback && role !== 'admin' ? { ...callback, secret: 'whsec_hidden' } : ctx.secrets.show(callback);

/** Checks a callback's URL before its host is resolved. @throws Problem `invalid_request` when it may not be called */
export function checkUrl(api: Api, path: string, url: string | undefined): void {
  const refused = url !== undefined && refuseUrl(url, api.config.privateCallbacks);
  if (refused) throw invalid(path, refused);
}

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
  /** The item's id, where that is not the parameter `id`. */
  idOf?(params: ItemId): string;
}

export const idIn = ({ id }: ItemId) => id;

/** The endpoints that list deliveries and send one again, for a kind that has callbacks (S0.10). */
export function deliveryEndpoints(kind: deliveries.DeliveredKind, delivered: Delivered) {
  const { tag, operations, base, params: named, scope, idOf = idIn } = delivered;
  const list = endpoint(`list${operations}Deliveries`, `GET ${base}/deliveries`, {
    tag,
    summary: 'What was sent to the callback, and with what outcome; newest first',
    roles: ['producer', 'agent'],
    scope,
    params: named,
    query: Page,
    answers: { 200: pageOf(Delivery) },
    problems: ['not_found'],
    async handle({ ctx, params, query: { limit, cursor } }) {
      const rows = await deliveries.list(ctx, kind, idOf(params), cursor ?? NEWEST, limit + 1);
      return ok(page(rows, limit, deliveryView, (d) => d.n));
    },
  });
  const again = endpoint(`redeliver${operations}Delivery`, `POST ${base}/deliveries/{n}/redeliver`, {
    tag,
    summary: 'Send it again, with the same message id',
    roles: ['producer'],
    scope,
    params: named.extend({ n: DeliveryNumber }),
    answers: { 202: Delivery },
    problems: ['not_found'],
    async handle({ ctx, params }) {
      return answer(202, deliveryView(await deliveries.redeliver(ctx, kind, idOf(params), params.n)));
    },
  });
  return [list, again];
}
