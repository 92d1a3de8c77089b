const MEMORY_MS = 250;
const WITHOUT_PAUSE = 0.5;
/** What callers without a pause count as: whatever is beside them slows them down. */
const MOST = 99;
/** So long after a call there are callers, here or in another process. */
const PRESENT_MS = 500;
/** How fast a statement's best time follows shorter ones, and rises where there are none: tables grow. */
const DOWN = 0.1;
const UP_PER_SECOND = 1.01;
/** One statement that waited for a lock or a checkpoint is no trend. */
const OUTLIER = 5;
const RECENT = 0.15;

/**
 * How many calls this process works on, long polls that only wait aside, and how they fare: how much longer their
 * statements take than at their best. One caller without a pause, or sixty-four, count as slowed down however fast they
 * are served: they could be faster.
 */
export class Load {
  calls = 0;
  /** The share of the last moments in which there was any call. */
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

  /** A call that only waits is no load. */
  async resting<T>(wait: () => Promise<T>): Promise<T> {
    this.leave();
    try {
      return await wait();
    } finally {
      this.enter();
    }
  }

  /** A statement that moved something took so many milliseconds. */
  took(statement: string, ms: number): void {
    const now = performance.now();
    const best = this.#best.get(statement) ?? { ms, at: now };
    this.#best.set(statement, best);
    best.ms *= UP_PER_SECOND ** ((now - best.at) / 1000);
    best.at = now;
    if (ms < best.ms) best.ms += (ms - best.ms) * DOWN;
    this.#recent += (Math.min(OUTLIER, ms / best.ms) - this.#recent) * RECENT;
  }

  /** How many times as long callers' statements take as at their best, here or elsewhere; undefined: no one calls. */
  get slowdown(): number | undefined {
    const own = this.own;
    const others = performance.now() < this.#others.until ? this.#others.slowdown : undefined;
    return own === undefined || others === undefined ? (own ?? others) : Math.max(own, others);
  }

  /** The same of this process's callers alone: what others said is not repeated to them, or it would never end. */
  get own(): number | undefined {
    if (performance.now() > this.#calledAt + PRESENT_MS) return undefined;
    this.#count();
    return this.#share > WITHOUT_PAUSE ? MOST : this.#recent;
  }

  /** What another process has said of its callers, who may share these cores. */
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
