import { expect, test } from 'vitest';
import { eventually, type Json, repeat } from '../support/client.ts';
import { startTestSystem } from '../support/system.ts';
import { msBetween } from '../support/times.ts';

// Each clock must be able to do the whole job alone: `on` is the pacemaker with the durable timers
// behind it, `off` leaves everything to the durable timers of the workflows.
const clocked = async (pacemaker: string) => (await startTestSystem({ DOCKET_PACEMAKER: pacemaker })).api.tickets;
const systems = [
  ['pacemaker', await clocked('on')],
  ['durable timers alone', await clocked('off')],
] as const;
type Tickets = Awaited<ReturnType<typeof clocked>>;
const SOON = 30_000;

const expectOrder = (first: string, second: string) => expect(msBetween(first, second)).toBeGreaterThanOrEqual(0);
const at = async (on: Tickets, id: string, type: string): Promise<string[]> =>
  (await on.events(id)).filter((e) => e.type === type).map((e) => e.at);

test.concurrent.each(systems)(
  'S0.7 %s: an overdue ticket goes to somebody else, and the late answer is refused',
  async (_, on) => {
    await on.configure('late', { leaseSeconds: 1 });
    const first = await on.addHeld('late', 'late');
    await on.configure('late', {});
    const second = await on.claimOne('late', 'ben', { waitSeconds: 30 });
    expect(second).toMatchObject({ id: 'late', attempts: 2, resumed: false });
    expect(second.lease.token).not.toBe(first.lease.token);
    expectOrder(first.lease.expiresAt, second.lease.grantedAt);
    const late = await on.decide(first);
    expect(late).toMatchObject({ status: 409, body: { code: 'lease_lost', reason: 'expired', holder: 'ben' } });
    expectOrder(first.lease.expiresAt, late.body.endedAt);
    const kept = { decision: 'kept', decidedBy: 'ben', attempts: 2 };
    expect(await on.decide(second, 'kept')).toMatchObject({ status: 200, body: { ticket: kept } });
    // the log has one refusal of a lease
    await on.decide(first);
    expect(await on.history('late')).toEqual([
      ...['created by anonymous', 'claimed by anna', 'reclaimed by system', 'claimed by ben'],
      ...['refused by anna', 'decided by ben'],
    ]);
  },
);

test.concurrent.each(systems)(
  'S0.5 %s: a delayed ticket is handed out when it is due and never before',
  async (_, on) => {
    const made = await on.add('delay', { id: 'delay', delaySeconds: 2 });
    expect((await on.claim('delay', 'anna')).tickets).toEqual([]);
    const held = await on.claimOne('delay', 'anna', { waitSeconds: 30 });
    expectOrder(made.availableAt, held.lease.grantedAt);
    expect(await on.eventTypes('delay')).toEqual(['created', 'available', 'claimed']);
  },
);

test.concurrent.each(systems)('S0.2 %s: rules raise what waits, each step in its time', async (_, on) => {
  const escalations = [0.5, 2].map((afterSeconds, n) => ({ afterSeconds, priority: 5 + 5 * n }));
  await on.configure('rules', { escalations });
  const made = await on.add('rules', { id: 'low' });
  await eventually(async () => (await on.ticket('low')).priority === 10, SOON);
  await on.add('rules', { id: 'high', priority: 9 });
  expect(await on.drain('rules', 2)).toEqual(['low', 'high']);
  const raised = (await on.events('low')).filter((e) => e.type === 'escalated');
  // on a busy machine one step may take both
  expect(raised.map((e) => e.data.to)).toEqual(raised.length === 1 ? [10] : [5, 10]);
  for (const { actor, at, data } of raised) {
    expect(actor).toBe('system');
    expect(msBetween(made.createdAt, at)).toBeGreaterThanOrEqual(data.to === 10 ? 2_000 : 500);
  }
});

test.concurrent.each(systems)(
  'S0.5 %s: a ticket beyond its target says so once, waiting, held and delayed again',
  async (_, on) => {
    await on.configure('target', { serviceSeconds: 4, maxHeld: 2 });
    await on.withToken(await on.addHeld('target', 'target-again'), 'release', { delaySeconds: 600 });
    const made = await on.addHeld('target', 'target-held');
    await on.add('target', { id: 'target-over' });
    await on.decide(await on.claimOne('target', 'ben'));
    await on.add('target', { id: 'target-waiting' });
    await on.add('target', { id: 'target-later', delaySeconds: 600 });
    const states = { held: 'held', again: 'delayed', waiting: 'waiting' };
    for (const [id, state] of Object.entries(states)) {
      await eventually(async () => (await at(on, `target-${id}`, 'overdue')).length > 0, SOON);
      const found = await on.ticket(`target-${id}`);
      expect(found.state).toBe(state);
      expect(msBetween(found.createdAt, (await at(on, found.id, 'overdue'))[0] ?? '')).toBeGreaterThanOrEqual(4_000);
    }
    // what comes later changes nothing of it
    await on.configure('target', { serviceSeconds: 1, maxHeld: 2 });
    expect(await on.decide(made)).toMatchObject({ status: 200 });
    for (const id of Object.keys(states)) expect(await at(on, `target-${id}`, 'overdue')).toHaveLength(1);
    for (const id of ['later', 'over']) expect(await at(on, `target-${id}`, 'overdue')).toEqual([]);
  },
);

