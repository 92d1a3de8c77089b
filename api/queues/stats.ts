import { QueueParam } from '../../contract/common.ts';
import { QueueStats } from '../../contract/queues.ts';
import { TICKET_STATES } from '../../contract/tickets.ts';
import { coreState } from '../../domain/items.ts';
import type { Api } from '../api.ts';
import { endpoint, ok } from '../endpoint.ts';

/** Counts by state, exact as of the answer. */
export async function statsOf(api: Api, queue: string) {
  const { counts, oldest_waiting_seconds, claims_per_minute } = await api.services.queues.stats('ticket', queue);
  const byState = TICKET_STATES.map((word) => [word, counts[coreState('ticket', word) ?? ''] ?? 0]);
  return {
    ...(Object.fromEntries(byState) as Record<(typeof TICKET_STATES)[number], number>),
    oldestWaitingSeconds: oldest_waiting_seconds,
    claimsPerMinute: claims_per_minute,
    leaseExpiries: counts.lease_expired ?? 0,
  };
}

export const queueStatsEndpoint = endpoint({
  method: 'get',
  path: '/v1/queues/{queue}/stats',
  tag: 'Queues',
  summary: 'How many are in which state, exact as of the answer',
  roles: ['producer', 'reviewer', 'agent'],
  params: QueueParam,
  answers: { 200: QueueStats },
  problems: ['not_found'],
  async handle({ api, params: { queue } }) {
    await api.services.queues.find('ticket', queue);
    return ok(await statsOf(api, queue));
  },
});
