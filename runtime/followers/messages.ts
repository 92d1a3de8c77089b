import type { Change } from '../../contract/items.ts';
import type { EventLine, Message, Snapshot } from '../../contract/snapshot.ts';
import type { RowOf } from '../../db/pool.ts';
import { reviewChange } from '../../domain/reviews.ts';

/** The columns that its workflow needs, without the body. */
export function changeOf(row: Change): Change {
  const { kind, id, queue, state, version, wake_at, holder, delivery_pending, lacks_jurors } = row;
  const { event_seq, last_event, last_actor, updated_at } = row;
  const event = { event_seq, last_event, last_actor, updated_at };
  return { kind, id, queue, state, version, wake_at, holder, delivery_pending, lacks_jurors, ...event };
}

/** A row as its workflow sees it. @param now the database's time, so that no host's clock counts */
export function snapshotOf(row: Change, now: Date, epoch: number): Snapshot {
  return {
    version: row.version,
    ...(epoch > 0 && { epoch }),
    state: row.state,
    wakeAt: row.wake_at?.toISOString() ?? null,
    wakeInMs: row.wake_at ? row.wake_at.getTime() - now.getTime() : null,
    holder: row.holder,
    telling: row.delivery_pending,
    ...(row.lacks_jurors && { inviting: true }),
  };
}

/** Temporal takes 400 bytes of JSON, which a topic of 200 characters may exceed. */
const MAX_SUMMARY_BYTES = 400;

/** One line about an item for Temporal's UI, cut between two characters where it is too long. */
export function summaryOf({ kind, queue }: Pick<Change, 'kind' | 'queue'>): string {
  const characters = [...(queue ? `${kind} in ${queue}` : kind)];
  while (Buffer.byteLength(JSON.stringify(characters.join(''))) > MAX_SUMMARY_BYTES) characters.pop();
  return characters.join('');
}

/** A change of an item or a review for its workflow; `now` and `epoch` are those of the reading. */
export interface Publication {
  row: Change;
  now: Date;
  epoch: number;
  /** The events of this change; none where it is published again. */
  events: EventLine[];
  shard: number;
  /** Its position in the log, or among the callbacks; infinite where it comes from a mark. */
  position: number;
  /** When it was marked to be published again, in microseconds. */
  marked?: number;
  /** It is the first line of its item. */
  fresh: boolean;
  /** It is older than this follower: another one may have published it. */
  reread: boolean;
  /** It needs no workflow if it is over at once. */
  optional: boolean;
}

export const messageOf = (p: Publication, readMsAgo: number): Message => ({
  snapshot: snapshotOf(p.row, new Date(p.now.getTime() + readMsAgo), p.epoch),
  events: p.events,
});

/** The publication of a line of the log; undefined for lines that no workflow receives. @param since when this follower began */
export function lineOf(line: Line, since: Date): Publication | undefined {
  if (!isReceived(line)) return undefined;
  const { position, shard, now, epoch, seq, type, actor, at, optional } = line;
  return {
    ...{ row: changeOf(line), now, epoch, shard, position },
    events: [{ seq, type, actor, at: at.toISOString() }],
    fresh: seq === 1,
    reread: at <= since,
    optional: optional ?? false,
  };
}

type Line = RowOf<'follow_log'> & { position: number };
const isReceived = (line: Line): line is Line & { version: number } => line.version !== null;

export function callbackOf(line: RowOf<'follow_callbacks'> & { position: number }): Publication {
  const { position, shard, now, epoch, review_id, received_at } = line;
  const row = reviewChange(review_id, position, received_at);
  return { row, now, epoch, shard, position, events: [], fresh: false, reread: false, optional: false };
}
