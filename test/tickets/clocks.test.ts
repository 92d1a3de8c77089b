import { expect, test } from 'vitest';
import { claimOne, eventTypes, eventually, repeat } from '../support/client.ts';
import { startTestSystem, type TestSystem } from '../support/system.ts';
import { add, claim, configure, decide, events, ticket } from '../support/tickets.ts';

// Each clock must be able to do the whole job alone: `on` is the pacemaker with the durable timers
// behind it, `off` leaves everything to the durable timers of the workflows.
const systems: [string, TestSystem][] = [
  ['pacemaker', await startTestSystem({ DOCKET_PACEMAKER: 'on' })],
  ['durable timers alone', await startTestSystem({ DOCKET_PACEMAKER: 'off' })],
];
const SOON = 30_000;

const inState = ({ api }: TestSystem, id: string, state: string) =>
  eventually(async () => (await ticket(api, id)).state === state, SOON);
const at = async ({ api }: TestSystem, id: string, type: string) =>
  (await events(api, id)).filter((e) => e.type === type).map((e) => Date.parse(e.at));

test.each(systems)(
  'S0.7 %s: an overdue ticket goes to somebody else, and the late answer is refused',
  async (_, system) => {
    const { api } = system;
    await configure(api, 'late', { leaseSeconds: 1 });
    await add(api, 'late', { id: 'late' });
    const first = await claimOne(api, 'late', 'anna');
    const second = await claimOne(api, 'late', 'ben', { waitSeconds: 30 });
    expect(second).toMatchObject({ id: 'late', attempts: 2, resumed: false });
    expect(Date.parse(second.lease.grantedAt)).toBeGreaterThanOrEqual(Date.parse(first.lease.expiresAt));
    expect((await decide(api, first)).body).toMatchObject({ code: 'lease_lost', reason: 'expired', holder: 'ben' });
    expect((await decide(api, second)).status).toBe(200);
    expect((await events(api, 'late')).map((e) => [e.type, e.actor])).toEqual([
      ['created', 'anonymous'],
      ['claimed', 'anna'],
      ['reclaimed', 'system'],
      ['claimed', 'ben'],
      ['refused', 'anna'],
      ['decided', 'ben'],
    ]);
  },
);

test.each(systems)('S0.5 %s: a delayed ticket is handed out when it is due and never before', async (_, system) => {
  const { api } = system;
  const made = await add(api, 'delay', { id: 'delay', delaySeconds: 1 });
  expect((await claim(api, 'delay', 'anna')).tickets).toEqual([]);
  const held = await claimOne(api, 'delay', 'anna', { waitSeconds: 30 });
  expect(Date.parse(held.lease.grantedAt)).toBeGreaterThanOrEqual(Date.parse(made.availableAt));
  expect(await eventTypes(api, 'delay')).toEqual(['created', 'available', 'claimed']);
});

test.each(systems)('S0.2 %s: rules raise what waits, each step in its time', async (_, system) => {
  const { api } = system;
  await configure(api, 'rules', {
    escalations: [
      { afterSeconds: 0.5, priority: 5 },
      { afterSeconds: 2, priority: 9 },
    ],
  });
  const made = await add(api, 'rules', { id: 'rules' });
  await eventually(async () => (await ticket(api, 'rules')).priority === 9, SOON);
  const [first, second] = await at(system, 'rules', 'escalated');
  expect(first).toBeGreaterThanOrEqual(Date.parse(made.createdAt) + 500);
  expect(second).toBeGreaterThanOrEqual(Date.parse(made.createdAt) + 2000);
});

