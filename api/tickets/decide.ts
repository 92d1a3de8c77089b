import { Decide, DecideAnswer } from '../../contract/tickets.ts';
import { handedView, ticketView } from '../../domain/tickets.ts';
import { decide } from '../../services/tickets/decisions.ts';
import { boundTo } from '../auth.ts';
import { endpoint, ok } from '../endpoint.ts';
import { ticketById } from '../resources.ts';
import { asSeenBy } from '../views.ts';
import { withSuggestions } from './suggested.ts';

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
