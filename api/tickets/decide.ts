import { Dispute } from '../../contract/gold.ts';
import { AskForLook } from '../../contract/looks.ts';
import { Decide, DecideAnswer, Ticket } from '../../contract/tickets.ts';
import { handedView, ticketView } from '../../domain/tickets.ts';
import { Problem } from '../../services/shared/service.ts';
import { decide } from '../../services/tickets/decisions.ts';
import * as gold from '../../services/tickets/gold.ts';
import * as looks from '../../services/tickets/looks.ts';
import { boundTo, isOperator, personOf } from '../auth.ts';
import { answer, endpoint, ok } from '../endpoint.ts';
import { asSeenBy, ticketById } from '../views.ts';
import { visibleTicket } from './get.ts';
import { withSuggestions } from './suggestions.ts';

export const decideTicket = endpoint('decideTicket', 'POST /v1/tickets/{id}/decide', {
  ...ticketById,
  scope: { queue: ({ body }) => body.queues, ...ticketById.scope },
  summary: 'Decide a ticket that I hold, and get the next one',
  roles: ['reviewer', 'agent'],
  body: Decide,
  answers: { 200: DecideAnswer },
  problems: ['not_found', 'not_open', 'lease_lost', 'changed'],
  async handle({ ctx, caller, params: { id }, body }) {
    const { item, next, synced } = await decide(ctx, { id, subject: boundTo(caller), ...body });
    const views = next ? [asSeenBy(caller, handedView(next.item, next.token, false))] : [];
    const [shown = null] = await withSuggestions(ctx, views, item.ended_by);
    return ok({ ticket: asSeenBy(caller, ticketView(item)), next: shown, synced });
  },
});

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
    // whoever overturns speaks for themselves, an appeal may be passed on
    const own = asked.cause === 'overturn' ? caller.subject : null;
    const person = own ?? by ?? caller.subject ?? caller.actor;
    const { item, created } = await looks.ask(ctx, id, { ...asked, by: person }, caller.actor);
    return answer(created ? 201 : 200, ticketView(item));
  },
});
