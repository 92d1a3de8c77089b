import type { ReviewService } from '../services/reviews.ts';
import type { DeliveryActivities } from './deliveries.ts';

/** What a review's workflow asks for (S1). */
export interface ReviewActivities {
  /** Applies what has come, in order. `more`: perhaps not all of it. */
  applyReview(id: string): Promise<Applied>;
  /** One attempt to deliver change `n`; returns the next one, or null when the receiver has all of them. */
  deliverChange(id: string, n: number): Promise<number | null>;
  /** Records that change `n` could not be delivered; returns the next one. */
  giveUpChange(id: string, n: number): Promise<number | null>;
}

interface Applied {
  resolved: number;
  more: boolean;
  version: number | null;
  /** The delivery that comes next. */
  telling: number | null;
}

export interface ReviewContext extends Pick<DeliveryActivities, 'deliver' | 'giveUpDelivery'> {
  reviews: ReviewService;
}

export function reviewActivities({ reviews, deliver, giveUpDelivery }: ReviewContext): ReviewActivities {
  return {
    applyReview: async (id) => (await reviews.apply(id)) ?? { resolved: 0, more: false, version: null, telling: null },
    async deliverChange(id, n) {
      await deliver('review', id, n);
      return reviews.nextChange(id);
    },
    async giveUpChange(id, n) {
      await giveUpDelivery('review', id, n);
      return reviews.nextChange(id);
    },
  };
}
