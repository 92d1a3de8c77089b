import type { Item, Popped } from '../contract/items.ts';
import type { ItemFilter } from '../db/items.ts';
import type { Db, Mover, RowOf } from '../db/pool.ts';
import { MAX_TCP_BYTES } from '../domain/jobs.ts';
import { refusalOf } from '../domain/refusals.ts';
import type { Runtime } from '../runtime/runtime.ts';
import type { Gone } from '../runtime/waiting.ts';
import { share, sharePerGroup } from './batching.ts';
import type { ItemService } from './items.ts';
import { adding, type JobAdding, type Needs } from './jobs-adding.ts';
import { aside, type JobsAside, type Waiting } from './jobs-aside.ts';
import { type Find, finding, idOf, type JobRef, unknown } from './jobs-finding.ts';
import { Problem } from './problems.ts';
import type { QueueService } from './queues.ts';
import { isSettledBy, newToken } from './tokens.ts';

/** Jobs in one statement: enough for the batches of several callers, short enough for a caller with a single job. */
const MOST_TOGETHER = 512;

export interface Reservation {
  id: string;
  token: string;
}

/** What is said of a job that has ended. */
type Ended = Pick<Item, 'id' | 'queue' | 'state'>;

interface PopRequest {
  topics: string[];
  count: number;
  waitSeconds: number;
  holder: string;
  signal: Gone;
  /** Over beanstalkd's protocol long bodies are not offered. */
  tcp?: boolean;
}

/**
 * The commands of jobs (S3), over HTTP and beanstalkd's protocol alike. Statements of concurrent calls are shared. They
 * throw a Problem: `not_found`, and for a token that is of no live reservation `not_open` or `lease_lost`.
 */
export interface JobService extends JobAdding, JobsAside {
  /** At least one job if there is one; waits for the first only. */
  pop(request: PopRequest): Promise<Popped[]>;
  /** Pops for a topic's push target: `count` at most, and never more than `limit` at once over all processes. */
  popToPush(topic: string, count: number, limit: number): Promise<Item[]>;
  /** Reserves an open job that is not reserved, for beanstalkd's protocol; undefined: there is none of that number. */
  reserve(number: number, holder: string): Promise<Popped | undefined>;
  /**
   * Without a token it ends whatever reservation is current.
   * @returns the job as it is now: finished, or, without a token, as it had ended before
   */
  finish(id: string, token: string | null, actor: string): Promise<Ended>;
  /**
   * Deletes an open job.
   * @param alsoReserved whether a reservation is ended
   * @returns undefined: the job had ended already, or is reserved
   */
  remove(job: JobRef, actor: string, alsoReserved: boolean): Promise<Ended | undefined>;
  touch(reservation: Reservation): Promise<Item>;
  /** Repeated, it changes nothing. @returns the job as it is now: buried where its topic allows no further attempt */
  release(reservation: Reservation, delaySeconds: number, priority?: number): Promise<Item>;
  /** Repeated, it changes nothing. */
  bury(reservation: Reservation, priority?: number): Promise<Item>;
  /** Makes the jobs ready whose connection is gone, as far as they are still reserved. */
  giveBack(reservations: Reservation[]): Promise<void>;
  get(job: JobRef): Promise<Item>;
  /** The first of a topic's jobs in a state, in the order in which they leave it. */
  first(topic: string, state: Waiting): Promise<Item | undefined>;
  list(filter: ItemFilter, limit: number): Promise<Item[]>;
  /** Of an open job, for beanstalkd's protocol. */
  stats(number: number): Promise<RowOf<'job_stats'>>;
}

export function jobService(runtime: Runtime, needs: Needs): JobService {
  const { db } = runtime;
  const find = finding(db);
  return {
    ...adding(needs),
    ...reserving(runtime, needs.queues),
    ...ending(db, find),
    ...holding(db, needs.items),
    ...aside(db, find),
    get: find,
    first: async (topic, state) => (await db.run(`peek_${state}`, { topic }))[0],
    list: (filter, limit) => needs.items.list('job', filter, limit),
    async stats(number) {
      const [stats] = await db.run('job_stats', { number });
      return stats ?? unknown(number);
    },
  };
}

function reserving(
  { db, waiters }: Runtime,
  queues: QueueService,
): Pick<JobService, 'pop' | 'popToPush' | 'reserve' | 'giveBack'> {
  const popTogether = sharedPops(db);
  return {
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
      await giveBack(
        db,
        found.map((i) => ({ id: i.id, token: i.lease_id ?? '' })),
        true,
      );
      return [];
    },
    popToPush: (topic, count, limit) =>
      db.move('pop_to_push', { topic, tokens: Array.from({ length: count }, newToken), limit }),
    async reserve(number, holder) {
      return (await db.move('reserve_job', { number, token: newToken(), holder, maxBytes: MAX_TCP_BYTES }))[0];
    },
    giveBack: (reservations) => giveBack(db, reservations, false),
  };
}

