import { setTimeout as sleep } from 'node:timers/promises';

const POLL_MS = 50;
/** After this time a message no longer counts: its activity may be failing. */
const GIVE_UP_MS = 30_000;

/**
 * Back-pressure from the worker: counts messages from the moment they are sent until their workflow tasks have run.
 * Temporal accepts messages faster than a worker processes them, and a backlog in its task queue would delay everything
 * that is sent later.
 *
 * Tasks that ran in this process are known at once (`ran`); for those of other workers Temporal is asked. A task queue is
 * nearly first in, first out, so a task that has run stands for all messages sent before it.
 * @param hasRun whether the workflow of that id has no pending task; false when Temporal cannot be asked
 * @param onOpen called when the window has shrunk
 */
export function createWindow(hasRun: (key: string) => Promise<boolean>, onOpen: () => void) {
  const unprocessed: string[] = [];
  /** Messages being sent, and whether their workflow task has run already: that is often known before Temporal's answer. */
  const sending = new Map<string, boolean>();
  let watching = false;
  let stopped = false;

  /** Notes that a workflow task of that id has run. */
  function ran(key: string): void {
    if (sending.has(key)) sending.set(key, true);
    const at = unprocessed.indexOf(key);
    if (at < 0) return;
    unprocessed.splice(0, at + 1);
    if (!stopped) onOpen();
  }

  async function watch(): Promise<void> {
    watching = true;
    while (unprocessed.length > 0) {
      const middle = unprocessed[unprocessed.length >> 1] as string;
      await untilRun(middle);
      ran(middle);
    }
    watching = false;
  }

  async function untilRun(key: string): Promise<void> {
    const until = performance.now() + GIVE_UP_MS;
    while (!stopped && performance.now() < until) {
      await sleep(POLL_MS, undefined, { ref: false });
      if (!unprocessed.includes(key) || (await hasRun(key))) return;
    }
  }

  return {
    ran,
    /** Messages that are being sent, or whose workflow task is not known to have run. */
    size: () => sending.size + unprocessed.length,
    send: (key: string) => void sending.set(key, false),
    /** @param taken Temporal has accepted it, and a workflow task will run */
    sent(key: string, taken: boolean) {
      const hasAlready = sending.get(key);
      sending.delete(key);
      if (!taken || hasAlready || stopped) return;
      unprocessed.push(key);
      if (!watching) void watch();
    },
    stop() {
      stopped = true;
      unprocessed.length = 0;
    },
  };
}

export type Window = ReturnType<typeof createWindow>;
