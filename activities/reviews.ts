import type { Item, ReviewTarget } from '../contract/items.ts';
import { itemTold, setDeliveryFailed } from '../db/deliveries.ts';
import type { Db } from '../db/pool.ts';
import { applyReview, nextChange } from '../db/reviews.ts';
import { statusOf } from '../domain/reviews.ts';
import type { ReviewService } from '../services/reviews.ts';
import type { DeliveryActivities } from './deliveries.ts';

/** What a review's workflow asks for (S1). */
export interface ReviewActivities {
  /** Applies what has come, in order. `more`: perhaps not all of it. */
  applyReview(id: string): Promise<Applied>;
  /** One attempt to tell change `n`; returns the next one, or null when the receiver knows everything. */
  deliverChange(id: string, n: number): Promise<number | null>;
  /** Puts on record that nobody could be told of change `n`; returns the next one. */
  giveUpChange(id: string, n: number): Promise<number | null>;
}

export interface Applied {
  resolved: number;
  more: boolean;
  version: number | null;
  /** The delivery that comes next. */
  telling: number | null;
}

export interface ReviewContext {
  db: Db;
  /** Whoever waits for an outcome looks again. */
  wakeAll(line: string): void;
  deliver: DeliveryActivities['deliver'];
}

export interface ForwardContext {
  db: Db;
  reviews: ReviewService;
}

const BATCH = 500;

export function reviewActivities({ db, wakeAll, deliver }: ReviewContext): ReviewActivities {
  return {
    async applyReview(id) {
      const done = await applyReview(db, id, BATCH);
      if (done && done.resolved > 0) wakeAll(`review/${id}`);
      return done ?? { resolved: 0, more: false, version: null, telling: null };
    },
    async deliverChange(id, n) {
      await deliver('review', id, n);
      return nextChange(db, id);
    },
    async giveUpChange(id, n) {
      await setDeliveryFailed(db, 'review', id, n);
      return nextChange(db, id);
    },
  };
}

/**
 * Forwards a ticket's decision to a review, as the callback of an audit with the decision's time. It is named
 * after the ticket, so that a second time is a duplicate.
 */
export async function forwardToReview(
  { db, reviews }: ForwardContext,
  item: Item,
  target: ReviewTarget,
): Promise<void> {
  const status = item.state === 'settled' ? statusOf(item.result) : undefined;
  const note = (event: string, data: object) => itemTold(db, item.kind, item.id, event, { ...target, ...data });
  if (status === undefined) {
    await note('delivery_failed', { error: 'there is no decision' });
    return;
  }
  const id = `${item.kind}:${item.id}`;
  const auditTime = item.ended_at?.toISOString() ?? null;
  const { review, kind, targetId = '' } = target;
  const actor = item.ended_by ?? 'system';
  const [received] = await reviews.receiveAll([{ review, id, kind, target: targetId, status, auditTime, actor }]);
  if (received?.problem === 'busy') throw new Error(`review ${review} is being created`);
  if (received?.problem) await note('delivery_failed', { error: received.problem });
  else await note('delivered', { callbackId: id });
}
