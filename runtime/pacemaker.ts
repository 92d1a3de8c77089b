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
export function createPacemaker(db: Db, log: Log) {
  const alarm = new Alarm();
  let running: Promise<void> | undefined;
  let backoffMs = 0;
  let stopped = false;

  async function run(): Promise<void> {
    while (!stopped) await alarm.sleep(Math.min(IDLE_MS, await beat()));
  }

  /** @returns milliseconds until the next beat */
  async function beat(): Promise<number> {
    try {
      return await work();
    } catch (error) {
      log.warn({ err: (error as Error).message }, 'the pacemaker could not look, trying again');
      backoffMs = Math.min(MAX_BACKOFF_MS, backoffMs * 2 || 100);
      return backoffMs;
    }
  }

  async function work(): Promise<number> {
    for (;;) {
      const due = (await db.run('next_due'))[0]?.seconds ?? null;
      if (due !== null && due <= 0) {
        const rows = await db.move('tick', { limit: BATCH });
        if (rows.length === 0) {
          // Due, but nothing moved: another process holds the lock.
          backoffMs = Math.min(MAX_BACKOFF_MS, Math.max(MIN_BACKOFF_MS, backoffMs * 2));
          return backoffMs;
        }
      }
      backoffMs = 0;
      if (due === null) return IDLE_MS;
      if (due > 0) return due * 1_000;
    }
  }

  return {
    start() {
      running = run();
    },
    /** Something is due in `ms` milliseconds. */
    arm: (ms: number) => alarm.wakeIn(ms),
    async stop() {
      stopped = true;
      alarm.wakeIn(0);
      await running;
    },
  };
}
