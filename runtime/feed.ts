import { type Db, only, type RowOf } from '../db/pool.ts';
import { PAGE_BYTES } from '../domain/pages.ts';
import type { Log } from './log.ts';

const BATCH = 5_000;
/** Interval of the poll, for events whose hints were lost. */
const POLL_MS = 250;
/** Minimum pause between two passes for followers: under load, the next pass takes all events together. */
const SPACING_MS = 25;

export type FeedRow = RowOf<'feed_page'>;

export interface FeedPage {
  rows: FeedRow[];
  /** The position to resume after: that of the last row, or, without rows, the last position examined. */
  at: number;
}

interface Follower {
  after: number;
  done(there: boolean): void;
}

/**
 * Reads the feed (S4.8). Positions are assigned when the feed is read, so it costs nothing without readers; while it is
 * followed, a pass runs on each hint and every 250 ms. Readers of a process share passes; passes of several processes run
 * one at a time (db/functions/feed.sql).
 */
export class Feed {
  readonly #db: Db;
  readonly #log: Log;
  readonly #followers = new Set<Follower>();
  /** The current pass, or the last one; never rejects. */
  #running: Promise<unknown> = Promise.resolve();
  #next: Promise<RowOf<'number_events'>> | undefined;
  #newest = 0;
  #end = 0;
  #endUntil = Number.NEGATIVE_INFINITY;
  #timer: NodeJS.Timeout | undefined;
  #dueAt = Number.POSITIVE_INFINITY;
  #failing = false;

  constructor(db: Db, log: Log) {
    this.#db = db;
    this.#log = log;
  }

  /** Events after a position, at most `limit` and about 4 MB. Empty only if no event there was committed before the call. */
  async read(after: number, limit: number): Promise<FeedPage> {
    const there = await this.#page(after, limit);
    if (there.rows.length > 0) return there;
    let { numbered, newest } = await this.#pass();
    // far behind the last reader: a pass takes so many at once
    while (newest <= after && numbered === BATCH) ({ numbered, newest } = await this.#pass());
    if (newest <= after) return there;
    const { rows, at } = await this.#page(after, limit);
    // Retention has cleared the events of missing positions with their items.
    return { rows, at: rows.length > 0 ? at : newest };
  }

  /**
   * The position of the newest event that is committed, whether or not it has been given out. Counting takes long where
   * millions have not been, so it takes a tenth of the time at most: what was counted is good for nine times as long.
   */
  async end(): Promise<number> {
    const began = performance.now();
    if (began > this.#endUntil) {
      this.#end = only(await this.#db.run('feed_end')).newest;
      const ended = performance.now();
      this.#endUntil = ended + 9 * (ended - began);
    }
    return Math.max(this.#end, this.#newest);
  }

  /** Waits until there is something after a position; false: not within `ms`, or `signal` has fired. */
  beyond(after: number, ms: number, signal: AbortSignal): Promise<boolean> {
    if (signal.aborted) return Promise.resolve(false);
    if (this.#newest > after) return Promise.resolve(true);
    return new Promise((resolve) => {
      const give = (there: boolean) => {
        clearTimeout(timer);
        signal.removeEventListener('abort', gone);
        this.#followers.delete(follower);
        resolve(there);
      };
      const gone = () => give(false);
      const timer = setTimeout(gone, ms);
      const follower = { after, done: give };
      signal.addEventListener('abort', gone, { once: true });
      this.#followers.add(follower);
      this.#wake(POLL_MS);
    });
  }

  /** Makes a pass soon, because something may have been committed. */
  look(): void {
    if (this.#followers.size > 0) this.#wake(SPACING_MS);
  }

  stop(): void {
    clearTimeout(this.#timer);
    for (const follower of [...this.#followers]) follower.done(false);
  }

  async #page(after: number, limit: number): Promise<FeedPage> {
    const rows = await this.#db.run('feed_page', { after, limit, bytes: PAGE_BYTES });
    const last = rows.at(-1)?.seq;
    if (last !== undefined) this.#newest = Math.max(this.#newest, last);
    return { rows, at: last ?? after };
  }

  #wake(ms: number): void {
    const dueAt = performance.now() + ms;
    if (this.#timer && this.#dueAt <= dueAt) return;
    clearTimeout(this.#timer);
    this.#dueAt = dueAt;
    this.#timer = setTimeout(async () => {
      this.#timer = undefined;
      await this.#pass().then(
        () => {
          this.#failing = false;
        },
        (error: Error) => {
          if (!this.#failing) this.#log.warn({ err: error.message }, 'the feed could not be read, trying again');
          this.#failing = true;
        },
      );
      if (this.#followers.size > 0) this.#wake(POLL_MS);
    }, ms);
    this.#timer.unref();
  }

  /** Awaits a pass that begins after this call: a running one may have begun before the commit that the caller wants to see. */
  #pass(): Promise<RowOf<'number_events'>> {
    this.#next ??= this.#running.then(() => {
      this.#next = undefined;
      const pass = this.#number();
      this.#running = pass.catch(() => {});
      return pass;
    });
    return this.#next;
  }

  /** One pass of the sequencer over committed events; see db/functions/feed.sql. */
  async #number(): Promise<RowOf<'number_events'>> {
    const pass = only(await this.#db.run('number_events', { limit: BATCH }));
    this.#newest = pass.newest;
    for (const follower of [...this.#followers]) if (pass.newest > follower.after) follower.done(true);
    return pass;
  }
}
