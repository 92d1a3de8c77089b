import { z } from '@hono/zod-openapi';
import { Page, pageOf, Whole } from '../../contract/common.ts';
import { Quality, Range } from '../../contract/figures.ts';
import { ListedGold, PutGoldTickets } from '../../contract/gold.ts';
import type { Role } from '../../contract/keys.ts';
import { qualityOf } from '../../services/figures/quality.ts';
import * as queues from '../../services/items/queues.ts';
import { checkEntry } from '../../services/shared/problems.ts';
import * as gold from '../../services/tickets/gold.ts';
import { endpoint, LARGE_BODY, ok } from '../endpoint.ts';
import { knownQueue, queueByName } from '../resources.ts';
import { csvCell, csvHeaders, listed, viewOf } from '../views.ts';

const shared = {
  ...queueByName,
  roles: ['supervisor'] as Role[],
  query: Range,
  problems: ['not_found'] as const,
};

export const queueQuality = endpoint('getQueueQuality', 'GET /v1/queues/{queue}/quality', {
  ...shared,
  summary: 'How well tickets were decided, by each person and model, with what second looks found',
  answers: { 200: Quality },
  async handle({ ctx, params: { queue }, query }) {
    await queues.find(ctx, 'ticket', queue);
    return ok(await qualityOf(ctx, queue, query));
  },
});

const COLUMNS =
  'reviewer,model,decided,looked,upheld,overturned,overturnRate,low,high,goldJudged,goldRight,goldSkipped,kappa,n,secondsMedian';

export const queueQualityCsv = endpoint('getQueueQualityCsv', 'GET /v1/queues/{queue}/quality.csv', {
  ...shared,
  summary: 'The same as a table',
  answers: { 200: z.string() },
  media: 'text/csv',
  async handle({ ctx, params: { queue }, query }) {
    await queues.find(ctx, 'ticket', queue);
    const { items } = await qualityOf(ctx, queue, query);
    const lines = items.map(({ overturnRate: { value, low, high }, ...one }) => {
      const { reviewer = '', model = '', decided, looked, upheld, overturned, gold, kappa, n, secondsMedian } = one;
      const judged = [gold.judged, gold.right, gold.skipped];
      const counted = [decided, looked, upheld, overturned, value, low, high, ...judged, kappa, n, secondsMedian];
      return [csvCell(reviewer), csvCell(model), ...counted.map((number) => number ?? '')].join(',');
    });
    return new Response([COLUMNS, ...lines, ''].join('\r\n'), { headers: csvHeaders });
  },
});

const goldView = viewOf(ListedGold);

export const putGoldTickets = endpoint('putGoldTickets', 'PUT /v1/queues/{queue}/gold', {
  ...knownQueue,
  summary: 'Replace the tickets with known answers, hidden among the others and never in statistics',
  roles: [],
  body: PutGoldTickets,
  bodyLimit: LARGE_BODY,
  answers: { 200: z.object({ total: Whole }) },
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
    listed(gold.list(ctx, queue, cursor ?? 0, limit + 1), limit, goldView, ({ seq }) => seq),
});
