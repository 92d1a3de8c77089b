import type { Callback, Change } from '../../contract/items.ts';
import { only, type RowOf } from '../../db/pool.ts';
import { reviewChange } from '../../domain/reviews.ts';
import type { Runtime } from '../../runtime/runtime.ts';
import type { Gone } from '../../runtime/waiting.ts';
import { share } from '../shared/batching.ts';
import { found, invalid, Problem } from '../shared/problems.ts';
import { whileBusy } from '../shared/retry.ts';

interface NewCallback {
  review: string;
  id: string;
  kind: 'text' | 'picture' | 'reply';
  /** '' for the text. */
  target: string;
  status: number;
  /** ISO time; null: the database's clock at arrival. */
  auditTime: string | null;
  /** Who sends it. */
  actor: string;
}

type Received = RowOf<'receive_callbacks'>;

export interface Target {
  kind: NewCallback['kind'];
  id: string;
  position: number;
  status: number;
}

interface NewReview {
  id: string;
  targets: Target[];
  body: unknown;
  callback: Callback | null;
  actor: string;
}

/** About twenty seconds: an edit may have thousands of targets. */
const LOCKED = { tries: 400, stepMs: 2, mostMs: 100 };
/** Callbacks that one statement applies. */
const BATCH = 500;

export type ReviewService = ReturnType<typeof reviewService>;

/**
 * What is done with reviews (S1).
 * @param skewSeconds how far ahead of the database's clock an audit time may be (S1.4)
 */
export function reviewService(runtime: Runtime, skewSeconds: number) {
  const { db, secrets, wakeAll } = runtime;
  const missing = (id: string) => `there is no review ${id}`;
  /** @throws Problem `not_found` */
  const get = async (id: string) => found(await db.run('get_review', { id }), missing(id));
  return {
    ...audits(runtime, skewSeconds),
    get,
    /**
     * Creates or edits a review.
     * @throws Problem `id_conflict` when another review has one of the pictures
     */
    async put(review: NewReview) {
      const { id } = review;
      const sealed = { ...review, callback: secrets.seal(review.callback) };
      const moved = ([row]: RowOf<'put_review'>[]) => (row?.created === false ? [reviewChange(id, 0, row.now)] : []);
      const [put] = await db.move('put_review', sealed, { moved }).catch(pictureTaken);
      // what had come before has been applied on the way
      wakeAll(`review/${id}`);
      return { row: await get(id), created: put?.created ?? false };
    },
    /** Newest first, from behind `before`. */
    list: (before: number | null, limit: number) => db.lists.run('list_reviews', { before, limit }),
    /** The review that has a picture, or had it last. */
    ofPicture: async (picture: string) => (await db.run('review_of_picture', { picture }))[0]?.review_id,
    /** The three stores as of one moment. @throws Problem `not_found` */
    stores: async (id: string) => found(await db.run('review_stores', { id }), missing(id)),
    /** Lines of its log from behind `after`, and the record as it was after that line. @throws Problem `not_found` */
    async log(id: string, after: number, limit: number) {
      await get(id);
      const lines = await db.lists.run('review_log', { id, after, limit });
      return { lines, record: only(await db.lists.run('review_record', { id, seq: after })).record };
    },
    /** How many lines the logs of all reviews have of a day in UTC, by outcome; null: today. */
    counts: async (day: string | null) => countsOf(await db.lists.run('review_counts', { day })),
  };
}

/** What audits send, and what becomes of it. */
function audits({ db, waiters, wakeAll }: Runtime, skewSeconds: number) {
  const keep = (all: NewCallback[], wait: boolean) =>
    db.move('receive_callbacks', columns(all, skewSeconds, wait), { moved: (rows) => received(all, rows) });
  const keepTogether = share<NewCallback, Received>((all) => keep(all, false), {
    keys: (c) => [`${c.review}/${c.id}`],
  });
  return {
    /**
     * Keeps an audit's callback, together with those that come at the same time, and waits up to `seconds` for what
     * becomes of it (S1.2, S1.6).
     * @returns undefined while that is not known
     * @throws Problem `not_found`, 422, or `unavailable` when its review stays locked
     */
    async receive(callback: NewCallback, seconds: number, signal: Gone) {
      // while its review is locked it holds neither a connection nor the callbacks of other reviews
      const { problem, arrival } = await whileBusy(
        () => keepTogether(callback),
        (one) => one.problem === 'busy',
        LOCKED,
      );
      if (problem !== null || arrival === null) throw rejection(problem, callback);
      if (seconds === 0) return undefined;
      const { review } = callback;
      return waiters.waitFor({ keys: () => [`review/${review}`], seconds, signal }, async () => {
        const [known] = await db.run('callback_outcome', { review, arrival });
        return known?.outcome === 'pending' ? undefined : known;
      });
    },
    /** Keeps a callback, also of a review that is locked, for which it waits. */
    forward: async (callback: NewCallback) => (await keep([callback], true))[0],
    /** Applies what has come, in order; undefined: there is no such review. `more`: perhaps not all of it. */
    async apply(id: string) {
      const [done] = await db.run('apply_review', { id, limit: BATCH });
      if (done && done.resolved > 0) wakeAll(`review/${id}`);
      return done;
    },
    /** The delivery number of the oldest change that is not delivered yet; null: none. */
    nextChange: async (id: string) => (await db.run('next_change', { id }))[0]?.n ?? null,
  };
}

/** Callbacks as the statement takes them: a column for each of their fields. */
const columns = (all: NewCallback[], skewSeconds: number, wait: boolean) => ({
  reviews: all.map((c) => c.review),
  ids: all.map((c) => c.id),
  kinds: all.map((c) => c.kind),
  targets: all.map((c) => c.target),
  statuses: all.map((c) => c.status),
  auditTimes: all.map((c) => c.auditTime),
  actors: all.map((c) => c.actor),
  skewSeconds,
  wait,
});

/** Each review that has received callbacks once, with the newest of them. */
function received(all: NewCallback[], rows: Received[]): Change[] {
  const newest = new Map<string, Change>();
  rows.forEach((r, n) => {
    const id = all[n]?.review ?? '';
    if (r.arrival !== null) newest.set(id, reviewChange(id, r.arrival, r.received_at));
  });
  return [...newest.values()];
}

function countsOf(rows: RowOf<'review_counts'>[]) {
  const count = (outcome: string) => rows.find((row) => row.outcome === outcome)?.n ?? 0;
  return {
    day: rows[0]?.day ?? '',
    ...{ applied: count('applied'), expired: count('expired') },
    ...{ repeated: count('duplicate'), edited: count('edited') },
  };
}

function rejection(problem: Received['problem'], { review, kind, target }: NewCallback): Problem {
  if (problem === 'busy') return new Problem('unavailable', `review ${review} is being changed, try again`);
  if (problem === 'too_far') return invalid('auditTime', 'is too far in the future');
  if (problem === 'no_review') return new Problem('not_found', `there is no review ${review}`);
  return new Problem('not_found', `review ${review} has never had the ${kind} ${target}`);
}

function pictureTaken(error: { constraint?: string; detail?: string }): never {
  if (error.constraint !== 'review_picture') throw error;
  const [, picture] = /=\((.*)\)/.exec(error.detail ?? '') ?? [];
  throw new Problem('id_conflict', `picture ${picture} is in another review`);
}
