import { randomBytes } from 'node:crypto';
import type { NewJob } from '../contract/jobs.ts';
import { getItem, type Item } from '../db/items.ts';
import * as jobs from '../db/jobs.ts';
import type { Db } from '../db/pool.ts';
import { returnJobs } from '../db/tubes.ts';
import { bodyBytes, MAX_TCP_BYTES } from '../domain/jobs.ts';
import { workflowId } from '../domain/kinds.ts';
import type { Runtime } from '../runtime/runtime.ts';
import { share, sharePerGroup } from './batching.ts';
import type { ItemService } from './items.ts';
import { invalid } from './problems.ts';
import type { QueueService } from './queues.ts';
import { contentHash, newToken } from './tokens.ts';

/** What it needs of other services. */
interface Needs {
  items: ItemService;
  queues: QueueService;
  /** How long Temporal lets a workflow's id be, in bytes. */
  maxIdBytes: number;
}

/** Jobs that one statement kicks, which bounds how long it locks. */
const KICKED_TOGETHER = 1_000;
/** How often a number is drawn anew because a job added in the same instant has the name that goes with it. */
const DRAWS = 100;

/** Jobs in one statement: enough for the batches of several callers, short enough for one who wants a single job. */
const MOST_TOGETHER = 512;

export interface PopRequest {
  topics: string[];
  count: number;
  waitSeconds: number;
  holder: string;
  signal: AbortSignal;
  /** Over beanstalkd's protocol long bodies are not offered. */
  tcp?: boolean;
}

/** What HTTP and beanstalkd's protocol both do with jobs. Statements of concurrent calls are shared. */
export interface JobService {
  /** The job, and whether this call made it; `undefined`: the id stands for other content. */
  add(job: NewJob, actor: string): Promise<{ item: Item; created: boolean } | undefined>;
  /** Adds without an id: the job is named `topic:number`. */
  put(job: Omit<NewJob, 'id'>, actor: string): Promise<Item>;
  /** At least one job if there is one; waits for the first only. */
  pop(request: PopRequest): Promise<Item[]>;
  finish(id: string, token: string | null, actor: string): Promise<Item | undefined>;
  remove(id: string, actor: string): Promise<Item | undefined>;
  /** Makes `count` buried jobs of a topic ready, or where none is buried delayed ones; @returns how many it were. */
  kick(topic: string, count: number, actor: string): Promise<number>;
}

export function jobService(runtime: Runtime, { items, queues, maxIdBytes }: Needs): JobService {
  const { db, waiters } = runtime;
  const popTogether = sharedPops(db);

  const finish = share<jobs.Finish, Item | undefined>(
    async (inputs) => {
      const rows = await jobs.finishJobs(db, inputs);
      const finished = new Map(rows.map((row) => [row.id, row]));
      return inputs.map((i) => finished.get(i.id));
    },
    { keys: (i) => [i.id], max: MOST_TOGETHER },
  );
  const remove = share<{ id: string; actor: string }, Item | undefined>(
    async (inputs) => {
      const rows = await jobs.deleteJobs(db, inputs, true);
      return inputs.map((i) => rows.find((r) => r.id === i.id));
    },
    { keys: (i) => [i.id] },
  );

  const insert = async (id: string | null, hash: string, job: Omit<NewJob, 'id'>, actor: string) => {
    await queues.ensure('job', job.topic);
    return items.add({ kind: 'job', item: { actor, ...newItem(id, hash, job) } });
  };

  return {
    async add({ id, ...job }, actor) {
      checkId(id, maxIdBytes);
      const hash = contentHash(job);
      const item = await insert(id, hash, job, actor);
      if (item) return { item, created: true };
      const existing = await getItem(db, 'job', id);
      return existing && Buffer.from(existing.content_hash).toString('hex') === hash
        ? { item: existing, created: false }
        : undefined;
    },
    async put(job, actor) {
      for (let draw = 0; draw < DRAWS; draw++) {
        const item = await insert(null, randomBytes(32).toString('hex'), job, actor);
        if (item) return item;
      }
      throw new Error(`no free number for a job of ${job.topic}`);
    },
    async pop(request) {
      const { topics, waitSeconds: seconds, signal } = request;
      for (const topic of topics) await queues.ensure('job', topic);
      const look = async () => {
        const popped = await popTogether(request);
        return popped.length > 0 ? popped : undefined;
      };
      const found = await waiters.waitFor({ keys: () => topics.map((t) => `job/${t}`), seconds, signal }, look);
      if (!found || !signal.aborted) return found ?? [];
      // an answer that can't be written to a closed connection is no hand-out
      await returnJobs(
        db,
        found.map((i) => ({ id: i.id, token: i.lease_id ?? '' })),
        true,
      );
      return [];
    },
    finish: (id, token, actor) => finish({ id, token, actor }),
    remove: (id, actor) => remove({ id, actor }),
    async kick(topic, count, actor) {
      let kicked = 0;
      let begun: jobs.KickedFrom | null = null;
      while (kicked < count) {
        const asked = Math.min(KICKED_TOGETHER, count - kicked);
        const { rows, from } = await jobs.kickTopic(db, { topic, count: asked, actor, begun });
        kicked += rows.length;
        if (rows.length < asked) break;
        begun ??= from;
      }
      return kicked;
    },
  };
}

/**
 * Temporal would refuse the job's workflow for ever, long after the add was answered.
 * @throws Problem 422
 */
function checkId(id: string, maxBytes: number): void {
  const bytes = Buffer.byteLength(workflowId({ kind: 'job', id }));
  if (bytes <= maxBytes) return;
  const limit = `this Temporal server takes ${maxBytes} (DOCKET_TEMPORAL_MAX_ID_BYTES)`;
  throw invalid('id', `is too long: the workflow id job/… has ${bytes} bytes of UTF-8, ${limit}`);
}

const newItem = (id: string | null, hash: string, job: Omit<NewJob, 'id'>) => ({
  id,
  hash,
  queue: job.topic,
  priority: job.priority,
  body: job.body,
  requires: [],
  exclude: [],
  callback: null,
  delaySeconds: job.delay,
  deadlineSeconds: null,
  createdAt: null,
  leaseSeconds: job.TTR,
  bodyBytes: bodyBytes(job.body).length,
});

/** Pops of the same topics share a statement; a pop of many is as many pops that come together. */
function sharedPops(db: Db) {
  const shared = (maxBytes: number | null) =>
    sharePerGroup<jobs.Pop, Item | undefined>(() =>
      share(
        async (pops) => {
          const rows = await jobs.popJobs(db, pops, maxBytes);
          const given = new Map(rows.map((row) => [row.lease_id, row]));
          return pops.map((p) => given.get(p.token));
        },
        { keys: (p) => [p.token], max: MOST_TOGETHER },
      ),
    );
  const [overHttp, overTcp] = [shared(null), shared(MAX_TCP_BYTES)];
  return async ({ topics, count, holder, tcp = false }: PopRequest): Promise<Item[]> => {
    const group = JSON.stringify(topics);
    const pop = () => (tcp ? overTcp : overHttp)(group, { topics, token: newToken(), holder });
    const given = await Promise.all(Array.from({ length: count }, pop));
    return given.filter((item) => item !== undefined);
  };
}
