import { QueueParam } from '../../contract/common.ts';
import { QueueStats } from '../../contract/queues.ts';
import { queueStatsView } from '../../domain/tickets.ts';
import { endpoint, ok } from '../endpoint.ts';

export const queueStatsEndpoint = endpoint({
  operation: 'getQueueStats',
  method: 'get',
  path: '/v1/queues/{queue}/stats',
  tag: 'Queues',
  summary: 'How many are in which state, exact as of the answer',
  roles: ['producer', 'reviewer', 'agent'],
  params: QueueParam,
  answers: { 200: QueueStats },
  problems: ['not_found'],
  async handle({ api, params: { queue } }) {
    await api.services.queues.find('ticket', queue);
    return ok(queueStatsView(await api.services.queues.stats('ticket', queue)));
  },
});
