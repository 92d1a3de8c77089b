import { Problem } from '../services/shared/problems.ts';

/** The longest burst: calls of so much unused time. */
const BURST_MS = 1_000;
const MOST_KEYS = 10_000;

/** Limits each key's calls a second in this process (GCRA): evenly spaced, or a burst of one second's calls after a pause. */
export class CallRates {
  /** Per key: theoretical arrival time, by `performance.now()`. */
  readonly #arrivals = new Map<string, number>();

  /** Counts a call. @throws Problem `rate_limited` with the seconds until the next one is taken */
  take(key: string, perSecond: number): void {
    const now = performance.now();
    const eachMs = 1_000 / perSecond;
    const arrival = Math.max(this.#arrivals.get(key) ?? 0, now) + eachMs;
    const earlyMs = arrival - now - Math.max(BURST_MS, eachMs);
    if (earlyMs > 0) {
      const retryAfter = Math.max(1, Math.ceil(earlyMs / 1_000));
      throw new Problem('rate_limited', `this key may make ${perSecond} calls a second`, { retryAfter });
    }
    if (this.#arrivals.size >= MOST_KEYS) this.#arrivals.clear();
    this.#arrivals.set(key, arrival);
  }
}
