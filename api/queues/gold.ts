import { z } from '@hono/zod-openapi';
import { Page, pageOf, Whole } from '../../contract/common.ts';
import { ListedGold, PutGoldTickets } from '../../contract/gold.ts';
import { checkEntry } from '../../services/shared/problems.ts';
import * as gold from '../../services/tickets/gold.ts';
import { endpoint, LARGE_BODY, ok } from '../endpoint.ts';
import { listed } from '../paging.ts';
import { queueByName } from '../resources.ts';
import { viewOf } from '../views.ts';

const view = viewOf(ListedGold);

export const putGoldTickets = endpoint('putGoldTickets', 'PUT /v1/queues/{queue}/gold', {
  ...queueByName,
  summary: 'Replace the tickets with known answers, hidden among the others and never in statistics',
  roles: [],
  body: PutGoldTickets,
  bodyLimit: LARGE_BODY,
  answers: { 200: z.object({ total: Whole }) },
  problems: ['not_found'],
  async handle({ ctx, params: { queue }, body: { tickets } }) {
    for (const [n, one] of tickets.entries()) checkEntry(`tickets.${n}`, one);
    await gold.put(ctx, queue, tickets);
    return ok({ total: tickets.length });
  },
});

export const listGoldTickets = endpoint('listGoldTickets', 'GET /v1/queues/{queue}/gold', {
  ...queueByName,
  summary: 'The tickets with known answers, and what came of them',
  roles: [],
  query: Page,
  answers: { 200: pageOf(ListedGold) },
  handle: ({ ctx, params: { queue }, query: { limit, cursor } }) =>
    listed(gold.list(ctx, queue, cursor ?? 0, limit + 1), limit, view, ({ seq }) => seq),
});
