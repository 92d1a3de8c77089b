import { type Court, type CourtRow, getCourt, openCases, refreshDone, rejudgeCases } from '../db/courts.ts';
import type { Db } from '../db/pool.ts';
import { type Judgement, judge, orderOf, type Rules, type Tally } from '../domain/courts.ts';

/** What of a court its strategies go by. */
export type Ruled = Pick<CourtRow, 'votes_to_win' | 'panel' | 'quality' | 'decide' | 'pick'>;

export const rulesOf = (court: Ruled): Rules => ({
  votesToWin: court.votes_to_win,
  panel: court.panel,
  quality: court.quality,
});

/** What votes mean in a court, and the place in its order that they give to the case. */
export function verdictOf(court: Ruled, tally: Tally, stage: number): Judgement & { priority: number } {
  const judgement = judge(court.decide, tally, rulesOf(court), stage);
  return { ...judgement, priority: orderOf(court.pick).priority(judgement.votesLeft) };
}

/** The open cases that a court with these rules would decide at once. */
export async function decidable(db: Db, name: string, court: Ruled): Promise<string[]> {
  const ids: string[] = [];
  for await (const batch of openCases(db, name))
    ids.push(...batch.filter((c) => verdictOf(court, c.tally, c.stage).winner !== null).map((c) => c.id));
  return ids;
}

/** Cases in one transaction: a verdict takes longer than a new place among the open ones. */
const AT_ONCE = { decided: 25, open: 1_000 };

/**
 * Judges a court's open cases anew after its settings changed, in batches that each commit, what is decided by them
 * first (S2.8). Safe to repeat and to run twice at once; it ends when the settings change again. A crash in between
 * leaves `refresh_pending` true.
 */
export async function refreshCourt(db: Db, name: string): Promise<void> {
  const court: Court | undefined = await getCourt(db, name);
  if (!court?.refresh_pending) return;
  for (const part of ['decided', 'open'] as const)
    for await (const batch of openCases(db, name)) {
      const found = batch
        .map(({ id, tally, votes, stage }) => ({ id, votes, verdict: verdictOf(court, tally, stage) }))
        .filter(({ verdict }) => (verdict.winner !== null || verdict.hung) === (part === 'decided'));
      for (let at = 0; at < found.length; at += AT_ONCE[part]) {
        if ((await rejudgeCases(db, court, found.slice(at, at + AT_ONCE[part]))) === null) return;
      }
    }
  await refreshDone(db, court);
}
