import type { Callback, Change } from '../../contract/items.ts';
import { columnsOf, only, type ParamsOf, type RowOf } from '../../db/pool.ts';
import { reviewChange } from '../../domain/reviews.ts';
import type { Gone } from '../../runtime/waiting.ts';
import { share, whileBusy } from '../shared/batching.ts';
import { type Context, erased, found, invalid, Problem, perContext } from '../shared/service.ts';

export interface NewCallback {
  review: string;
  id: string;
  kind: 'text' | 'picture' | 'reply';
  /** '' for the text. */
  target: string;
  status: number;
  /** ISO time; null: the database's clock at arrival. */
  auditTime: string | null;
  /** The sender. */
  actor: string;
}

type Received = RowOf<'receive_callbacks'>;

export interface Target {
  kind: NewCallback['kind'];
  id: string;
  position: number;
  status: number;
}

type NewReview = ParamsOf<'put_review'> & { targets: Target[]; callback: Callback | null };

/** About twenty seconds: an edit may have thousands of targets. */
const LOCKED_RETRIES = { tries: 400, stepMs: 2, mostMs: 100 };
/** Callbacks that one statement applies. */
const BATCH = 500;

const missing = (id: string) => `there is no review ${id}`;

/** @throws Problem `not_found` */
export const get = async ({ db }: Context, id: string) => found(await db.run('get_review', { id }), missing(id));

/** Creates or edits a review. @throws Problem `id_conflict` when another review has one of the pictures; `erased` */
export async function put(ctx: Context, review: NewReview) {
  const { id } = review;
  const sealed = { ...review, callback: ctx.secrets.seal(review.callback) };
  const moved = ([row]: RowOf<'put_review'>[]) => (row?.created === false ? [reviewChange(id, 0, row.now)] : []);
  const [done] = await ctx.db.move('put_review', sealed, { moved }).catch(pictureTaken);
  if (!done) throw erased(`review ${id}`);
  // the edit has also applied the callbacks that were pending
  ctx.wakeAll(`review/${id}`);
  return { row: await get(ctx, id), created: done.created };
}

/** Newest first, those before the number `before`. */
export const list = ({ db }: Context, before: number | null, limit: number) =>
  db.lists.run('list_reviews', { before, limit });

/** The id of the review that has a picture, or had it last. */
export const ofPicture = async ({ db }: Context, picture: string) =>
  (await db.run('review_of_picture', { picture }))[0]?.review_id;

/** The three stores of a review as of one moment. @throws Problem `not_found` */
export const stores = async ({ db }: Context, id: string) => found(await db.run('review_stores', { id }), missing(id));

/** Log lines after line `after`, and the record as it was after that line. @throws Problem `not_found` */
export async function log(ctx: Context, id: string, after: number, limit: number) {
  await get(ctx, id);
  const { lists } = ctx.db;
  const lines = await lists.run('review_log', { id, after, limit });
  return { lines, record: only(await lists.run('review_record', { id, seq: after })).record };
}

/** Number of lines that the logs of all reviews have for a UTC day, by outcome; null: today. */
export async function counts({ db }: Context, day: string | null) {
  const rows = await db.lists.run('review_counts', { day });
  const count = (outcome: string) => rows.find((row) => row.outcome === outcome)?.n ?? 0;
  return {
    day: rows[0]?.day ?? '',
    ...{ applied: count('applied'), expired: count('expired') },
    ...{ repeated: count('duplicate'), edited: count('edited') },
  };
}

/**
 * @param wait whether to wait while a review is locked, instead of answering `busy`
 * @param whole keeps all of them or none
 */
function store(
  { db, config: { auditSkewSeconds: skewSeconds } }: Context,
  all: NewCallback[],
  { wait = false, whole = false },
) {
  const columns = {
    ...columnsOf(all, { reviews: 'review', ids: 'id', kinds: 'kind', targets: 'target' }),
    ...columnsOf(all, { statuses: 'status', auditTimes: 'auditTime', actors: 'actor' }),
  };
  const moved = (rows: Received[]) => changesOf(all, rows);
  return db.move('receive_callbacks', { ...columns, skewSeconds, wait, whole }, { moved });
}

