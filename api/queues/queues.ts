import { z } from '@hono/zod-openapi';
import { Deleted, Page, pageOf, Whole } from '../../contract/common.ts';
import { Quality, Range } from '../../contract/figures.ts';
import { ListedGold, PutGoldTickets } from '../../contract/gold.ts';
import type { Role } from '../../contract/keys.ts';
import { NewQueueParam } from '../../contract/names.ts';
import * as contract from '../../contract/queues.ts';
import { NO_MODELS } from '../../contract/suggestions.ts';
import type { QueueRow } from '../../db/statements.ts';
import { queueStatsView } from '../../domain/tickets.ts';
import { qualityOf } from '../../services/figures/quality.ts';
import * as queues from '../../services/items/queues.ts';
import { checkCallback } from '../../services/shared/checks.ts';
import { checkEntry, invalid } from '../../services/shared/service.ts';
import * as gold from '../../services/tickets/gold.ts';
import type { Api } from '../api.ts';
import { boundTo, type Caller } from '../auth.ts';
import { shownCallback } from '../deliveries.ts';
import { deleted, endpoint, LARGE_BODY, ok } from '../endpoint.ts';
import { csvCell, csvHeaders, knownQueue, listed, page, queueByName, viewOf } from '../views.ts';

const fields = viewOf(contract.Queue);
const view = (api: Api, queue: QueueRow, caller: Caller) => ({
  ...fields(queue),
  ageing: queue.level_seconds === null ? null : { secondsPerLevel: queue.level_seconds },
  callback: shownCallback(api, caller, queue.callback),
  second: queue.second ?? contract.NO_LOOKS,
  gold: queue.gold ?? contract.NO_GOLD,
  assist: queue.assist ?? NO_MODELS,
  ...(queue.desk ?? contract.NO_DESK),
});

export const putQueueEndpoint = endpoint('putQueue', 'PUT /v1/queues/{queue}', {
  ...queueByName,
  params: NewQueueParam,
  summary: 'Replace all settings; acts at once, also on what waits; dryRun: which tickets its rules would move',
  roles: [],
  body: contract.PutQueue,
  answers: { 200: contract.Queue.or(contract.QueueDryRun) },
  async handle({ api, ctx, caller, params: { queue: name }, body: { dryRun, ticket, ...settings } }) {
    checkCallback(api.ctx, 'callback', settings.callback);
    if (ticket && !dryRun) throw invalid('ticket', 'belongs to dryRun');
    if (dryRun) return ok(await queues.dryRun(ctx, name, settings, ticket));
    const queue = view(api, await queues.put(ctx, name, settings), caller);
    const warnings = await queues.warningsOf(ctx, name, settings);
    return ok({ ...queue, ...(warnings.length > 0 && { warnings }) });
  },
});

export const getQueueEndpoint = endpoint('getQueue', 'GET /v1/queues/{queue}', {
  ...knownQueue,
  summary: 'A queue and its settings',
  roles: ['producer', 'reviewer', 'agent', 'supervisor'],
  answers: { 200: contract.Queue },
  async handle({ api, ctx, caller, params: { queue: name } }) {
    return ok(view(api, await queues.find(ctx, 'ticket', name), caller));
  },
});

export const listQueuesEndpoint = endpoint('listQueues', 'GET /v1/queues', {
  tag: 'Queues',
  summary: 'All ticket queues, newest first; with figures if asked for',
  roles: ['producer', 'reviewer', 'agent', 'supervisor'],
  scope: { list: 'name' },
  query: contract.QueueFilter,
  answers: { 200: pageOf(contract.ListedQueue) },
  async handle({ api, ctx, caller, query: { limit, cursor, stats } }) {
    const rows = await queues.list(ctx, 'ticket', cursor, limit + 1);
    const names = rows.slice(0, limit).map((row) => row.name);
    const found = stats ? await queues.statsOf(ctx, 'ticket', names, boundTo(caller)) : undefined;
    const shown = (queue: QueueRow) => {
      const of = found?.get(queue.name);
      return { ...view(api, queue, caller), ...(of && { stats: queueStatsView(of) }) };
    };
    return ok(page(rows, limit, shown, (queue) => queue.seq));
  },
});

export const deleteQueueEndpoint = endpoint('deleteQueue', 'DELETE /v1/queues/{queue}', {
  ...queueByName,
  summary: 'Delete a queue that has no tickets, neither open nor final',
  roles: [],
  answers: { 200: Deleted },
  problems: ['not_found', 'in_use'],
  handle: ({ ctx, params: { queue: name } }) => deleted(queues.remove(ctx, 'ticket', name)),
});

const pausing = (paused: boolean) =>
  endpoint(paused ? 'pauseQueue' : 'resumeQueue', `POST /v1/queues/{queue}/${paused ? 'pause' : 'resume'}`, {
    ...knownQueue,
    summary: paused ? 'Hand nothing out; holders go on' : 'Hand out again',
    roles: ['supervisor'],
    answers: { 200: contract.Queue },
    handle: async ({ api, ctx, caller, params: { queue: name } }) =>
      ok(view(api, await queues.pause(ctx, name, paused), caller)),
  });

export const pauseQueueEndpoint = pausing(true);
export const resumeQueueEndpoint = pausing(false);

export const queueStatsEndpoint = endpoint('getQueueStats', 'GET /v1/queues/{queue}/stats', {
  ...knownQueue,
  summary: 'Counts by state, exact as of the answer',
  roles: ['producer', 'reviewer', 'agent', 'supervisor'],
  answers: { 200: contract.QueueStats },
  async handle({ ctx, caller, params: { queue } }) {
    await queues.find(ctx, 'ticket', queue);
    return ok(queueStatsView(await queues.stats(ctx, 'ticket', queue, boundTo(caller))));
  },
});

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
    return new Response([COLUMNS, ...lines, ''].join('\r\n'), { headers: csvHeaders('quality') });
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
