import { expect, test } from 'vitest';
import { claimOne, eventTypes, eventually, repeat } from '../support/client.ts';
import { startTestSystem } from '../support/system.ts';
import { add, addMany, claim, configure, dice, drain, events, ticket, withToken } from '../support/tickets.ts';

const { api } = await startTestSystem({}, { role: 'api' });

const ago = (seconds: number) => new Date(Date.now() - seconds * 1000).toISOString();
const explain = async (queue: string, id: string) =>
  (await api.post(`/v1/queues/${queue}/explain`, { reviewer: 'x', ticket: id })).body;

test('S0.1 a hundred tickets come out by priority, equal ones oldest first', async () => {
  const roll = dice(1);
  await configure(api, 'hundred', { maxHeld: 100 });
  const sent = repeat(100, (n) => ({
    id: `h${n}`,
    priority: [-1000, -7, 0, 3, 1000][roll(5)] as number,
  }));
  await addMany(api, 'hundred', sent);
  const { tickets } = await claim(api, 'hundred', 'r', { count: 100 });
  const wanted = [...sent].sort((a, b) => b.priority - a.priority).map((t) => t.id);
  expect(tickets.map((t: { id: string }) => t.id)).toEqual(wanted);
});

test('S0.1 a ticket moved from elsewhere keeps its age among equals', async () => {
  await add(api, 'moved', { id: 'new' });
  await add(api, 'moved', { id: 'old', createdAt: ago(3600) });
  await add(api, 'moved', { id: 'older', createdAt: ago(7200) });
  expect(await drain(api, 'moved', 3)).toEqual(['older', 'old', 'new']);
});

test('S0.2 a changed priority counts at the very next claim, up and down', async () => {
  for (const id of ['a1', 'a2', 'a3']) await add(api, 'patch', { id });
  expect((await api.patch('/v1/tickets/a3', { priority: 1 })).body).toMatchObject({ id: 'a3', priority: 1 });
  expect((await claimOne(api, 'patch', 'r1')).id).toBe('a3');
  await api.patch('/v1/tickets/a1', { priority: -1 });
  expect((await claimOne(api, 'patch', 'r2')).id).toBe('a2');
  expect(await eventTypes(api, 'a3')).toEqual(['created', 'changed', 'claimed']);
});

test('S0.2 a priority changed while held or delayed counts when the ticket waits again', async () => {
  await add(api, 'patch-held', { id: 'held' });
  const held = await claimOne(api, 'patch-held', 'r1');
  await add(api, 'patch-held', { id: 'other', priority: 2 });
  await add(api, 'patch-held', { id: 'later', delaySeconds: 600 });
  await api.patch('/v1/tickets/held', { priority: 3 });
  expect((await api.patch('/v1/tickets/later', { priority: 9 })).body.state).toBe('delayed');
  await withToken(api, held, 'release');
  expect(await drain(api, 'patch-held', 3)).toEqual(['held', 'other', 'nothing']);
});

test('S0.2 with ageing a long wait overtakes a higher priority, without ageing it never does', async () => {
  for (const queue of ['strict', 'ageing']) {
    await add(api, queue, { id: `${queue}-old`, createdAt: ago(600) });
    await add(api, queue, { id: `${queue}-5`, priority: 5 });
    await add(api, queue, { id: `${queue}-15`, priority: 15 });
  }
  await configure(api, 'ageing', { ageing: { secondsPerLevel: 60 } });
  expect(await drain(api, 'strict', 3)).toEqual(['strict-15', 'strict-5', 'strict-old']);
  expect(await drain(api, 'ageing', 3)).toEqual(['ageing-15', 'ageing-old', 'ageing-5']);
});

test('S0.2 under ageing the order is that of age and priority together', async () => {
  const roll = dice(2);
  await configure(api, 'mixed', { ageing: { secondsPerLevel: 30 }, maxHeld: 100 });
  const sent = repeat(80, (n) => {
    const [age, priority] = [10 + n + roll(3000) * 100, roll(41) - 20];
    return { id: `m${n}`, priority, createdAt: ago(age), worth: age + priority * 30 };
  });
  await addMany(
    api,
    'mixed',
    sent.map(({ worth: _, ...t }) => t),
  );
  const { tickets } = await claim(api, 'mixed', 'r', { count: 80 });
  const worth = tickets.map((t: { id: string }) => sent.find((s) => s.id === t.id)?.worth);
  // two that are worth the same to a few milliseconds may come in either order
  expect(worth).toEqual([...worth].sort((a, b) => b - a));
});

