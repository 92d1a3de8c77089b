/** A sleep that can be shortened, also before it begins. */
export class Alarm {
  #wake: (() => void) | undefined;
  #dueAt = Number.POSITIVE_INFINITY;
  #timer: NodeJS.Timeout | undefined;

  /** The current sleep, or the next one, ends within this many milliseconds. */
  wakeIn(ms: number): void {
    const dueAt = performance.now() + ms;
    if (dueAt >= this.#dueAt) return;
    this.#dueAt = dueAt;
    this.#arm();
  }

  async sleep(ms: number): Promise<void> {
    this.#dueAt = Math.min(this.#dueAt, performance.now() + ms);
    await new Promise<void>((resolve) => {
      this.#wake = resolve;
      this.#arm();
    });
    this.#wake = undefined;
    this.#dueAt = Number.POSITIVE_INFINITY;
  }

  #arm(): void {
    if (!this.#wake) return;
    clearTimeout(this.#timer);
    // timers count in whole milliseconds and must not be early
    this.#timer = setTimeout(this.#wake, Math.ceil(Math.max(0, this.#dueAt - performance.now())));
  }
}
