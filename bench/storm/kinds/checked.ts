import { setTimeout as sleep } from 'node:timers/promises';
import type { Json } from '../../../test/support/client.ts';
import type { Workload } from '../workload.ts';

const QUEUE = 'checked';
const LEASE_SECONDS = 3;
/** Of a person and UTC day while the storm lasts; then they are lifted, so that everything can be decided. */
export const PER_DAY = 6;
export const VIOLENT_PER_DAY = 1;
/** Two names are one person. */
export const PERSONS: Record<string, string> = Object.fromEntries(
  Array.from({ length: 9 }, (_, n) => [`reviewer-c${n}`, n < 2 ? 'one of two names' : `person-${n}`]),
);

/** Comes when the storm is over: a ticket may have been looked at by everybody else. */
const LAST = 'reviewer-last';

/** Checked work: tickets that are looked at again, by people with quotas, beside a model that decides (B.2). */
export async function checked(w: Workload): Promise<void> {
  const settings = {
    ...{ leaseSeconds: LEASE_SECONDS, maxHeld: 2, callback: w.callback, registered: true },
    ...{ second: { share: 0.3, of: 'all' }, assist: { mode: 'auto', minConfidence: 0.9, share: 0.2 } },
  };
  await w.insist('operator', 'queue.put', {}, `PUT /v1/queues/${QUEUE}`, settings);
  await register(w, { perDay: PER_DAY, exposure: { violent: VIOLENT_PER_DAY } });
  const added: string[] = [];
  const decided: string[] = [];
  w.produce(0.8, () => add(w, added));
  w.produce(0.3, () => suggest(w, w.pick(added)));
  w.produce(0.4, () => appeal(w, w.pick(decided)));
  for (const name of Object.keys(PERSONS)) w.repeat(() => review(w, name, decided));
  let lifted = false;
  w.repeat(async () => {
    if (!w.draining) return false;
    if (!lifted) {
      lifted = true;
      await register(w, {});
      await w.insist('operator', 'reviewer.put', {}, `PUT /v1/reviewers/${LAST}`, {});
    }
    return review(w, LAST, decided);
  });
}

async function register(w: Workload, quota: { perDay?: number; exposure?: Record<string, number> }): Promise<void> {
  for (const [name, person] of Object.entries(PERSONS))
    await w.insist('operator', 'reviewer.put', quota, `PUT /v1/reviewers/${name}`, { person, ...quota });
}

async function add(w: Workload, added: string[]): Promise<void> {
  const id = w.name('k');
  const category = w.chance(0.3) ? 'violent' : null;
  const args = { id, delaySeconds: 0, category };
  await w.insist('producer', 'ticket.add', args, `POST /v1/queues/${QUEUE}/tickets`, { id, category, body: { id } });
  added.push(id);
}

async function suggest(w: Workload, id: string | undefined): Promise<void> {
  if (id === undefined) return;
  const body = { model: 'm', decision: { by: 'm' }, confidence: w.chance(0.5) ? 0.95 : 0.5 };
  await w.insist('model', 'ticket.suggest', { id }, `POST /v1/tickets/${id}/suggestions`, body);
}

async function appeal(w: Workload, id: string | undefined): Promise<void> {
  if (id === undefined) return;
  const body = { cause: 'appeal', by: 'author' };
  // once: sent again when the look has ended it asks for another one, perhaps after everything else has
  await w.call('producer', 'ticket.look', { id }, `POST /v1/tickets/${id}/looks`, body);
}

async function review(w: Workload, reviewer: string, decided: string[]): Promise<boolean> {
  const body = { reviewer, waitSeconds: 1 };
  const claim = await w.call(reviewer, 'ticket.claim', { queue: QUEUE }, `POST /v1/queues/${QUEUE}/claim`, body);
  if (claim.outcome !== 'ok') return false;
  for (let ticket: Json = claim.answer.tickets[0]; ticket?.lease?.token; ) {
    const { id, lease } = ticket;
    ticket = null;
    await sleep(w.roll() * 300);
    // held for too long now and then
    if (!w.draining && w.chance(0.1)) await sleep(LEASE_SECONDS * 1200);
    const call = { token: lease.token, decision: { by: reviewer }, next: w.chance(0.5) };
    const op = await w.insist(reviewer, 'ticket.decide', { id, ...call }, `POST /v1/tickets/${id}/decide`, call);
    if (op.outcome !== 'ok') continue;
    decided.push(id);
    ticket = op.answer.next;
  }
  return claim.answer.tickets.length > 0;
}
