/** The same numbers for the same seed (mulberry32). */
export class Random {
  #state: number;

  constructor(seed: number) {
    this.#state = seed >>> 0;
  }

  /** 0 ≤ x < 1 */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let x = this.#state;
    x = Math.imul(x ^ (x >>> 15), x | 1);
    x ^= x + Math.imul(x ^ (x >>> 7), x | 61);
    return ((x ^ (x >>> 14)) >>> 0) / 2 ** 32;
  }

  /** 0 … below − 1 */
  int(below: number): number {
    return Math.floor(this.next() * below);
  }

  of<T>(all: readonly T[]): T {
    return all[this.int(all.length)] as T;
  }

  /** One of them, each as often as its weight says. */
  weighted<T>(all: readonly (readonly [weight: number, one: T])[]): T {
    let left = this.next() * all.reduce((sum, [weight]) => sum + weight, 0);
    for (const [weight, one] of all) {
      left -= weight;
      if (left < 0) return one;
    }
    return (all[0] as readonly [number, T])[1];
  }
}
