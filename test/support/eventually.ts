import { setTimeout as sleep } from 'node:timers/promises';

/** Polls until `check` gives something truthy; throws its last answer when the time is over. */
export async function eventually<T>(check: () => Promise<T>, ms = 50_000): Promise<NonNullable<T>> {
  const began = Date.now();
  // what is waited for longer is asked for less often: two cores are shared by all that wait
  for (let last: unknown; ; await sleep(Math.min(250, 20 + (Date.now() - began) / 10))) {
    try {
      const value = await check();
      if (value) return value as NonNullable<T>;
      last = value;
    } catch (error) {
      last = error;
    }
    if (Date.now() - began > ms)
      throw new Error(`not within ${ms} ms; last: ${last instanceof Error ? last.stack : JSON.stringify(last)}`);
  }
}
