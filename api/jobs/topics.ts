import { z } from '@hono/zod-openapi';
import { Deleted, orNull, Page, pageOf, ShownCallback } from '../../contract/common.ts';
import { JOB_STATES, TopicParam, TopicSettings } from '../../contract/jobs.ts';
import { putTopic } from '../../db/jobs.ts';
import { getQueue, listQueues, type Queue, queueStats } from '../../db/queues.ts';
import { coreState } from '../../domain/items.ts';
import { Problem } from '../../services/problems.ts';
import type { Api } from '../api.ts';
import { checkUrl } from '../deliveries.ts';
import { endpoint, ok } from '../endpoint.ts';
import { page } from '../paging.ts';

const ShownPush = ShownCallback.extend({ concurrency: z.number().int() }).openapi('ShownPush');
const Topic = z
  .object({ name: z.string(), ...TopicSettings.shape, push: orNull(ShownPush), createdAt: z.string() })
  .openapi('Topic');

/** A push target's secret is for those who may set it. */
const view = (q: Queue, mayReadSecrets: boolean) => ({
  name: q.name,
  maxAttempts: q.max_attempts,
  paused: q.paused,
  push: q.push && !mayReadSecrets ? { ...q.push, secret: 'whsec_hidden' } : q.push,
  createdAt: q.created_at.toISOString(),
});

export const putTopicEndpoint = endpoint({
  method: 'put',
  path: '/v1/topics/{topic}',
  tag: 'Jobs',
  summary: "Replace a topic's settings",
  roles: [],
  params: TopicParam,
  body: TopicSettings,
  answers: { 200: Topic },
  async handle({ api, params: { topic }, body: { maxAttempts, paused, push } }) {
    checkUrl(api, 'push.url', push?.url);
    const queue = await putTopic(api.runtime.db, topic, { max_attempts: maxAttempts, paused, push });
    if (!paused) api.runtime.wakeAll(`job/${topic}`);
    return ok(view(queue, true));
  },
});

export const listTopics = endpoint({
  method: 'get',
  path: '/v1/topics',
  tag: 'Jobs',
  summary: 'All topics, newest first',
  roles: ['producer', 'consumer'],
  query: Page,
  answers: { 200: pageOf(Topic) },
  async handle({ api, caller, query: { limit, cursor } }) {
    const rows = await listQueues(api.runtime.db.lists, 'job', cursor ?? null, limit + 1);
    return ok(
      page(
        rows,
        limit,
        (q) => view(q, caller.role === 'admin'),
        (q) => q.seq,
      ),
    );
  },
});

export const deleteTopicEndpoint = endpoint({
  method: 'delete',
  path: '/v1/topics/{topic}',
  tag: 'Jobs',
  summary: 'Delete a topic that has no jobs, neither open nor final, and no schedules',
  roles: [],
  params: TopicParam,
  answers: { 200: Deleted },
  problems: ['not_found', 'id_conflict'],
  async handle({ api, params: { topic } }) {
    const outcome = await api.services.queues.remove('job', topic);
    if (outcome === 'not_found') throw new Problem('not_found', `there is no topic ${topic}`);
    if (outcome === 'used')
      throw new Problem('id_conflict', `topic ${topic} has jobs or schedules, so it cannot be deleted`);
    return ok({ deleted: true });
  },
});

const TopicStats = z
  .object({
    ...(Object.fromEntries(JOB_STATES.map((s) => [s, z.number().int()])) as Record<
      (typeof JOB_STATES)[number],
      z.ZodNumber
    >),
    total: z.number().int(),
    oldestReadySeconds: z.number().nullable(),
    popsPerMinute: z.number().int(),
    timeouts: z.number().int(),
  })
  .openapi('TopicStats');

/** Counts by state, exact as of the answer. */
export async function topicStats(api: Api, topic: string) {
  const { counts, oldest_waiting_seconds, claims_per_minute } = await queueStats(api.runtime.db.lists, 'job', topic);
  const byState = JOB_STATES.map((word) => [word, counts[coreState('job', word) ?? ''] ?? 0] as const);
  return {
    ...(Object.fromEntries(byState) as Record<(typeof JOB_STATES)[number], number>),
    total: byState.reduce((sum, [, n]) => sum + n, 0),
    oldestReadySeconds: oldest_waiting_seconds,
    popsPerMinute: claims_per_minute,
    timeouts: counts.lease_expired ?? 0,
  };
}

export const topicStatsEndpoint = endpoint({
  method: 'get',
  path: '/v1/topics/{topic}/stats',
  tag: 'Jobs',
  summary: 'How many jobs are in which state, exact as of the answer',
  roles: ['producer', 'consumer'],
  params: TopicParam,
  answers: { 200: TopicStats },
  problems: ['not_found'],
  async handle({ api, params: { topic } }) {
    if (!(await getQueue(api.runtime.db, 'job', topic))) throw new Problem('not_found', `there is no topic ${topic}`);
    return ok(await topicStats(api, topic));
  },
});
