import { AskForLook } from '../../contract/looks.ts';
import { Ticket } from '../../contract/tickets.ts';
import { ticketView } from '../../domain/tickets.ts';
import { Problem } from '../../services/shared/problems.ts';
import * as looks from '../../services/tickets/looks.ts';
import { isOperator } from '../auth.ts';
import { answer, endpoint } from '../endpoint.ts';
import { ticketById } from '../resources.ts';

export const addTicketLook = endpoint('addTicketLook', 'POST /v1/tickets/{id}/looks', {
  ...ticketById,
  summary: 'Ask for a second look at a decision; 200: it is open, or has been decided so, already',
  roles: ['producer', 'supervisor'],
  body: AskForLook,
  answers: { 201: Ticket, 200: Ticket },
  problems: ['not_found', 'not_final', 'window_closed', 'already_open', 'erased'],
  async handle({ ctx, caller, params: { id }, body: { by, ...asked } }) {
    if (asked.cause === 'overturn' && !isOperator(caller))
      throw new Problem('forbidden', 'an overturn is for supervisors and administrators');
    const person = caller.subject ?? by ?? caller.actor;
    const { item, created } = await looks.ask(ctx, id, { ...asked, by: person }, caller.actor);
    return answer(created ? 201 : 200, ticketView(item));
  },
});
