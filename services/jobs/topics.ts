import type { TopicSettings } from '../../contract/jobs.ts';
import { only } from '../../db/pool.ts';
import type { QueueRow } from '../../db/statements.ts';
import * as queues from '../items/queues.ts';
import type { Context } from '../shared/service.ts';

/** Of a topic's jobs: how many in each state, and as `lease_expired` how many reservations have run out. */
export type TopicCounts = Record<string, number>;

/**
 * Replaces a topic's settings. Topics are the queues of jobs; over beanstalkd's protocol they are tubes.
 * @throws Problem 422 for a new name that is the server's, or has a `*`
 */
export async function put(ctx: Context, topic: string, settings: TopicSettings): Promise<QueueRow> {
  await queues.ensure(ctx, 'job', topic);
  const push = ctx.secrets.seal(settings.push);
  const queue = only(await ctx.db.run('put_topic', { topic, ...settings, push }));
  if (!settings.paused) ctx.wakeAll(`job/${topic}`);
  return queue;
}

/** Pauses a topic for so many seconds; 0 ends a pause. */
export async function pause(ctx: Context, topic: string, seconds: number): Promise<void> {
  await queues.ensure(ctx, 'job', topic);
  await ctx.db.run('pause_topic', { topic, seconds });
}

/** The counts of one topic, or of all that have or had jobs, exact as of the answer. */
export async function counts({ db }: Context, topic?: string): Promise<Map<string, TopicCounts>> {
  const byTopic = new Map<string, TopicCounts>();
  for (const { queue, what, n } of await db.lists.run('topic_counts', { topic })) {
    const of = byTopic.get(queue) ?? {};
    of[what] = n;
    byTopic.set(queue, of);
  }
  return byTopic;
}

/** Ready jobs with a priority below 1024, of one topic or of all. */
export const urgent = async ({ db }: Context, topic?: string): Promise<number> =>
  (await db.lists.run('urgent_jobs', { topic }))[0]?.n ?? 0;

/** What beanstalkd's protocol shows of one topic. */
export async function tubeStats(ctx: Context, topic: string) {
  const pausing = ctx.db.run('topic_pause', { topic });
  const [found, n, [pause]] = await Promise.all([counts(ctx, topic), urgent(ctx, topic), pausing]);
  return { counts: found.get(topic) ?? {}, urgent: n, pause };
}

/** Whether a topic has open jobs; one without them is not paused any more. */
export const isOpen = async ({ db }: Context, topic: string): Promise<boolean> =>
  (await db.run('open_tube', { topic }))[0]?.any ?? false;

/** The topics whose jobs are pushed. */
export const pushTargets = ({ db }: Context) => db.run('push_topics');
