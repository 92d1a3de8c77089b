import type { Item, Popped } from '../../contract/items.ts';
import type { Db, Mover } from '../../db/pool.ts';
import { MAX_TCP_BYTES } from '../../domain/jobs.ts';
import { waitedSeconds } from '../../runtime/metrics.ts';
import type { Gone } from '../../runtime/waiting.ts';
import * as queues from '../items/queues.ts';
import { inBatches, share, sharePerGroup } from '../shared/batching.ts';
import type { Context } from '../shared/context.ts';
import { newToken } from '../shared/tokens.ts';
import { PopFloors } from './pop-floors.ts';

/** Jobs in one statement: enough for the batches of several callers, short enough for a caller with a single job. */
export const MOST_TOGETHER = 512;

/** Reserved jobs that one statement makes ready again. */
const MOST_RETURNED = 1_000;

export interface Reservation {
  id: string;
  token: string;
}

interface PopRequest {
  topics: string[];
  count: number;
  waitSeconds: number;
  holder: string;
  signal: Gone;
  /** Over beanstalkd's protocol long bodies are not offered. */
  tcp?: boolean;
}

/** Hands out jobs (S3.1, S3.8). */
export interface JobsPopping {
  /** At least one job if there is one; waits for the first only. */
  pop(request: PopRequest): Promise<Popped[]>;
  /**
   * The same where topics go before priorities: while the first one has jobs, none of the second is handed out.
   * @param TTR seconds that these reservations last; null: as each job says
   */
  popInOrder(request: Omit<PopRequest, 'tcp'>, TTR: number | null): Promise<Item[]>;
  /** Pops for a topic's push target: `count` at most, and never more than `limit` at once over all processes. */
  popToPush(topic: string, count: number, limit: number): Promise<Item[]>;
  /** Reserves an open job that is not reserved, for beanstalkd's protocol; undefined: there is none of that number. */
  reserve(number: number, holder: string): Promise<Popped | undefined>;
  /** Makes the jobs ready whose connection is gone, as far as they are still reserved. */
  giveBack(reservations: Reservation[]): Promise<void>;
}

export function popping(ctx: Context): JobsPopping {
  const { db, waiters, metrics, tracing } = ctx;
  const count = <T extends Popped>(jobs: T[]) => {
    for (const job of jobs) {
      metrics.handedOut('job', job.queue, waitedSeconds(job));
      tracing?.saw('job', job.id);
    }
    return jobs;
  };
  const popTogether = sharedPops(db);
  const popWhole = sharedWholePops(db);
  /** Looks until there is a job. What was found when the caller had gone is given back: it is no hand-out. */
  const waitFor = async <T extends Popped>(
    { topics, waitSeconds: seconds, signal, tcp = false }: PopRequest,
    find: () => Promise<T[]>,
  ) => {
    for (const topic of topics) await queues.ensure(ctx, 'job', topic);
    const look = async () => {
      const popped = await find();
      return popped.length > 0 ? popped : undefined;
    };
    const keys = () => topics.map((t) => `job/${t}`);
    const found = await waiters.waitFor({ keys, seconds, signal, findsAll: !tcp }, look);
    if (!found) {
      if (!signal.aborted) for (const topic of topics) metrics.empty('job', topic, 'none');
      return [];
    }
    if (!signal.aborted) return count(found);
    const reservations = found.map((i) => ({ id: i.id, token: i.lease_id ?? '' }));
    await giveBack(db, reservations, true);
    return [];
  };
  return {
    pop: (request) => waitFor(request, () => popTogether(request)),
    popInOrder: (request, TTR) =>
      waitFor(request, async () => {
        const found: Item[] = [];
        for (const topic of request.topics) {
          const left = request.count - found.length;
          if (left > 0) found.push(...(await popWhole({ topic, TTR, holder: request.holder }, left)));
        }
        return found;
      }),
    popToPush: async (topic, most, limit) =>
      count(await db.move('pop_to_push', { topic, tokens: Array.from({ length: most }, newToken), limit })),
    async reserve(number, holder) {
      return count(await db.move('reserve_job', { number, token: newToken(), holder, maxBytes: MAX_TCP_BYTES }))[0];
    },
    giveBack: (reservations) => giveBack(db, reservations, false),
  };
}

/** @param undelivered the jobs never reached their client, so that was no attempt */
async function giveBack(db: Mover, reservations: Reservation[], undelivered: boolean): Promise<void> {
  await inBatches(reservations, MOST_RETURNED, (some) =>
    db.move('return_jobs', { ids: some.map((r) => r.id), tokens: some.map((r) => r.token), undelivered }),
  );
}

interface OnePop {
  token: string;
  holder: string;
}

/** Of one statement for several pops: each gets the job that bears its token. */
const perToken = <In extends OnePop, Out extends { lease_id: string | null }>(run: (pops: In[]) => Promise<Out[]>) =>
  share<In, Out | undefined>(
    async (pops) => {
      const given = new Map((await run(pops)).map((row) => [row.lease_id, row]));
      return pops.map((p) => given.get(p.token));
    },
    { keys: (p) => [p.token], max: MOST_TOGETHER },
  );

/** A pop of many is as many pops that come together. */
async function many<T>(count: number, pop: () => Promise<T | undefined>): Promise<T[]> {
  const given = await Promise.all(Array.from({ length: count }, pop));
  return given.filter((item) => item !== undefined);
}

const namesOf = (pops: OnePop[]) => ({ tokens: pops.map((p) => p.token), holders: pops.map((p) => p.holder) });

/** Pops of the same topics share a statement. */
function sharedPops(db: Db) {
  const floors = new PopFloors(db);
  const shared = (maxBytes: number | null) =>
    sharePerGroup<OnePop & { topics: string[] }, Popped | undefined>(() =>
      perToken((pops) => {
        const topics = pops[0]?.topics ?? [];
        return floors.pop(topics, (floor) => db.move('pop_jobs', { topics, ...namesOf(pops), maxBytes, floor }));
      }),
    );
  const [overHttp, overTcp] = [shared(null), shared(MAX_TCP_BYTES)];
  return ({ topics, count, holder, tcp = false }: PopRequest): Promise<Popped[]> => {
    const group = JSON.stringify(topics);
    return many(count, () => (tcp ? overTcp : overHttp)(group, { topics, token: newToken(), holder }));
  };
}

/** Pops of the same topic with the same TTR share a statement. */
function sharedWholePops(db: Db) {
  type One = { topic: string; TTR: number | null; holder: string };
  const shared = sharePerGroup<One & OnePop, Item | undefined>(() =>
    perToken((pops) => {
      const { topic = '', TTR = null } = pops[0] ?? {};
      return db.move('pop_whole_jobs', { topic, TTR, ...namesOf(pops) });
    }),
  );
  return (one: One, count: number): Promise<Item[]> => {
    const group = JSON.stringify([one.topic, one.TTR]);
    return many(count, () => shared(group, { ...one, token: newToken() }));
  };
}