test.each(systems)('S0.5 %s: a deadline ends a waiting, a delayed and a held ticket', async (_, system) => {
  const { api } = system;
  const made = await add(api, 'end', { id: 'end-held', deadlineSeconds: 1.5, priority: 1 });
  await add(api, 'end', { id: 'end-waiting', deadlineSeconds: 1.5 });
  await add(api, 'end', { id: 'end-delayed', deadlineSeconds: 1.5, delaySeconds: 600 });
  const held = await claimOne(api, 'end', 'anna');
  expect(held.id).toBe('end-held');
  for (const id of ['end-held', 'end-waiting', 'end-delayed']) {
    await inState(system, id, 'expired');
    expect((await at(system, id, 'expired'))[0]).toBeGreaterThanOrEqual(Date.parse(made.deadlineAt));
  }
  expect((await decide(api, held)).body).toMatchObject({ code: 'not_open', state: 'expired' });
  expect((await claim(api, 'end', 'anna')).tickets).toEqual([]);
});

test.each(systems)('S0.7 %s: a lease renewed again and again outlives many lease times', async (_, system) => {
  const { api } = system;
  await configure(api, 'renew', { leaseSeconds: 1 });
  await add(api, 'renew', { id: 'renew' });
  const held = await claimOne(api, 'renew', 'anna');
  const until = Date.parse(held.lease.expiresAt) + 3000;
  await eventually(async () => {
    const { status } = await api.post('/v1/tickets/renew/renew', { token: held.lease.token });
    if (status !== 200) throw new Error(`renew: ${status}`);
    return Date.now() > until;
  });
  expect(await eventTypes(api, 'renew')).toEqual(['created', 'claimed']);
  await inState(system, 'renew', 'waiting');
  expect(await eventTypes(api, 'renew')).toEqual(['created', 'claimed', 'reclaimed']);
});

test.each(systems)('S0.5 %s: the last of maxAttempts leases to run out makes a ticket dead', async (_, system) => {
  const { api } = system;
  await configure(api, 'dead', { leaseSeconds: 0.5, maxAttempts: 2 });
  await add(api, 'dead', { id: 'dead' });
  for (const reviewer of ['anna', 'ben']) await claimOne(api, 'dead', reviewer, { waitSeconds: 30 });
  await inState(system, 'dead', 'dead');
  expect(await eventTypes(api, 'dead')).toEqual(['created', 'claimed', 'reclaimed', 'claimed', 'dead']);
});

test.each(systems)('S0.9 %s: a hundred due together are all handed out', async (_, system) => {
  const { api } = system;
  const tickets = repeat(100, (n) => ({ id: `herd-${n}`, body: null, delaySeconds: 1 }));
  await configure(api, 'herd', { maxHeld: 30 });
  await api.post('/v1/queues/herd/tickets/batch', { tickets });
  const handed = new Set<string>();
  for (let reviewer = 0; handed.size < 100; ) {
    const answer = await claim(api, 'herd', `r${reviewer}`, { count: 30, waitSeconds: 30 });
    for (const t of answer.tickets) handed.add(t.id);
    if (answer.tickets.length === 0) break;
    if (answer.tickets.every((t: { resumed: boolean }) => t.resumed)) reviewer++;
  }
  expect(handed.size).toBe(100);
});

test('S0.7 a lease and a deadline count also while no clock runs at all', async () => {
  const { api } = await startTestSystem({ DOCKET_PACEMAKER: 'off' }, { role: 'api' });
  await configure(api, 'still', { leaseSeconds: 0.3 });
  await add(api, 'still', { id: 'still-1' });
  await add(api, 'still-2', { id: 'still-2', deadlineSeconds: 0.3 });
  const overdue = await claimOne(api, 'still', 'anna');
  const closed = await claimOne(api, 'still-2', 'anna');
  await eventually(
    async () => Date.now() > Math.max(Date.parse(overdue.lease.expiresAt), Date.parse(closed.deadlineAt)) + 50,
  );
  expect((await decide(api, overdue)).body).toMatchObject({ code: 'lease_lost', reason: 'expired', holder: null });
  expect((await decide(api, closed)).body).toMatchObject({ code: 'not_open', state: 'expired', by: 'system' });
  expect((await claimOne(api, 'still', 'ben')).id).toBe('still-1');
});
