import { IdParam } from '../../contract/common.ts';
import { PatchTicket, Ticket } from '../../contract/tickets.ts';
import { ticketView } from '../../domain/tickets.ts';
import * as leases from '../../services/tickets/leases.ts';
import { endpoint, ok } from '../endpoint.ts';

export const patchTicket = endpoint('updateTicket', 'PATCH /v1/tickets/{id}', {
  tag: 'Tickets',
  summary: 'Change an open ticket, also while held; the very next claim sees it',
  roles: ['producer'],
  scope: { item: ({ params }) => ['ticket', params.id] },
  params: IdParam,
  body: PatchTicket,
  answers: { 200: Ticket },
  problems: ['not_found', 'not_open'],
  handle: async ({ ctx, caller, params: { id }, body }) =>
    ok(ticketView(await leases.change(ctx, id, body, caller.actor))),
});
