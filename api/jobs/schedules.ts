import { z } from '@hono/zod-openapi';
import { Deleted, Page, pageOf } from '../../contract/common.ts';
import { Schedule, ScheduleSettings, Topic } from '../../contract/jobs.ts';
import { AnyName, Name } from '../../contract/names.ts';
import type { ScheduleRow } from '../../db/statements.ts';
import * as schedules from '../../services/jobs/schedules.ts';
import type { Context } from '../../services/shared/context.ts';
import { endpoint, ok } from '../endpoint.ts';
import { page } from '../paging.ts';
import { topicByName } from '../resources.ts';
import { viewOf } from '../views.ts';

const ScheduleParam = z.object({ topic: Topic, name: AnyName });
const NewScheduleParam = z.object({ topic: Topic, name: Name });

const fields = viewOf(Schedule);
const viewer = async (ctx: Context, rows: ScheduleRow[]) => {
  const planOf = await schedules.plansOf(ctx, rows);
  return (row: ScheduleRow) => ({ ...fields(row), TTR: row.ttr, ...planOf(row) });
};
const shown = async (ctx: Context, row: ScheduleRow) => ok((await viewer(ctx, [row]))(row));

export const putScheduleEndpoint = endpoint('putSchedule', 'PUT /v1/topics/{topic}/schedules/{name}', {
  ...topicByName,
  summary:
    'A periodic job: every so many seconds, or by cron in a time zone; while Temporal is down, 503 and no change',
  roles: ['producer', 'supervisor'],
  params: NewScheduleParam,
  body: ScheduleSettings,
  answers: { 200: Schedule },
  handle: async ({ ctx, params: { topic, name }, body }) => shown(ctx, await schedules.put(ctx, topic, name, body)),
});

export const getScheduleEndpoint = endpoint('getSchedule', 'GET /v1/topics/{topic}/schedules/{name}', {
  ...topicByName,
  summary: 'A periodic job',
  roles: ['producer', 'consumer', 'supervisor'],
  params: ScheduleParam,
  answers: { 200: Schedule },
  problems: ['not_found'],
  handle: async ({ ctx, params: { topic, name } }) => shown(ctx, await schedules.find(ctx, topic, name)),
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
