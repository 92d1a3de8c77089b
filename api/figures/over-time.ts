import * as contract from '../../contract/figures.ts';
import { SuggestionFigures } from '../../contract/suggestions.ts';
import type { RowOf } from '../../db/pool.ts';
import { FINAL_STATES, OPEN_STATES } from '../../domain/items.ts';
import { queueOfExecutor } from '../../domain/tasks.ts';
import * as samples from '../../services/figures/samples.ts';
import * as queues from '../../services/items/queues.ts';
import { invalid, Problem } from '../../services/shared/service.ts';
import * as suggestions from '../../services/tickets/suggestions.ts';
import { personOf } from '../auth.ts';
import { endpoint, ok } from '../endpoint.ts';
import { knownQueue } from '../views.ts';

type Sample = RowOf<'queue_samples'>;

type Count = Exclude<keyof Sample, 'since' | 'until' | 'step' | 'n' | 'known'>;

/** A sum of counts: 0 for a queue without a sample, null for the time before sampling began. */
const count = (sample: Sample, ...fields: Count[]): number | null =>
  sample.known ? fields.reduce((sum, field) => sum + (sample[field] ?? 0), 0) : null;

function perStep(samples: Sample[], ...fields: Count[]): (number | null)[] {
  const totals = samples.map((sample) => count(sample, ...fields));
  return totals.slice(1).map((after, n) => {
    const before = totals[n] ?? null;
    return after === null || before === null ? null : Math.max(0, after - before);
  });
}

export const figuresEndpoint = endpoint('getFigures', 'GET /v1/figures', {
  tag: 'Figures',
  summary: 'Figures of a queue, topic, court or group over time; sampled once a minute, kept for 30 days',
  roles: ['producer', 'agent', 'consumer', 'supervisor'],
  scope: { queue: ({ query }) => query.queue },
  query: contract.FigureFilter,
  answers: { 200: contract.Figures },
  async handle({ ctx, caller, query: { kind, queue, from, to, step } }) {
    if (caller.role === 'consumer' && kind !== 'job')
      throw new Problem('forbidden', 'a consumer key may see figures of jobs only');
    const name = kind === 'task' && queue !== undefined ? queueOfExecutor(queue) : (queue ?? '');
    const found = await samples.over(ctx, { kind, queue: name, from, to, step });
    const [first] = found as [Sample];
    const levels = (field: Count) => found.slice(1).map((sample) => count(sample, field));
    const rates = (...fields: Count[]) => perStep(found, ...fields);
    const unknown = found.slice(1).map(() => null);
    // leases of cases and tasks, which several may hold at a time, are not counted
    const hasOneHolder = kind === 'ticket' || kind === 'job';
    return ok({
      ...{ kind, queue: queue ?? null },
      from: first.since.toISOString(),
      to: first.until.toISOString(),
      stepSeconds: first.step,
      series: {
        ...{ delayed: levels('delayed'), waiting: levels('ready'), held: levels('held'), buried: levels('buried') },
        oldestWaitingSeconds: found.slice(1).map((s) => s.oldest_seconds && Math.round(s.oldest_seconds)),
        failedDeliveries: levels('failed'),
        added: rates(...OPEN_STATES, ...FINAL_STATES),
        handedOut: hasOneHolder ? rates('granted') : unknown,
        ...{ settled: rates('settled'), invalidated: rates('invalidated') },
        ...{ expired: rates('expired'), dead: rates('dead') },
        leaseExpiries: hasOneHolder ? rates('lease_expired') : unknown,
        votes: kind === 'case' ? rates('votes') : unknown,
        wasted: kind === 'case' ? rates('wasted') : unknown,
      },
    });
  },
});

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
  query: contract.PeopleFilter,
  answers: { 200: contract.People },
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
  query: contract.LatenessFilter,
  answers: { 200: contract.Lateness },
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
  ...knownQueue,
  summary: 'How right each model was, by decision and by confidence, and how much work it saved',
  roles: ['supervisor'],
  query: contract.Range,
  answers: { 200: SuggestionFigures },
  async handle({ ctx, params: { queue }, query }) {
    await queues.find(ctx, 'ticket', queue);
    const rows = await suggestions.figures(ctx, { ...query, queue });
    const [first] = rows as [RowOf<'suggestion_figures'>];
    return ok({ ...time(first), decided: first.decided, items: rows.flatMap(figuresOf) });
  },
});

/** A ticket may be decided before it was available, which takes no time. */
function percentiles(seconds: number[] | null) {
  const [p50 = null, p95 = null, p99 = null] = (seconds ?? []).map((s) => rounded(Math.max(0, s)));
  return { p50, p95, p99 };
}

type ServiceRow = RowOf<'service_figures'>;

const ofHour = ({ tickets, kept, first_claim, last_claim, decided }: ServiceRow, hasTarget: boolean) => ({
  tickets,
  kept: hasTarget ? kept : null,
  missed: hasTarget ? tickets - kept : null,
  firstClaim: percentiles(first_claim),
  lastClaim: percentiles(last_claim),
  decided: percentiles(decided),
});

export const serviceEndpoint = endpoint('getService', 'GET /v1/queues/{queue}/service', {
  ...knownQueue,
  summary:
    'How long the tickets that were decided in a time took, beside the target of the queue, in all and by the hour',
  roles: ['producer', 'agent', 'supervisor'],
  query: contract.Range,
  answers: { 200: contract.Service },
  async handle({ ctx, params: { queue }, query }) {
    const { service_seconds: target, adaptive_seconds, lease_seconds } = await queues.find(ctx, 'ticket', queue);
    const [all, ...hours] = (await samples.service(ctx, queue, target, query)) as [ServiceRow, ...ServiceRow[]];
    const shown = (row: ServiceRow) => ofHour(row, target !== null);
    const byHour = hours.map((row) => ({ hour: (row.hour as Date).toISOString(), ...shown(row) }));
    const leaseSeconds = adaptive_seconds ?? lease_seconds;
    const time = { from: all.since.toISOString(), to: all.until.toISOString() };
    return ok({ ...time, target, ...shown(all), leaseSeconds, overdue: all.overdue, byHour });
  },
});
