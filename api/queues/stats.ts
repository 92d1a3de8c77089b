import { QueueParam } from '../../contract/common.ts';
import { QueueStats } from '../../contract/queues.ts';
import { queueStatsView } from '../../domain/tickets.ts';
import * as queues from '../../services/items/queues.ts';
import { endpoint, ok } from '../endpoint.ts';

export const queueStatsEndpoint = endpoint('getQueueStats', 'GET /v1/queues/{queue}/stats', {
  tag: 'Queues',
  summary: 'How many are in which state, exact as of the answer',
  roles: ['producer', 'reviewer', 'agent'],
  scope: { queue: ({ params }) => params.queue },
  params: QueueParam,
  answers: { 200: QueueStats },
  problems: ['not_found'],
  async handle({ ctx, params: { queue } }) {
    await queues.find(ctx, 'ticket', queue);
    return ok(queueStatsView(await queues.stats(ctx, 'ticket', queue)));
  },
});
