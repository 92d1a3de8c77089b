import { setTimeout as sleep } from 'node:timers/promises';

export interface Patience {
  tries: number;
  /** The n-th pause is a random part of n times this, in milliseconds, … */
  stepMs: number;
  /** … and of this at most. */
  mostMs: number;
}

/**
 * Asks again a moment later while others are just at what is asked for, so that nobody has to wait under a lock.
 * @returns the last answer, which may still be that they are
 */
export async function whileBusy<T>(
  ask: () => Promise<T>,
  isBusy: (answer: T) => boolean,
  { tries, stepMs, mostMs }: Patience,
): Promise<T> {
  for (let n = 1; ; n++) {
    const answer = await ask();
    if (!isBusy(answer) || n === tries) return answer;
    await sleep(Math.random() * Math.min(mostMs, stepMs * n));
  }
}
