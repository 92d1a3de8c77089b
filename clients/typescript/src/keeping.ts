import { isLost, isPassing } from './errors.ts';
import { pause, pauseMs } from './pauses.ts';

export interface HoldContext {
  /** Fires when it is no longer held here: nothing more is sent for it. */
  signal: AbortSignal;
}

export interface Keeping<Result, Answer> {
  run(signal: AbortSignal): Promise<Result> | Result;
  /** Sends what came of it, by a call that repeats itself for as long as the client says; sent again while no server answers. */
  send(result: Result): Promise<Answer>;
  /** How long its lease is; one try. */
  leaseSeconds(): Promise<number>;
  /** The lease began earlier, and may end soon. */
  atOnce: boolean;
  /** One try. */
  renew(timeoutSeconds: number): Promise<unknown>;
  /** No new work is wanted: what no server takes is not sent again. */
  stopping: AbortSignal;
  /** Called with tries to renew and to send that failed. */
  onError(error: unknown): void;
}

/** How a handler ended: with the answer to its result, with what it threw, or after its lease was lost, as `lost` says. */
export type Ended<Answer> = { answer: Answer } | { failure: unknown } | { lost: unknown };

/** Of a setting that is asked for while a lease runs. */
export const ONE_TRY = { timeoutSeconds: 1, retrySeconds: 0 };
/** Three tries fit into a lease. */
const BEATS = 3;
const SHORTEST_BEAT_MS = 100;
const RETRY_MS = 1_000;

/**
 * Runs a handler, and renews the lease of what it works on until a server has answered to its result.
 * @throws what was answered to the result, other than success
 */
export async function keeping<Result, Answer>(work: Keeping<Result, Answer>): Promise<Ended<Answer>> {
  const lost = new AbortController();
  const ended = new AbortController();
  let isRunning = true;
  // later the answer to the result says what became of the lease
  const onError = (error: unknown) => isRunning && work.onError(error);
  void beat({ ...work, onError }, lost, ended.signal);
  try {
    const outcome = await run(work, lost.signal);
    isRunning = false;
    if (lost.signal.aborted) return { lost: lost.signal.reason };
    return 'failure' in outcome ? outcome : { answer: await untilAnswered(work, outcome.result, lost.signal) };
  } finally {
    ended.abort();
  }
}

async function run<Result>(
  work: Pick<Keeping<Result, unknown>, 'run'>,
  lost: AbortSignal,
): Promise<{ result: Result } | { failure: unknown }> {
  try {
    return { result: await work.run(lost) };
  } catch (failure) {
    return { failure };
  }
}

/** An answer may be lost when all the work is done. @throws what will not pass, such as a 500 that came again and again */
async function untilAnswered<Result, Answer>(
  { send, stopping, onError }: Keeping<Result, Answer>,
  result: Result,
  lost: AbortSignal,
): Promise<Answer> {
  for (let failures = 0; ; failures++) {
    try {
      return await send(result);
    } catch (error) {
      if (!isPassing(error) || lost.aborted || stopping.aborted) throw error;
      onError(error);
    }
    // not of `AbortSignal.any`: a signal that outlives it keeps each one
    const ms = pauseMs(failures);
    await Promise.race([pause(ms, lost), pause(ms, stopping)]);
  }
}

type Renewing = Pick<Keeping<unknown, unknown>, 'leaseSeconds' | 'atOnce' | 'renew' | 'onError'>;

async function beat(work: Renewing, lost: AbortController, ended: AbortSignal): Promise<void> {
  let isDue = work.atOnce;
  let beatMs = BEATS * RETRY_MS;
  while (!ended.aborted) {
    try {
      if (!isDue) {
        beatMs = Math.max(((await work.leaseSeconds()) * 1000) / BEATS, SHORTEST_BEAT_MS);
        await pause(beatMs, ended);
      }
      if (!ended.aborted) await work.renew(Math.max(1, beatMs / 1000));
      isDue = false;
    } catch (error) {
      if (ended.aborted) return;
      if (isLost(error)) return lost.abort(error);
      work.onError(error);
      // a try that hung has taken the time until the next one
      isDue = true;
      await pause(Math.min(RETRY_MS, beatMs / BEATS), ended);
    }
  }
}

/** A setting that is asked for when it is needed, and again after a minute. */
export function remembered<Value>(ask: () => Promise<Value>): () => Promise<Value> {
  const KEPT_MS = 60_000;
  let known: Promise<Value> | undefined;
  let until = 0;
  return () => {
    if (known && performance.now() < until) return known;
    until = performance.now() + KEPT_MS;
    known = ask();
    // what failed is asked for again at once
    known.catch(() => {
      until = 0;
    });
    return known;
  };
}
