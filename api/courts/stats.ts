import { CourtStats } from '../../contract/courts.ts';
import type { RowOf } from '../../db/pool.ts';
import { fleissKappa, krippendorffAlpha, type TallyCount } from '../../domain/agreement.ts';
import { stats } from '../../services/cases/courts.ts';
import { endpoint, ok } from '../endpoint.ts';
import { courtByName } from '../resources.ts';

const VOTES = 'votes ';

/** How the votes of ended cases are distributed: `votes {"buyer":9,"seller":2}` counts cases. */
const distributionOf = (counts: Record<string, number>): TallyCount[] =>
  Object.entries(counts)
    .filter(([what]) => what.startsWith(VOTES))
    .map(([what, cases]) => ({ tally: JSON.parse(what.slice(VOTES.length)) as TallyCount['tally'], cases }));

function view({ counts, gold, votes_last_hour, wasted_last_hour }: RowOf<'court_stats'>) {
  const real = (state: string) => (counts[state] ?? 0) - (gold[state] ?? 0);
  const decided = real('settled');
  const hung = real('expired');
  const distribution = distributionOf(counts);
  return {
    open: real('ready'),
    decided,
    hung,
    invalidated: real('invalidated'),
    completionRate: decided + hung === 0 ? null : decided / (decided + hung),
    meanSecondsToDecide: decided === 0 ? null : (counts.decide_ms ?? 0) / decided / 1000,
    votes: counts.votes ?? 0,
    votesLastHour: votes_last_hour,
    wasted: counts.wasted ?? 0,
    wastedLastHour: wasted_last_hour,
    windowHits: counts.window_hits ?? 0,
    kappa: fleissKappa(distribution),
    alpha: krippendorffAlpha(distribution),
  };
}

export const courtStatsEndpoint = endpoint('getCourtStats', 'GET /v1/courts/{court}/stats', {
  ...courtByName,
  summary: 'Figures of a court, exact as of the answer, without gold',
  roles: ['producer', 'agent', 'supervisor'],
  answers: { 200: CourtStats },
  handle: async ({ ctx, params: { court } }) => ok(view(await stats(ctx, court))),
});
