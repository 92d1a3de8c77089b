import { Dispute } from '../../contract/gold.ts';
import { Ticket } from '../../contract/tickets.ts';
import { ticketView } from '../../domain/tickets.ts';
import * as gold from '../../services/tickets/gold.ts';
import { personOf } from '../auth.ts';
import { endpoint, ok } from '../endpoint.ts';
import { ticketById } from '../resources.ts';
import { asSeenBy } from '../views.ts';
import { visibleTicket } from './get.ts';

export const disputeTicket = endpoint('disputeTicket', 'POST /v1/tickets/{id}/dispute', {
  ...ticketById,
  summary: 'Say that a ticket that I decided asks the wrong thing, or has no right answer; once a person',
  roles: ['reviewer', 'agent'],
  body: Dispute,
  answers: { 200: Ticket },
  problems: ['not_found', 'not_final', 'erased'],
  async handle({ ctx, caller, params: { id }, body: { reason, reviewer } }) {
    const person = personOf(caller, reviewer);
    const item = await visibleTicket(ctx, caller, id);
    return ok(asSeenBy(caller, ticketView(await gold.dispute(ctx, item, person, reason))));
  },
});
