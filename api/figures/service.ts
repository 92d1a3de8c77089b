import { Range, Service } from '../../contract/figures.ts';
import type { RowOf } from '../../db/pool.ts';
import * as samples from '../../services/figures/samples.ts';
import * as queues from '../../services/items/queues.ts';
import { endpoint, ok } from '../endpoint.ts';
import { queueByName } from '../resources.ts';
import { rounded } from './people.ts';

type Row = RowOf<'service_figures'>;

/** A ticket may be decided before it was available, which takes no time. */
function percentiles(seconds: number[] | null) {
  const [p50 = null, p95 = null, p99 = null] = (seconds ?? []).map((s) => rounded(Math.max(0, s)));
  return { p50, p95, p99 };
}

const figures = ({ tickets, kept, first_claim, last_claim, decided }: Row, hasTarget: boolean) => ({
  tickets,
  kept: hasTarget ? kept : null,
  missed: hasTarget ? tickets - kept : null,
  firstClaim: percentiles(first_claim),
  lastClaim: percentiles(last_claim),
  decided: percentiles(decided),
});

export const serviceEndpoint = endpoint('getService', 'GET /v1/queues/{queue}/service', {
  ...queueByName,
  summary:
    'How long the tickets that were decided in a time took, beside the target of the queue, in all and by the hour',
  roles: ['producer', 'agent', 'supervisor'],
  query: Range,
  answers: { 200: Service },
  problems: ['not_found'],
  async handle({ ctx, params: { queue }, query }) {
    const { service_seconds: target, adaptive_seconds, lease_seconds } = await queues.find(ctx, 'ticket', queue);
    const [all, ...hours] = (await samples.service(ctx, queue, target, query)) as [Row, ...Row[]];
    const shown = (row: Row) => figures(row, target !== null);
    const byHour = hours.map((row) => ({ hour: (row.hour as Date).toISOString(), ...shown(row) }));
    const leaseSeconds = adaptive_seconds ?? lease_seconds;
    const time = { from: all.since.toISOString(), to: all.until.toISOString() };
    return ok({ ...time, target, ...shown(all), leaseSeconds, overdue: all.overdue, byHour });
  },
});
