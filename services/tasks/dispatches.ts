import { only, type RowOf } from '../../db/pool.ts';
import type { Completed, Completion, Pull, Pulled } from '../../db/tasks.ts';
import { stateWord } from '../../domain/items.ts';
import { personOfUid } from '../../domain/tasks.ts';
import type { Gone } from '../../runtime/waiting.ts';
import { shareRows, whileBusy } from '../shared/batching.ts';
import { type Context, found, Problem, perContext } from '../shared/service.ts';
import { contentHash, newToken } from '../shared/tokens.ts';
import * as tasks from './tasks.ts';

/** Few, because calls of a group lock the same occurrences, and each waits for the statements of the others. */
const MOST_TOGETHER = 32;
const PULL_RETRIES = { tries: 200, stepMs: 1, mostMs: 20 };

interface PullRequest {
  uid: string;
  /** Ids of tasks, or of single occurrences, to skip. */
  exclude: string[];
  waitSeconds: number;
  /** Fires when the caller has disconnected. */
  signal: Gone;
}

/** A dispatch, new or unfinished, or the reasons why there is none. */
export type Found = Exclude<Pulled, { outcome: 'busy' }>;

type Done = Extract<Completed, { outcome: 'completed' | 'repeated' }>;

export type DispatchLogRow = RowOf<'dispatch_log'>;

interface DispatchLogFilter {
  uid: string | undefined;
  taskId: string | undefined;
  from: string | undefined;
  /** The last line of the page before. */
  after: { micros: number; itemId: string; seq: number } | undefined;
}

const moved = <T extends { outcome: string }>(rows: T[]) => rows.filter(isMoved);

const pullShared = perContext(({ db }) =>
  shareRows(async (pulls: Pull[]) => (await db.move('next_tasks', { pulls }, { moved })).filter(isAnswer), {
    call: ({ person }) => person,
    row: ({ person }) => person,
    keys: ({ person }) => [person],
    max: MOST_TOGETHER,
  }),
);

const completeShared = perContext(({ db }) =>
  shareRows(
    async (completions: Completion[]) => (await db.move('complete_tasks', { completions }, { moved })).filter(isAnswer),
    { call: ({ token }) => token, row: ({ token }) => token, keys: ({ token }) => [token], max: MOST_TOGETHER },
  ),
);

/**
 * Gives a client its unfinished dispatch again, or the next one, for which it waits up to `waitSeconds` (S4.3–S4.6).
 * Concurrent calls share a statement.
 * @throws Problem `unavailable` while other calls lock what comes first for this client
 */
export async function pull(ctx: Context, { uid, exclude, waitSeconds: seconds, signal }: PullRequest): Promise<Found> {
  const person = personOfUid(uid);
  const wanted = { person, uid, exclude, token: newToken(), explain: seconds === 0 };
  if (seconds === 0) return counted(ctx, await pullOnce(ctx, wanted));
  // at each executor that the client pulls from: a new member of a group is woken at the key of its own, and from then
  // on waits at that of the group too
  let keys = [`task/uid_${person}`];
  const found = await ctx.waiters.waitFor({ keys: () => keys, seconds, signal }, async () => {
    const one = await pullOnce(ctx, wanted);
    if (one.outcome !== 'none') return one;
    keys = one.given.queues.map((queue) => `task/${queue}`);
    return undefined;
  });
  if (found) return counted(ctx, found);
  if (signal.aborted) return { person, outcome: 'none', given: { queues: [] } };
  return counted(ctx, await pullOnce(ctx, { ...wanted, explain: true }));
}

async function pullOnce(ctx: Context, wanted: Pull): Promise<Found> {
  const found = await whileBusy(
    async () => only([await pullShared(ctx)(wanted)]),
    (one) => one.outcome === 'busy',
    PULL_RETRIES,
  );
  if (found.outcome !== 'busy') return found;
  throw new Problem('unavailable', 'others are at what comes first for this client, try again');
}

function counted({ metrics, tracing }: Context, found: Found): Found {
  if (found.outcome !== 'none') {
    tracing?.saw('task', found.id);
    if (found.outcome === 'dispatched') metrics.handedOut('task', found.queue);
    return found;
  }
  const { queues, reasons } = found.given;
  const reason = REASONS.find((name) => (reasons?.[name] ?? 0) > 0) ?? 'none';
  for (const queue of queues) metrics.empty('task', queue, reason);
  return found;
}