test.concurrent.each(systems)('S0.5 %s: a deadline ends a waiting, a delayed and a held ticket', async (_, on) => {
  const made = await on.add('end', { id: 'end-held', deadlineSeconds: 4, priority: 1 });
  await on.add('end', { id: 'end-waiting', deadlineSeconds: 4 });
  await on.add('end', { id: 'end-delayed', deadlineSeconds: 4, delaySeconds: 600 });
  const held = await on.claimOne('end', 'anna');
  expect(held.id).toBe('end-held');
  for (const id of ['end-held', 'end-waiting', 'end-delayed']) {
    await on.inState(id, 'expired', SOON);
    expectOrder(made.deadlineAt, (await at(on, id, 'expired'))[0] ?? '');
  }
  const body = { code: 'not_open', state: 'expired', by: 'system' };
  expect(await on.decide(held)).toMatchObject({ status: 409, body });
  expect((await on.claim('end', 'anna')).tickets).toEqual([]);
  expect(await on.eventTypes('end-held')).toEqual(['created', 'claimed', 'expired', 'refused']);
  expect(await on.eventTypes('end-waiting')).toEqual(['created', 'expired']);
});

test.concurrent.each(systems)('S0.7 %s: a lease renewed again and again outlives many lease times', async (_, on) => {
  await on.configure('renew', { leaseSeconds: 2 });
  const held = await on.addHeld('renew', 'renew');
  let last = held.lease.expiresAt;
  const until = Date.parse(last) + 5_000;
  await eventually(async () => {
    const { status, body } = await on.withToken(held, 'renew');
    if (status !== 200) throw new Error(`renew: ${status}`);
    expect(body).toEqual({ expiresAt: expect.any(String) });
    expect(body.expiresAt > last).toBe(true);
    last = body.expiresAt;
    return Date.now() > until;
  });
  expect(await on.eventTypes('renew')).toEqual(['created', 'claimed']);
  await on.inState('renew', 'waiting', SOON);
  expect(await on.eventTypes('renew')).toEqual(['created', 'claimed', 'reclaimed']);
});

test.concurrent.each(systems)(
  'S0.5 %s: the last of maxAttempts leases to run out makes a ticket dead',
  async (_, on) => {
    await on.configure('dead', { leaseSeconds: 0.5, maxAttempts: 2 });
    await on.add('dead', { id: 'dead' });
    for (const reviewer of ['anna', 'ben']) await on.claimOne('dead', reviewer, { waitSeconds: 30 });
    await on.inState('dead', 'dead', SOON);
    expect(await on.eventTypes('dead')).toEqual(['created', 'claimed', 'reclaimed', 'claimed', 'dead']);
    expect((await on.claim('dead', 'carl')).tickets).toEqual([]);
    expect(await on.ticket('dead')).toMatchObject({ attempts: 2, lease: null, decision: null });
  },
);

test.concurrent.each(systems)('S0.9 %s: a hundred due together are all handed out', async (_, on) => {
  await on.configure('herd', { maxHeld: 30 });
  const ids = repeat(100, (n) => ({ id: `herd-${n}`, delaySeconds: 1 }));
  await on.addMany('herd', ids);
  const handed = new Set<string>();
  for (let reviewer = 0; handed.size < 100; ) {
    const { tickets } = await on.claim('herd', `r${reviewer}`, { count: 30, waitSeconds: 30 });
    for (const t of tickets) handed.add(t.id);
    if (tickets.length === 0) break;
    if (tickets.every((t: Json) => t.resumed)) reviewer++;
  }
  expect(handed.size).toBe(100);
});

test('S0.7 a lease and a deadline count also while no clock runs at all', async () => {
  const { tickets: on } = (await startTestSystem({ DOCKET_PACEMAKER: 'off' }, { role: 'api' })).api;
  await on.configure('still', { leaseSeconds: 0.3 });
  const overdue = await on.addHeld('still', 'still-1');
  await on.add('still-2', { id: 'still-2', deadlineSeconds: 3 });
  const closed = await on.claimOne('still-2', 'anna');
  const ends = [overdue.lease.expiresAt, closed.deadlineAt].map((time) => Date.parse(time));
  await eventually(async () => Date.now() > Math.max(...ends) + 50);
  expect((await on.decide(overdue)).body).toMatchObject({ code: 'lease_lost', reason: 'expired', holder: null });
  expect((await on.decide(closed)).body).toMatchObject({ code: 'not_open', state: 'expired', by: 'system' });
  expect((await on.claimOne('still', 'ben')).id).toBe('still-1');
});
