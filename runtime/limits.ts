/** Numbers that have no setting: they suit every installation, or follow from where Temporal runs. Tests and measurements give others. */
export interface Limits {
  /** Published audits that the worker has not worked on yet, as many outcomes, and while no one calls as much of the rest. */
  publishConcurrency: number;
  /** Workflows started per second for items with nothing due, while there are callers or outcomes. */
  publishIdlePerSecond: number;
  /** Messages to workflows per second while callers have to wait for PostgreSQL; audits and outcomes are not counted. */
  publishBusyPerSecond: number;
  /** Workflows of items that only wait, at most. */
  waitingWorkflows: number;
  /** Items that ended longer ago than this before their workflow was started get none. */
  skipEndedSeconds: number;
  /** Calls at once, per process; more are answered 429. */
  maxCalls: number;
  /** Bytes that bodies on their way and unread answers of one caller hold, per process. */
  maxHeldBytes: number;
}

/** @param temporal `own`: `docket start` runs it; `beside`: a server on this machine; `apart`: one with cores of its own */
export const limitsOf = (temporal: 'own' | 'beside' | 'apart'): Limits => ({
  publishConcurrency: 16,
  // on this machine it takes its cores from callers; elsewhere followers wait for their worker only (followers/window.ts)
  publishIdlePerSecond: temporal === 'apart' ? 1_000 : 50,
  publishBusyPerSecond: temporal === 'apart' ? 10 : 2,
  // SQLite takes 17 KB for each, and a million of them are five hours of work for two cores
  waitingWorkflows: temporal === 'own' ? 50_000 : Number.MAX_SAFE_INTEGER,
  // long enough for any backlog that is worked off, short enough that a stop of days does not start workflows of what is over
  skipEndedSeconds: 3_600,
  // each takes memory of the process; behind PostgreSQL's connections more would only wait
  maxCalls: 5_000,
  // a dozen full pages, or eight of the largest bodies
  maxHeldBytes: 64 * 1024 * 1024,
});
