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
 */
export class Window {
  readonly #hasRun: (key: string) => Promise<boolean>;
  readonly #onOpen: () => void;
  readonly #unprocessed: string[] = [];
  /** Messages being sent, and whether their workflow task has run already: that is often known before Temporal's answer. */
  readonly #sending = new Map<string, boolean>();
  #watching = false;
  #stopped = false;

  /**
   * @param hasRun whether the workflow of that id has no pending task; false when Temporal cannot be asked
   * @param onOpen called when the window has shrunk
   */
  constructor(hasRun: (key: string) => Promise<boolean>, onOpen: () => void) {
    this.#hasRun = hasRun;
    this.#onOpen = onOpen;
  }

  /** Messages that are being sent, or whose workflow task is not known to have run. */
  get size(): number {
    return this.#sending.size + this.#unprocessed.length;
  }

  send(key: string): void {
    this.#sending.set(key, false);
  }

  /** @param taken Temporal has accepted it, and a workflow task will run */
  sent(key: string, taken: boolean): void {
    const hasRun = this.#sending.get(key);
    this.#sending.delete(key);
    if (!taken || hasRun || this.#stopped) return;
    this.#unprocessed.push(key);
    if (!this.#watching) void this.#watch();
  }

  /** Notes that a workflow task of that id has run. */
  ran(key: string): void {
    if (this.#sending.has(key)) this.#sending.set(key, true);
    const at = this.#unprocessed.indexOf(key);
    if (at < 0) return;
    this.#unprocessed.splice(0, at + 1);
    if (!this.#stopped) this.#onOpen();
  }

  stop(): void {
    this.#stopped = true;
    this.#unprocessed.length = 0;
  }

  async #watch(): Promise<void> {
    this.#watching = true;
    while (this.#unprocessed.length > 0) {
      const middle = this.#unprocessed[this.#unprocessed.length >> 1] as string;
      await this.#untilRun(middle);
      this.ran(middle);
    }
    this.#watching = false;
  }

  async #untilRun(key: string): Promise<void> {
    const until = performance.now() + GIVE_UP_MS;
    while (!this.#stopped && performance.now() < until) {
      await sleep(POLL_MS, undefined, { ref: false });
      if (!this.#unprocessed.includes(key) || (await this.#hasRun(key))) return;
    }
  }
}
