import { z } from '@hono/zod-openapi';
import { IdParam, Name, Page, pageOf } from '../../contract/common.ts';
import { Delivery } from '../../contract/tickets.ts';
import { getDelivery, listDeliveries, type Delivery as Row, reopenDelivery } from '../../db/deliveries.ts';
import { TASK_QUEUE } from '../../link/relay.ts';
import type { Api } from '../context.ts';
import { endpoint, ok } from '../endpoint.ts';
import { isNumber, page, positionOf } from '../paging.ts';
import { Problem } from '../problems.ts';
import { unreachable } from '../workflows.ts';
import { findTicket } from './get.ts';

const view = (row: Row) => ({
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

export const ticketDeliveries = endpoint({
  method: 'get',
  path: '/v1/tickets/{id}/deliveries',
  tag: 'Tickets',
  summary: 'What was sent to the callback, and with what outcome',
  roles: ['producer', 'agent'],
  params: IdParam,
  query: Page,
  answers: { 200: pageOf(Delivery) },
  problems: ['not_found'],
  async handle({ api, params: { id }, query: { limit, cursor } }) {
    await findTicket(api, id);
    const after = positionOf(cursor, isNumber) ?? 0;
    const rows = await listDeliveries(api.engine.db, 'ticket', id, after, limit + 1);
    return ok(page(rows, limit, view, (d) => d.n));
  },
});

export const redeliverTicket = endpoint({
  method: 'post',
  path: '/v1/tickets/{id}/deliveries/{n}/redeliver',
  tag: 'Tickets',
  summary: 'Send it again, with the same message id',
  roles: ['producer'],
  params: z.object({ id: Name, n: z.coerce.number().int().min(1).max(1_000_000) }),
  answers: { 202: Delivery },
  problems: ['not_found'],
  async handle({ api, params: { id, n } }) {
    const { db } = api.engine;
    const item = await findTicket(api, id);
    const known = await getDelivery(db, 'ticket', id, n);
    if (!known) throw new Problem('not_found', `ticket ${id} has no delivery ${n}`);
    // its own workflow is still at the first delivery; any other one may have been opened by a call that failed half-way
    if (known.state === 'pending' && item.telling) return { status: 202, body: view(known) };
    const row = (await reopenDelivery(db, 'ticket', id, n)) ?? known;
    await startRedelivery(api, id, n);
    return { status: 202, body: view(row) };
  },
});

async function startRedelivery(api: Api, id: string, n: number): Promise<void> {
  try {
    await api.engine.client.workflow.start('redelivery', {
      workflowId: `delivery/ticket/${id}/${n}`,
      taskQueue: TASK_QUEUE,
      args: ['ticket', id, n],
      workflowIdConflictPolicy: 'USE_EXISTING',
    });
  } catch (error) {
    throw unreachable(api, error);
  }
}
