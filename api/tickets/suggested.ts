import type { SuggestionRow } from '../../db/statements.ts';
import type { Context } from '../../services/shared/context.ts';
import * as suggestions from '../../services/tickets/suggestions.ts';

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
