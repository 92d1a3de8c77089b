import * as wf from '@temporalio/workflow';
import type { FollowerSinks } from '../contract/snapshot.ts';

// Shared by the runs of all long-lived workflows.

export const MAX_SIGNALS = 500;
const MAX_HISTORY = 1_000;

/** Whether a run must continue as new before its history grows too heavy to be replayed. */
export const isHeavy = (signals: number) => signals >= MAX_SIGNALS || wf.workflowInfo().historyLength >= MAX_HISTORY;

/** Local activities on the database: prompt, with one retry. A workflow whose call still fails pauses. */
export const inDatabase = <A>() =>
  wf.proxyLocalActivities<A>({
    startToCloseTimeout: '10s',
    retry: { maximumAttempts: 2, initialInterval: '200ms' },
  });

/**
 * Whether an activity has failed for good; anything else is a bug. Activities outside fail with an ActivityFailure, local ones
 * with whatever they threw, or a timeout.
 */
export const isFailure = (error: unknown): boolean => error instanceof wf.TemporalFailure && !wf.isCancellation(error);

/** The follower in the process of the worker that runs this. */
export const { follower } = wf.proxySinks<FollowerSinks>();

/**
 * Waits before the database is asked again: about a second at first, because most faults are over by then, up to half a
 * minute, because each pause is kept in the history. Random, so that workflows do not come back together.
 * @param failures failures in a row
 */
export const pause = (failures: number) =>
  wf.sleep(Math.min(1_000 * 2 ** (failures - 1), 30_000) * (0.7 + 0.6 * Math.random()), {
    summary: 'the database is asked again',
  });

/** Handles an operator's request to cancel. The workflow itself goes on, and ends in order. */
export function whenCancelled(act: () => void): void {
  void wf.CancellationScope.current().cancelRequested.catch((error) => {
    if (wf.isCancellation(error)) act();
  });
}

/** A state as the console writes it, for the Temporal UI: `Waiting`. */
export const titled = (state: string) => `${state.charAt(0).toUpperCase()}${state.slice(1)}`;
