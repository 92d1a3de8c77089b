import { PatchTicket, Ticket } from '../../contract/tickets.ts';
import { ticketView } from '../../domain/tickets.ts';
import * as leases from '../../services/tickets/leases.ts';
import { endpoint, ok } from '../endpoint.ts';
import { ticketById } from '../resources.ts';

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
