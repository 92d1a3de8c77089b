const MEMORY_MS = 250;
const WITHOUT_PAUSE = 0.5;
/** The slowdown reported for callers without a pause: all other work slows them down. */
const MOST = 99;
/** Callers count as present for 500 ms after a call, in this process or another. */
const PRESENT_MS = 500;
/** How fast a statement's best time adapts to shorter times, and rises without them, because tables grow. */
const DOWN = 0.1;
const UP_PER_SECOND = 1.01;
/** Weight of one statement: one that waited for a lock or a checkpoint is no trend. */
const OUTLIER = 5;
const RECENT = 0.15;

/**
 * The calls in progress in this process, without waiting long polls, and their slowdown: their statements' time as a
 * multiple of its best. Callers without a pause always count as slowed down: they could be served faster.
 */
export class Load {
  calls = 0;
  /** The recent share of time with at least one call in progress. */
  #share = 0;
  #at = performance.now();
  #calledAt = Number.NEGATIVE_INFINITY;
  #recent = 1;
  readonly #best = new Map<string, { ms: number; at: number }>();
  #others = { slowdown: 1, until: Number.NEGATIVE_INFINITY };

  enter(): void {
    this.#count();
    this.#calledAt = this.#at;
    this.calls++;
  }

  leave(): void {
    this.#count();
    this.calls--;
  }

  /** Runs `wait` without counting the call as load. */
  async resting<T>(wait: () => Promise<T>): Promise<T> {
    this.leave();
    try {
      return await wait();
    } finally {
      this.enter();
    }
  }

  /** Records the milliseconds that a writing statement took. */
  took(statement: string, ms: number): void {
    const now = performance.now();
    const best = this.#best.get(statement) ?? { ms, at: now };
    this.#best.set(statement, best);
    best.ms *= UP_PER_SECOND ** ((now - best.at) / 1000);
    best.at = now;
    if (ms < best.ms) best.ms += (ms - best.ms) * DOWN;
    this.#recent += (Math.min(OUTLIER, ms / best.ms) - this.#recent) * RECENT;
  }

  /** The slowdown of callers, here or in another process; undefined: there are no callers. */
  get slowdown(): number | undefined {
    const own = this.own;
    const others = performance.now() < this.#others.until ? this.#others.slowdown : undefined;
    return own === undefined || others === undefined ? (own ?? others) : Math.max(own, others);
  }

  /** The slowdown of this process's callers. Excludes other processes' reports, to avoid feedback. */
  get own(): number | undefined {
    if (performance.now() > this.#calledAt + PRESENT_MS) return undefined;
    this.#count();
    return this.#share > WITHOUT_PAUSE ? MOST : this.#recent;
  }

  /** Records the slowdown that another process reports, whose callers may share these cores. */
  hear(slowdown: number): void {
    this.#others = { slowdown, until: performance.now() + PRESENT_MS };
  }

  #count(): void {
    const now = performance.now();
    const kept = Math.exp((this.#at - now) / MEMORY_MS);
    this.#share = this.#share * kept + Math.min(1, this.calls) * (1 - kept);
    this.#at = now;
  }
}
