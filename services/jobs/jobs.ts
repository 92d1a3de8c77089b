import { randomBytes } from 'node:crypto';
import type { Item } from '../../contract/items.ts';
import type { NewJob } from '../../contract/jobs.ts';
import type { NewItem } from '../../db/items.ts';
import { columnsOf, type RowOf } from '../../db/pool.ts';
import { isFinal, stateWord } from '../../domain/items.ts';
import { bodyBytes } from '../../domain/jobs.ts';
import { refusalOf } from '../../domain/refusals.ts';
import * as items from '../items/items.ts';
import * as queues from '../items/queues.ts';
import { BY_ID, shareRowSets, shareRows } from '../shared/batching.ts';
import { type Context, erased, Problem, perContext } from '../shared/service.ts';
import { addEach, added, one, sameContent, tried } from '../shared/sets.ts';
import { contentHash, isSettledBy } from '../shared/tokens.ts';
import { MOST_TOGETHER, type Reservation } from './popping.ts';

/** A job by its id, or by the number that it has over beanstalkd's protocol. */
type JobRef = string | number;

type State = 'ready' | 'delayed' | 'buried';

type Named = NewItem & { id: string };

type Ended = Pick<Item, 'id' | 'queue' | 'state'>;

/** How often a number is drawn again because a job added in the same instant has the name that goes with it. */
const DRAWS = 100;
/** Jobs that one statement kicks, which bounds how long it locks. */
const KICKED_TOGETHER = 1_000;

/**
 * Adds jobs as a set. While an id's run is open, the same content is that run; where it is over, the next one begins (S3.1,
 * S3.2). An add whose key is known is the run that had it first.
 * @returns for each the `run` of its id, or Problem `id_conflict` when the id stands for other content, or its topic takes
 * an id once; `erased`. `created` false: it was there, or an add with its key has been there
 */
export function addAll(ctx: Context, jobs: NewJob[], actor: string) {
  const rows = jobs.map(({ id, key, ...job }) => ({ ...rowOf(job, actor), id, hash: contentHash(job), key }));
  return addEach<Named, { item: Pick<Item, 'id' | 'run' | 'version'>; created: boolean }>('job', rows, [
    (some) => queues.ensureEach(ctx, 'job', some),
    added((some) => items.add(ctx, 'job', some)),
    added(begins(ctx)),
    (some) => meetEach(ctx, some),
  ]);
}

/** Adds one. @throws what `addAll` returns */
export const add = async (ctx: Context, job: NewJob, actor: string) => one(await addAll(ctx, [job], actor));

async function meetEach({ db }: Context, rows: Named[]) {
  const keys = rows.map(({ key }) => key ?? null);
  const found = await db.run('find_runs', { ...columnsOf(rows, { ids: 'id', topics: 'queue' }), keys });
  const byNumber = new Map(found.map((item) => [item.no, item]));
  return rows.map(({ id, hash }, n) => {
    const item = byNumber.get(n + 1);
    return item && tried(() => asMet(item, id, hash));
  });
}

/** The run that an add meets; undefined: the next one may begin. */
function asMet(item: RowOf<'find_runs'>, id: string, hash: string) {
  if (item.erased) throw erased(`job ${id}`);
  if (item.of_key !== null) return { item: { ...item, run: item.of_key }, created: false };
  if (!isFinal(item.state)) return { item: sameContent(item, 'job', id, hash), created: false };
  if (item.spent) throw new Problem('id_conflict', `job ${id} ${endOf(item)}: its topic takes an id once`);
  return undefined;
}

/** The newest run of a job's id, if it has this content. @throws Problem `id_conflict`, `erased` */
export async function meet(ctx: Context, { id, key: _, ...job }: NewJob): Promise<Item | undefined> {
  const item = await items.get(ctx, 'job', id);
  return item && sameContent(item, 'job', id, contentHash(job));
}

const endOf = ({ state, ended_at }: Item) => `${stateWord('job', state)} at ${ended_at?.toISOString()}`;

const begins = perContext(({ db }) =>
  shareRowSets((jobs: Named[]) => db.move('begin_runs', { jobs }), { ...BY_ID, max: MOST_TOGETHER }),
);

