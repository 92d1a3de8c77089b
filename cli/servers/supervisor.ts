import { setTimeout as sleep } from 'node:timers/promises';

const FIRST_DELAY_MS = 250;
const MAX_DELAY_MS = 10_000;
/** After this long the next end counts as the first one again. */
const STEADY_MS = 60_000;

export interface Part {
  /** Resolves with the reason when it has ended, by itself or by `stop`. */
  ended: Promise<string>;
  stop(): Promise<void>;
}

/**
 * Keeps a part of the system running: when it ends by itself, it is started again, with a delay that grows
 * from a quarter of a second to ten.
 * @param start must stop early when its signal is aborted
 * @param o.signal aborts the first start
 * @throws the error of the first start
 */
export async function keepRunning<P extends Part>(
  name: string,
  start: (signal: AbortSignal) => Promise<P>,
  { say, signal: starting }: { say: (line: string) => void; signal?: AbortSignal },
): Promise<{ first: P; stop(): Promise<void> }> {
  const stopping = new AbortController();
  const stopped = new Promise<void>((resolve) => stopping.signal.addEventListener('abort', () => resolve()));
  let delayMs = FIRST_DELAY_MS;

  /** @returns undefined when it is to be stopped */
  const startAgain = async (): Promise<P | undefined> => {
    while (!stopping.signal.aborted) {
      await Promise.race([sleep(delayMs, undefined, { ref: false }), stopped]);
      delayMs = Math.min(MAX_DELAY_MS, delayMs * 2);
      try {
        stopping.signal.throwIfAborted();
        const part = await start(stopping.signal);
        say(`${name} runs again`);
        return part;
      } catch (error) {
        if (!stopping.signal.aborted) say(`${name} could not be restarted: ${(error as Error).message}`);
      }
    }
    return undefined;
  };

  const guard = async (first: P) => {
    for (let part: P | undefined = first; part; part = await startAgain()) {
      const began = performance.now();
      const why = await Promise.race([part.ended, stopped]);
      if (why === undefined) return part.stop();
      say(`${name} ended unexpectedly (${why}); restarting it`);
      // a part may consist of several, of which the others still run
      await part.stop().catch((error: Error) => say(`${name} did not stop cleanly: ${error.message}`));
      if (performance.now() - began > STEADY_MS) delayMs = FIRST_DELAY_MS;
    }
  };

  const first = await start(starting ?? stopping.signal);
  const guarding = guard(first);
  return {
    first,
    stop() {
      stopping.abort();
      return guarding;
    },
  };
}