const storeShared = perContext((ctx) =>
  share<NewCallback, Received>((all) => store(ctx, all, {}), { keys: (c) => [`${c.review}/${c.id}`] }),
);

/**
 * Stores the callback of an audit, in one statement with concurrent ones, and waits up to `seconds` for its outcome
 * (S1.2, S1.6).
 * @returns undefined while the outcome is not known
 * @throws Problem `not_found`, 422, or `unavailable` when the review stays locked
 */
export async function receive(ctx: Context, callback: NewCallback, seconds: number, signal: Gone) {
  const known = await received(ctx, [callback], async () => [await storeShared(ctx)(callback)], seconds, signal);
  return known?.[0];
}

/** The same for several callbacks of one review: all of them are stored or none. */
export const receiveAll = (ctx: Context, all: NewCallback[], seconds: number, signal: Gone) =>
  received(ctx, all, () => store(ctx, all, { whole: true }), seconds, signal, 'callbacks');

/** @param path of the callbacks in the body, where there are several */
async function received(
  ctx: Context,
  all: NewCallback[],
  keep: () => Promise<Received[]>,
  seconds: number,
  signal: Gone,
  path?: string,
) {
  // a retry, unlike a lock wait, holds neither a connection nor callbacks of other reviews
  const rows = await whileBusy(keep, (some) => some.some((one) => one.problem === 'busy'), LOCKED_RETRIES);
  rows.forEach(({ problem }, n) => {
    if (problem !== null) throw rejection(problem, all[n] as NewCallback, path && `${path}.${n}`);
  });
  if (seconds === 0) return undefined;
  const review = all[0]?.review ?? '';
  const arrivals = rows.map(({ arrival }) => arrival);
  return ctx.waiters.waitFor({ keys: () => [`review/${review}`], seconds, signal }, async () => {
    const known = await ctx.db.run('callback_outcomes', { review, arrivals });
    return known.some(({ outcome }) => outcome === 'pending') ? undefined : known;
  });
}

/** Stores a callback and waits while its review is locked. */
export const forward = async (ctx: Context, callback: NewCallback) => (await store(ctx, [callback], { wait: true }))[0];

/**
 * Applies pending callbacks in the order of arrival.
 * @returns undefined when there is no such review; `more` when some may be left
 */
export async function apply({ db, wakeAll }: Context, id: string) {
  const [done] = await db.run('apply_review', { id, limit: BATCH });
  if (done && done.resolved > 0) wakeAll(`review/${id}`);
  return done;
}

/** The delivery number of the oldest change that is not delivered yet; null: none. */
export const nextChange = async ({ db }: Context, id: string) => (await db.run('next_change', { id }))[0]?.n ?? null;

/** One change for each review that has received callbacks, with its newest callback. */
function changesOf(all: NewCallback[], rows: Received[]): Change[] {
  const newest = new Map<string, Change>();
  rows.forEach((r, n) => {
    const id = all[n]?.review ?? '';
    if (r.arrival !== null) newest.set(id, reviewChange(id, r.arrival, r.received_at));
  });
  return [...newest.values()];
}

/** @param at the path of the callback in the body, where there are several */
function rejection(problem: Received['problem'], { review, kind, target }: NewCallback, at?: string): Problem {
  if (problem === 'busy') return new Problem('unavailable', `review ${review} is being changed, try again`);
  const under = at === undefined ? '' : `${at}.`;
  if (problem === 'too_far') return invalid(`${under}auditTime`, 'is too far in the future');
  if (problem === 'erased') return erased(`review ${review}`);
  if (problem === 'no_review') return new Problem('not_found', missing(review));
  const detail = `review ${review} has never had the ${kind} ${target}`;
  return new Problem('not_found', detail, at === undefined ? {} : { errors: [{ path: at, message: detail }] });
}

function pictureTaken(error: { constraint?: string; detail?: string }): never {
  if (error.constraint !== 'review_picture') throw error;
  const [, picture] = /=\((.*)\)/.exec(error.detail ?? '') ?? [];
  throw new Problem('id_conflict', `picture ${picture} is in another review`);
}
