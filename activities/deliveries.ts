import type { Driven, Kind } from '../contract/snapshot.ts';
import { withoutQuery } from '../domain/callbacks.ts';
import { escalateHung } from '../services/cases/judging.ts';
import * as deliveries from '../services/deliveries/deliveries.ts';
import * as outcomes from '../services/deliveries/outcomes.ts';
import { forwardToReview } from '../services/reviews/forwarding.ts';
import * as reviews from '../services/reviews/reviews.ts';
import type { Context } from '../services/shared/service.ts';
import { createSender } from './sender.ts';

export type DeliveryActivities = ReturnType<typeof deliveryActivities>;

/** Activities that send outcomes to their receivers (S0.10). */
export function deliveryActivities(ctx: Context) {
  const { attempt, send } = createSender(ctx);
  /** Makes one attempt at delivery number `n`. */
  const deliver = (kind: Driven, id: string, n: number) =>
    attempt('other', `${kind}/${id}/${n}`, async (take) => {
      const delivery = await deliveries.get(ctx, kind, id, n);
      if (delivery?.state !== 'pending') return;
      const message = await outcomes.messageFor(ctx, delivery);
      if (typeof message === 'string') await deliveries.drop(ctx, delivery, message);
      else await send(delivery, message, take);
    });
  /** Records that the attempts are over. */
  async function giveUpDelivery(kind: Driven, id: string, n = 1): Promise<void> {
    const given = await deliveries.giveUp(ctx, kind, id, n);
    if (!given) return;
    const { url, status, error, attempts } = given;
    ctx.log.warn({ kind, item: id, n, url: withoutQuery(url), status, error, attempts }, 'delivery given up');
  }
  return {
    ...{ deliver, giveUpDelivery },
    /** Makes one attempt to deliver an item's outcome; returns when it is delivered or nothing is left to deliver. */
    deliverOutcome: (kind: Kind, id: string) =>
      attempt('verdict', `${kind}/${id}/1`, async (take) => {
        const item = await outcomes.read(ctx, kind, id);
        if (!item?.delivery_pending) return;
        const isHung = 'tally' in item && item.state === 'expired';
        // a delivery exists from the first attempt on: the case was escalated then
        const isFirst = isHung && !(await deliveries.get(ctx, kind, id, 1));
        const failure = isFirst ? await escalateHung(ctx, item) : undefined;
        const callback = await outcomes.callbackOf(ctx, item);
        if (!callback) return withoutReceiver(ctx, kind, id, failure);
        if ('review' in callback) return forwardToReview(ctx, item, callback);
        const message = await outcomes.messageOf(ctx, item, callback, 1);
        const { type, version } = message.outcome;
        // an occurrence may be dispatched again, and this end of it sent again after that
        const body = kind === 'task' ? message.outcome : null;
        const delivery = await deliveries.open(ctx, kind, id, { type, version, url: callback.url, body });
        if (delivery?.state === 'pending') await send(delivery, message, take);
      }),
    /** Makes one attempt to deliver change `n` of a review. @returns the next change; null: all are delivered */
    async deliverChange(id: string, n: number) {
      await deliver('review', id, n);
      return reviews.nextChange(ctx, id);
    },
    /** Records that it could not be delivered. @returns the next change */
    async giveUpChange(id: string, n: number) {
      await giveUpDelivery('review', id, n);
      return reviews.nextChange(ctx, id);
    },
  };
}

/**
 * The callback was removed meanwhile, or a hung case never had one.
 * @param failure of bringing it to its court's fallback; null: that has it
 */
async function withoutReceiver(ctx: Context, kind: Kind, id: string, failure: string | null = outcomes.NO_CALLBACK) {
  if (await deliveries.giveUp(ctx, kind, id, 1, failure ?? outcomes.NO_CALLBACK)) return;
  if (failure === null) await deliveries.conclude(ctx.db, kind, id, 'delivered', { to: 'fallback' });
  else await deliveries.conclude(ctx.db, kind, id, 'delivery_failed', { reason: failure });
}
