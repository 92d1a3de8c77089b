import type { Item, Popped } from '../../contract/items.ts';
import { columnsOf } from '../../db/pool.ts';
import { MAX_TCP_BYTES } from '../../domain/jobs.ts';
import { waitedSeconds } from '../../runtime/metrics.ts';
import type { Gone } from '../../runtime/waiting.ts';
import * as queues from '../items/queues.ts';
import { batchesOf, sharePerGroup, shareRows } from '../shared/batching.ts';
import { type Context, perContext } from '../shared/service.ts';
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

export interface PopRequest {
  topics: string[];
  count: number;
  waitSeconds: number;
  holder: string;
  signal: Gone;
  /** Of a pop of one job: its token; left out: a new one. */
  token?: string;
  /** Over beanstalkd's protocol long bodies are not offered. */
  tcp?: boolean;
}

/**
 * Hands out at least one job if there is one (S3.1, S3.8); waits for the first only.
 * @param popped what a statement of the same call has popped; without waiting no other is looked for
 */
export const pop = (ctx: Context, request: PopRequest, popped?: Popped[]): Promise<Popped[]> =>
  waitFor(ctx, request, async () =>
    popped && (popped.length > 0 || request.waitSeconds === 0) ? popped : popNow(ctx, request),
  );

/** Pops where topics go before priorities: while the first one has jobs, none of the second is handed out. */
export const popInOrder = (ctx: Context, request: PopRequest): Promise<Popped[]> =>
  waitFor(ctx, request, async () => {
    const found: Popped[] = [];
    for (const topic of request.topics) {
      const left = request.count - found.length;
      if (left > 0) found.push(...(await popNow(ctx, { ...request, topics: [topic], count: left })));
    }
    return found;
  });

/** Pops for a topic's push target: `count` at most, and never more than `limit` at once over all processes. */
export async function popToPush(ctx: Context, topic: string, count: number, limit: number): Promise<Item[]> {
  const tokens = Array.from({ length: count }, newToken);
  const rows = await ctx.db.move('pop_to_push', { topic, tokens, limit });
  return counted(
    ctx,
    rows.filter(({ state }) => state === 'held'),
  );
}

/** Reserves an open job that is not reserved, for beanstalkd's protocol; undefined: there is none of that number. */
export async function reserve(ctx: Context, number: number, holder: string): Promise<Popped | undefined> {
  const named = { number, token: newToken(), holder, maxBytes: MAX_TCP_BYTES };
  return counted(ctx, await ctx.db.move('reserve_job', named))[0];
}

/**
 * Makes jobs ready that are still reserved and whose client is gone.
 * @param undelivered whether they never reached it, so that this was no attempt
 */
export async function giveBack({ db }: Context, reservations: Reservation[], undelivered = false): Promise<void> {
  for (const some of batchesOf(reservations, MOST_RETURNED))
    await db.move('return_jobs', { ...columnsOf(some, { ids: 'id', tokens: 'token' }), undelivered });
}

/** Looks until there is a job. What was found when the caller had gone is given back: it is no hand-out. */
async function waitFor<T extends Popped>(
  ctx: Context,
  { topics, waitSeconds: seconds, signal, tcp = false }: PopRequest,
  find: () => Promise<T[]>,
): Promise<T[]> {
  for (const topic of topics) await queues.ensure(ctx, 'job', topic);
  const look = async () => {
    const popped = await find();
    return popped.length > 0 ? popped : undefined;
  };
  const keys = () => topics.map((t) => `job/${t}`);
  const found = await ctx.waiters.waitFor({ keys, seconds, signal, findsAll: !tcp }, look);
  if (!found) {
    if (!signal.aborted) for (const topic of topics) ctx.metrics.empty('job', topic, 'none');
    return [];
  }
  if (!signal.aborted) return counted(ctx, found);
  const reservations = found.map((i) => ({ id: i.id, token: i.lease_id ?? '' }));
  await giveBack(ctx, reservations, true);
  return [];
}

function counted<T extends Popped>({ metrics, tracing }: Context, jobs: T[]): T[] {
  for (const job of jobs) {
    metrics.handedOut('job', job.queue, waitedSeconds(job));
    tracing?.saw('job', job.id);
  }
  return jobs;
}

interface OnePop {
  topics: string[];
  token: string;
  holder: string;
}

/** Pops of the same topics share a statement; each gets the job that bears its token. */
const sharedPops = perContext(({ db }) => {
  const floors = new PopFloors(db);
  const shared = (maxBytes: number | null) =>
    sharePerGroup<OnePop, Popped | undefined>(() =>
      shareRows(
        (pops) => {
          const topics = pops[0]?.topics ?? [];
          const columns = columnsOf(pops, { tokens: 'token', holders: 'holder' });
          return floors.pop(topics, (floor) => db.move('pop_jobs', { topics, ...columns, maxBytes, floor }));
        },
        { call: ({ token }) => token, row: (job) => job.lease_id, keys: ({ token }) => [token], max: MOST_TOGETHER },
      ),
    );
  return { http: shared(null), tcp: shared(MAX_TCP_BYTES) };
});

/** A pop of many is as many pops that come together. */
async function popNow(ctx: Context, { topics, count, holder, token, tcp = false }: PopRequest): Promise<Popped[]> {
  const shared = sharedPops(ctx)[tcp ? 'tcp' : 'http'];
  const group = JSON.stringify(topics);
  const one = () => shared(group, { topics, token: token ?? newToken(), holder });
  const popped = await Promise.all(Array.from({ length: count }, one));
  return popped.filter((job) => job !== undefined);
}
