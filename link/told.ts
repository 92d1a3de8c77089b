import type { Item } from '../contract/items.ts';
import type { EventLine, Snapshot } from '../contract/snapshot.ts';

/**
 * What has to happen after a commit, with the rows it changed: tell their workflows, re-arm the
 * pacemaker, wake whoever waits for them. Never throws and never waits.
 * `toldBy`: the item whose own workflow made the change; `byTick`: time did.
 */
export type AfterCommit = (rows: Item[], options?: { toldBy?: string; byTick?: boolean }) => void;

/** A row as its workflow sees it; `now` is the database's time, so no host's clock comes into it. */
export function snapshotOf(row: Item, now: Date): Snapshot {
  return {
    version: row.version,
    state: row.state,
    wakeAt: row.wake_at?.toISOString() ?? null,
    wakeInMs: row.wake_at ? row.wake_at.getTime() - now.getTime() : null,
    holder: row.holder,
    telling: row.telling,
  };
}

export function eventOf(row: Item): EventLine {
  return { seq: row.event_seq, type: row.last_event, actor: row.last_actor, at: row.updated_at.toISOString() };
}
