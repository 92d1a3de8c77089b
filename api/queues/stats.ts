import { QueueStats } from '../../contract/queues.ts';
import { queueStatsView } from '../../domain/tickets.ts';
import * as queues from '../../services/items/queues.ts';
import { boundTo } from '../auth.ts';
import { endpoint, ok } from '../endpoint.ts';
import { queueByName } from '../resources.ts';

export const queueStatsEndpoint = endpoint('getQueueStats', 'GET /v1/queues/{queue}/stats', {
  ...queueByName,
  summary: 'Counts by state, exact as of the answer',
  roles: ['producer', 'reviewer', 'agent', 'supervisor'],
  answers: { 200: QueueStats },
  problems: ['not_found'],
  async handle({ ctx, caller, params: { queue } }) {
    await queues.find(ctx, 'ticket', queue);
    return ok(queueStatsView(await queues.stats(ctx, 'ticket', queue, boundTo(caller))));
  },
});