/** Adds a job without an id: it is named `topic:number`. */
export async function put(ctx: Context, job: Omit<NewJob, 'id' | 'key'>, actor: string): Promise<Item> {
  await queues.ensure(ctx, 'job', job.topic);
  for (let draw = 0; draw < DRAWS; draw++) {
    const hash = randomBytes(32).toString('hex');
    const item = one(await items.addWhole(ctx, 'job', [{ ...rowOf(job, actor), id: null, hash }]));
    if (item) return item;
  }
  throw new Error(`no free number for a job of ${job.topic}`);
}

function rowOf(job: Omit<NewJob, 'id' | 'key'>, actor: string) {
  const { topic: queue, priority, body, delay: delaySeconds, TTR: leaseSeconds } = job;
  return { actor, queue, priority, body, delaySeconds, leaseSeconds, bodyBytes: bodyBytes(body).length };
}

const byNumber = perContext(({ db }) =>
  shareRows((numbers: number[]) => db.run('jobs_by_number', { numbers }), {
    call: (number) => number,
    row: ({ seq }) => seq,
    keys: () => [],
  }),
);

/** A job, open or not. By numbers concurrent calls share a statement. @throws Problem `not_found` */
export async function find(ctx: Context, job: JobRef): Promise<Item> {
  const item = typeof job === 'number' ? await byNumber(ctx)(job) : await items.get(ctx, 'job', job);
  return item ?? unknown(job);
}

/** The id that a call means, and, where it said a number, that: the id may begin anew meanwhile. */
const meant = async (ctx: Context, job: JobRef): Promise<{ id: string; number: number | null }> =>
  typeof job === 'string' ? { id: job, number: null } : { id: (await find(ctx, job)).id, number: job };

function unknown(job: JobRef): never {
  throw new Problem('not_found', `there is no job ${job}`);
}

/** The first of a topic's jobs in a state, in the order in which they leave it. */
export const first = async ({ db }: Context, topic: string, state: State): Promise<Item | undefined> =>
  (await db.run(`peek_${state}`, { topic }))[0];

/** Of an open job, for beanstalkd's protocol. @throws Problem `not_found` */
export const stats = async ({ db }: Context, number: number): Promise<RowOf<'job_stats'>> =>
  (await db.run('job_stats', { number }))[0] ?? unknown(number);

/** Shares a statement that names each job once; undefined: it changed nothing of that one. */
const together = <In extends { id: string }, Out extends { id: string }>(run: (all: In[]) => Promise<Out[]>) =>
  shareRows(run, { ...BY_ID, max: MOST_TOGETHER });

const finishes = perContext(({ db }) =>
  together((all: { id: string; token: string | null; actor: string }[]) =>
    db.move('finish_jobs', columnsOf(all, { ids: 'id', tokens: 'token', actors: 'actor' })),
  ),
);

/**
 * Finishes a job. Without a token whatever reservation is current ends.
 * @returns the job as it is now: finished, or, without a token, as it had ended before
 * @throws Problem `not_found`; `not_open` or `lease_lost` where the token is of no live reservation
 */
export async function finish(ctx: Context, id: string, token: string | null, actor: string): Promise<Ended> {
  const finished = await finishes(ctx)({ id, token, actor });
  if (finished) {
    ctx.tracing?.saw('job', finished.id);
    return finished;
  }
  const existing = await find(ctx, id);
  // its next run began meanwhile
  if (token === null && !isFinal(existing.state)) return finish(ctx, id, token, actor);
  if (token === null || isSettledBy(existing, token)) return existing;
  const [earlier] = await ctx.db.run('finished_run', { id, token });
  if (earlier) return earlier;
  return explain(ctx, { id, token });
}

const removals = perContext(({ db }) =>
  together((all: { id: string; number: number | null; actor: string; alsoReserved: boolean }[]) => {
    const columns = { ids: 'id', numbers: 'number', actors: 'actor', alsoReserved: 'alsoReserved' } as const;
    return db.move('delete_jobs', columnsOf(all, columns));
  }),
);

/**
 * Deletes an open job.
 * @param alsoReserved whether a reservation is ended
 * @returns undefined: the job had ended already, or is reserved
 * @throws Problem `not_found`
 */
