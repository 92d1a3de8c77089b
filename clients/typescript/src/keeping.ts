import { isLost } from './errors.ts';
import { pause } from './pauses.ts';

export interface HoldContext {
  /** Fires when it is no longer held here: nothing more is sent for it. */
  signal: AbortSignal;
}

export interface Keeping<Result> {
  run(signal: AbortSignal): Promise<Result> | Result;
  /** How long its lease is. */
  leaseSeconds(): Promise<number>;
  /** One try. */
  renew(timeoutSeconds: number): Promise<unknown>;
  /** Called with tries to renew that failed. */
  onError(error: unknown): void;
}

/** How a handler ended: with its result, with what it threw, or after its lease was lost, as `lost` says. */
export type Ended<Result> = { result: Result } | { failure: unknown } | { lost: unknown };

/** Three tries fit into a lease. */
const BEATS = 3;
const SHORTEST_BEAT_MS = 100;
const RETRY_MS = 1_000;

/** Runs a handler, and renews the lease of what it works on until it has ended. */
export async function keeping<Result>(work: Keeping<Result>): Promise<Ended<Result>> {
  const lost = new AbortController();
  const ended = new AbortController();
  void beat(work, lost, ended.signal);
  const outcome = await run(work, lost.signal);
  ended.abort();
  return lost.signal.aborted ? { lost: lost.signal.reason } : outcome;
}

async function run<Result>(work: Keeping<Result>, lost: AbortSignal): Promise<Ended<Result>> {
  try {
    return { result: await work.run(lost) };
  } catch (failure) {
    return { failure };
  }
}

async function beat<Result>(work: Keeping<Result>, lost: AbortController, ended: AbortSignal): Promise<void> {
  while (!ended.aborted) {
    try {
      const seconds = (await work.leaseSeconds()) / BEATS;
      await pause(Math.max(seconds * 1000, SHORTEST_BEAT_MS), ended);
      if (!ended.aborted) await work.renew(Math.max(1, seconds));
    } catch (error) {
      if (ended.aborted) return;
      if (isLost(error)) return lost.abort(error);
      work.onError(error);
      await pause(RETRY_MS, ended);
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
