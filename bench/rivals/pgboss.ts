import { PgBoss } from 'pg-boss';
import { onDatabase } from '../../test/support/database.ts';
import type { Lab } from '../lab.ts';
import { newJobs } from '../measure.ts';
import { type JobCaller, type NewJob, ownDatabase, type Queues, type Taken, versionOf } from './rival.ts';

const BATCH = 5_000;
const POOL = 20;
/** Its least. */
const POLLING_SECONDS = 0.5;

/** Its name and version, as reports show them. */
export const PG_BOSS = `pg-boss ${versionOf('pg-boss')}`;

/** pg-boss as a library in this process. Each fetch sorts all that is queued, so `fill` can spread jobs over queues. */
export async function openPgBoss(lab: Lab): Promise<Queues & Required<Pick<Queues, 'fill' | 'databaseUrl'>>> {
  const databaseUrl = await ownDatabase(lab, 'rival');
  const boss = new PgBoss({ connectionString: databaseUrl, max: POOL, supervise: false, schedule: false });
  boss.on('error', (error) => lab.say(`  pg-boss: ${error.message}`));
  await boss.start();
  /** The queues of each topic, and which one is asked. */
  const topics = new Map<string, { queues: Promise<string>[]; at: number }>();
  const create = (queue: string) => boss.createQueue(queue).then(() => queue);
  const topicOf = (name: string) => {
    const topic = topics.get(name) ?? { queues: [create(name)], at: 0 };
    topics.set(name, topic);
    return topic;
  };
  const caller: JobCaller = {
    async add(topic, jobs) {
      const name = (await topicOf(topic).queues[0]) ?? topic;
      const [first] = jobs;
      if (jobs.length === 1 && first) await boss.send(name, first.body, optionsOf(first));
      else await insert(boss, name, jobs);
    },
    async take(name, most) {
      const topic = topicOf(name);
      for (;;) {
        const { at } = topic;
        const queue = (await topic.queues[at]) ?? name;
        const jobs = await boss.fetch<NewJob['body']>(queue, { batchSize: most });
        if (jobs.length > 0) return jobs.map((j) => ({ order: j.data.order, ref: [queue, j.id] }));
        if (at === topic.queues.length - 1) return [];
        if (at === topic.at) topic.at++;
      }
    },
    async finish(_, jobs) {
      for (const [queue, ids] of idsByQueue(jobs)) await boss.complete(queue, ids);
    },
    close() {},
  };
  return {
    name: PG_BOSS,
    durable: true,
    lighter:
      'a library in the process of the load, without HTTP, a history of events, an outbox or a token per hand-out',
    databaseUrl,
    callers: async (n) => Array.from({ length: n }, () => caller),
    async fill(topic, jobs, perQueue) {
      const queues: Promise<string>[] = [];
      for (let left = jobs; left > 0; left -= perQueue) {
        const queue = await create(`${topic}-${queues.length}`);
        queues.push(Promise.resolve(queue));
        for (let rest = Math.min(perQueue, left); rest > 0; rest -= BATCH)
          await insert(boss, queue, newJobs(Math.min(BATCH, rest)));
      }
      topics.set(topic, { queues, at: 0 });
      await onDatabase(databaseUrl, (client) => client.query('analyze'));
    },
    async consume(topic, consumers, got) {
      await topicOf(topic).queues[0];
      const options = { pollingIntervalSeconds: POLLING_SECONDS, batchSize: 100 };
      const one = () =>
        boss.work<NewJob['body']>(topic, options, async (jobs) => {
          for (const job of jobs) got(job.data.order);
        });
      for (let n = 0; n < consumers; n++) await one();
      return () => boss.offWork(topic);
    },
    stop: () => boss.stop({ graceful: false }),
  };
}

const optionsOf = ({ delaySeconds }: NewJob) =>
  delaySeconds > 0 ? { startAfter: new Date(Date.now() + delaySeconds * 1000) } : {};

function idsByQueue(jobs: Taken[]): Map<string, string[]> {
  const all = new Map<string, string[]>();
  for (const { ref } of jobs) {
    const [queue, id] = ref as [string, string];
    all.set(queue, [...(all.get(queue) ?? []), id]);
  }
  return all;
}

async function insert(boss: PgBoss, queue: string, jobs: NewJob[]): Promise<void> {
  const rows = jobs.map((job) => ({ data: job.body, ...optionsOf(job) }));
  await boss.insert(queue, rows);
}
