import { z } from '@hono/zod-openapi';
import { answer, counts, Deleted, orNull, Page, pageOf, ShownSigned } from '../../contract/common.ts';
import { JOB_STATES, Schedule, ScheduleSettings, Topic, TopicSettings } from '../../contract/jobs.ts';
import { AnyName, Name } from '../../contract/names.ts';
import type { RowOf } from '../../db/pool.ts';
import type { QueueRow, ScheduleRow } from '../../db/statements.ts';
import { coreState } from '../../domain/items.ts';
import * as queues from '../../services/items/queues.ts';
import * as schedules from '../../services/jobs/schedules.ts';
import * as topics from '../../services/jobs/topics.ts';
import { checkCallback } from '../../services/shared/checks.ts';
import type { Context } from '../../services/shared/service.ts';
import type { Api } from '../api.ts';
import type { Caller } from '../auth.ts';
import { shownReceiver } from '../deliveries.ts';
import { deleted, endpoint, ok } from '../endpoint.ts';
import { knownTopic, listed, page, topicByName, viewOf } from '../views.ts';

const ShownPush = answer('ShownPush', { ...ShownSigned.shape, concurrency: z.number().int() });
const ShownTopic = answer('Topic', {
  name: z.string(),
  ...TopicSettings.shape,
  push: orNull(ShownPush),
  createdAt: z.string(),
});

const TopicStats = answer('TopicStats', {
  ...counts(...JOB_STATES, 'total'),
  oldestReadySeconds: z.number().nullable(),
  ...counts('popsPerMinute', 'timeouts'),
});

const fields = viewOf(ShownTopic);
const view = (api: Api, topic: QueueRow, caller: Caller) => ({
  ...fields(topic),
  push: topic.push && shownReceiver(api, caller, topic.push),
});

function statsView({ counts, oldest_waiting_seconds, claims_per_minute }: RowOf<'queue_stats'>) {
  const byState = JOB_STATES.map((word) => [word, counts[coreState('job', word) ?? ''] ?? 0] as const);
  return {
    ...(Object.fromEntries(byState) as Record<(typeof JOB_STATES)[number], number>),
    total: byState.reduce((sum, [, n]) => sum + n, 0),
    oldestReadySeconds: oldest_waiting_seconds,
    popsPerMinute: claims_per_minute,
    timeouts: counts.lease_expired ?? 0,
  };
}

export const putTopicEndpoint = endpoint('putTopic', 'PUT /v1/topics/{topic}', {
  ...topicByName,
  summary: "Replace a topic's settings",
  roles: [],
  body: TopicSettings,
  answers: { 200: ShownTopic },
  async handle({ api, ctx, caller, params: { topic }, body }) {
    checkCallback(api.ctx, 'push', body.push);
    return ok(view(api, await topics.put(ctx, topic, body), caller));
  },
});

export const getTopicEndpoint = endpoint('getTopic', 'GET /v1/topics/{topic}', {
  ...knownTopic,
  summary: 'A topic and its settings',
  roles: ['producer', 'consumer', 'supervisor'],
  answers: { 200: ShownTopic },
  handle: async ({ api, ctx, caller, params: { topic } }) =>
    ok(view(api, await queues.find(ctx, 'job', topic), caller)),
});

export const listTopics = endpoint('listTopics', 'GET /v1/topics', {
  tag: 'Jobs',
  summary: 'All topics, newest first',
  roles: ['producer', 'consumer', 'supervisor'],
  scope: { list: 'name' },
  query: Page,
  answers: { 200: pageOf(ShownTopic) },
  async handle({ api, ctx, caller, query: { limit, cursor } }) {
    const shown = (topic: QueueRow) => view(api, topic, caller);
    return listed(queues.list(ctx, 'job', cursor, limit + 1), limit, shown, (topic) => topic.seq);
  },
});

export const deleteTopicEndpoint = endpoint('deleteTopic', 'DELETE /v1/topics/{topic}', {
  ...topicByName,
  summary: 'Delete a topic that has no jobs, neither open nor final, and no schedules',
  roles: [],
  answers: { 200: Deleted },
  problems: ['not_found', 'in_use'],
  handle: ({ ctx, params: { topic } }) => deleted(queues.remove(ctx, 'job', topic)),
});

export const topicStatsEndpoint = endpoint('getTopicStats', 'GET /v1/topics/{topic}/stats', {
  ...knownTopic,
  summary: 'Counts of jobs by state, exact as of the answer',
  roles: ['producer', 'consumer', 'supervisor'],
  answers: { 200: TopicStats },
  async handle({ ctx, params: { topic } }) {
    await queues.find(ctx, 'job', topic);
    return ok(statsView(await queues.stats(ctx, 'job', topic)));
  },
});

const ScheduleParam = z.object({ topic: Topic, name: AnyName });
const NewScheduleParam = z.object({ topic: Topic, name: Name });

const scheduleFields = viewOf(Schedule);
const viewer = async (ctx: Context, rows: ScheduleRow[]) => {
  const planOf = await schedules.plansOf(ctx, rows);
  return (row: ScheduleRow) => ({ ...scheduleFields(row), TTR: row.ttr, ...planOf(row) });
};
const shownSchedule = async (ctx: Context, row: ScheduleRow) => ok((await viewer(ctx, [row]))(row));

export const putScheduleEndpoint = endpoint('putSchedule', 'PUT /v1/topics/{topic}/schedules/{name}', {
  ...topicByName,
  summary:
    'A periodic job: every so many seconds, or by cron in a time zone; while Temporal is down, 503 and no change',
  roles: ['producer', 'supervisor'],
  params: NewScheduleParam,
  body: ScheduleSettings,
  answers: { 200: Schedule },
  handle: async ({ ctx, params: { topic, name }, body }) =>
    shownSchedule(ctx, await schedules.put(ctx, topic, name, body)),
});

export const getScheduleEndpoint = endpoint('getSchedule', 'GET /v1/topics/{topic}/schedules/{name}', {
  ...knownTopic,
  summary: 'A periodic job',
  roles: ['producer', 'consumer', 'supervisor'],
  params: ScheduleParam,
  answers: { 200: Schedule },
  handle: async ({ ctx, params: { topic, name } }) => shownSchedule(ctx, await schedules.find(ctx, topic, name)),
});

export const listSchedulesEndpoint = endpoint('listSchedules', 'GET /v1/topics/{topic}/schedules', {
  ...topicByName,
  summary: "A topic's periodic jobs, newest first",
  roles: ['producer', 'consumer', 'supervisor'],
  query: Page,
  answers: { 200: pageOf(Schedule) },
  async handle({ ctx, params: { topic }, query: { limit, cursor } }) {
    const rows = await schedules.list(ctx, topic, cursor ?? null, limit + 1);
    return ok(page(rows, limit, await viewer(ctx, rows.slice(0, limit)), (s) => s.seq));
  },
});

export const deleteScheduleEndpoint = endpoint('deleteSchedule', 'DELETE /v1/topics/{topic}/schedules/{name}', {
  ...topicByName,
  summary: 'No further firings; jobs that were added stay. While Temporal is down, 503 and no change',
  roles: ['producer', 'supervisor'],
  params: ScheduleParam,
  answers: { 200: Deleted },
  handle: async ({ ctx, params: { topic, name } }) => ok({ deleted: await schedules.remove(ctx, topic, name) }),
});
