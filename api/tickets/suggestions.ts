import { z } from '@hono/zod-openapi';
import { NewSuggestion, Suggestion, UnsuggestedFilter } from '../../contract/suggestions.ts';
import { Ticket } from '../../contract/tickets.ts';
import { ticketView } from '../../domain/tickets.ts';
import * as suggestions from '../../services/tickets/suggestions.ts';
import { personOf } from '../auth.ts';
import { answer, endpoint, ok } from '../endpoint.ts';
import { queueByName, ticketById } from '../resources.ts';
import { checkNames } from '../scopes.ts';
import { checkQueues } from './claim.ts';
import { suggestionView } from './suggested.ts';

export const addSuggestion = endpoint('addTicketSuggestion', 'POST /v1/tickets/{id}/suggestions', {
  ...ticketById,
  summary: 'Suggest a decision, as a model: one for each ticket; what becomes of it is a setting of the queue',
  roles: ['model'],
  body: NewSuggestion,
  answers: { 200: Suggestion, 201: Suggestion },
  problems: ['not_found', 'not_open', 'changed', 'id_conflict', 'erased'],
  async handle({ ctx, caller, params: { id }, body: { model, ...body } }) {
    const { row, created } = await suggestions.add(ctx, id, personOf(caller, model, 'model'), body, (name) =>
      checkNames(caller, [name]),
    );
    return answer(created ? 201 : 200, suggestionView(row));
  },
});

export const listUnsuggested = endpoint('listUnsuggested', 'GET /v1/queues/{queue}/unsuggested', {
  ...queueByName,
  summary: "A model's work list: tickets that wait or are held and have no suggestion of it, in order of rank",
  roles: ['model'],
  query: UnsuggestedFilter,
  answers: { 200: z.object({ items: z.array(Ticket) }).openapi('UnsuggestedTickets') },
  problems: ['not_found'],
  async handle({ ctx, caller, params: { queue }, query, signal }) {
    await checkQueues(ctx, caller, [queue]);
    const model = personOf(caller, query.model, 'model');
    const rows = await suggestions.unsuggested(ctx, { ...query, queue, model, signal });
    return ok({ items: rows.map((item) => ticketView(item)) });
  },
});
