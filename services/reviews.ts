import { type NewCallback, type Received, receiveCallbacks } from '../db/reviews.ts';
import type { Runtime } from '../runtime/runtime.ts';
import { share } from './batching.ts';

/** What is done with reviews. */
export interface ReviewService {
  /** Keeps an audit's callback, together with those that come at the same time; one whose review is locked is `busy`. */
  receive(callback: NewCallback): Promise<Received>;
  /** Keeps callbacks in the order given, also of reviews that are locked, for which it waits. */
  receiveAll(callbacks: NewCallback[]): Promise<Received[]>;
}

/** @param skewSeconds how far ahead of the database's clock an audit time may be (S1.4) */
export function reviewService({ db }: Runtime, skewSeconds: number): ReviewService {
  return {
    receive: share<NewCallback, Received>((all) => receiveCallbacks(db, all, skewSeconds, false), {
      keys: (c) => [`${c.review}/${c.id}`],
    }),
    receiveAll: (callbacks) => receiveCallbacks(db, callbacks, skewSeconds, true),
  };
}
