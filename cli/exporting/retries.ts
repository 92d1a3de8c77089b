import { setTimeout as sleep } from 'node:timers/promises';

const FIRST_MS = 100;
const LONGEST_MS = 10_000;

/** Waits before another try, longer each time, until one succeeds; gives up after `tries`. */
export class Retries {
  readonly #tries: number;
  readonly #signal: AbortSignal;
  readonly #say: (line: string) => void;
  #failed = 0;

  constructor(tries: number, signal: AbortSignal, say: (line: string) => void) {
    this.#tries = tries;
    this.#signal = signal;
    this.#say = say;
  }

  /** @throws Error after the last try, or when `signal` fires */
  async wait(why: string): Promise<void> {
    if (++this.#failed >= this.#tries) throw new Error(`${why} (after ${this.#failed} tries)`);
    if (this.#failed === 1) this.#say(`${why}; trying again`);
    const ms = Math.min(LONGEST_MS, FIRST_MS * 2 ** (this.#failed - 1));
    // at random, so that several processes don't try at the same instant
    await sleep(ms * (0.5 + Math.random() / 2), undefined, { signal: this.#signal });
  }

  succeeded(): void {
    this.#failed = 0;
  }
}
