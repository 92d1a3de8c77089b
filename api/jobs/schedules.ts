import { z } from '@hono/zod-openapi';
import {
  ScheduleAlreadyRunning,
  ScheduleNotFoundError,
  type ScheduleOptions,
  ScheduleOverlapPolicy,
} from '@temporalio/client';
import { Name, Page, pageOf } from '../../contract/common.ts';
import { Schedule, ScheduleSettings, Topic, TopicParam } from '../../contract/jobs.ts';
import { deleteSchedule, getSchedule, listSchedules, putSchedule, type Schedule as Row } from '../../db/schedules.ts';
import { URGENT_TASK_QUEUE } from '../../link/publisher.ts';
import type { Api } from '../context.ts';
import { endpoint, ok } from '../endpoint.ts';
import { isNumber, page, positionOf } from '../paging.ts';
import { invalid, Problem } from '../problems.ts';
import { unreachable } from '../workflows.ts';

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

const scheduleId = (topic: string, name: string) => `schedule/${topic}/${name}`;

export const putScheduleEndpoint = endpoint({
  method: 'put',
  path: '/v1/topics/{topic}/schedules/{name}',
  tag: 'Jobs',
  summary: 'A periodic job: every so many seconds, or by cron in a time zone',
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
    // Temporal first: it knows what a cron expression is, and a firing without a row adds nothing
    await schedule(api, wanted);
    return ok(view(await putSchedule(api.engine.db, wanted)));
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
    const row = await getSchedule(api.engine.db, topic, name);
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
    const rows = await listSchedules(api.engine.db.lists, topic, positionOf(cursor, isNumber) ?? null, limit + 1);
    return ok(page(rows, limit, view, (s) => s.seq));
  },
});

export const deleteScheduleEndpoint = endpoint({
  method: 'delete',
  path: '/v1/topics/{topic}/schedules/{name}',
  tag: 'Jobs',
  summary: 'No further firings; jobs that were added stay',
  roles: ['producer'],
  params: ScheduleParam,
  answers: { 200: z.object({ deleted: z.boolean() }) },
  async handle({ api, params: { topic, name } }) {
    try {
      await api.engine.client.schedule.getHandle(scheduleId(topic, name)).delete();
    } catch (error) {
      if (!(error instanceof ScheduleNotFoundError)) throw unreachable(api, error);
    }
    return ok({ deleted: await deleteSchedule(api.engine.db, topic, name) });
  },
});

type Wanted = Pick<Row, 'topic' | 'name' | 'every_seconds' | 'cron' | 'timezone'>;

/** Firings may overlap: each only adds a job. What was missed in the last hour is caught up. */
async function schedule(api: Api, { topic, name, every_seconds, cron, timezone }: Wanted): Promise<void> {
  const { schedule: schedules } = api.engine.client;
  const options = {
    scheduleId: scheduleId(topic, name),
    spec:
      cron === null ? { intervals: [{ every: (every_seconds ?? 0) * 1000 }] } : { cronExpressions: [cron], timezone },
    action: {
      type: 'startWorkflow',
      workflowType: 'periodic',
      workflowId: `periodic/${topic}/${name}`,
      taskQueue: URGENT_TASK_QUEUE,
      args: [topic, name],
    },
    policies: { overlap: ScheduleOverlapPolicy.ALLOW_ALL, catchupWindow: '1h' },
  } satisfies ScheduleOptions;
  try {
    await schedules.create(options).catch(async (error) => {
      if (!(error instanceof ScheduleAlreadyRunning)) throw error;
      const { spec, action, policies } = options;
      await schedules.getHandle(options.scheduleId).update((known) => ({ ...known, spec, action, policies }));
    });
  } catch (error) {
    // the SDK's way of saying that the server did not understand the rhythm
    if (error instanceof TypeError) throw invalid('cron', `is not understood: ${error.message}`);
    throw unreachable(api, error);
  }
}
