import type { TopicSettings } from '../contract/jobs.ts';
import type { RowOf } from '../db/pool.ts';
import type { QueueRow } from '../db/statements.ts';
import type { Runtime } from '../runtime/runtime.ts';
import type { QueueService } from './queues.ts';

/** Of a topic's jobs: how many in each state, and as `lease_expired` how many reservations have run out. */
export type TopicCounts = Record<string, number>;

/** Topics are the queues of jobs. Over beanstalkd's protocol they are tubes. */
export interface TopicService {
  /** Replaces a topic's settings. */
  put(topic: string, settings: TopicSettings): Promise<QueueRow>;
  /** Newest first. @param before the position in the list to continue after */
  list(before: number | undefined, limit: number): Promise<QueueRow[]>;
  /** @throws Problem `not_found`, or `id_conflict` for one that has jobs or schedules */
  remove(topic: string): Promise<void>;
  /** For so many seconds; 0 ends a pause. */
  pause(topic: string, seconds: number): Promise<void>;
  /** @throws Problem `not_found` */
  stats(topic: string): Promise<RowOf<'queue_stats'>>;
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
    for (const { queue, what, n } of await db.lists.run('topic_counts', { topic })) {
      const of = byTopic.get(queue) ?? {};
      of[what] = n;
      byTopic.set(queue, of);
    }
    return byTopic;
  };
  const urgent = async (topic?: string) => (await db.lists.run('urgent_jobs', { topic }))[0]?.n ?? 0;
  return {
    async put(topic, settings) {
      const [queue] = await db.run('put_topic', { topic, ...settings });
      if (!queue) throw new Error('put_topic returned no row');
      if (!settings.paused) runtime.wakeAll(`job/${topic}`);
      return queue;
    },
    list: (before, limit) => queues.list('job', before, limit),
    remove: (topic) => queues.remove('job', topic),
    async pause(topic, seconds) {
      await queues.ensure('job', topic);
      await db.run('pause_topic', { topic, seconds });
    },
    async stats(topic) {
      await queues.find('job', topic);
      return queues.stats('job', topic);
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
