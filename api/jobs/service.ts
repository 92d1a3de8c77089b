import { randomBytes } from 'node:crypto';
import type { NewJob } from '../../contract/jobs.ts';
import { getItem, type Item } from '../../db/items.ts';
import * as jobs from '../../db/jobs.ts';
import { returnJobs } from '../../db/tubes.ts';
import { bodyBytes, MAX_TCP_BYTES } from '../../domain/jobs.ts';
import { contentHash, newToken } from '../../link/tokens.ts';
import type { Api } from '../context.ts';
import { share } from '../sharing.ts';

type JobApi = Omit<Api, 'jobs'>;

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
}

export function jobService(api: JobApi): JobService {
  const { db, after } = api.engine;
  const popTogether = sharedPops(api);

  const finish = share<jobs.Finish, Item | undefined>(
    async (inputs) => {
      const rows = await jobs.finishJobs(db, inputs);
      after(rows);
      const finished = new Map(rows.map((row) => [row.id, row]));
      return inputs.map((i) => finished.get(i.id));
    },
    { keys: (i) => [i.id], max: MOST_TOGETHER },
  );
  const remove = share<{ id: string; actor: string }, Item | undefined>(
    async (inputs) => {
      const rows = await jobs.deleteJobs(db, inputs, true);
      after(rows);
      return inputs.map((i) => rows.find((r) => r.id === i.id));
    },
    { keys: (i) => [i.id] },
  );

  const insert = async (id: string | null, hash: string, job: Omit<NewJob, 'id'>, actor: string) => {
    await api.ensureQueue('job', job.topic);
    return api.add({ kind: 'job', item: { actor, ...newItem(id, hash, job) } });
  };

  return {
    async add({ id, ...job }, actor) {
      const hash = contentHash(job);
      const item = await insert(id, hash, job, actor);
      if (item) return { item, created: true };
      const existing = await getItem(db, 'job', id);
      return existing && Buffer.from(existing.content_hash).toString('hex') === hash
        ? { item: existing, created: false }
        : undefined;
    },
    async put(job, actor) {
      const item = await insert(null, randomBytes(32).toString('hex'), job, actor);
      if (!item) throw new Error('a job without an id was not added');
      return item;
    },
    async pop(request) {
      for (const topic of request.topics) await api.ensureQueue('job', topic);
      return waitFor(api, request, () => popTogether(request));
    },
    finish: (id, token, actor) => finish({ id, token, actor }),
    remove: (id, actor) => remove({ id, actor }),
  };
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
function sharedPops(api: JobApi) {
  const { db, after } = api.engine;
  const shares = new Map<string, (pop: jobs.Pop) => Promise<Item | undefined>>();
  const shared = (topics: string[], maxBytes: number | null) => {
    const key = JSON.stringify([topics, maxBytes]);
    const known = shares.get(key);
    if (known) return known;
    const made = share<jobs.Pop, Item | undefined>(
      async (pops) => {
        const rows = await jobs.popJobs(db, pops, maxBytes);
        after(rows);
        const given = new Map(rows.map((row) => [row.lease_id, row]));
        return pops.map((p) => given.get(p.token));
      },
      { keys: (p) => [p.token], max: MOST_TOGETHER },
    );
    if (shares.size > 10_000) shares.clear();
    shares.set(key, made);
    return made;
  };
  return async ({ topics, count, holder, tcp = false }: PopRequest): Promise<Item[]> => {
    const pop = shared(topics, tcp ? MAX_TCP_BYTES : null);
    const given = await Promise.all(Array.from({ length: count }, () => pop({ topics, token: newToken(), holder })));
    return given.filter((item) => item !== undefined);
  };
}

/** Takes a place at every topic before the first look, so that no job that comes in between is missed. */
async function waitFor(api: JobApi, request: PopRequest, look: () => Promise<Item[]>): Promise<Item[]> {
  const { waitSeconds, signal, topics } = request;
  const until = performance.now() + waitSeconds * 1000;
  const seat = waitSeconds > 0 ? api.engine.waiters.takeAny(topics.map((t) => `job/${t}`)) : undefined;
  try {
    let found = signal.aborted ? [] : await look();
    while (found.length === 0 && seat && (await api.engine.load.resting(() => seat.woken(until, signal)))) {
      found = await look();
      seat.pass(found.length > 0);
    }
    if (found.length > 0 && signal.aborted) {
      // an answer that can't be written to a closed connection is no hand-out
      const held = found.map((i) => ({ id: i.id, token: i.lease_id ?? '' }));
      api.engine.after(await returnJobs(api.engine.db, held, true));
      return [];
    }
    return found;
  } finally {
    seat?.leave();
  }
}
