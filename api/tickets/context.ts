import { DraftFilter } from '../../contract/drafts.ts';
import { TicketContext } from '../../contract/tickets.ts';
import { contextOf } from '../../services/tickets/subjects.ts';
import { boundTo } from '../auth.ts';
import { endpoint, ok } from '../endpoint.ts';
import { ticketById } from '../resources.ts';
import { visibleTicket } from './get.ts';

export const getTicketContext = endpoint('getTicketContext', 'GET /v1/tickets/{id}/context', {
  ...ticketById,
  summary:
    "For its holder: how many other tickets of the subject there are in the key's queues, and the last decisions",
  roles: ['reviewer', 'agent', 'supervisor'],
  query: DraftFilter,
  answers: { 200: TicketContext },
  async handle({ ctx, caller, params: { id }, query: { reviewer } }) {
    const item = await visibleTicket(ctx, caller, id);
    return ok(await contextOf(ctx, item, boundTo(caller) ?? reviewer, caller.queues));
  },
});
