import { randomBytes } from 'node:crypto';
import type { Item } from '../../contract/items.ts';
import type { NewJob } from '../../contract/jobs.ts';
import { columnsOf, type RowOf } from '../../db/pool.ts';
import { isFinal, stateWord } from '../../domain/items.ts';
import { bodyBytes } from '../../domain/jobs.ts';
import { refusalOf } from '../../domain/refusals.ts';
import * as items from '../items/items.ts';
import * as queues from '../items/queues.ts';
import { BY_ID, shareRows } from '../shared/batching.ts';
import { type Context, perContext } from '../shared/context.ts';
import { addOnce, Problem } from '../shared/problems.ts';
import { contentHash, isSettledBy } from '../shared/tokens.ts';
import { MOST_TOGETHER, type Reservation } from './popping.ts';

/** A job by its id, or by the number that it has over beanstalkd's protocol. */
type JobRef = string | number;

type State = 'ready' | 'delayed' | 'buried';

/** A job that has ended. */
type Ended = Pick<Item, 'id' | 'queue' | 'state'>;

/** How often a number is drawn again because a job added in the same instant has the name that goes with it. */
const DRAWS = 100;
/** Jobs that one statement kicks, which bounds how long it locks. */
const KICKED_TOGETHER = 1_000;

/**
 * Adds a job once: the same id with the same content is the existing job.
 * @throws Problem `id_conflict` when the id stands for other content
 */
export async function add(ctx: Context, { id, ...job }: NewJob, actor: string) {
  const hash = contentHash(job);
  return addOnce(
    { what: 'job', id, hash },
    () => insert(ctx, id, hash, job, actor),
    () => items.get(ctx, 'job', id),
  );
}

/** Adds a job without an id: it is named `topic:number`. */
export async function put(ctx: Context, job: Omit<NewJob, 'id'>, actor: string): Promise<Item> {
  for (let draw = 0; draw < DRAWS; draw++) {
    const item = await insert(ctx, null, randomBytes(32).toString('hex'), job, actor);
    if (item) return item;
  }
  throw new Error(`no free number for a job of ${job.topic}`);
}

async function insert(ctx: Context, id: string | null, hash: string, job: Omit<NewJob, 'id'>, actor: string) {
  await queues.ensure(ctx, 'job', job.topic);
  return items.add(ctx, 'job', {
    ...{ id, hash, actor, queue: job.topic, priority: job.priority, body: job.body },
    ...{ delaySeconds: job.delay, leaseSeconds: job.TTR, bodyBytes: bodyBytes(job.body).length },
    ...{ requires: [], exclude: [], callback: null, deadlineSeconds: null, createdAt: null },
  });
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

const idOf = async (ctx: Context, job: JobRef) => (typeof job === 'string' ? job : (await find(ctx, job)).id);

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
  if (token === null || isSettledBy(existing, token)) return existing;
  return explain(ctx, { id, token });
}

const removals = perContext(({ db }) =>
  together((all: { id: string; actor: string; alsoReserved: boolean }[]) =>
    db.move('delete_jobs', columnsOf(all, { ids: 'id', actors: 'actor', alsoReserved: 'alsoReserved' })),
  ),
);

/**
 * Deletes an open job.
 * @param alsoReserved whether a reservation is ended
 * @returns undefined: the job had ended already, or is reserved
 * @throws Problem `not_found`
 */
export async function remove(ctx: Context, job: JobRef, actor: string, alsoReserved: boolean) {
  const id = await idOf(ctx, job);
  const removed = await removals(ctx)({ id, actor, alsoReserved });
  if (!removed) await find(ctx, id);
  return removed;
}

/** A full TTR again. @throws as `finish` */
export const touch = async (ctx: Context, held: Reservation): Promise<Item> =>
  (await items.renew(ctx, 'job', { ...held, subject: null })) ?? explain(ctx, held);

const releases = perContext(({ db }) =>
  together((all: (Reservation & { delaySeconds: number; priority: number | null })[]) => {
    const columns = { ids: 'id', tokens: 'token', delays: 'delaySeconds', priorities: 'priority' } as const;
    return db.move('release_jobs', columnsOf(all, columns));
  }),
);

/**
 * Gives a job back. Repeated, it changes nothing.
 * @returns the job as it is now: buried where its topic allows no further attempt
 * @throws as `finish`
 */
export const release = async (ctx: Context, held: Reservation, delaySeconds: number, priority: number | null = null) =>
  (await releases(ctx)({ ...held, delaySeconds, priority })) ?? explain(ctx, held, 'released');

const burials = perContext(({ db }) =>
  together((all: (Reservation & { priority: number | null })[]) =>
    db.move('bury_jobs', columnsOf(all, { ids: 'id', tokens: 'token', priorities: 'priority' })),
  ),
);

/** Buries a reserved job until it is kicked. Repeated, it changes nothing. @throws as `finish` */
export const bury = async (ctx: Context, held: Reservation, priority: number | null = null): Promise<Item> =>
  (await burials(ctx)({ ...held, priority })) ?? explain(ctx, held, 'released');

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
  const id = await idOf(ctx, job);
  const kicked = await ctx.db.move('kick_job', { id, actor });
  if (kicked.length === 0) await find(ctx, id);
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
