import { Lateness, LatenessFilter, People, PeopleFilter } from '../../contract/figures.ts';
import type { RowOf } from '../../db/pool.ts';
import * as samples from '../../services/figures/samples.ts';
import { invalid, Problem } from '../../services/shared/problems.ts';
import { personOf } from '../auth.ts';
import { endpoint, ok } from '../endpoint.ts';

/** Upper bounds of the buckets in seconds; the last bucket has none. */
const BOUNDS = [0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 1_800, 3_600, 86_400];

interface Covered {
  since: Date;
  until: Date;
  covered: Date | null;
}

export const time = ({ since, until, covered }: Covered, isCut = false) => ({
  from: since.toISOString(),
  to: until.toISOString(),
  partial: covered !== null || isCut,
  coveredFrom: (covered !== null && covered > since ? covered : since).toISOString(),
});

const reviewer = (r: RowOf<'reviewer_figures'> & { person: string }) => ({
  person: r.person,
  decisions: r.decisions,
  medianHandlingSeconds: rounded(r.median_seconds),
  ...{ skips: r.skips, releases: r.releases, expiries: r.expiries },
});

const juror = (j: RowOf<'juror_figures'> & { person: string }, showsGold: boolean) => ({
  person: j.person,
  ...{ votes: j.votes, wasted: j.wasted },
  medianHandlingSeconds: rounded(j.median_seconds),
  ...{ judged: j.judged, agreed: j.agreed },
  agreement: j.judged === 0 ? null : j.agreed / j.judged,
  ...(showsGold && { gold: { judged: j.gold_judged, agreed: j.gold_agreed } }),
});

export const rounded = (seconds: number | null) => seconds && Math.round(seconds * 1000) / 1000;

const isPerson = <T extends { person: string | null }>(row: T): row is T & { person: string } => row.person !== null;

/** The first persons of a table whose rows all have its time; a table without persons has one row. */
function personsOf<T extends Covered & { person: string | null }>(rows: T[]) {
  const found = rows.filter(isPerson);
  const isCut = found.length > samples.MOST_PERSONS;
  return { ...time(rows[0] as Covered, isCut), persons: found.slice(0, samples.MOST_PERSONS) };
}

export const peopleEndpoint = endpoint('getPeopleFigures', 'GET /v1/figures/people', {
  tag: 'Figures',
  summary: 'Figures of each reviewer of a queue, or juror of a court, over time; reviewers see only their own',
  roles: ['producer', 'agent', 'reviewer', 'supervisor'],
  scope: { queue: ({ query }) => query.queue },
  query: PeopleFilter,
  answers: { 200: People },
  async handle({ ctx, caller, query: { kind, ...query } }) {
    const isReviewer = caller.role === 'reviewer';
    const wanted = { ...query, person: isReviewer ? personOf(caller, query.person) : query.person };
    if (kind === 'ticket') {
      const { persons, ...covered } = personsOf(await samples.reviewers(ctx, { ...wanted, gold: isReviewer }));
      return ok({ ...covered, reviewers: persons.map(reviewer), jurors: [] });
    }
    if (wanted.queue === undefined) throw invalid('queue', 'must name a court');
    const { persons, ...covered } = personsOf(await samples.jurors(ctx, wanted.queue, wanted));
    return ok({ ...covered, reviewers: [], jurors: persons.map((one) => juror(one, !isReviewer)) });
  },
});

export const latenessEndpoint = endpoint('getLateness', 'GET /v1/figures/lateness', {
  tag: 'Figures',
  summary: 'The time from availability to the first hand-out of tickets or jobs',
  roles: ['producer', 'agent', 'consumer', 'supervisor'],
  scope: { queue: ({ query }) => query.queue },
  query: LatenessFilter,
  answers: { 200: Lateness },
  async handle({ ctx, caller, query: { kind, ...query } }) {
    if (caller.role === 'consumer' && kind !== 'job')
      throw new Problem('forbidden', 'a consumer key may see figures of jobs only');
    const found = await samples.lateness(ctx, kind, BOUNDS, query);
    const buckets = found.counts.map((count, n) => ({
      fromSeconds: BOUNDS[n - 1] ?? 0,
      toSeconds: BOUNDS[n] ?? null,
      count,
    }));
    const { p50, p99, max } = found;
    return ok({ ...time(found), handedOut: found.n, p50, p99, max, buckets });
  },
});
