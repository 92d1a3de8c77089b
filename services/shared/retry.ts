import { setTimeout as sleep } from 'node:timers/promises';

export interface Retry {
  tries: number;
  /** The n-th pause is a random part of n times this, in milliseconds, … */
  stepMs: number;
  /** … and of this at most. */
  mostMs: number;
}

/**
 * Asks again shortly while what is asked for is locked by others, so that no caller waits under a lock.
 * @returns the last answer, which may still be that it is locked
 */
export async function whileBusy<T>(
  ask: () => Promise<T>,
  isBusy: (answer: T) => boolean,
  { tries, stepMs, mostMs }: Retry,
): Promise<T> {
  for (let n = 1; ; n++) {
    const answer = await ask();
    if (!isBusy(answer) || n === tries) return answer;
    await sleep(Math.random() * Math.min(mostMs, stepMs * n));
  }
}
