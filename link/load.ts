const MEMORY_MS = 250;
const BUSY = 0.5;

/**
 * How many calls this process works on, long polls that only wait aside: now, and on average over the
 * last moments. The average is what "busy" means: one caller without a pause keeps it near 1, however
 * fast or slow he is served, and twenty quick calls a second leave it near 0.
 */
export class Load {
  calls = 0;
  #average = 0;
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
    return this.#average > BUSY;
  }

  #count(): void {
    const now = performance.now();
    const kept = Math.exp((this.#at - now) / MEMORY_MS);
    this.#average = this.#average * kept + this.calls * (1 - kept);
    this.#at = now;
  }
}
