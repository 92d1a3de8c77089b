import { mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { type Job, Queue, Worker } from 'bullmq';
import { Redis } from 'ioredis';
import { needDebian } from '../../test/support/debian.ts';
import type { Lab } from '../lab.ts';
import { type JobCaller, type NewJob, type Queues, startServer, type Taken, versionOf } from './rival.ts';

type Body = NewJob['body'];

/**
 * BullMQ as a library in this process, on a Redis of its own. It has no pop of many: the calls for a
 * batch are sent together, which its connection pipelines.
 * @param appendfsync `always`: an answer means that it is on disk
 */
export async function openBullMq(lab: Lab, appendfsync: 'always' | 'everysec'): Promise<Queues> {
  needDebian('redis-server');
  const dir = mkdtempSync(join(lab.dir, `redis-${appendfsync}-`));
  const server = await startServer(lab, `redis-${appendfsync}`, 'redis-server', (port) => [
    ...['--port', String(port), '--bind', '127.0.0.1', '--dir', dir],
    ...['--save', '', '--appendonly', 'yes', '--appendfsync', appendfsync],
  ]);
  const connection = { host: '127.0.0.1', port: server.port, maxRetriesPerRequest: null };
  const admin = new Redis(connection);
  const queues = new Map<string, { queue: Queue<Body>; worker: Worker<Body> }>();
  const of = (topic: string) => {
    const known = queues.get(topic);
    if (known) return known;
    const worker = new Worker<Body>(topic, null, { connection, autorun: false });
    const made = { queue: new Queue<Body>(topic, { connection }), worker };
    queues.set(topic, made);
    return made;
  };
  const closeAll = async () => {
    for (const { queue, worker } of queues.values()) await Promise.all([queue.close(), worker.close(true)]);
    queues.clear();
  };
  return {
    name: `BullMQ ${versionOf('bullmq')}, fsync ${appendfsync}`,
    durable: appendfsync === 'always',
    lighter:
      'it is in memory, an append to its log is all that goes to disk, and commands that come together share one fsync; no history of events, no outbox',
    callers: async (n) => Array.from({ length: n }, (_, no) => callerOf(of, `token-${no}`)),
    async consume(topic, concurrency, got) {
      const worker = new Worker<Body>(topic, async (job) => got(job.data.order), { connection, concurrency });
      await worker.waitUntilReady();
      return () => worker.close();
    },
    async clear() {
      await closeAll();
      await admin.flushall();
    },
    async stop() {
      await closeAll();
      admin.disconnect();
      await server.stop();
    },
  };
}

function callerOf(of: (topic: string) => { queue: Queue<Body>; worker: Worker<Body> }, token: string): JobCaller {
  return {
    async add(topic, jobs) {
      const { queue } = of(topic);
      const [first] = jobs;
      if (jobs.length === 1 && first) await queue.add('close', first.body, optionsOf(first));
      else await queue.addBulk(jobs.map((job) => ({ name: 'close', data: job.body, opts: optionsOf(job) })));
    },
    async take(topic, most) {
      const { worker } = of(topic);
      const calls = Array.from({ length: most }, () => worker.getNextJob(token, { block: false }));
      const jobs = (await Promise.all(calls)).filter((job) => job !== undefined);
      return jobs.map((job): Taken => ({ order: job.data.order, ref: job }));
    },
    async finish(_, jobs) {
      await Promise.all(jobs.map(({ ref }) => (ref as Job).moveToCompleted(null, token, false)));
    },
    close() {},
  };
}

const optionsOf = ({ delaySeconds }: NewJob) => (delaySeconds > 0 ? { delay: delaySeconds * 1000 } : {});
