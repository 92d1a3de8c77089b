import { ClientParam, NextTask, NextTaskAnswer } from '../../contract/tasks.ts';
import type { Pull, Pulled } from '../../db/dispatches.ts';
import { occurrenceOf, personOfUid, taskOf } from '../../domain/tasks.ts';
import { Problem } from '../../services/problems.ts';
import { whileBusy } from '../../services/retry.ts';
import { newToken } from '../../services/tokens.ts';
import type { Api } from '../api.ts';
import { personOf } from '../auth.ts';
import { endpoint, ok } from '../endpoint.ts';

type Found = Exclude<Pulled, { outcome: 'busy' }>;

const PATIENCE = { tries: 200, stepMs: 1, mostMs: 20 };

export const nextTaskEndpoint = endpoint({
  method: 'post',
  path: '/v1/clients/{uid}/next',
  tag: 'Tasks',
  summary: 'My unfinished task again, or the next one that is due for me or my groups',
  roles: ['reviewer', 'agent'],
  params: ClientParam,
  body: NextTask,
  answers: { 200: NextTaskAnswer },
  async handle({ api, caller, params, body: { exclude, waitSeconds }, signal }) {
    const uid = personOf(caller, params.uid, 'uid');
    const pull = { person: personOfUid(uid), uid, exclude, token: newToken(), explain: waitSeconds === 0 };
    const found = waitSeconds === 0 ? await look(api, pull) : await waitFor(api, pull, waitSeconds, signal);
    if (found.outcome === 'none') {
      const { nextAt = null, reasons = null } = found.given;
      return ok({ task: null, logId: null, redo: false, nextAt, reasons });
    }
    // an answer that can't be written to a closed connection is given again, with the same log id, when it is asked for
    const startTime = found.available_at.toISOString();
    const task = { id: taskOf(found.id), occurrence: occurrenceOf(found.id), startTime, params: found.given };
    return ok({ task, logId: found.log_id, redo: found.outcome === 'redo', nextAt: null, reasons: null });
  },
});

/** While another process is just at what comes first for this client, a moment later. */
async function look(api: Api, pull: Pull): Promise<Found> {
  const found = await whileBusy(
    () => api.services.tasks.pull(pull),
    (one) => one.outcome === 'busy',
    PATIENCE,
  );
  if (found.outcome !== 'busy') return found;
  throw new Problem('unavailable', 'others are at what comes first for this client, try again');
}

/**
 * Waits at each executor that the client pulls from. A client that becomes a member of a group meanwhile is woken at its
 * own key, and then waits at the group's too.
 */
async function waitFor(api: Api, pull: Pull, seconds: number, signal: AbortSignal): Promise<Found> {
  let keys = [`task/uid_${pull.person}`];
  const found = await api.runtime.waiters.waitFor({ keys: () => keys, seconds, signal }, async () => {
    const one = await look(api, pull);
    if (one.outcome !== 'none') return one;
    keys = one.given.queues.map((queue) => `task/${queue}`);
    return undefined;
  });
  if (found) return found;
  return signal.aborted
    ? { person: pull.person, outcome: 'none', given: { queues: [] } }
    : look(api, { ...pull, explain: true });
}
