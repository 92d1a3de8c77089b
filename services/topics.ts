import type { TopicSettings } from '../contract/jobs.ts';
import type { RowOf } from '../db/pool.ts';
import { getQueue, listQueues, type Queue, type QueueStats, queueStats } from '../db/queues.ts';
import type { QueueRow } from '../db/statements.ts';
import type { Runtime } from '../runtime/runtime.ts';
import { Problem } from './problems.ts';
import type { QueueService } from './queues.ts';

/** Of a topic's jobs: how many in each state, and as `lease_expired` how many reservations have run out. */
export type TopicCounts = Record<string, number>;

/** Topics are the queues of jobs. Over beanstalkd's protocol they are tubes. */
export interface TopicService {
  /** Replaces a topic's settings. */
  put(topic: string, settings: TopicSettings): Promise<QueueRow>;
  /** Newest first. @param before the position in the list to continue after */
  list(before: number | null, limit: number): Promise<Queue[]>;
  /** @throws Problem `not_found`, or `id_conflict` for one that has jobs or schedules */
  remove(topic: string): Promise<void>;
  /** For so many seconds; 0 ends a pause. */
  pause(topic: string, seconds: number): Promise<void>;
  /** @throws Problem `not_found` */
  stats(topic: string): Promise<QueueStats>;
  /** By topic, of all that have or had jobs. */
  counts(): Promise<Map<string, TopicCounts>>;
  /** What beanstalkd's protocol shows of one topic. */
  tubeStats(topic: string): Promise<{ counts: TopicCounts; urgent: number; pause?: RowOf<'topic_pause'> }>;
  /** Ready jobs with a priority below 1024, of one topic or of all. */
  urgent(topic?: string): Promise<number>;
  /** Whether it has open jobs; one without them is not paused any more. */
  isOpen(topic: string): Promise<boolean>;
  pushTargets(): Promise<RowOf<'push_topics'>[]>;
}

export function topicService(runtime: Runtime, queues: QueueService): TopicService {
  const { db } = runtime;
  const counts = async (topic?: string) => {
    const byTopic = new Map<string, TopicCounts>();
    for (const { queue, what, n } of await db.run('topic_counts', { topic })) {
      const of = byTopic.get(queue) ?? {};
      of[what] = n;
      byTopic.set(queue, of);
    }
    return byTopic;
  };
  const urgent = async (topic?: string) => (await db.run('urgent_jobs', { topic }))[0]?.n ?? 0;
  return {
    async put(topic, settings) {
      const [queue] = await db.run('put_topic', { topic, ...settings });
      if (!queue) throw new Error('put_topic returned no row');
      if (!settings.paused) runtime.wakeAll(`job/${topic}`);
      return queue;
    },
    list: (before, limit) => listQueues(db.lists, 'job', before, limit),
    async remove(topic) {
      const outcome = await queues.remove('job', topic);
      if (outcome === 'not_found') throw new Problem('not_found', `there is no topic ${topic}`);
      if (outcome === 'used')
        throw new Problem('id_conflict', `topic ${topic} has jobs or schedules, so it cannot be deleted`);
    },
    async pause(topic, seconds) {
      await queues.ensure('job', topic);
      await db.run('pause_topic', { topic, seconds });
    },
    async stats(topic) {
      if (!(await getQueue(db, 'job', topic))) throw new Problem('not_found', `there is no topic ${topic}`);
      return queueStats(db.lists, 'job', topic);
    },
    counts: () => counts(),
    async tubeStats(topic) {
      const [found, n, [pause]] = await Promise.all([counts(topic), urgent(topic), db.run('topic_pause', { topic })]);
      return { counts: found.get(topic) ?? {}, urgent: n, pause };
    },
    urgent,
    isOpen: async (topic) => (await db.run('open_tube', { topic }))[0]?.any ?? false,
    pushTargets: () => db.run('push_topics'),
  };
}
