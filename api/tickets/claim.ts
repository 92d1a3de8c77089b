import { z } from '@hono/zod-openapi';
import { ExplainWho, ExplainWhoAnswer } from '../../contract/reviewers.ts';
import { UnsuggestedFilter } from '../../contract/suggestions.ts';
import { Claim, ClaimAnswer, ClaimFrom, Explain, ExplainAnswer, Ticket } from '../../contract/tickets.ts';
import { handedView, ticketView } from '../../domain/tickets.ts';
import type { Gone } from '../../runtime/waiting.ts';
import * as queues from '../../services/items/queues.ts';
import type { Context } from '../../services/shared/service.ts';
import { withDrafts } from '../../services/tickets/drafts.ts';
import * as suggestions from '../../services/tickets/suggestions.ts';
import * as tickets from '../../services/tickets/tickets.ts';
import { boundTo, type Caller, personOf } from '../auth.ts';
import { endpoint, ok } from '../endpoint.ts';
import { knownQueue, queueByName } from '../views.ts';
import { withSuggestions } from './suggestions.ts';

export const claimTicketsEndpoint = endpoint('claimTickets', 'POST /v1/queues/{queue}/claim', {
  ...knownQueue,
  tag: 'Tickets',
  summary: 'Hand me the next tickets; those I hold come first',
  roles: ['reviewer', 'agent'],
  body: Claim,
  answers: { 200: ClaimAnswer },
  handle: ({ ctx, caller, params: { queue }, body, signal }) =>
    claim(ctx, caller, { ...body, queues: [queue] }, signal),
});

export const claimFromQueues = endpoint('claimFromQueues', 'POST /v1/claim', {
  tag: 'Tickets',
  summary: 'The same over several queues, which are asked in turn',
  roles: ['reviewer', 'agent'],
  scope: { queue: ({ body }) => body.queues },
  body: ClaimFrom,
  answers: { 200: ClaimAnswer },
  problems: ['not_found'],
  handle: ({ ctx, caller, body, signal }) => claim(ctx, caller, { ...body, queues: [...new Set(body.queues)] }, signal),
});

async function claim(ctx: Context, caller: Caller, { reviewer, ...wanted }: z.output<typeof ClaimFrom>, signal: Gone) {
  await checkQueues(ctx, caller, wanted.queues);
  const request = { ...wanted, reviewer: personOf(caller, reviewer), signal };
  const { handed, reasons, retryAfterSeconds } = await tickets.claim(ctx, request);
  const mine = await withDrafts(ctx, handed, request.reviewer);
  const views = mine.map(({ item, token, isNew, draft }) => handedView(item, token, !isNew, draft));
  const shown = await withSuggestions(ctx, views, request.reviewer);
  return ok({ tickets: shown, reasons, retryAfterSeconds });
}

/** An administrator may wait for a queue's first ticket. @throws Problem `not_found` */
async function checkQueues(ctx: Context, { role }: Caller, names: string[]): Promise<void> {
  if (role !== 'admin') await queues.checkThere(ctx, 'ticket', names);
}

export const explain = endpoint('explainClaim', 'POST /v1/queues/{queue}/explain', {
  ...knownQueue,
  tag: 'Tickets',
  summary: 'Explain why a claim gets nothing, or whether it would get a ticket and how many go before it',
  roles: ['producer', 'reviewer', 'agent', 'supervisor'],
  scope: {
    ...queueByName.scope,
    item: ({ body: { ticket } }) => (ticket === undefined ? undefined : ['ticket', ticket]),
  },
  body: Explain,
  answers: { 200: ExplainAnswer },
  async handle({ ctx, caller, params: { queue }, body: { reviewer, skills, ticket } }) {
    await checkQueues(ctx, caller, [queue]);
    return ok(await tickets.explain(ctx, queue, personOf(caller, reviewer), skills, ticket, boundTo(caller)));
  },
});

export const explainWho = endpoint('explainWho', 'GET /v1/explain/who', {
  tag: 'Tickets',
  summary: 'Who of the register could take a ticket now, and why the others could not',
  roles: ['supervisor'],
  scope: { item: ({ query: { ticket } }) => ['ticket', ticket] },
  query: ExplainWho,
  answers: { 200: ExplainWhoAnswer },
  problems: ['not_found'],
  handle: async ({ ctx, query: { ticket } }) => ok(await tickets.explainWho(ctx, ticket)),
});

export const listUnsuggested = endpoint('listUnsuggested', 'GET /v1/queues/{queue}/unsuggested', {
  ...knownQueue,
  summary: "A model's work list: tickets that wait or are held and have no suggestion of it, in order of rank",
  roles: ['model'],
  query: UnsuggestedFilter,
  answers: { 200: z.object({ items: z.array(Ticket) }).openapi('UnsuggestedTickets') },
  async handle({ ctx, caller, params: { queue }, query, signal }) {
    await checkQueues(ctx, caller, [queue]);
    const model = personOf(caller, query.model, 'model');
    const rows = await suggestions.unsuggested(ctx, { ...query, queue, model, signal });
    return ok({ items: rows.map((item) => ticketView(item)) });
  },
});
