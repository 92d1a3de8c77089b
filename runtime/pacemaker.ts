import type { Db } from '../db/pool.ts';
import { Alarm } from './alarm.ts';
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
  readonly #alarm = new Alarm();
  #running: Promise<void> | undefined;
  #backoffMs = 0;
  #stopped = false;

  constructor(db: Db, log: Log) {
    this.#db = db;
    this.#log = log;
  }

  start(): void {
    this.#running = this.#run();
  }

  /** Something is due in `ms` milliseconds. */
  arm(ms: number): void {
    this.#alarm.wakeIn(ms);
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    this.#alarm.wakeIn(0);
    await this.#running;
  }

  async #run(): Promise<void> {
    while (!this.#stopped) await this.#alarm.sleep(Math.min(IDLE_MS, await this.#beat()));
  }

  /** @returns milliseconds until the next beat */
  async #beat(): Promise<number> {
    try {
      return await this.#work();
    } catch (error) {
      this.#log.warn({ err: (error as Error).message }, 'the pacemaker could not look, trying again');
      this.#backoffMs = Math.min(MAX_BACKOFF_MS, this.#backoffMs * 2 || 100);
      return this.#backoffMs;
    }
  }

  async #work(): Promise<number> {
    for (;;) {
      const due = (await this.#db.run('next_due'))[0]?.seconds ?? null;
      if (due !== null && due <= 0) {
        const rows = await this.#db.move('tick', { limit: BATCH });
        if (rows.length === 0) {
          // Due, but nothing moved: another process holds the lock.
          this.#backoffMs = Math.min(MAX_BACKOFF_MS, Math.max(MIN_BACKOFF_MS, this.#backoffMs * 2));
          return this.#backoffMs;
        }
      }
      this.#backoffMs = 0;
      if (due === null) return IDLE_MS;
      if (due > 0) return due * 1_000;
    }
  }
}
