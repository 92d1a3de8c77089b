import { type CaseItem, caseSight } from '../../db/cases.ts';
import { getCourt } from '../../db/courts.ts';
import { caseView, jurorView, type Sight } from '../../domain/cases.ts';
import { verdictOf } from '../../services/courts.ts';
import { Problem } from '../../services/problems.ts';
import type { Api } from '../api.ts';
import { boundTo, type Caller } from '../auth.ts';

/**
 * A case in the answer to its juror's own call. A reviewer's key sees what a juror needs. Other keys are trusted with
 * the whole case, but gold, which has no course of its own, has the looks of another case for them too.
 */
export async function viewForJuror(
  api: Api,
  caller: Caller,
  item: CaseItem,
  who: { juror?: string; token?: string },
): Promise<ReturnType<typeof caseView>> {
  if (caller.role !== 'reviewer' && item.gold === null) return caseView(item);
  const sight = await caseSight(api.runtime.db, item.id, { ...who, juror: boundTo(caller) ?? who.juror });
  if (sight) return asJuror(api, caller, item, sight);
  if (caller.role !== 'reviewer') return caseView(item);
  throw unknown(item.id);
}

/**
 * A case as the caller may read it at any time: of a juror's own key, one that they hold or have voted on.
 * @throws Problem `not_found`
 */
export async function viewFor(api: Api, caller: Caller, item: CaseItem): Promise<ReturnType<typeof caseView>> {
  if (caller.role !== 'reviewer') return caseView(item);
  const sight = await caseSight(api.runtime.db, item.id, { juror: boundTo(caller) });
  if (!sight || !(sight.holds || sight.option !== null)) throw unknown(item.id);
  return asJuror(api, caller, item, sight);
}

// the same as where there is none: whoever guesses ids learns nothing by it
const unknown = (id: string) => new Problem('not_found', `there is no case ${id}`);

async function asJuror(api: Api, caller: Caller, item: CaseItem, sight: Sight): Promise<ReturnType<typeof caseView>> {
  const court = await getCourt(api.runtime.db, item.queue);
  if (!court) throw new Error(`court ${item.queue} is gone`);
  const view = jurorView(item, sight, {
    judge: (tally) => verdictOf(court, tally, 0),
    deadlineSeconds: court.deadline_seconds,
    courtSince: court.created_at,
  });
  // what a juror needs for no decision, and what gold could be recognised by
  return caller.role === 'reviewer' ? { ...view, parties: [], version: 0 } : view;
}
