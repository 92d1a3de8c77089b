import { setTimeout as sleep } from 'node:timers/promises';
import type { Lab } from '../lab.ts';

const EVERY_MS = 100;
const MOST_SECONDS = 120;

/** Says when workflows have received what was committed before a moment. */
export class Gate {
  readonly #lab: Lab;
  readonly #waiting: { since: number; pass(): void }[] = [];
  #until = Number.NEGATIVE_INFINITY;
  #failed: Error | undefined;
  #closed = false;
  readonly #watching: Promise<void>;
  /** The longest that anything has waited for its workflow so far, in seconds. */
  behind = 0;

  constructor(lab: Lab) {
    this.#lab = lab;
    this.#watching = this.#watch();
  }

  /** Waits until all that was committed until now has been received. @throws when that takes two minutes */
  async passed(): Promise<void> {
    const since = performance.now();
    while (this.#until < since) {
      if (this.#failed) throw this.#failed;
      if (performance.now() - since > MOST_SECONDS * 1000) throw new Error('workflows are two minutes behind');
      await new Promise<void>((pass) => void this.#waiting.push({ since, pass }));
    }
  }

  async close(): Promise<void> {
    this.#closed = true;
    await this.#watching;
  }

  async #watch(): Promise<void> {
    while (!this.#closed) {
      const asked = performance.now();
      try {
        const [lag] = await this.#lab.db.run('publishing_lag');
        this.#until = asked - (lag?.oldest_seconds ?? 0) * 1000;
        this.behind = Math.max(this.behind, lag?.oldest_seconds ?? 0);
      } catch (error) {
        this.#failed = error as Error;
      }
      // each looks by itself whether it may pass
      for (const { pass } of this.#waiting.splice(0)) pass();
      await sleep(EVERY_MS);
    }
  }
}
