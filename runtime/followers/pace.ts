const STEP_MS = 250;
/** What is added to the rate at each step while callers do not feel it. */
const MORE_PER_SECOND = 4;
/** Slower than this, callers feel it: what is beside them takes turns with them on the cores. */
export const FELT = 2;
/** Beyond that nothing else limits what a follower sends. */
const MOST_PER_SECOND = 1_000;

/** How callers fare, here or in another process on the same cores. */
export interface Callers {
  /** How many times as long their statements take as at their best; undefined: there are no callers. */
  readonly slowdown: number | undefined;
}

/**
 * How many a second may be sent beside callers: some more at each step while their statements are about as quick as they
 * can be, half as many as soon as they are not, and never less than a least rate. Where no one calls there is no limit.
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

  /** Milliseconds until the next one is allowed. */
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
    // no rate is halved that was only allowed and never reached
    const reached = Math.min(this.#perSecond, (this.#sent * 1000) / passedMs);
    this.#stepAt += passedMs;
    this.#sent = 0;
    const slowdown = this.#callers.slowdown;
    if (slowdown === undefined) this.#perSecond = MOST_PER_SECOND;
    else if (slowdown > FELT) this.#perSecond = Math.max(this.#least, reached / 2);
    else this.#perSecond = Math.min(MOST_PER_SECOND, this.#perSecond + MORE_PER_SECOND);
  }
}
