import { ClientParam, CompleteTask, CompleteTaskAnswer } from '../../contract/tasks.ts';
import { personOfUid } from '../../domain/tasks.ts';
import { Problem } from '../../services/problems.ts';
import { contentHash } from '../../services/tokens.ts';
import { personOf } from '../auth.ts';
import { endpoint, ok } from '../endpoint.ts';

export const completeTaskEndpoint = endpoint({
  method: 'post',
  path: '/v1/clients/{uid}/complete',
  tag: 'Tasks',
  summary: 'Complete the last task that I was given, by its log id',
  roles: ['reviewer', 'agent'],
  params: ClientParam,
  body: CompleteTask,
  answers: { 200: CompleteTaskAnswer },
  problems: ['stale_log_id', 'lease_lost'],
  async handle({ api, caller, params, body: { logId, result = null } }) {
    const person = personOfUid(personOf(caller, params.uid, 'uid'));
    const done = await api.services.tasks.complete({ person, token: logId, result, hash: contentHash(result) });
    if (done.outcome === 'completed' || done.outcome === 'repeated')
      return ok({ logId, completedAt: done.completed_at.toISOString() });
    if (done.outcome === 'settled') {
      const at = done.completed_at.toISOString();
      throw new Problem('lease_lost', `it was completed at ${at}, with another result`, {
        ...{ holder: null, endedAt: at, reason: 'settled' },
      });
    }
    const { current } = done;
    const now = current === null ? 'nothing is with this client now' : `the current one is ${current}`;
    throw new Problem('stale_log_id', `this is not the log id of the client's last dispatch; ${now}`, { current });
  },
});
