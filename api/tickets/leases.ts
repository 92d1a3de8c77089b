import { z } from '@hono/zod-openapi';
import { PatchTicket, Release, Renew, Ticket, Transfer } from '../../contract/tickets.ts';
import { ticketView } from '../../domain/tickets.ts';
import { Problem } from '../../services/shared/service.ts';
import * as leases from '../../services/tickets/leases.ts';
import { boundTo, type Caller, isOperator } from '../auth.ts';
import { endpoint, ok } from '../endpoint.ts';
import { ticketById } from '../views.ts';

/** A call without a token is an operator's, which ends the holder's lease. @throws Problem `forbidden` for others */
function attemptOf(caller: Caller, id: string, token: string | undefined) {
  if (token === undefined && !isOperator(caller))
    throw new Problem('forbidden', 'without a token this is for supervisors and administrators');
  return { id, token: token ?? null, subject: boundTo(caller), actor: caller.actor };
}

export const renewTicket = endpoint('renewTicket', 'POST /v1/tickets/{id}/renew', {
  ...ticketById,
  summary: 'A full lease again',
  roles: ['reviewer', 'agent'],
  body: Renew,
  answers: { 200: z.object({ expiresAt: z.string() }) },
  problems: ['not_found', 'not_open', 'lease_lost'],
  async handle({ ctx, caller, params: { id }, body: { token } }) {
    const { expires_at } = await leases.renew(ctx, id, token, boundTo(caller));
    return ok({ expiresAt: expires_at?.toISOString() ?? '' });
  },
});

export const releaseTicket = endpoint('releaseTicket', 'POST /v1/tickets/{id}/release', {
  ...ticketById,
  summary: 'Give a ticket back; skip: never offer it to me again',
  roles: ['reviewer', 'agent', 'supervisor'],
  body: Release,
  answers: { 200: Ticket },
  problems: ['not_found', 'not_open', 'lease_lost'],
  async handle({ ctx, caller, params: { id }, body: { token, ...how } }) {
    return ok(ticketView(await leases.release(ctx, attemptOf(caller, id, token), how)));
  },
});

export const transferTicket = endpoint('transferTicket', 'POST /v1/tickets/{id}/transfer', {
  ...ticketById,
  summary: 'Move an open ticket to another queue; a live lease ends',
  roles: ['reviewer', 'agent', 'supervisor'],
  scope: { queue: ({ body }) => body.queue, ...ticketById.scope },
  body: Transfer,
  answers: { 200: Ticket },
  problems: ['not_found', 'not_open', 'lease_lost'],
  async handle({ ctx, caller, params: { id }, body: { token, queue, reason } }) {
    return ok(ticketView(await leases.transfer(ctx, attemptOf(caller, id, token), queue, reason)));
  },
});

export const patchTicket = endpoint('updateTicket', 'PATCH /v1/tickets/{id}', {
  ...ticketById,
  summary: 'Change an open ticket, also while held; the very next claim sees it',
  roles: ['producer', 'supervisor'],
  body: PatchTicket,
  answers: { 200: Ticket },
  problems: ['not_found', 'not_open'],
  handle: async ({ ctx, caller, params: { id }, body }) =>
    ok(ticketView(await leases.change(ctx, id, body, caller.actor))),
});
