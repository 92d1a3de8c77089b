import { setTimeout as sleep } from 'node:timers/promises';
import type { Json } from '../../../test/support/client.ts';
import type { Workload } from '../workload.ts';

const QUEUES = ['reports', 'appeals', 'images'] as const;
const REVIEWERS = 14;
const LEASE_SECONDS = 3;
/** Still open when the storm is over: these must have their workflows then. */
export const ASLEEP_SECONDS = 7_200;

/** Tickets: added, claimed, decided, given back, held for too long, decided by others meanwhile (S0). */
export async function tickets(w: Workload): Promise<void> {
  const settings = { leaseSeconds: LEASE_SECONDS, maxHeld: 2, callback: w.callback };
  for (const queue of QUEUES) await w.insist('operator', 'queue.put', { queue }, `PUT /v1/queues/${queue}`, settings);
  w.produce(6, () => add(w));
  w.produce(0.6, () => command(w));
  for (let n = 0; n < REVIEWERS; n++) w.repeat(() => review(w, `reviewer-${n}`));
}

async function add(w: Workload): Promise<void> {
  const id = w.name('t');
  const queue = w.pick(QUEUES);
  const delaySeconds = w.chance(0.03) ? ASLEEP_SECONDS : w.chance(0.2) ? w.roll() * 6 : 0;
  const body = { priority: Math.floor(w.roll() * 3), body: { id }, delaySeconds };
  await w.insist('producer', 'ticket.add', { id, delaySeconds }, `POST /v1/queues/${queue}/tickets`, { id, ...body });
}

/** What operators do with tickets that others may hold. */
async function command(w: Workload): Promise<void> {
  const id = w.recent('ticket.add', 60);
  if (id === undefined) return;
  const post = (verb: string, body: Json) =>
    w.insist('operator', `ticket.${verb}`, { id, ...body }, `POST /v1/tickets/${id}/${verb}`, body);
  if (w.chance(0.4)) await post('invalidate', { reason: 'no longer there' });
  else if (w.chance(0.5)) await post('resolve', { decision: { by: 'operator' }, reason: 'decided elsewhere' });
  else await w.insist('operator', 'ticket.patch', { id }, `PATCH /v1/tickets/${id}`, { priority: 9 });
}

async function review(w: Workload, reviewer: string): Promise<boolean> {
  const queue = w.pick(QUEUES);
  const body = { reviewer, count: w.chance(0.3) ? 2 : 1, waitSeconds: 1 };
  const claim = await w.call(reviewer, 'ticket.claim', { queue }, `POST /v1/queues/${queue}/claim`, body);
  if (claim.outcome !== 'ok') return false;
  for (const ticket of claim.answer.tickets) await work(w, reviewer, ticket);
  return claim.answer.tickets.length > 0;
}

async function work(w: Workload, reviewer: string, { id, lease: { token } }: Json): Promise<void> {
  const send = (verb: string, more: Json = {}) =>
    w.insist(reviewer, `ticket.${verb}`, { id, token, ...more }, `POST /v1/tickets/${id}/${verb}`, { token, ...more });
  const decide = () => send('decide', { decision: { by: reviewer }, next: false });
  const path = w.draining ? 0 : w.roll();
  await sleep(w.roll() * 300);
  if (path < 0.65) await decide();
  else if (path < 0.75) await send('release', { delaySeconds: w.chance(0.5) ? 1 : 0 });
  else if (path < 0.85) {
    await send('renew');
    await decide();
  } else {
    // held for too long: by now the token may be dead, and must not count
    await sleep(LEASE_SECONDS * 1000 * (0.8 + w.roll()));
    if (path < 0.95) await decide();
  }
}
