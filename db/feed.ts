import type { FeedEvent } from '../contract/feed.ts';
import type { Driven } from '../contract/snapshot.ts';
import type { Queryable } from './pool.ts';

/** An event at its place in the feed. */
export interface FeedRow {
  /** The feed's position. */
  seq: number;
  kind: Driven;
  item_id: string;
  /** The event's number in its item's history. */
  event_seq: number;
  type: string;
  actor: string;
  at: Date;
  data: FeedEvent['data'];
}

export interface Numbered {
  /** How many events got a position; as many as asked for: there may be more. */
  numbered: number;
  /** The last position given out. */
  newest: number;
}

/** One pass of the sequencer over committed events; see db/functions/feed.sql. Never inside a transaction. */
export async function numberEvents(db: Queryable, limit: number): Promise<Numbered> {
  const [row] = await db.run<Numbered>('number_events', [limit]);
  if (!row) throw new Error('number_events returned no row');
  return row;
}

/** What has a position behind `after`: at most `limit` events, and about `bytes` of their data. */
export const feedPage = (db: Queryable, after: number, limit: number, bytes: number) =>
  db.run<FeedRow>('feed_page', [after, limit, bytes]);