/**
 * Explains why a client gets nothing, or whether it would get a task now.
 * @param subject the caller's own person, who may know of tasks that they were given only; null: any
 * @throws Problem `not_found`
 */
export async function explain(ctx: Context, uid: string, id: string | undefined, subject: string | null) {
  const { db } = ctx;
  const person = personOfUid(uid);
  if (id === undefined) return { reasons: only(await db.run('explain_user', { person })).reasons };
  await tasks.find(ctx, id);
  if (subject !== null) found(await db.run('was_dispatched', { id, person }), tasks.noTask(id));
  const { why, state, ahead } = only(await db.run('explain_task', { id, person }));
  if (state !== null) why.push(stateWord('task', state));
  return { offered: why.length === 0, why, ahead };
}

/**
 * Completes a client's last dispatch (S4.7); the same again is answered the same, whatever was given since.
 * @throws Problem `stale_log_id` or `lease_lost`
 */
export async function complete(ctx: Context, uid: string, logId: string, result: unknown): Promise<Done> {
  const completion = { person: personOfUid(uid), token: logId, result, hash: contentHash(result) };
  const done = only([await completeShared(ctx)(completion)]);
  if (done.outcome === 'completed') ctx.tracing?.saw('task', done.id);
  if (done.outcome === 'completed' || done.outcome === 'repeated') return done;
  throw rejection(done);
}

/** The next dispatch after a completion. A repeat gets the one that was given first after it, while it is unfinished. */
export async function pullAfter(ctx: Context, { outcome, token }: Done, request: PullRequest): Promise<Found> {
  if (outcome === 'completed') return pull(ctx, request);
  const [given] = await ctx.db.run('given_after', { token });
  if (given?.open === false) return { person: personOfUid(request.uid), outcome: 'none', given: { queues: [] } };
  const found = await pull(ctx, request);
  return found.outcome === 'redo' ? { ...found, outcome: 'dispatched' } : found;
}

/**
 * Gives a client's last dispatch back, or takes it back for an administrator.
 * @param logId null: whatever the client has now
 * @returns its log id, and when it was given back
 * @throws Problem `stale_log_id`
 */
export async function release(ctx: Context, uid: string, logId: string | null, comment: string | null, actor: string) {
  const given = { person: personOfUid(uid), token: logId, comment, actor };
  const done = (await ctx.db.move('release_task', given, { moved })).find(isAnswer);
  if (!done || done.outcome === 'stale') throw stale(done?.current ?? null);
  return { logId: done.log_id, releasedAt: done.released_at.toISOString() };
}

/** Dispatches, completions and returns, oldest first (S4.8). */
export function log({ db }: Context, { uid, taskId, from = '-infinity', after }: DispatchLogFilter, limit: number) {
  const person = uid === undefined ? undefined : personOfUid(uid);
  const position = { afterMicros: after?.micros, afterItem: after?.itemId, afterSeq: after?.seq };
  return db.lists.run('dispatch_log', { person, taskId, from, ...position, limit });
}

/** Reasons for an empty pull by precedence: the client's own choice first. */
const REASONS = ['excluded', 'taken', 'done', 'passed', 'notYet', 'tooOld'] as const;

const isMoved = <T extends { outcome: string }>(
  row: T,
): row is Extract<T, { outcome: 'dispatched' | 'completed' | 'released' | 'advanced' }> =>
  ['dispatched', 'completed', 'released', 'advanced'].includes(row.outcome);

/** Not an occurrence that time changed before the calls were answered. */
const isAnswer = <T extends { outcome: string }>(row: T): row is Exclude<T, { outcome: 'advanced' }> =>
  row.outcome !== 'advanced';

function rejection(done: Extract<Completed, { outcome: 'settled' | 'stale' }>): Problem {
  if (done.outcome === 'settled') {
    const at = done.completed_at.toISOString();
    const fields = { holder: null, endedAt: at, reason: 'settled' };
    return new Problem('lease_lost', `it was completed at ${at}, with another result`, fields);
  }
  return stale(done.current);
}

function stale(current: string | null): Problem {
  const now = current === null ? 'nothing is with this client now' : `the current one is ${current}`;
  return new Problem('stale_log_id', `this is not the log id of the client's last dispatch; ${now}`, { current });
}
