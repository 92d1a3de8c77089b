import type { Db } from '../db/pool.ts';
import { type NewCallback, type Received, receiveCallbacks } from '../db/reviews.ts';
import { receivedRow } from '../runtime/outbox/messages.ts';
import type { Relay } from '../runtime/outbox/relay.ts';

/**
 * Keeps audits' callbacks and tells the workflows of their reviews. Answers in the order given.
 * `wait`: for reviews that others are at; else those are `busy`.
 */
export type Inbox = (callbacks: NewCallback[], wait: boolean) => Promise<Received[]>;

/** @param skewSeconds how far ahead of the database's clock an audit time may be (S1.4) */
export function createInbox(db: Db, relay: Relay, skewSeconds: number): Inbox {
  return async (callbacks, wait) => {
    const received = await receiveCallbacks(db, callbacks, skewSeconds, wait);
    const told = new Map<string, Received>();
    received.forEach((r, n) => {
      if (r.told_version !== null) told.set(callbacks[n]?.review ?? '', r);
    });
    relay.tell([...told].map(([id, r]) => receivedRow(id, r.told_version ?? 0, r.received_at)));
    return received;
  };
}
