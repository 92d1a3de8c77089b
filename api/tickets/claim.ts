import { QueueParam } from '../../contract/common.ts';
import { Claim, ClaimAnswer } from '../../contract/tickets.ts';
import { personOf } from '../auth.ts';
import { endpoint, ok } from '../endpoint.ts';
import { claimTickets } from './claiming.ts';

export const claimTicketsEndpoint = endpoint({
  method: 'post',
  path: '/v1/queues/{queue}/claim',
  tag: 'Tickets',
  summary: 'Hand me the next tickets; those I hold come first',
  roles: ['reviewer', 'agent'],
  params: QueueParam,
  body: Claim,
  answers: { 200: ClaimAnswer },
  async handle({ api, caller, params, body, signal }) {
    const reviewer = personOf(caller, body.reviewer);
    return ok(await claimTickets(api, { ...body, queue: params.queue, reviewer, signal }));
  },
});
