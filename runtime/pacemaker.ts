import type { Db } from '../db/pool.ts';
import type { Log } from './log.ts';

const BATCH = 1_000;
const IDLE_MS = 5_000;
const MIN_BACKOFF_MS = 5;
const MAX_BACKOFF_MS = 1_000;

/**
 * The prompt clock: sleeps until the earliest wake time of any item, then does everything that is due. A write with an
 * earlier time re-arms it; it looks at least every 5 s, which is all that an idle system costs. The durable timers are the
 * certain clock (workflows/items.ts).
 */
export class Pacemaker {
  readonly #db: Db;
  readonly #log: Log;
  #timer: NodeJS.Timeout | undefined;
  #dueAt = Number.POSITIVE_INFINITY;
  #running: Promise<void> | undefined;
  /** `performance.now()` of the earliest time requested during a beat. */
  #askedAt = Number.POSITIVE_INFINITY;
  #backoffMs = 0;
  #stopped = false;

  constructor(db: Db, log: Log) {
    this.#db = db;
    this.#log = log;
  }

  start(): void {
    this.#schedule(0);
  }

  /** Something is due in `ms` milliseconds. */
  arm(ms: number): void {
    const at = performance.now() + Math.max(0, ms);
    if (this.#running) this.#askedAt = Math.min(this.#askedAt, at);
    else if (at < this.#dueAt) this.#schedule(ms);
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    clearTimeout(this.#timer);
    await this.#running;
  }

  #schedule(ms: number): void {
    if (this.#stopped) return;
    clearTimeout(this.#timer);
    // The database counts in microseconds, timers in milliseconds: round up, so as not to be early.
    const wait = Math.min(IDLE_MS, Math.max(0, Math.ceil(ms)));
    this.#dueAt = performance.now() + wait;
    this.#timer = setTimeout(() => {
      this.#running = this.#beat().finally(() => {
        this.#running = undefined;
      });
    }, wait);
  }

  async #beat(): Promise<void> {
    let nextMs = IDLE_MS;
    try {
      nextMs = await this.#work();
    } catch (error) {
      this.#backoffMs = Math.min(MAX_BACKOFF_MS, this.#backoffMs * 2 || 100);
      nextMs = this.#backoffMs;
      this.#log.warn({ err: (error as Error).message }, 'the pacemaker could not look, trying again');
    }
    this.#dueAt = Number.POSITIVE_INFINITY;
    this.#running = undefined;
    this.#schedule(Math.min(nextMs, Math.max(0, this.#askedAt - performance.now())));
    this.#askedAt = Number.POSITIVE_INFINITY;
  }

  /** @returns milliseconds until the next beat */
  async #work(): Promise<number> {
    for (;;) {
      const due = (await this.#db.run('next_due'))[0]?.seconds ?? null;
      if (due === null) return this.#calm(IDLE_MS);
      if (due > 0) return this.#calm(due * 1000);
      const rows = await this.#db.move('tick', { limit: BATCH });
      if (rows.length === 0) {
        // Due, but nothing moved: another process holds the lock.
        this.#backoffMs = Math.min(MAX_BACKOFF_MS, Math.max(MIN_BACKOFF_MS, this.#backoffMs * 2));
        return this.#backoffMs;
      }
      this.#backoffMs = 0;
    }
  }

  #calm(ms: number): number {
    this.#backoffMs = 0;
    return ms;
  }
}
