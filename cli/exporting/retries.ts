import { setTimeout as sleep } from 'node:timers/promises';

const FIRST_MS = 100;
const LONGEST_MS = 10_000;

export interface Retries {
  /** Waits before another try. @throws Error after the last try, or when the signal fires */
  wait(why: string): Promise<void>;
  succeeded(): void;
}

/** Pauses between tries that grow until one succeeds, and an error after `tries` failures in a row. */
export function retrying(tries: number, signal: AbortSignal, say: (line: string) => void): Retries {
  let failed = 0;
  return {
    async wait(why) {
      if (++failed >= tries) throw new Error(`${why} (after ${failed} tries)`);
      if (failed === 1) say(`${why}; trying again`);
      const ms = Math.min(LONGEST_MS, FIRST_MS * 2 ** (failed - 1));
      // at random, so that several processes don't try at the same instant
      await sleep(ms * (0.5 + Math.random() / 2), undefined, { signal });
    },
    succeeded() {
      failed = 0;
    },
  };
}
