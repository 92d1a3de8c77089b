import { FigureFilter, Figures } from '../../contract/figures.ts';
import type { RowOf } from '../../db/pool.ts';
import { queueOfExecutor } from '../../domain/tasks.ts';
import * as samples from '../../services/figures/samples.ts';
import { Problem } from '../../services/shared/problems.ts';
import { endpoint, ok } from '../endpoint.ts';

type Sample = RowOf<'queue_samples'>;

type Count = Exclude<keyof Sample, 'since' | 'until' | 'step' | 'n' | 'known'>;

/** A sum of counts: 0 for a queue without a sample, null for the time before sampling began. */
const count = (sample: Sample, ...fields: Count[]): number | null =>
  sample.known ? fields.reduce((sum, field) => sum + (sample[field] ?? 0), 0) : null;

const ALL = ['delayed', 'ready', 'held', 'buried', 'settled', 'invalidated', 'expired', 'dead'] as const;

/** The increase in each step. */
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
  query: FigureFilter,
  answers: { 200: Figures },
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
        added: rates(...ALL),
        handedOut: hasOneHolder ? rates('granted') : unknown,
        ...{
          settled: rates('settled'),
          invalidated: rates('invalidated'),
          expired: rates('expired'),
          dead: rates('dead'),
        },
        leaseExpiries: hasOneHolder ? rates('lease_expired') : unknown,
        votes: kind === 'case' ? rates('votes') : unknown,
        wasted: kind === 'case' ? rates('wasted') : unknown,
      },
    });
  },
});
