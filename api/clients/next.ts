import { ClientParam, NextTask, NextTaskAnswer } from '../../contract/tasks.ts';
import type { Pull, Pulled } from '../../db/dispatches.ts';
import { occurrenceOf, personOfUid, taskOf } from '../../domain/tasks.ts';
import type { Seat } from '../../runtime/waiters.ts';
import type { Api } from '../../services/services.ts';
import { newToken } from '../../services/tokens.ts';
import { personOf } from '../auth.ts';
import { endpoint, ok } from '../endpoint.ts';
import { whileBusy } from '../patience.ts';
import { Problem } from '../problems.ts';

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
    () => api.clients.pull(pull),
    (one) => one.outcome === 'busy',
    PATIENCE,
  );
  if (found.outcome !== 'busy') return found;
  throw new Problem('unavailable', 'others are at what comes first for this client, try again');
}

/**
 * Takes a place in the line of each executor before it looks, so that nothing that comes in between is missed. Who
 * becomes a member of a group meanwhile is called in his own line, and goes on in that of the group too.
 */
async function waitFor(api: Api, pull: Pull, waitSeconds: number, signal: AbortSignal): Promise<Found> {
  const until = performance.now() + waitSeconds * 1000;
  let lines = [`task/uid_${pull.person}`];
  let seat = api.engine.waiters.takeAny(lines);
  try {
    for (;;) {
      const found = await look(api, pull);
      if (found.outcome !== 'none') {
        seat.pass(true);
        return found;
      }
      const today = found.given.queues.map((queue) => `task/${queue}`);
      if (today.join() !== lines.join()) {
        seat = change(seat, api.engine.waiters.takeAny(today));
        lines = today;
        continue;
      }
      seat.pass(false);
      if (!(await api.engine.load.resting(() => seat.woken(until, signal)))) break;
    }
  } finally {
    seat.leave();
  }
  return signal.aborted
    ? { person: pull.person, outcome: 'none', given: { queues: [] } }
    : look(api, { ...pull, explain: true });
}

function change(from: Seat, to: Seat): Seat {
  from.leave();
  return to;
}
