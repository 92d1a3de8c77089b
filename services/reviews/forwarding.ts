import type { Item } from '../../contract/items.ts';
import type { ReviewTarget } from '../../contract/tickets.ts';
import { statusOf } from '../../domain/reviews.ts';
import * as deliveries from '../deliveries/deliveries.ts';
import type { Context } from '../shared/service.ts';
import * as reviews from './reviews.ts';

/**
 * Forwards a ticket's decision to a review, as an audit's callback with the time of the decision. The callback's id is
 * derived from the ticket's, so that a repetition is a duplicate.
 * @throws Error while the review is being created
 */
export async function forwardToReview(ctx: Context, item: Item, target: ReviewTarget): Promise<void> {
  const conclude = (event: deliveries.Conclusion, data: object) =>
    deliveries.conclude(ctx.db, item.kind, item.id, event, { ...target, ...data });
  const status = item.state === 'settled' ? statusOf(item.result) : undefined;
  if (status === undefined) return conclude('delivery_failed', { error: 'there is no decision' });
  const id = `${item.kind}:${item.id}`;
  const auditTime = item.ended_at?.toISOString() ?? null;
  const { review, kind, targetId = '' } = target;
  const actor = item.ended_by ?? 'system';
  const received = await reviews.forward(ctx, { review, id, kind, target: targetId, status, auditTime, actor });
  if (received?.problem === 'busy') throw new Error(`review ${review} is being created`);
  if (received?.problem) await conclude('delivery_failed', { error: received.problem });
  else await conclude('delivered', { callbackId: id });
}
