import * as reviews from '../services/reviews/reviews.ts';
import type { Context } from '../services/shared/context.ts';
import type { DeliveryActivities } from './deliveries.ts';

export type ReviewActivities = ReturnType<typeof reviewActivities>;

/** Activities of a review's workflow (S1). */
export function reviewActivities(
  ctx: Context,
  { deliver, giveUpDelivery }: Pick<DeliveryActivities, 'deliver' | 'giveUpDelivery'>,
) {
  return {
    /** Applies pending callbacks in order. `more`: some may be left; `telling`: the delivery that comes next. */
    applyReview: async (id: string) =>
      (await reviews.apply(ctx, id)) ?? { resolved: 0, more: false, version: null, telling: null },
    /** Makes one attempt to deliver change `n`. @returns the number of the next change, null when all are delivered */
    async deliverChange(id: string, n: number) {
      await deliver('review', id, n);
      return reviews.nextChange(ctx, id);
    },
    /** Records that change `n` could not be delivered. @returns the number of the next change */
    async giveUpChange(id: string, n: number) {
      await giveUpDelivery('review', id, n);
      return reviews.nextChange(ctx, id);
    },
  };
}