test('S0.2 ageing switched on and off acts at once on what waits', async () => {
  await add(api, 'switch', { id: 's-old', createdAt: ago(600) });
  await add(api, 'switch', { id: 's-5', priority: 5 });
  expect(await explain('switch', 's-old')).toEqual({ offered: true, why: [], ahead: 1 });
  await configure(api, 'switch', { ageing: { secondsPerLevel: 60 } });
  expect((await explain('switch', 's-old')).ahead).toBe(0);
  await configure(api, 'switch', { ageing: { secondsPerLevel: 6000 } });
  expect((await explain('switch', 's-old')).ahead).toBe(1);
  await configure(api, 'switch', { ageing: { secondsPerLevel: 1 } });
  expect((await explain('switch', 's-old')).ahead).toBe(0);
  await configure(api, 'switch', {});
  expect(await drain(api, 'switch', 2)).toEqual(['s-5', 's-old']);
});

test('S0.2 changed settings reach every ticket of a long queue', async () => {
  for (let part = 0; part < 3; part++)
    await addMany(
      api,
      'long',
      repeat(1000, (n) => ({ id: `l${part * 1000 + n}`, priority: 5 })),
    );
  await add(api, 'long', { id: 'l-old', createdAt: ago(86_400) });
  expect((await explain('long', 'l-old')).ahead).toBe(1000);
  await configure(api, 'long', { ageing: { secondsPerLevel: 60 } });
  expect((await explain('long', 'l-old')).ahead).toBe(0);
  await configure(api, 'long', {});
  expect((await explain('long', 'l-old')).ahead).toBe(1000);
});

test('S0.2 a rule raises what has waited long enough, once a step, and says so', async () => {
  const steps = [
    { afterSeconds: 0.2, priority: 5 },
    { afterSeconds: 0.6, priority: 10 },
  ];
  await configure(api, 'steps', { escalations: steps });
  await add(api, 'steps', { id: 'low' });
  await eventually(async () => (await ticket(api, 'low')).priority === 10);
  await add(api, 'steps', { id: 'high', priority: 9 });
  expect(await drain(api, 'steps', 2)).toEqual(['low', 'high']);
  const raised = (await events(api, 'low')).filter((e) => e.type === 'escalated');
  expect(raised.map((e) => [e.actor, e.data])).toEqual([
    ['system', { from: 0, to: 5 }],
    ['system', { from: 5, to: 10 }],
  ]);
});

test('S0.2 a rule never lowers, and acts at once on what has waited long enough already', async () => {
  await add(api, 'rule', { id: 'proud', priority: 900, createdAt: ago(100) });
  await add(api, 'rule', { id: 'plain', createdAt: ago(100) });
  await add(api, 'rule', { id: 'fresh', priority: 10 });
  await configure(api, 'rule', { escalations: [{ afterSeconds: 60, priority: 50 }] });
  await eventually(async () => (await ticket(api, 'plain')).priority === 50);
  expect((await ticket(api, 'proud')).priority).toBe(900);
  expect(await drain(api, 'rule', 3)).toEqual(['proud', 'plain', 'fresh']);
  expect(await eventTypes(api, 'proud')).toEqual(['created', 'claimed']);
});

test.each([
  [true, 'back'],
  [false, 'urgent'],
])('S0.2 reclaimedFirst=%s: after an expired lease the next claim gets %s', async (reclaimedFirst, wanted) => {
  const queue = `reclaim-${reclaimedFirst}`;
  await configure(api, queue, { leaseSeconds: 0.3, reclaimedFirst });
  await add(api, queue, { id: `${queue}-back` });
  await claimOne(api, queue, 'late');
  await add(api, queue, { id: `${queue}-urgent`, priority: 1000 });
  await eventually(async () => (await ticket(api, `${queue}-back`)).state === 'waiting');
  expect((await claimOne(api, queue, 'next')).id).toBe(`${queue}-${wanted}`);
});

test('S0.2 what is given back or reclaimed keeps its place', async () => {
  await configure(api, 'place', { leaseSeconds: 0.3 });
  for (const id of ['k1', 'k2', 'k3']) await add(api, 'place', { id });
  const k1 = await claimOne(api, 'place', 'r1');
  expect((await withToken(api, k1, 'release')).body.state).toBe('waiting');
  expect((await explain('place', 'k1')).ahead).toBe(0);
  expect((await claimOne(api, 'place', 'r2')).id).toBe('k1');
  await eventually(async () => (await ticket(api, 'k1')).state === 'waiting');
  expect((await explain('place', 'k1')).ahead).toBe(0);
  const again = await claimOne(api, 'place', 'r3');
  await withToken(api, again, 'release', { delaySeconds: 0.2 });
  expect((await ticket(api, again.id)).state).toBe('delayed');
  await eventually(async () => (await ticket(api, again.id)).state === 'waiting');
  await configure(api, 'place', {});
  expect(await drain(api, 'place', 3)).toEqual(['k1', 'k2', 'k3']);
});
