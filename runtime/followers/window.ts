import { setTimeout as sleep } from 'node:timers/promises';

const POLL_MS = 50;
/** A workflow task that has not run by then is no measure of the worker any more: its activity may be failing. */
const GIVE_UP_MS = 30_000;

/**
 * Back-pressure from the worker: counts messages from the moment they are sent until the workflow task that each of
 * them caused has run. Temporal takes messages faster than a worker can follow, and what it has taken is in its own
 * order, behind which everything else on that task queue would wait.
 *
 * What ran in this process is known at once (`ran`), what another one's worker did is asked for. Not about every message:
 * a task queue is first in, first out, more or less, so that one whose task has run speaks for those sent before it.
 */
export class Window {
  readonly #hasRun: (key: string) => Promise<boolean>;
  readonly #onOpen: () => void;
  readonly #unprocessed: string[] = [];
  /** Being sent, and whether its workflow has run meanwhile: that is often known before the answer. */
  readonly #sending = new Map<string, boolean>();
  #watching = false;
  #stopped = false;

  /**
   * @param hasRun whether the workflow of that id has no task that waits; false when it can't be found out
   * @param onOpen called when there are fewer than before
   */
  constructor(hasRun: (key: string) => Promise<boolean>, onOpen: () => void) {
    this.#hasRun = hasRun;
    this.#onOpen = onOpen;
  }

  /** Messages that are being sent, or whose workflow task has not run as far as known. */
  get size(): number {
    return this.#sending.size + this.#unprocessed.length;
  }

  send(key: string): void {
    this.#sending.set(key, false);
  }

  /** @param taken Temporal has it, and a workflow will work on it */
  sent(key: string, taken: boolean): void {
    const hasRun = this.#sending.get(key);
    this.#sending.delete(key);
    if (!taken || hasRun || this.#stopped) return;
    this.#unprocessed.push(key);
    if (!this.#watching) void this.#watch();
  }

  /** The workflow of that id has done what it was sent. */
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
