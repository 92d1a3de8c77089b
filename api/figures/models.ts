import { SuggestionFigures, SuggestionFilter } from '../../contract/suggestions.ts';
import type { RowOf } from '../../db/pool.ts';
import * as queues from '../../services/items/queues.ts';
import * as suggestions from '../../services/tickets/suggestions.ts';
import { endpoint, ok } from '../endpoint.ts';
import { queueByName } from '../resources.ts';
import { time } from './people.ts';

const BINS = 10;
const share = (n: number, of: number) => (of === 0 ? null : n / of);

const figuresOf = (row: RowOf<'suggestion_figures'>) =>
  row.model === null || row.mode === null
    ? []
    : {
        ...{ model: row.model, mode: row.mode, suggested: row.suggested, shown: row.shown, automated: row.automated },
        ...{ saved: share(row.automated, row.decided), judged: row.judged, right: row.agreed },
        ...{ agreement: share(row.agreed, row.judged), agreements: row.agreements },
        ...{ looked: row.looked, overturned: row.overturned, overturnedShare: share(row.overturned, row.looked) },
        bins: row.bins.map((bin, n) => ({ from: n / BINS, to: (n + 1) / BINS, ...bin })),
      };

export const suggestionFigures = endpoint('getSuggestionFigures', 'GET /v1/queues/{queue}/suggestions/figures', {
  ...queueByName,
  summary: 'How right each model was, by decision and by confidence, and how much work it saved',
  roles: ['supervisor'],
  query: SuggestionFilter,
  answers: { 200: SuggestionFigures },
  problems: ['not_found'],
  async handle({ ctx, params: { queue }, query }) {
    await queues.find(ctx, 'ticket', queue);
    const rows = await suggestions.figures(ctx, { ...query, queue });
    const [first] = rows as [RowOf<'suggestion_figures'>];
    return ok({ ...time(first), decided: first.decided, items: rows.flatMap(figuresOf) });
  },
});
