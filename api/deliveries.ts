import type { z } from '@hono/zod-openapi';
import { IdParam, Page, pageOf } from '../contract/common.ts';
import { Delivery, DeliveryNumber } from '../contract/deliveries.ts';
import type { Driven } from '../contract/snapshot.ts';
import {
  getDelivery,
  type ListedDelivery,
  listDeliveries,
  type Delivery as Row,
  reopenDelivery,
} from '../db/deliveries.ts';
import { isInvitation, refuseUrl } from '../domain/callbacks.ts';
import { startDelivery } from '../services/deliveries.ts';
import { invalid, Problem } from '../services/problems.ts';
import type { Api } from './api.ts';
import { answer, endpoint, ok } from './endpoint.ts';
import { page } from './paging.ts';
import { unreachable } from './workflows.ts';

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
});

/** Above every number of a delivery and every place in the list of all. */
export const NEWEST = Number.MAX_SAFE_INTEGER;

/** @throws Problem `invalid_request` when messages may not go to this URL, as far as the URL alone tells */
export function checkUrl(api: Api, path: string, url: string | undefined): void {
  const refused = url !== undefined && refuseUrl(url, api.config.allowPrivateCallbacks);
  if (refused) throw invalid(path, refused);
}

/** What a path names an item by. */
interface Place {
  id: string;
  occurrence?: string;
}

interface Told {
  kind: Driven;
  tag: string;
  /** `/v1/tickets/{id}` */
  base: string;
  params: z.ZodObject;
  /** The item that a path names. */
  idOf(place: Place): string;
  /**
   * Whether the workflow of that id is itself at its deliveries.
   * @throws Problem `not_found`
   */
  telling(api: Api, id: string): Promise<boolean>;
}

/** Of what has a path of its own. */
export const byId = { params: IdParam, idOf: ({ id }: Place) => id };

/** What was sent to whom, and sending it again, for anything that has a callback (S0.10). */
export function deliveryEndpoints({ kind, tag, base, params: place, idOf, telling }: Told) {
  const list = endpoint({
    method: 'get',
    path: `${base}/deliveries`,
    tag,
    summary: 'What was sent to the callback, and with what outcome; newest first',
    roles: ['producer', 'agent'],
    params: place,
    query: Page,
    answers: { 200: pageOf(Delivery) },
    problems: ['not_found'],
    async handle({ api, params, query: { limit, cursor } }) {
      const id = idOf(params as unknown as Place);
      await telling(api, id);
      const before = cursor ?? NEWEST;
      const rows = await listDeliveries(api.runtime.db.lists, kind, id, before, limit + 1);
      return ok(page(rows, limit, deliveryView, (d) => d.n));
    },
  });
  const again = endpoint({
    method: 'post',
    path: `${base}/deliveries/{n}/redeliver`,
    tag,
    summary: 'Send it again, with the same message id',
    roles: ['producer'],
    params: place.extend({ n: DeliveryNumber }),
    answers: { 202: Delivery },
    problems: ['not_found'],
    async handle({ api, params }) {
      const row = await redeliver(api, idOf(params as unknown as Place), Number(params.n));
      return answer(202, deliveryView(row));
    },
  });
  /** @throws Problem `not_found` */
  const redeliver = async (api: Api, id: string, n: number): Promise<Row> => {
    const { db } = api.runtime;
    const underWay = await telling(api, id);
    const known = await getDelivery(db, kind, id, n);
    if (!known) throw new Problem('not_found', `${kind} ${id} has no delivery ${n}`);
    // its own workflow is still at it; any other one may have been opened by a call that failed half-way
    if (known.state === 'pending' && underWay && !isInvitation(known)) return known;
    const reopened = await reopenDelivery(db, kind, id, n);
    // one that is still there after its outcome was written down has only to end, and would not look again
    await startRedelivery(api, kind, id, n, reopened ? 'TERMINATE_EXISTING' : 'USE_EXISTING');
    return reopened ?? known;
  };
  return { list, again, redeliver };
}

async function startRedelivery(
  api: Api,
  kind: Driven,
  id: string,
  n: number,
  workflowIdConflictPolicy: 'TERMINATE_EXISTING' | 'USE_EXISTING',
): Promise<void> {
  try {
    await startDelivery(api.runtime.client, kind, id, n, workflowIdConflictPolicy);
  } catch (error) {
    throw unreachable(api, error);
  }
}
