import { expect, test } from 'vitest';
import { dice, eventually, type Json, repeat } from '../support/client.ts';
import { startTestSystem } from '../support/system.ts';
import { timersOf } from '../support/timers.ts';
import { ago } from '../support/times.ts';

const { api, running, sql } = await startTestSystem({ DOCKET_PACEMAKER: 'off' });
const { add, addHeld, addMany, claim, claimOne, configure, decide, drain, events, eventTypes, inState } = api.tickets;
const { ticket, withToken } = api.tickets;
const { addCase, court, jurors } = api.cases;

const explain = async (queue: string, id: string) =>
  (await api.post(`/v1/queues/${queue}/explain`, { reviewer: 'x', ticket: id })).body;

test('S0.1 a hundred tickets come out by priority, equal ones oldest first', async () => {
  const roll = dice(1);
  await configure('hundred', { maxHeld: 100 });
  const sent = repeat(100, (n) => ({ id: `h${n}`, priority: [-1000, -7, 0, 3, 1000][roll(5)] as number }));
  await addMany('hundred', sent);
  const { tickets } = await claim('hundred', 'r', { count: 100 });
  const wanted = [...sent].sort((a, b) => b.priority - a.priority).map((t) => t.id);
  expect(tickets.map((t: { id: string }) => t.id)).toEqual(wanted);
});

test('S0.1 a ticket moved from elsewhere keeps its age among equals', async () => {
  await add('moved', { id: 'new' });
  await add('moved', { id: 'old', createdAt: ago(3600) });
  await add('moved', { id: 'older', createdAt: ago(7200) });
  expect(await drain('moved', 3)).toEqual(['older', 'old', 'new']);
});

test('S0.2 a priority changed while held or delayed counts when the ticket waits again', async () => {
  const held = await addHeld('patch-held', 'held', 'r1');
  await add('patch-held', { id: 'other', priority: 2 });
  await add('patch-held', { id: 'later', delaySeconds: 600 });
  await api.patch('/v1/tickets/held', { priority: 3 });
  expect((await api.patch('/v1/tickets/later', { priority: 9 })).body.state).toBe('delayed');
  await withToken(held, 'release');
  expect(await drain('patch-held', 3)).toEqual(['held', 'other', 'nothing']);
});

test('S0.2 under ageing the order is that of age and priority together', async () => {
  const roll = dice(2);
  await configure('mixed', { ageing: { secondsPerLevel: 30 }, maxHeld: 100 });
  const sent = repeat(80, (n) => {
    const [age, priority] = [10 + n + roll(3000) * 100, roll(41) - 20];
    return { id: `m${n}`, priority, createdAt: ago(age), worth: age + priority * 30 };
  });
  await addMany(
    'mixed',
    sent.map(({ worth: _, ...t }) => t),
  );
  const { tickets } = await claim('mixed', 'r', { count: 80 });
  const worth = tickets.map((t: { id: string }) => sent.find((s) => s.id === t.id)?.worth);
  // two that are worth the same to a few milliseconds may come in either order
  expect(worth).toEqual([...worth].sort((a, b) => b - a));
});

test('S0.2 ageing switched on and off acts at once on what waits', async () => {
  await add('switch', { id: 's-old', createdAt: ago(600) });
  await add('switch', { id: 's-5', priority: 5 });
  expect(await explain('switch', 's-old')).toEqual({ offered: true, why: [], ahead: 1 });
  await configure('switch', { ageing: { secondsPerLevel: 60 } });
  expect((await explain('switch', 's-old')).ahead).toBe(0);
  await configure('switch', { ageing: { secondsPerLevel: 6000 } });
  expect((await explain('switch', 's-old')).ahead).toBe(1);
  await configure('switch', { ageing: { secondsPerLevel: 1 } });
  expect((await explain('switch', 's-old')).ahead).toBe(0);
  await add('switch', { id: 's-15', priority: 15 });
  await configure('switch', { ageing: { secondsPerLevel: 60 } });
  expect(await drain('switch', 1)).toEqual(['s-15']);
  await configure('switch', {});
  expect(await drain('switch', 2)).toEqual(['s-5', 's-old']);
});

test.each([
  [true, 'back'],
  [false, 'urgent'],
])('S0.2 reclaimedFirst=%s: after an expired lease the next claim gets %s', async (reclaimedFirst, wanted) => {
  const queue = `reclaim-${reclaimedFirst}`;
  await configure(queue, { leaseSeconds: 0.3, reclaimedFirst });
  await add(queue, { id: `${queue}-back` });
  await claimOne(queue, 'late');
  await add(queue, { id: `${queue}-urgent`, priority: 1000 });
  await inState(`${queue}-back`, 'waiting');
  // a claim passes by what somebody has locked, as another timer may have that came too late to end the lease
  await sql('select from item where id = $1 for update', [`${queue}-back`]);
  expect((await explain(queue, `${queue}-back`)).ahead).toBe(reclaimedFirst ? 0 : 1);
  expect((await claimOne(queue, 'next')).id).toBe(`${queue}-${wanted}`);
});

test('S0.2 what is given back or reclaimed keeps its place', async () => {
  await configure('place', { leaseSeconds: 3 });
  const k1 = await addHeld('place', ['k1', 'k2', 'k3'], 'r1');
  expect((await withToken(k1, 'release')).body.state).toBe('waiting');
  expect((await explain('place', 'k1')).ahead).toBe(0);
  expect((await claimOne('place', 'r2')).id).toBe('k1');
  await inState('k1', 'waiting');
  expect((await explain('place', 'k1')).ahead).toBe(0);
  const again = await claimOne('place', 'r3');
  await withToken(again, 'release', { delaySeconds: 2 });
  expect((await ticket(again.id)).state).toBe('delayed');
  await inState(again.id, 'waiting');
  await configure('place', {});
  expect(await drain('place', 3)).toEqual(['k1', 'k2', 'k3']);
});

