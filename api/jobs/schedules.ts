import { z } from '@hono/zod-openapi';
import { ServiceError } from '@temporalio/client';
import { Name, Page, pageOf } from '../../contract/common.ts';
import { Schedule, ScheduleSettings, Topic, TopicParam } from '../../contract/jobs.ts';
import { getSchedule, listSchedules, type Schedule as Row } from '../../db/schedules.ts';
import { invalid, Problem, unreachable } from '../../services/problems.ts';
import { deleteSchedule, putSchedule } from '../../services/schedules.ts';
import type { Api } from '../api.ts';
import { endpoint, ok } from '../endpoint.ts';
import { page } from '../paging.ts';

const ScheduleParam = z.object({ topic: Topic, name: Name });

const view = (s: Row) => ({
  topic: s.topic,
  name: s.name,
  everySeconds: s.every_seconds,
  cron: s.cron,
  timezone: s.timezone,
  body: s.body,
  TTR: s.ttr,
  priority: s.priority,
  createdAt: s.created_at.toISOString(),
  updatedAt: s.updated_at.toISOString(),
});

export const putScheduleEndpoint = endpoint({
  method: 'put',
  path: '/v1/topics/{topic}/schedules/{name}',
  tag: 'Jobs',
  summary:
    'A periodic job: every so many seconds, or by cron in a time zone; while Temporal is down, 503 and no change',
  roles: ['producer'],
  params: ScheduleParam,
  body: ScheduleSettings,
  answers: { 200: Schedule },
  async handle({ api, params: { topic, name }, body }) {
    const wanted = {
      topic,
      name,
      every_seconds: body.everySeconds ?? null,
      cron: body.cron ?? null,
      timezone: body.timezone,
      body: body.body,
      ttr: body.TTR,
      priority: body.priority,
    };
    const row = await putSchedule(api.runtime, wanted).catch((error: unknown) => {
      // the SDK's way of saying that the server did not understand the rhythm
      const path = body.cron === undefined ? 'everySeconds' : 'cron';
      if (error instanceof TypeError) throw invalid(path, `is not understood: ${error.message}`);
      throw problemOf(api, error);
    });
    return ok(view(row));
  },
});

export const getScheduleEndpoint = endpoint({
  method: 'get',
  path: '/v1/topics/{topic}/schedules/{name}',
  tag: 'Jobs',
  summary: 'A periodic job',
  roles: ['producer', 'consumer'],
  params: ScheduleParam,
  answers: { 200: Schedule },
  problems: ['not_found'],
  async handle({ api, params: { topic, name } }) {
    const row = await getSchedule(api.runtime.db, topic, name);
    if (!row) throw new Problem('not_found', `topic ${topic} has no schedule ${name}`);
    return ok(view(row));
  },
});

export const listSchedulesEndpoint = endpoint({
  method: 'get',
  path: '/v1/topics/{topic}/schedules',
  tag: 'Jobs',
  summary: "A topic's periodic jobs, newest first",
  roles: ['producer', 'consumer'],
  params: TopicParam,
  query: Page,
  answers: { 200: pageOf(Schedule) },
  async handle({ api, params: { topic }, query: { limit, cursor } }) {
    const rows = await listSchedules(api.runtime.db.lists, topic, cursor ?? null, limit + 1);
    return ok(page(rows, limit, view, (s) => s.seq));
  },
});

export const deleteScheduleEndpoint = endpoint({
  method: 'delete',
  path: '/v1/topics/{topic}/schedules/{name}',
  tag: 'Jobs',
  summary: 'No further firings; jobs that were added stay. While Temporal is down, 503 and no change',
  roles: ['producer'],
  params: ScheduleParam,
  answers: { 200: z.object({ deleted: z.boolean() }) },
  async handle({ api, params: { topic, name } }) {
    const deleted = await deleteSchedule(api.runtime, topic, name).catch((error: unknown) => {
      throw problemOf(api, error);
    });
    return ok({ deleted });
  },
});

/** What could not be done in Temporal is done in neither store. */
const problemOf = (api: Api, error: unknown) =>
  error instanceof ServiceError ? unreachable(api.runtime.log, error) : error;
