export const LONGEST_PAUSE_MS = 5_000;

/** Doubles from 100 ms, and differs between callers, so that they don't come back all at once. */
export const pauseMs = (round: number) => jittered(Math.min(LONGEST_PAUSE_MS, 100 * 2 ** Math.min(round, 10)));

/** Sleeps, or until the signal comes. */
export function pause(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted) return resolve();
    const end = () => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', end);
      resolve();
    };
    const timer = setTimeout(end, ms);
    signal?.addEventListener('abort', end);
  });
}

/** 1, 2, 4, … 300 seconds. */
export const doubling = (failures: number) => Math.min(300, 2 ** Math.min(failures - 1, 20));

/** Between half and the whole of it. */
export const jittered = (time: number) => time * (0.5 + Math.random() / 2);
