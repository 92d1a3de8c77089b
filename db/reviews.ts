import type { Callback, Change as Published } from '../contract/items.ts';
import type { ReviewRecord } from '../contract/reviews.ts';
import { type Change, reviewChange } from '../domain/reviews.ts';
import type { Mover, Queryable } from './pool.ts';

/** A row of `review`. */
export interface Review {
  id: string;
  record: ReviewRecord;
  body: unknown;
  callback: Callback | null;
  version: number;
  log_seq: number;
  created_at: Date;
  updated_at: Date;
  /** Its place in lists, newest first. */
  seq: number;
}

export interface NewCallback {
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

export interface Received {
  /** Why it was not kept; `busy`: another is at that review. */
  problem: 'no_review' | 'no_target' | 'too_far' | 'busy' | null;
  arrival: number | null;
  told_version: number | null;
  received_at: Date;
}

export interface Applied {
  resolved: number;
  /** Perhaps not all of it was applied. */
  more: boolean;
  version: number;
  /** The delivery that comes next. */
  telling: number | null;
}

export type Outcome = 'pending' | 'applied' | 'expired' | 'duplicate';

export interface CallbackOutcome {
  outcome: Outcome;
  /** Of a duplicate: what became of the first one. */
  first_outcome: Outcome | null;
}

/** A row of `review_callback` whose outcome is known. */
export interface LogLine {
  seq: number;
  callback_id: string | null;
  kind: NewCallback['kind'] | 'edit';
  target_id: string | null;
  status: number | null;
  audit_time: Date | null;
  received_at: Date;
  applied_at: Date;
  outcome: Exclude<Outcome, 'pending'> | 'edited';
  reason: 'older' | 'removed' | 'repeated' | null;
  before: unknown;
  after: unknown;
  version: number | null;
}

export interface Stores {
  record: ReviewRecord;
  version: number;
  index: Record<string, unknown>[];
  base: Record<string, unknown>;
  in_step: boolean;
}

export interface Target {
  kind: 'text' | 'picture' | 'reply';
  id: string;
  position: number;
  status: number;
}

/** Each review once, with the newest of its callbacks. */
function received(all: NewCallback[], rows: Received[]): Published[] {
  const newest = new Map<string, Published>();
  rows.forEach((r, n) => {
    const id = all[n]?.review ?? '';
    if (r.told_version !== null) newest.set(id, reviewChange(id, r.told_version, r.received_at));
  });
  return [...newest.values()];
}

/** Keeps callbacks in the order given; answers in the same order. See db/functions/reviews.sql, also for `wait`. */
export const receiveCallbacks = (db: Mover, all: NewCallback[], skewSeconds: number, wait: boolean) => {
  const values = [
    all.map((c) => c.review),
    all.map((c) => c.id),
    all.map((c) => c.kind),
    all.map((c) => c.target),
    all.map((c) => c.status),
    all.map((c) => c.auditTime),
    skewSeconds,
    all.map((c) => c.actor),
    wait,
  ];
  return db.move<Received>('receive_callbacks', values, { moved: (rows) => received(all, rows) });
};

/** Applies at most `limit` of what has come; undefined: there is no such review. */
export async function applyReview(db: Queryable, id: string, limit: number): Promise<Applied | undefined> {
  return (await db.run<Applied>('apply_review', [id, limit]))[0];
}

/** @throws a unique violation of `review_picture` when another review has one of the pictures */
export async function putReview(
  db: Mover,
  id: string,
  targets: Target[],
  body: unknown,
  callback: Callback | null,
  actor: string,
) {
  const values = [id, JSON.stringify(targets), JSON.stringify(body), callback && JSON.stringify(callback), actor];
  type Put = { created: boolean; told_version: number | null; now: Date };
  const moved = ([row]: Put[]) => (row?.told_version ? [reviewChange(id, row.told_version, row.now)] : []);
  const [row] = await db.move<Put>('put_review', values, { moved });
  if (!row) throw new Error('put_review returned no row');
  return row;
}

export async function getReview(db: Queryable, id: string): Promise<Review | undefined> {
  return (await db.run<Review>('get_review', [id]))[0];
}

export const listReviews = (db: Queryable, before: number | null, limit: number) =>
  db.run<Review>('list_reviews', [before, limit]);

export async function reviewStores(db: Queryable, id: string): Promise<Stores | undefined> {
  return (await db.run<Stores>('review_stores', [id]))[0];
}

export const reviewLog = (db: Queryable, id: string, after: number, limit: number) =>
  db.run<LogLine>('review_log', [id, after, limit]);

/** The record as it was after a line of the log; 0: as it was created. */
export async function recordAt(db: Queryable, id: string, seq: number): Promise<ReviewRecord> {
  const [row] = await db.run<{ record: ReviewRecord }>('review_record', [id, seq]);
  if (!row) throw new Error('review_record returned no row');
  return row.record;
}

/** The content of the message about line `n` of a review's log, and where it goes now. */
export async function changeAt(db: Queryable, id: string, n: number) {
  return (await db.run<Change & { callback: Callback | null }>('review_change', [id, n]))[0];
}

/** How many lines the logs of all reviews have of a day, by outcome; `day` null: today's, in UTC. */
export async function reviewCounts(db: Queryable, day: string | null) {
  const rows = await db.run<{ day: string; outcome: string | null; n: number }>('review_counts', [day]);
  const count = (outcome: string) => rows.find((row) => row.outcome === outcome)?.n ?? 0;
  return {
    day: rows[0]?.day ?? '',
    ...{ applied: count('applied'), expired: count('expired') },
    ...{ repeated: count('duplicate'), edited: count('edited') },
  };
}

export async function callbackOutcome(db: Queryable, review: string, arrival: number) {
  return (await db.run<CallbackOutcome>('callback_outcome', [review, arrival]))[0];
}

/** The review that has a picture, or had it last. */
export async function reviewOfPicture(db: Queryable, picture: string): Promise<string | undefined> {
  return (await db.run<{ review_id: string }>('review_of_picture', [picture]))[0]?.review_id;
}

/** The delivery number of the oldest change that has yet to be told; null: none. */
export async function nextChange(db: Queryable, id: string): Promise<number | null> {
  return (await db.run<{ n: number | null }>('next_change', [id]))[0]?.n ?? null;
}
