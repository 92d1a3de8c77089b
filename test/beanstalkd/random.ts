import { dice } from '../../bench/dice.ts';
import { repeat } from '../support/client.ts';

/** The same choices for the same seed. */
export class Random {
  /** 0 ≤ x < 1 */
  readonly next: () => number;

  constructor(seed: number) {
    this.next = dice(seed);
  }

  /** 0 … below − 1 */
  int(below: number): number {
    return Math.floor(this.next() * below);
  }

  of<T>(all: readonly T[]): T {
    return all[this.int(all.length)] as T;
  }

  /** One of them, each as often as its weight says, a whole number. */
  weighted<T>(all: readonly (readonly [weight: number, one: T])[]): T {
    return this.of(all.flatMap(([weight, one]) => repeat(weight, () => one)));
  }
}
