import { NewSuggestion, Suggestion } from '../../contract/suggestions.ts';
import type { SuggestionRow } from '../../db/statements.ts';
import type { Context } from '../../services/shared/service.ts';
import * as suggestions from '../../services/tickets/suggestions.ts';
import { personOf } from '../auth.ts';
import { answer, endpoint } from '../endpoint.ts';
import { checkNames } from '../scopes.ts';
import { ticketById } from '../views.ts';

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

type Said = Pick<SuggestionRow, 'model' | 'decision' | 'confidence' | 'reasons'>;
/** Without its time, which would tell gold. */
export const suggestionView = ({ model, decision, confidence, reasons }: Said) => ({
  ...{ model, decision, confidence, reasons },
});

/**
 * Tickets with what models suggest for them, where their queue shows it.
 * @param person who may decide them; null: nobody who does
 */
export async function withSuggestions<T extends { id: string; queue: string }>(
  ctx: Context,
  tickets: T[],
  person: string | null,
): Promise<T[]> {
  const found = await suggestions.shownFor(ctx, tickets, person);
  return tickets.map((ticket) => {
    const row = found.get(ticket.id);
    return row ? { ...ticket, suggestion: suggestionView(row) } : ticket;
  });
}
