import { Claim, ClaimAnswer, Explain, ExplainAnswer } from '../../contract/tickets.ts';
import { handedView } from '../../domain/tickets.ts';
import * as tickets from '../../services/tickets/tickets.ts';
import { personOf } from '../auth.ts';
import { endpoint, ok } from '../endpoint.ts';
import { queueByName } from '../resources.ts';

export const claimTicketsEndpoint = endpoint('claimTickets', 'POST /v1/queues/{queue}/claim', {
  ...queueByName,
  tag: 'Tickets',
  summary: 'Hand me the next tickets; those I hold come first',
  roles: ['reviewer', 'agent'],
  body: Claim,
  answers: { 200: ClaimAnswer },
  async handle({ ctx, caller, params: { queue }, body, signal }) {
    const { skills, count, waitSeconds } = body;
    const reviewer = personOf(caller, body.reviewer);
    const request = { queue, reviewer, skills, count, waitSeconds, signal };
    const { handed, reasons, retryAfterSeconds } = await tickets.claim(ctx, request);
    const shown = handed.map(({ item, token, isNew }) => handedView(item, token, !isNew));
    return ok({ tickets: shown, reasons, retryAfterSeconds });
  },
});

export const explain = endpoint('explainClaim', 'POST /v1/queues/{queue}/explain', {
  ...queueByName,
  tag: 'Tickets',
  summary: 'Explain why a claim gets nothing, or whether it would get a ticket and how many go before it',
  roles: ['producer', 'reviewer', 'agent'],
  scope: {
    ...queueByName.scope,
    item: ({ body: { ticket } }) => (ticket === undefined ? undefined : ['ticket', ticket]),
  },
  body: Explain,
  answers: { 200: ExplainAnswer },
  problems: ['not_found'],
  async handle({ ctx, caller, params: { queue }, body: { reviewer, skills, ticket } }) {
    return ok(await tickets.explain(ctx, queue, personOf(caller, reviewer), skills, ticket));
  },
});
