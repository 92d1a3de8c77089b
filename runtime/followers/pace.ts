const STEP_MS = 250;
/** Increase of the rate at each step while callers are not slowed down. */
const MORE_PER_SECOND = 4;
/** Slowdown from which publishing yields to callers. */
export const FELT = 2;
/** Maximum rate; other limits apply first. */
const MOST_PER_SECOND = 1_000;

/** The latency of callers, in this process or in others on the same cores. */
export interface Callers {
  /** Their statements' time as a multiple of its best; undefined: there are no callers. */
  readonly slowdown: number | undefined;
}

/**
 * The rate of publishing while there are callers: it grows by a step while their statements are near their best time,
 * halves when they are not, and never falls below a minimum. Without callers there is no limit.
 */
export class Pace {
  readonly #callers: Callers;
  readonly #least: number;
  #perSecond: number;
  #left = 1;
  #at = performance.now();
  #stepAt = performance.now();
  /** Since the last step. */
  #sent = 0;

  /** @param least per second */
  constructor(callers: Callers, least: number) {
    this.#callers = callers;
    this.#least = least;
    this.#perSecond = least;
  }

  /** Messages a second at present. */
  get perSecond(): number {
    this.#step();
    return this.#perSecond;
  }

  /** Milliseconds until the next message is allowed. */
  waitMs(): number {
    const now = performance.now();
    this.#left = Math.min(1, this.#left + ((now - this.#at) / 1000) * this.perSecond);
    this.#at = now;
    return this.#left >= 1 ? 0 : Math.ceil(((1 - this.#left) / this.#perSecond) * 1000);
  }

  spend(): void {
    this.#left -= 1;
    this.#sent++;
  }

  #step(): void {
    const passedMs = performance.now() - this.#stepAt;
    if (passedMs < STEP_MS) return;
    // Halve the rate that was used, not the one that was allowed.
    const reached = Math.min(this.#perSecond, (this.#sent * 1000) / passedMs);
    this.#stepAt += passedMs;
    this.#sent = 0;
    const slowdown = this.#callers.slowdown;
    if (slowdown === undefined) this.#perSecond = MOST_PER_SECOND;
    else if (slowdown > FELT) this.#perSecond = Math.max(this.#least, reached / 2);
    else this.#perSecond = Math.min(MOST_PER_SECOND, this.#perSecond + MORE_PER_SECOND);
  }
}
