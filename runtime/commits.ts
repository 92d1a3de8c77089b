import type { Change, Item } from '../contract/items.ts';
import { isQuiet, kindOf } from '../domain/kinds.ts';
import type { Feed } from './feed.ts';
import type { Load } from './load.ts';
import type { Notices } from './notices.ts';
import type { Bus } from './notify.ts';
import type { Waiters } from './waiting.ts';

interface Receivers {
  /** Makes followers read the log. @param urgent someone waits for it: at once */
  follow(urgent: boolean): void;
  waiters: Waiters;
  load: Load;
  bus: Bus;
  notices: Notices;
  feed: Feed;
  /** Something is due in this many milliseconds. */
  arm(ms: number): void;
}

/** The pacemaker finds later times by its own poll. */
const SOON_MS = 5_000;

/** Whether a change is an item's; else it is a review's. */
export const isItem = (change: Change): change is Item => change.kind !== 'review';

/** A mark that is so much later than the commit that made it is no mark of an evaluation under way. */
const HELD_BACK_MS = 30_000;

/** Whether a ticket's rules are not evaluated yet, so that it is not handed out. */
export const isMarked = (row: Item) => row.rules_due_at !== null && row.ended_at === null;

/** Whether its rules ran out of time: its mark is the time at which they are tried again, a minute later at least. */
export const isHeldBack = ({ rules_due_at: due, updated_at: at }: Item) =>
  due !== null && due.getTime() > at.getTime() + HELD_BACK_MS;

/**
 * The listener of commits: followers of the log and of the feed read, waiters are woken, the pacemaker is armed, holders
 * are notified. Other processes get a hint.
 */
export function publishing({ follow, waiters, load, bus, notices, feed, arm }: Receivers): (changes: Change[]) => void {
  return (changes) => {
    feed.look();
    const urgent = changes.some((row) => row.delivery_pending || row.lacks_jurors);
    follow(urgent);
    bus.hint({ follow: urgent ? 'now' : 'soon', slowdown: load.own });
    const rows = changes.filter(isItem);
    const free = new Map<string, number>();
    let dueInMs = Number.POSITIVE_INFINITY;
    for (const row of rows) {
      const [key, n] = [`${row.kind}/${row.queue}`, freed(row)];
      if (n > 0) free.set(key, (free.get(key) ?? 0) + n);
      if (row.wake_at) dueInMs = Math.min(dueInMs, row.wake_at.getTime() - row.updated_at.getTime() + 1);
    }
    for (const [key, n] of free) {
      waiters.ready(key, n);
      bus.hint({ ready: [key, n] });
    }
    if (dueInMs < SOON_MS) {
      arm(dueInMs);
      bus.hint({ dueInMs });
    }
    if (rows.some((row) => !isQuiet(row) && row.settled_token === null)) {
      notices.look();
      bus.hint({ notices: true });
    }
  };
}

/** How many waiters this change can serve. A copy of gold that is passed on serves none, and is reported like any ticket. */
const freed = (row: Item): number =>
  (row.state === 'ready' && !isMarked(row)) || isPassed(row) ? kindOf(row.kind).frees(row) : 0;

const isPassed = ({ state, last_event: event, available_at, updated_at }: Item) =>
  state === 'invalidated' && ['skipped', 'transferred'].includes(event) && available_at <= updated_at;
