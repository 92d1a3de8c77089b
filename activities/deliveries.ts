import type { CaseItem, Item, ReviewTarget } from '../contract/items.ts';
import type { Driven, Kind } from '../contract/snapshot.ts';
import { withoutQuery } from '../domain/callbacks.ts';
import type { OutcomeService } from '../services/deliveries/outcomes.ts';
import { createSender, type SenderContext } from './sender.ts';

export interface DeliveryContext extends SenderContext {
  outcomes: OutcomeService;
  /** Where the decision of a ticket goes whose callback is a review. */
  forwardToReview(item: Item, target: ReviewTarget): Promise<void>;
  /** What a court does with a case that hangs. */
  escalateHung(item: CaseItem): Promise<void>;
}

export type DeliveryActivities = ReturnType<typeof deliveryActivities>;

/** Sending outcomes to those who act on them (S0.10). */
export function deliveryActivities(context: DeliveryContext) {
  const { deliveries, outcomes, log, forwardToReview, escalateHung } = context;
  const { attempt, send } = createSender(context);

  return {
    /** One attempt at delivery number `n`. */
    deliver: (kind: Driven, id: string, n: number) =>
      attempt('other', `${kind}/${id}/${n}`, async (take) => {
        const delivery = await deliveries.get(kind, id, n);
        if (delivery?.state !== 'pending') return;
        const message = await outcomes.messageFor(delivery);
        if (message) await send(delivery, message, take);
        else await deliveries.drop(delivery);
      }),
    /** One attempt to deliver an item's outcome; returns when it is delivered or nothing is left to deliver. */
    deliverOutcome: (kind: Kind, id: string) =>
      attempt('verdict', `${kind}/${id}/1`, async (take) => {
        const item = await outcomes.read(kind, id);
        if (!item?.telling) return;
        const isHung = 'tally' in item && item.state === 'expired';
        // once: what comes after a first attempt finds its delivery
        if (isHung && !(await deliveries.get(kind, id, 1))) await escalateHung(item);
        const callback = await outcomes.callbackOf(item);
        if (!callback) return withoutReceiver(context, kind, id);
        if ('review' in callback) return forwardToReview(item, callback);
        const message = await outcomes.messageOf(item, callback, 1);
        const delivery = await deliveries.open(kind, id, message.type, callback.url);
        if (delivery?.state === 'pending') await send(delivery, message, take);
      }),
    /** Records that the attempts are over. */
    async giveUpDelivery(kind: Driven, id: string, n = 1) {
      const given = await deliveries.giveUp(kind, id, n);
      if (!given) return;
      const { url, status, error, attempts } = given;
      log.warn({ kind, item: id, n, url: withoutQuery(url), status, error, attempts }, 'delivery given up');
    },
  };
}

/** Its callback was taken away meanwhile; or it never had one, and only its court wanted to know that it hangs. */
const withoutReceiver = ({ deliveries }: DeliveryContext, kind: Kind, id: string) =>
  kind === 'case'
    ? deliveries.conclude(kind, id, 'delivered', { to: 'fallback' })
    : deliveries.conclude(kind, id, 'delivery_failed', { reason: 'the queue has no callback any more' });
