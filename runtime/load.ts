const MEMORY_MS = 250;
const BUSY = 0.5;
const OTHERS_MS = 500;

/**
 * How many calls this process works on, long polls that only wait aside, and for what share of the last
 * moments there was any. The share is what "busy" means: one caller without a pause keeps it near 1, however
 * fast or slow it is served, and twenty quick calls a second leave it near 0. How many called at once
 * doesn't count, so that it is over just as soon after sixty-four as after one.
 */
export class Load {
  calls = 0;
  #share = 0;
  #othersUntil = Number.NEGATIVE_INFINITY;
  #at = performance.now();

  enter(): void {
    this.#count();
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

  get busy(): boolean {
    this.#count();
    return this.#share > BUSY || performance.now() < this.#othersUntil;
  }

  /** Another process, which may share these cores, has said that it is busy. */
  othersAreBusy(): void {
    this.#othersUntil = performance.now() + OTHERS_MS;
  }

  #count(): void {
    const now = performance.now();
    const kept = Math.exp((this.#at - now) / MEMORY_MS);
    this.#share = this.#share * kept + Math.min(1, this.calls) * (1 - kept);
    this.#at = now;
  }
}
