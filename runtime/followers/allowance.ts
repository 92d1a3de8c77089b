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