const steps = { escalations: [{ afterSeconds: 60, priority: 50 }] };

test('S0.2 the claim after changed escalations goes by them, every time', async () => {
  for (let n = 0; n < 10; n++) {
    const queue = `changed-${n}`;
    await add(queue, { id: `old-${n}`, createdAt: ago(100) });
    await add(queue, { id: `urgent-${n}`, priority: 10 });
    expect((await configure(queue, steps)).escalations).toEqual(steps.escalations);
    expect((await claimOne(queue, 'next')).id).toBe(`old-${n}`);
  }
  expect((await events('old-0')).map((e) => [e.type, e.data])).toContainEqual(['escalated', { from: 0, to: 50 }]);
});

test('S0.2 a ticket moved in with its age stands where its escalations put it at once', async () => {
  await configure('moved-in', steps);
  await add('moved-in', { id: 'urgent', priority: 10 });
  expect(await add('moved-in', { id: 'aged', createdAt: ago(100) })).toMatchObject({ priority: 50 });
  expect(await drain('moved-in', 2)).toEqual(['aged', 'urgent']);
  expect(await eventTypes('aged')).toEqual(['created', 'escalated', 'claimed']);
  expect((await api.post('/v1/queues/moved-in/tickets', { id: 'aged', body: null, createdAt: ago(7) })).status).toBe(
    409,
  );
});

test('S0.2 a ticket transferred with its age stands where the new queue’s escalations put it at once', async () => {
  await configure('target', steps);
  await add('target', { id: 'local', priority: 10 });
  await add('source', { id: 'guest', createdAt: ago(100) });
  const held = await claimOne('source', 'r');
  expect((await withToken(held, 'transfer', { queue: 'target' })).body).toMatchObject({
    state: 'waiting',
    priority: 50,
  });
  expect(await drain('target', 2)).toEqual(['guest', 'local']);
});

test('S0.2 settings put again do not escalate twice, nor lower anything', async () => {
  await add('again', { id: 'again', createdAt: ago(100) });
  await add('again', { id: 'proud', priority: 900, createdAt: ago(100) });
  for (let n = 0; n < 3; n++) await configure('again', { ...steps, ageing: { secondsPerLevel: n + 1 } });
  await configure('again', {});
  expect((await ticket('again')).priority).toBe(50);
  expect(await eventTypes('again')).toEqual(['created', 'escalated']);
  expect((await ticket('proud')).priority).toBe(900);
  expect(await eventTypes('proud')).toEqual(['created']);
  expect(await drain('again', 2)).toEqual(['proud', 'again']);
});

const handle = (id: string) => running.runtime.client.workflow.getHandle(id);

test('S0.9 each timer says what it waits for, and the result how the item ended', async () => {
  await configure('shown', { leaseSeconds: 3_600, deadlineSeconds: 7_200 });
  const shows = (id: string, summary: string) =>
    // behind the workflows of all tickets that came before it
    eventually(async () => (await timersOf(running, `ticket/${id}`)).at(-1) === summary, 60_000);
  await add('shown', { id: 'shown-later', delaySeconds: 3_600 });
  await shows('shown-later', 'its delay ends');
  await add('shown', { id: 'shown' });
  await shows('shown', 'a deadline or an escalation is due');
  const held = await claimOne('shown', 'anna');
  await shows('shown', 'the lease of anna ends, or a deadline before that');
  await decide(held);
  expect(await handle('ticket/shown').result()).toEqual({ state: 'decided', version: expect.any(Number) });
}, 180_000);

test('S2.1 where no juror is free, the timer says what is tried again', async () => {
  await court('nobody', { mode: 'assign', votesToWin: 1, assign: { jurors: 1, answerSeconds: 600 } });
  await jurors('nobody', []);
  await addCase('nobody', { id: 'lonely' });
  await eventually(async () => (await timersOf(running, 'case/lonely')).includes('jurors are asked for again'));
});

test('S0.9 the details begin with the state, and signals and queries are described', async () => {
  await add('described', { id: 'described', delaySeconds: 3_600 });
  const metadata = await eventually(() => handle('ticket/described').query<Json>('__temporal_workflow_metadata'));
  expect(metadata.currentDetails).toMatch(/^\*\*Delayed\*\*.*next wake.*\*\*created\*\* by/s);
  const described = Object.fromEntries(
    [...metadata.definition.signalDefinitions, ...metadata.definition.queryDefinitions].map((d) => [
      d.name,
      d.description,
    ]),
  );
  for (const name of ['invalidate', 'release', 'reprioritize']) expect(described[name]).toMatch(/ Argument: \{".*\}$/);
  expect(described.state).toContain('next wake time');
});

// the last one, as the workflows of so many are started for a while
test('S0.2 escalations that many tickets have reached act on all of them before the answer', async () => {
  const sent = repeat(1_200, (n) => ({ id: `m-${n}`, createdAt: ago(100) }));
  await addMany('many', sent);
  await add('many', { id: 'm-urgent', priority: 49 });
  await configure('many', { ...steps, maxHeld: 1000 });
  const { tickets } = await claim('many', 'r', { count: 100 });
  expect(new Set(tickets.map((t: { priority: number }) => t.priority))).toEqual(new Set([50]));
  expect((await ticket('m-1199')).priority).toBe(50);
});
