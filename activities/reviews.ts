import type { ReviewService } from '../services/reviews/reviews.ts';
import type { DeliveryActivities } from './deliveries.ts';

export interface ReviewContext extends Pick<DeliveryActivities, 'deliver' | 'giveUpDelivery'> {
  reviews: ReviewService;
}

export type ReviewActivities = ReturnType<typeof reviewActivities>;

/** What a review's workflow asks for (S1). */
export function reviewActivities({ reviews, deliver, giveUpDelivery }: ReviewContext) {
  return {
    /** Applies what has come, in order. `more`: perhaps not all of it; `telling`: the delivery that comes next. */
    applyReview: async (id: string) =>
      (await reviews.apply(id)) ?? { resolved: 0, more: false, version: null, telling: null },
    /** One attempt to deliver change `n`; returns the next one, or null when the receiver has all of them. */
    async deliverChange(id: string, n: number) {
      await deliver('review', id, n);
      return reviews.nextChange(id);
    },
    /** Records that change `n` could not be delivered; returns the next one. */
    async giveUpChange(id: string, n: number) {
      await giveUpDelivery('review', id, n);
      return reviews.nextChange(id);
    },
  };
}
