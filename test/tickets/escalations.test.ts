import { expect, test } from 'vitest';
import { claimOne, eventTypes } from '../support/client.ts';
import { startTestSystem } from '../support/system.ts';
import { add, addMany, claim, configure, drain, events, ticket, withToken } from '../support/tickets.ts';

// without the pacemaker nothing comes to help between an answer and the next claim
const { api } = await startTestSystem({ DOCKET_PACEMAKER: 'off' });

const ago = (seconds: number) => new Date(Date.now() - seconds * 1000).toISOString();
const steps = { escalations: [{ afterSeconds: 60, priority: 50 }] };

test('S0.2 the claim after changed escalations goes by them, every time', async () => {
  for (let n = 0; n < 10; n++) {
    const queue = `changed-${n}`;
    await add(api, queue, { id: `old-${n}`, createdAt: ago(100) });
    await add(api, queue, { id: `urgent-${n}`, priority: 10 });
    expect((await configure(api, queue, steps)).escalations).toEqual(steps.escalations);
    expect((await claimOne(api, queue, 'next')).id).toBe(`old-${n}`);
  }
  expect((await events(api, 'old-0')).map((e) => [e.type, e.data])).toContainEqual(['escalated', { from: 0, to: 50 }]);
});

test('S0.2 a ticket moved in with its age stands where its escalations put it at once', async () => {
  await configure(api, 'moved-in', steps);
  await add(api, 'moved-in', { id: 'urgent', priority: 10 });
  expect(await add(api, 'moved-in', { id: 'aged', createdAt: ago(100) })).toMatchObject({ priority: 50 });
  expect(await drain(api, 'moved-in', 2)).toEqual(['aged', 'urgent']);
  expect(await eventTypes(api, 'aged')).toEqual(['created', 'escalated', 'claimed']);
  expect((await api.post('/v1/queues/moved-in/tickets', { id: 'aged', body: null, createdAt: ago(7) })).status).toBe(
    409,
  );
});

test('S0.2 a ticket transferred with its age stands where the new queue’s escalations put it at once', async () => {
  await configure(api, 'target', steps);
  await add(api, 'target', { id: 'local', priority: 10 });
  await add(api, 'source', { id: 'guest', createdAt: ago(100) });
  const held = await claimOne(api, 'source', 'r');
  expect((await withToken(api, held, 'transfer', { queue: 'target' })).body).toMatchObject({
    state: 'waiting',
    priority: 50,
  });
  expect(await drain(api, 'target', 2)).toEqual(['guest', 'local']);
});

test('S0.2 escalations that many tickets have reached act on all of them before the answer', async () => {
  for (let part = 0; part < 5; part++)
    await addMany(
      api,
      'many',
      Array.from({ length: 1000 }, (_, n) => ({ id: `m-${part}-${n}`, createdAt: ago(100) })),
    );
  await add(api, 'many', { id: 'm-urgent', priority: 49 });
  await configure(api, 'many', { ...steps, maxHeld: 1000 });
  const { tickets } = await claim(api, 'many', 'r', { count: 100 });
  expect(new Set(tickets.map((t: { priority: number }) => t.priority))).toEqual(new Set([50]));
  expect((await ticket(api, 'm-4-999')).priority).toBe(50);
});

test('S0.2 settings put again do not escalate twice, nor lower anything', async () => {
  await add(api, 'again', { id: 'again', createdAt: ago(100) });
  for (let n = 0; n < 3; n++) await configure(api, 'again', { ...steps, ageing: { secondsPerLevel: n + 1 } });
  await configure(api, 'again', {});
  expect((await ticket(api, 'again')).priority).toBe(50);
  expect(await eventTypes(api, 'again')).toEqual(['created', 'escalated']);
});
