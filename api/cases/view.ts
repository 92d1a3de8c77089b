import type { CaseItem } from '../../contract/items.ts';
import { caseView, jurorView } from '../../domain/cases.ts';
import { Problem } from '../../services/shared/problems.ts';
import type { Api } from '../api.ts';
import { boundTo, type Caller } from '../auth.ts';

type View = ReturnType<typeof caseView>;

/**
 * A case in the answer to its juror's own call. A reviewer's key sees what a juror needs. Other keys are trusted with
 * the whole case, but gold, which has no course of its own, has the looks of another case for them too.
 */
export async function viewForJuror(
  { services }: Api,
  caller: Caller,
  item: CaseItem,
  who: { juror?: string; token?: string },
): Promise<View> {
  const isReviewer = caller.role === 'reviewer';
  if (!isReviewer && item.gold === null) return caseView(item);
  const seen = await services.cases.sight(item, { ...who, juror: boundTo(caller) ?? who.juror });
  if (!seen && isReviewer) throw unknown(item.id);
  const view = seen ? jurorView(item, ...seen) : caseView(item);
  return isReviewer ? forReviewer(view) : view;
}

/**
 * A case as the caller may read it at any time: with a juror's own key, one that they hold or have voted on.
 * @throws Problem `not_found`
 */
export async function viewFor({ services }: Api, caller: Caller, item: CaseItem): Promise<View> {
  if (caller.role !== 'reviewer') return caseView(item);
  const seen = await services.cases.sight(item, { juror: boundTo(caller) });
  if (!seen || !(seen[0].holds || seen[0].option !== null)) throw unknown(item.id);
  return forReviewer(jurorView(item, ...seen));
}

/** Without what a juror needs for no decision, and what gold could be recognised by. */
const forReviewer = (view: View): View => ({ ...view, parties: [], version: 0 });

// the same as where there is none: a caller who guesses ids learns nothing by it
const unknown = (id: string) => new Problem('not_found', `there is no case ${id}`);
