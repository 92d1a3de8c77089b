import { setTimeout as sleep } from 'node:timers/promises';
import { Logger, makeWorkerUtils, run } from 'graphile-worker';
import type { Lab } from '../lab.ts';
import { type JobCaller, type NewJob, ownDatabase, type Queues, versionOf } from './rival.ts';

const POOL = 20;
const silent = new Logger(() => () => {});

/**
 * graphile-worker as a library in this process. It has no pop: its own runner works through a filled
 * queue with a task that does nothing. In batches means a local queue of that size and completions
 * that are gathered.
 */
export async function openGraphile(lab: Lab): Promise<Queues & { databaseUrl: string }> {
  const connectionString = await ownDatabase(lab, 'graphile');
  const utils = await makeWorkerUtils({ connectionString, maxPoolSize: POOL, logger: silent });
  await utils.migrate();
  const start = (topic: string, concurrency: number, batch: number, task: (body: NewJob['body']) => void) =>
    run({
      ...{ connectionString, concurrency, noHandleSignals: true, logger: silent, maxPoolSize: POOL },
      taskList: { [topic]: async (body) => task(body as NewJob['body']) },
      preset: batch > 1 ? { worker: { localQueue: { size: batch }, completeJobBatchDelay: 0 } } : {},
    });
  const caller: JobCaller = {
    async add(topic, jobs) {
      const [first] = jobs;
      if (jobs.length === 1 && first) await utils.addJob(topic, first.body, optionsOf(first));
      else await utils.addJobs(jobs.map((job) => ({ identifier: topic, payload: job.body, ...optionsOf(job) })));
    },
    take: () => Promise.reject(new Error('graphile-worker has no pop')),
    finish: () => Promise.reject(new Error('graphile-worker has no finish')),
    close() {},
  };
  return {
    name: `graphile-worker ${versionOf('graphile-worker')}`,
    durable: true,
    lighter:
      'a library in the process of the load, without HTTP, a history of events or an outbox; it deletes a job that is done',
    databaseUrl: connectionString,
    callers: async (n) => Array.from({ length: n }, () => caller),
    async work(topic, callers, batch, seconds, most = Number.POSITIVE_INFINITY) {
      const seen = { jobs: 0, first: 0, last: 0 };
      const over = new AbortController();
      const runner = await start(topic, callers, batch, () => {
        if (over.signal.aborted) return;
        seen.last = performance.now();
        if (seen.jobs++ === 0) seen.first = seen.last;
        if (seen.jobs >= most) over.abort();
      });
      await sleep(seconds * 1000, undefined, { signal: over.signal }).catch(() => {});
      over.abort();
      await runner.stop();
      return (seen.jobs - 1) / ((seen.last - seen.first) / 1000);
    },
    async consume(topic, consumers, got) {
      const runner = await start(topic, consumers, 1, (body) => got(body.order));
      return () => runner.stop();
    },
    clear: () =>
      utils.withPgClient(async (client) => void (await client.query('truncate graphile_worker._private_jobs'))),
    stop: async () => void (await utils.release()),
  };
}

const optionsOf = ({ delaySeconds }: NewJob) =>
  delaySeconds > 0 ? { runAt: new Date(Date.now() + delaySeconds * 1000) } : {};
