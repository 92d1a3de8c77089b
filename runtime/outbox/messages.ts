import type { Change, Item } from '../../contract/items.ts';
import type { EventLine, Snapshot } from '../../contract/snapshot.ts';
import { workflowId } from '../../domain/kinds.ts';

/** Of each item its last state in the list. */
export const newest = (rows: Item[]): Item[] => [...new Map(rows.map((row) => [workflowId(row), row])).values()];

/** Only what its workflow has to know, without the body. */
export function changeOf(row: Change): Change {
  const { kind, id, queue, state, version, wake_at, holder, telling, inviting } = row;
  const { event_seq, last_event, last_actor, updated_at } = row;
  const event = { event_seq, last_event, last_actor, updated_at };
  return { kind, id, queue, state, version, wake_at, holder, telling, inviting, ...event };
}

/** A row as its workflow sees it; `now` is the database's time, so no host's clock comes into it. */
export function snapshotOf(row: Change, now: Date): Snapshot {
  return {
    version: row.version,
    state: row.state,
    wakeAt: row.wake_at?.toISOString() ?? null,
    wakeInMs: row.wake_at ? row.wake_at.getTime() - now.getTime() : null,
    holder: row.holder,
    telling: row.telling,
    ...(row.inviting && { inviting: true }),
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

export function eventOf(row: Change): EventLine {
  return { seq: row.event_seq, type: row.last_event, actor: row.last_actor, at: row.updated_at.toISOString() };
}
