import { UnavailableError } from './errors.ts';
import { pause, pauseMs } from './pauses.ts';

export interface Polling<Work> {
  /** One long poll. What it throws, other than that no server answers, ends the loop. */
  ask(): Promise<Work | null>;
  take(work: Work): Promise<void>;
  /** How long the long poll may take. */
  waitSeconds: number;
  onError(error: unknown): void;
  stopping: AbortSignal;
}

/**
 * Asks and takes, one after the other, until it is stopped; while no server answers, ever more slowly.
 * @throws what `ask` throws, other than UnavailableError and the reason of `stopping`
 */
export async function poll<Work>({ ask, take, waitSeconds, onError, stopping }: Polling<Work>): Promise<void> {
  for (let failures = 0; !stopping.aborted; ) {
    const began = performance.now();
    try {
      const work = await ask();
      failures = 0;
      if (work) await take(work);
      // a server that is stopping answers long polls at once
      else if (performance.now() - began < Math.min(waitSeconds, 1) * 500) await pause(pauseMs(3), stopping);
    } catch (error) {
      if (stopping.aborted && error === stopping.reason) return;
      if (!(error instanceof UnavailableError)) throw error;
      onError(error);
      await pause(pauseMs(failures++), stopping);
    }
  }
}
