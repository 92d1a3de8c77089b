import type { RowOf } from '../../db/pool.ts';
import type { Completed, Completion, Pull, Pulled } from '../../db/tasks.ts';
import { personOfUid } from '../../domain/tasks.ts';
import type { Runtime } from '../../runtime/runtime.ts';
import type { Gone } from '../../runtime/waiting.ts';
import { share } from '../shared/batching.ts';
import { Problem } from '../shared/problems.ts';
import { whileBusy } from '../shared/retry.ts';
import { contentHash, newToken } from '../shared/tokens.ts';

/** Few, because pulls and completions of a group lock the same occurrences, and each waits for the other's statement. */
const MOST_TOGETHER = 32;
const PULL_RETRIES = { tries: 200, stepMs: 1, mostMs: 20 };

interface PullRequest {
  uid: string;
  /** Tasks, or single occurrences, that are not wanted. */
  exclude: string[];
  waitSeconds: number;
  /** Fires when the caller has gone. */
  signal: Gone;
}

/** A dispatch, new or unfinished, or why there is none. */
type Found = Exclude<Pulled, { outcome: 'busy' }>;

export type DispatchLogRow = RowOf<'dispatch_log'>;

interface DispatchLogFilter {
  uid: string | undefined;
  taskId: string | undefined;
  from: string | undefined;
  /** The last line of the page before. */
  after: { micros: number; itemId: string; seq: number } | undefined;
}

/** What clients of tasks do (S4.3–S4.7). Calls that come at the same time share a statement. */
export interface DispatchService {
  /** The client's unfinished dispatch again, or the next one; waits for it if asked to. */
  pull(request: PullRequest): Promise<Found>;
  /**
   * @returns when it was completed
   * @throws Problem `stale_log_id` or `lease_lost`
   */
  complete(uid: string, logId: string, result: unknown): Promise<Date>;
  /** Who was given what, who completed it and what was given back; oldest first. */
  log(filter: DispatchLogFilter, limit: number): Promise<DispatchLogRow[]>;
}

export function dispatchService({ db, waiters, metrics, tracing }: Runtime): DispatchService {
  const counted = (found: Found): Found => {
    if (found.outcome !== 'none') {
      tracing?.saw('task', found.id);
      if (found.outcome === 'dispatched') metrics.handedOut('task', found.queue);
      return found;
    }
    const { queues, reasons } = found.given;
    const reason = REASONS.find((name) => (reasons?.[name] ?? 0) > 0) ?? 'none';
    for (const queue of queues) metrics.empty('task', queue, reason);
    return found;
  };
  const pullTogether = share<Pull, Pulled>(
    async (pulls) => {
      const rows = await db.move('next_tasks', { pulls }, { moved: (all) => all.filter(isMoved) });
      const answers = new Map(rows.flatMap((row) => (row.outcome === 'advanced' ? [] : [[row.person, row]])));
      return pulls.map((pull) => answerOf(answers, pull.person));
    },
    { keys: (pull) => [pull.person], max: MOST_TOGETHER },
  );
  const completeTogether = share<Completion, Completed>(
    async (completions) => {
      const rows = await db.move('complete_tasks', { completions }, { moved: (all) => all.filter(isMoved) });
      const answers = new Map(rows.flatMap((row) => (row.outcome === 'advanced' ? [] : [[row.token, row]])));
      return completions.map((completion) => answerOf(answers, completion.token));
    },
    { keys: (completion) => [completion.token], max: MOST_TOGETHER },
  );
  const look = async (pull: Pull): Promise<Found> => {
    const found = await whileBusy(
      () => pullTogether(pull),
      (one) => one.outcome === 'busy',
      PULL_RETRIES,
    );
    if (found.outcome !== 'busy') return found;
    throw new Problem('unavailable', 'others are at what comes first for this client, try again');
  };
  return {
    async pull({ uid, exclude, waitSeconds: seconds, signal }) {
      const person = personOfUid(uid);
      const pull = { person, uid, exclude, token: newToken(), explain: seconds === 0 };
      if (seconds === 0) return counted(await look(pull));
      // at each executor that the client pulls from: one that becomes a member of a group is woken at its own key, and
      // waits at the group's too from then on
      let keys = [`task/uid_${person}`];
      const found = await waiters.waitFor({ keys: () => keys, seconds, signal }, async () => {
        const one = await look(pull);
        if (one.outcome !== 'none') return one;
        keys = one.given.queues.map((queue) => `task/${queue}`);
        return undefined;
      });
      if (found) return counted(found);
      if (signal.aborted) return { person, outcome: 'none', given: { queues: [] } };
      return counted(await look({ ...pull, explain: true }));
    },
    async complete(uid, logId, result) {
      const completion = { person: personOfUid(uid), token: logId, result, hash: contentHash(result) };
      const done = await completeTogether(completion);
      if (done.outcome === 'completed') tracing?.saw('task', done.id);
      if (done.outcome === 'completed' || done.outcome === 'repeated') return done.completed_at;
      throw rejection(done);
    },
    log({ uid, taskId, from = '-infinity', after }, limit) {
      const person = uid === undefined ? undefined : personOfUid(uid);
      const position = { afterMicros: after?.micros, afterItem: after?.itemId, afterSeq: after?.seq };
      return db.lists.run('dispatch_log', { person, taskId, from, ...position, limit });
    },
  };
}

/** As answers name them, what is about the client's own choice first. */
const REASONS = ['excluded', 'taken', 'done', 'passed', 'notYet'] as const;

const isMoved = <T extends { outcome: string }>(
  row: T,
): row is Extract<T, { outcome: 'dispatched' | 'completed' | 'advanced' }> =>
  row.outcome === 'dispatched' || row.outcome === 'completed' || row.outcome === 'advanced';

function answerOf<A>(answers: Map<string, A>, key: string): A {
  const answer = answers.get(key);
  if (!answer) throw new Error(`no answer for ${key}`);
  return answer;
}

function rejection(done: Extract<Completed, { outcome: 'settled' | 'stale' }>): Problem {
  if (done.outcome === 'settled') {
    const at = done.completed_at.toISOString();
    const fields = { holder: null, endedAt: at, reason: 'settled' };
    return new Problem('lease_lost', `it was completed at ${at}, with another result`, fields);
  }
  const { current } = done;
  const now = current === null ? 'nothing is with this client now' : `the current one is ${current}`;
  return new Problem('stale_log_id', `this is not the log id of the client's last dispatch; ${now}`, { current });
}
