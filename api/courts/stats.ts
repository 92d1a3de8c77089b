import { CourtParam, CourtStats } from '../../contract/courts.ts';
import { type CourtCounts, courtStats } from '../../db/courts.ts';
import { type Fallen, fleissKappa, krippendorffAlpha } from '../../domain/agreement.ts';
import { endpoint, ok } from '../endpoint.ts';
import { findCourt } from './settings.ts';

const FALLEN = 'votes ';

/** How the votes of ended cases fell: `votes {"buyer":9,"seller":2}` counts cases. */
const fallenOf = (counts: Record<string, number>): Fallen[] =>
  Object.entries(counts)
    .filter(([what]) => what.startsWith(FALLEN))
    .map(([what, cases]) => ({ tally: JSON.parse(what.slice(FALLEN.length)) as Fallen['tally'], cases }));

function view({ counts, gold, votes_last_hour, wasted_last_hour }: CourtCounts) {
  const real = (state: string) => (counts[state] ?? 0) - (gold[state] ?? 0);
  const decided = real('settled');
  const hung = real('expired');
  const fallen = fallenOf(counts);
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
    kappa: fleissKappa(fallen),
    alpha: krippendorffAlpha(fallen),
  };
}

export const courtStatsEndpoint = endpoint({
  method: 'get',
  path: '/v1/courts/{court}/stats',
  tag: 'Courts',
  summary: 'How the court does; counts are exact as of the answer, gold is in none of them',
  roles: ['producer', 'agent'],
  params: CourtParam,
  answers: { 200: CourtStats },
  problems: ['not_found'],
  async handle({ api, params: { court } }) {
    await findCourt(api, court);
    return ok(view(await courtStats(api.runtime.db.lists, court)));
  },
});
