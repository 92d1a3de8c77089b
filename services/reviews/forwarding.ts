import type { Item, ReviewTarget } from '../../contract/items.ts';
import { statusOf } from '../../domain/reviews.ts';
import type { DeliveryService } from '../deliveries/deliveries.ts';
import type { ReviewService } from './reviews.ts';

/**
 * Forwards a ticket's decision to a review, as the callback of an audit with the decision's time. It is named after the
 * ticket, so that a second time is a duplicate.
 */
export async function forwardToReview(
  { reviews, deliveries }: { reviews: ReviewService; deliveries: DeliveryService },
  item: Item,
  target: ReviewTarget,
): Promise<void> {
  const conclude = (event: 'delivered' | 'delivery_failed', data: object) =>
    deliveries.conclude(item.kind, item.id, event, { ...target, ...data });
  const status = item.state === 'settled' ? statusOf(item.result) : undefined;
  if (status === undefined) return conclude('delivery_failed', { error: 'there is no decision' });
  const id = `${item.kind}:${item.id}`;
  const auditTime = item.ended_at?.toISOString() ?? null;
  const { review, kind, targetId = '' } = target;
  const actor = item.ended_by ?? 'system';
  const received = await reviews.forward({ review, id, kind, target: targetId, status, auditTime, actor });
  if (received?.problem === 'busy') throw new Error(`review ${review} is being created`);
  if (received?.problem) await conclude('delivery_failed', { error: received.problem });
  else await conclude('delivered', { callbackId: id });
}
