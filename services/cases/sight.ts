import type { CaseItem } from '../../contract/items.ts';
import { only, type RowOf } from '../../db/pool.ts';
import { type Claimed, claimReasons, type Looks, type Sight, seemsOpen } from '../../domain/cases.ts';
import { verdictOf } from '../../domain/courts.ts';
import type { Context } from '../shared/service.ts';
import type { Court } from './courts.ts';

/** How a court's cases look to its jurors. */
function looksOf(court: Court): Looks {
  const { deadline_seconds: deadlineSeconds, created_at: courtSince } = court;
  return { judge: (tally) => verdictOf(court, tally, 0), deadlineSeconds, courtSince };
}

/**
 * The relation of a juror, or of a token's holder, to a case, and the settings on which their view of it depends.
 * @returns undefined when there is none
 */
export async function sight(
  ctx: Context,
  { id, queue }: CaseItem,
  who: { juror?: string | null; token?: string },
): Promise<[Sight, Looks] | undefined> {
  const [seen] = await ctx.db.run('case_sight', { ids: [id], ...who });
  if (!seen) return undefined;
  return [seen, looksOf(only(await ctx.db.run('get_court', { name: queue, deleted: true })))];
}

/** Why a claim gives a juror nothing. Gold that they have met counts for as long as it seems to be open. */
export async function whyEmpty(
  ctx: Context,
  court: Court,
  juror: string,
  outcome: Claimed['outcome'],
  { gold, ...found }: RowOf<'case_reasons'>,
) {
  const seen = gold.length === 0 ? [] : await ctx.db.run('case_sight', { ids: gold, juror });
  const looks = looksOf(court);
  const open = seen.filter((one) => seemsOpen(one, one, looks));
  const voted = open.filter(({ option }) => option !== null).length;
  const met = { open: open.length, voted, skipped: open.length - voted };
  return claimReasons(outcome, found, met, court.mode);
}
