import { z } from '@hono/zod-openapi';
import { Quality, Range } from '../../contract/figures.ts';
import type { Role } from '../../contract/keys.ts';
import { qualityOf } from '../../services/figures/quality.ts';
import * as queues from '../../services/items/queues.ts';
import { csvCell, csvHeaders } from '../csv.ts';
import { endpoint, ok } from '../endpoint.ts';
import { queueByName } from '../resources.ts';

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
