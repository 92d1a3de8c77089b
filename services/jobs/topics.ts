import type { TopicSettings } from '../../contract/jobs.ts';
import { only } from '../../db/pool.ts';
import * as queues from '../items/queues.ts';
import type { Context } from '../shared/context.ts';

/** Of a topic's jobs: how many in each state, and as `lease_expired` how many reservations have run out. */
export type TopicCounts = Record<string, number>;

export type TopicService = ReturnType<typeof topicService>;

/** Topics are the queues of jobs. Over beanstalkd's protocol they are tubes. */
export function topicService(runtime: Context) {
  const { db, secrets } = runtime;
  const counts = async (topic?: string) => {
    const byTopic = new Map<string, TopicCounts>();
    for (const { queue, what, n } of await db.lists.run('topic_counts', { topic })) {
      const of = byTopic.get(queue) ?? {};
      of[what] = n;
      byTopic.set(queue, of);
    }
    return byTopic;
  };
  /** Ready jobs with a priority below 1024, of one topic or of all. */
  const urgent = async (topic?: string) => (await db.lists.run('urgent_jobs', { topic }))[0]?.n ?? 0;
  return {
    urgent,
    /** Replaces a topic's settings. */
    async put(topic: string, settings: TopicSettings) {
      const queue = only(await db.run('put_topic', { topic, ...settings, push: secrets.seal(settings.push) }));
      if (!settings.paused) runtime.wakeAll(`job/${topic}`);
      return queue;
    },
    /** @throws Problem `not_found` */
    find: (topic: string) => queues.find(runtime, 'job', topic),
    /** @throws Problem `not_found`, or `id_conflict` for one that has jobs or schedules */
    remove: (topic: string) => queues.remove(runtime, 'job', topic),
    /** For so many seconds; 0 ends a pause. */
    async pause(topic: string, seconds: number) {
      await queues.ensure(runtime, 'job', topic);
      await db.run('pause_topic', { topic, seconds });
    },
    /** @throws Problem `not_found` */
    async stats(topic: string) {
      await queues.find(runtime, 'job', topic);
      return queues.stats(runtime, 'job', topic);
    },
    /** By topic, of all that have or had jobs. */
    counts: () => counts(),
    /** Of one topic, exact as of the answer; nothing where it never had jobs. */
    countsOf: async (topic: string): Promise<TopicCounts> => (await counts(topic)).get(topic) ?? {},
    /** What beanstalkd's protocol shows of one topic. */
    async tubeStats(topic: string) {
      const [found, n, [pause]] = await Promise.all([counts(topic), urgent(topic), db.run('topic_pause', { topic })]);
      return { counts: found.get(topic) ?? {}, urgent: n, pause };
    },
    /** Whether it has open jobs; one without them is not paused any more. */
    isOpen: async (topic: string) => (await db.run('open_tube', { topic }))[0]?.any ?? false,
    pushTargets: () => db.run('push_topics'),
  };
}