export async function remove(ctx: Context, job: JobRef, actor: string, alsoReserved: boolean) {
  const named = await meant(ctx, job);
  const removed = await removals(ctx)({ ...named, actor, alsoReserved });
  if (!removed) await find(ctx, job);
  return removed;
}

/** A full TTR again. @throws as `finish` */
export const touch = async (ctx: Context, held: Reservation): Promise<Item> =>
  (await items.renew(ctx, 'job', { ...held, subject: null })) ?? explain(ctx, held);

/** How a reserved job is given back: with another priority, and why. */
interface GivenBack {
  priority?: number | undefined;
  reason?: string | undefined;
}

const givenBack = (all: (Reservation & GivenBack)[]) => ({
  ...columnsOf(all, { ids: 'id', tokens: 'token' }),
  priorities: all.map(({ priority }) => priority ?? null),
  reasons: all.map(({ reason }) => reason ?? null),
});

const releases = perContext(({ db }) =>
  together((all: (Reservation & GivenBack & { delaySeconds: number })[]) =>
    db.move('release_jobs', { ...givenBack(all), delays: all.map(({ delaySeconds }) => delaySeconds) }),
  ),
);

/**
 * Gives a job back. Repeated, it changes nothing.
 * @returns the job as it is now: buried where its topic allows no further attempt
 * @throws as `finish`
 */
export const release = async (ctx: Context, held: Reservation, delaySeconds: number, how: GivenBack = {}) =>
  (await releases(ctx)({ ...held, ...how, delaySeconds })) ?? explain(ctx, held, 'released');

const burials = perContext(({ db }) =>
  together((all: (Reservation & GivenBack)[]) => db.move('bury_jobs', givenBack(all))),
);

/** Buries a reserved job until it is kicked. Repeated, it changes nothing. @throws as `finish` */
export const bury = async (ctx: Context, held: Reservation, how: GivenBack = {}): Promise<Item> =>
  (await burials(ctx)({ ...held, ...how })) ?? explain(ctx, held, 'released');

/**
 * Buries an open job until it is kicked; whoever has it reserved loses it. Repeated, it changes nothing.
 * @throws Problem `not_found`, `not_open`
 */
export async function buryOpen(ctx: Context, id: string, actor: string, reason: string): Promise<Item> {
  const [buried] = await ctx.db.move('bury_open_job', { id, actor, reason });
  const job = buried ?? (await find(ctx, id));
  if (isFinal(job.state)) throw new Problem('not_open', `job ${id} is ${stateWord('job', job.state)}`);
  return job;
}

/** Makes `count` buried jobs of a topic ready, or, where none is buried, delayed ones. @returns how many */
export async function kick({ db }: Context, topic: string, count: number, actor: string): Promise<number> {
  let kicked = 0;
  let begun: { state: State; since: Date } | undefined;
  while (kicked < count) {
    const limit = Math.min(KICKED_TOGETHER, count - kicked);
    const rows = await db.move('kick_topic', { topic, limit, actor, ...begun });
    kicked += rows.length;
    const [first] = rows;
    if (!first || rows.length < limit) break;
    // a Date has milliseconds, the database's clock has more
    begun ??= { state: first.kicked_from, since: new Date(first.updated_at.getTime() + 1) };
  }
  return kicked;
}

/** @returns whether it was buried or delayed. @throws Problem `not_found` */
export async function kickOne(ctx: Context, job: JobRef, actor: string): Promise<boolean> {
  const kicked = await ctx.db.move('kick_job', { ...(await meant(ctx, job)), actor });
  if (kicked.length === 0) await find(ctx, job);
  return kicked.length > 0;
}

/**
 * Explains why a token changed nothing.
 * @param repeats how the reservation has ended where the call is a repeat, and gets the job as it is
 * @throws Problem `not_found`, `not_open`, `lease_lost`
 */
async function explain({ db }: Context, { id, token }: Reservation, repeats?: string): Promise<Item> {
  const [found] = await db.run('find_attempt', { kind: 'job', id, token });
  if (!found) return unknown(id);
  if (repeats !== undefined && found.named_why === repeats) return found;
  const { detail, code, ...fields } = refusalOf(found);
  throw new Problem(code, found.overdue ? 'the reservation ran out' : detail, fields);
}
