import type { CaseItem } from '../../contract/items.ts';
import { caseView, jurorView } from '../../domain/cases.ts';
import { asReviewer } from '../../domain/tickets.ts';
import { sight } from '../../services/cases/cases.ts';
import type { Context } from '../../services/shared/context.ts';
import { Problem } from '../../services/shared/problems.ts';
import { boundTo, type Caller } from '../auth.ts';

type View = ReturnType<typeof caseView>;

/**
 * A case in the answer to a call of its juror. A reviewer's key sees the part that a juror needs, other keys the whole
 * case. Gold cases look like any other case to all of them.
 */
export async function viewForJuror(
  ctx: Context,
  caller: Caller,
  item: CaseItem,
  who: { juror?: string; token?: string },
): Promise<View> {
  const isReviewer = caller.role === 'reviewer';
  if (!isReviewer && item.gold === null) return caseView(item);
  const seen = await sight(ctx, item, { ...who, juror: boundTo(caller) ?? who.juror });
  if (!seen && isReviewer) throw unknown(item.id);
  const view = seen ? jurorView(item, ...seen) : caseView(item);
  return isReviewer ? forReviewer(view) : view;
}

/**
 * A case as the caller may read it at any time: with a juror's own key, one that they hold or have voted on.
 * @throws Problem `not_found`
 */
export async function viewFor(ctx: Context, caller: Caller, item: CaseItem): Promise<View> {
  if (caller.role !== 'reviewer') return caseView(item);
  const seen = await sight(ctx, item, { juror: boundTo(caller) });
  if (!seen || !(seen[0].holds || seen[0].option !== null)) throw unknown(item.id);
  return forReviewer(jurorView(item, ...seen));
}

/** Hides the fields that no decision needs, and those that could reveal gold. */
const forReviewer = (view: View): View => asReviewer({ ...view, parties: [], version: 0 });

// the same as for an id that does not exist, so that guessing ids reveals nothing
const unknown = (id: string) => new Problem('not_found', `there is no case ${id}`);
