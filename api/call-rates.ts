import { Problem } from '../services/shared/problems.ts';

/** What has been left unused for up to this long may be used at once. */
const BURST_MS = 1_000;
const MOST_KEYS = 10_000;

/**
 * Bounds the calls of each key in this process to so many a second (the generic cell rate algorithm): evenly, or a second's worth
 * at once after a pause.
 */
export class CallRates {
  /** By key when the calls that it has made so far would have ended, had each come in its turn; `performance.now()`. */
  readonly #used = new Map<string, number>();

  /** Counts a call. @throws Problem `rate_limited` with the seconds until the next one is taken */
  take(key: string, perSecond: number): void {
    const now = performance.now();
    const eachMs = 1_000 / perSecond;
    const until = Math.max(this.#used.get(key) ?? 0, now) + eachMs;
    const earlyMs = until - now - Math.max(BURST_MS, eachMs);
    if (earlyMs > 0) {
      const retryAfter = Math.max(1, Math.ceil(earlyMs / 1_000));
      throw new Problem('rate_limited', `this key may make ${perSecond} calls a second`, { retryAfter });
    }
    if (this.#used.size >= MOST_KEYS) this.#used.clear();
    this.#used.set(key, until);
  }
}