/** @param undelivered the jobs never reached their client, so that was no attempt */
async function giveBack(db: Mover, reservations: Reservation[], undelivered: boolean): Promise<void> {
  if (reservations.length === 0) return;
  const [ids, tokens] = [reservations.map((r) => r.id), reservations.map((r) => r.token)];
  await db.move('return_jobs', { ids, tokens, undelivered });
}

/** Pops of the same topics share a statement; a pop of many is as many pops that come together. */
function sharedPops(db: Db) {
  const shared = (maxBytes: number | null) =>
    sharePerGroup<{ topics: string[]; token: string; holder: string }, Popped | undefined>(() =>
      share(
        async (pops) => {
          const [tokens, holders] = [pops.map((p) => p.token), pops.map((p) => p.holder)];
          const rows = await db.move('pop_jobs', { topics: pops[0]?.topics ?? [], tokens, holders, maxBytes });
          const given = new Map(rows.map((row) => [row.lease_id, row]));
          return tokens.map((token) => given.get(token));
        },
        { keys: (p) => [p.token], max: MOST_TOGETHER },
      ),
    );
  const [overHttp, overTcp] = [shared(null), shared(MAX_TCP_BYTES)];
  return async ({ topics, count, holder, tcp = false }: PopRequest): Promise<Popped[]> => {
    const group = JSON.stringify(topics);
    const pop = () => (tcp ? overTcp : overHttp)(group, { topics, token: newToken(), holder });
    const given = await Promise.all(Array.from({ length: count }, pop));
    return given.filter((item) => item !== undefined);
  };
}

function ending(db: Db, find: Find): Pick<JobService, 'finish' | 'remove'> {
  const finish = together<{ id: string; token: string | null; actor: string }, RowOf<'finish_jobs'>>((all) =>
    db.move('finish_jobs', {
      ids: all.map((j) => j.id),
      tokens: all.map((j) => j.token),
      actors: all.map((j) => j.actor),
    }),
  );
  const remove = together<{ id: string; actor: string; alsoReserved: boolean }, RowOf<'delete_jobs'>>((all) =>
    db.move('delete_jobs', {
      ids: all.map((j) => j.id),
      actors: all.map((j) => j.actor),
      alsoReserved: all.map((j) => j.alsoReserved),
    }),
  );
  return {
    async finish(id, token, actor) {
      const finished = await finish({ id, token, actor });
      if (finished) return finished;
      const existing = await find(id);
      if (token === null || isSettledBy(existing, token)) return existing;
      return explain(db, { id, token });
    },
    async remove(job, actor, alsoReserved) {
      const id = await idOf(find, job);
      const removed = await remove({ id, actor, alsoReserved });
      if (!removed) await find(id);
      return removed;
    },
  };
}

/** Shares a statement that names each job once; undefined: it did nothing to that one. */
const together = <In extends { id: string }, Out extends { id: string }>(run: (all: In[]) => Promise<Out[]>) =>
  share<In, Out | undefined>(
    async (all) => {
      const rows = new Map((await run(all)).map((row) => [row.id, row]));
      return all.map(({ id }) => rows.get(id));
    },
    { keys: ({ id }) => [id], max: MOST_TOGETHER },
  );

function holding(db: Db, items: ItemService): Pick<JobService, 'touch' | 'release' | 'bury'> {
  const release = together<Reservation & { delaySeconds: number; priority: number | undefined }, Item>((all) =>
    db.move('release_jobs', {
      ids: all.map((j) => j.id),
      tokens: all.map((j) => j.token),
      delays: all.map((j) => j.delaySeconds),
      priorities: all.map((j) => j.priority ?? null),
    }),
  );
  const bury = together<Reservation & { priority: number | undefined }, Item>((all) =>
    db.move('bury_jobs', {
      ids: all.map((j) => j.id),
      tokens: all.map((j) => j.token),
      priorities: all.map((j) => j.priority ?? null),
    }),
  );
  return {
    async touch(held) {
      return (await items.renew({ kind: 'job', hold: { ...held, subject: null } })) ?? explain(db, held);
    },
    async release(held, delaySeconds, priority) {
      return (await release({ ...held, delaySeconds, priority })) ?? explain(db, held, 'released');
    },
    async bury(held, priority) {
      return (await bury({ ...held, priority })) ?? explain(db, held, 'released');
    },
  };
}

/**
 * Why a token did nothing.
 * @param repeats how the reservation has ended where the call is a repeat, and gets the job as it is
 */
async function explain(db: Db, { id, token }: Reservation, repeats?: string): Promise<Item> {
  const [found] = await db.run('find_verdict', { kind: 'job', id, token });
  if (!found) return unknown(id);
  if (repeats !== undefined && found.named_why === repeats) return found;
  const { detail, code, ...fields } = refusalOf(found);
  throw new Problem(code, found.overdue ? 'the reservation ran out' : detail, fields);
}
