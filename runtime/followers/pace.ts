import type { Load } from '../load.ts';

const STEP_MS = 250;
/** Increase of the rate at each step while callers are not slowed down. */
const MORE_PER_SECOND = 4;
/** Slowdown from which publishing yields to callers. */
export const FELT = 2;
/** Maximum rate; other limits apply first. */
export const MOST_PER_SECOND = 1_000;

/** The latency of callers, in this process or in others on the same cores. */
export type Callers = Pick<Load, 'slowdown'>;

/** A token bucket: `perSecond()` tokens a second, at most `most` at once, and at least one. */
export class Allowance {
  readonly #perSecond: () => number;
  readonly #most: number;
  #left: number;
  #at = performance.now();

  constructor(perSecond: () => number, most: number) {
    this.#perSecond = perSecond;
    this.#most = Math.max(1, most);
    this.#left = this.#most;
  }

  /** Milliseconds until the next token. */
  waitMs(): number {
    const now = performance.now();
    const perSecond = this.#perSecond();
    this.#left = Math.min(this.#most, this.#left + ((now - this.#at) / 1000) * perSecond);
    this.#at = now;
    return this.#left >= 1 ? 0 : Math.ceil(((1 - this.#left) / perSecond) * 1000);
  }

  spend(): void {
    this.#left -= 1;
  }
}

/**
 * The rate of publishing while there are callers: it grows by a step while their statements are near their best time,
 * halves when they are not, and never falls below a minimum. Without callers there is no limit.
 */
export class Pace extends Allowance {
  readonly #callers: Callers;
  readonly #least: number;
  #perSecond: number;
  #stepAt = performance.now();
  /** Since the last step. */
  #sent = 0;

  /** @param least per second */
  constructor(callers: Callers, least: number) {
    super(() => this.perSecond, 1);
    this.#callers = callers;
    this.#least = least;
    this.#perSecond = least;
  }

  /** Messages a second at present. */
  get perSecond(): number {
    this.#step();
    return this.#perSecond;
  }

  override spend(): void {
    super.spend();
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
