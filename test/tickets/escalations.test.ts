import { defaultPayloadConverter } from '@temporalio/common';
import { expect, test } from 'vitest';
import { addCase, court, jurors } from '../support/cases.ts';
import { claimOne, eventTypes, eventually, type Json, repeat } from '../support/client.ts';
import { startTestSystem } from '../support/system.ts';
import { add, addMany, claim, configure, decide, drain, events, ticket, withToken } from '../support/tickets.ts';

const { api, running } = await startTestSystem({ DOCKET_PACEMAKER: 'off' });

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
      repeat(1000, (n) => ({ id: `m-${part}-${n}`, createdAt: ago(100) })),
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

const handle = (id: string) => running.runtime.client.workflow.getHandle(id);

/** What the UI shows beside a workflow's timers, in order. */
async function timers(id: string): Promise<unknown[]> {
  const { events = [] } = await handle(id).fetchHistory();
  const started = events?.filter((event) => event.timerStartedEventAttributes) ?? [];
  return started.map(
    ({ userMetadata }) => userMetadata?.summary && defaultPayloadConverter.fromPayload(userMetadata.summary),
  );
}

test('S0.9 each timer says what it waits for, and the result how the item ended', async () => {
  await configure(api, 'shown', { leaseSeconds: 3_600, deadlineSeconds: 7_200 });
  await add(api, 'shown', { id: 'shown', delaySeconds: 2 });
  const shown = (summary: string) => eventually(async () => (await timers('ticket/shown')).at(-1) === summary);
  await shown('its delay ends');
  await shown('a deadline or an escalation is due');
  const held = await eventually(() => claimOne(api, 'shown', 'anna'));
  await shown('the lease of anna ends, or a deadline before that');
  await decide(api, held);
  expect(await handle('ticket/shown').result()).toEqual({ state: 'decided', version: expect.any(Number) });
});

test('S2.1 where no juror is free, the timer says what is tried again', async () => {
  await court(api, 'nobody', { mode: 'assign', votesToWin: 1, assign: { jurors: 1, answerSeconds: 600 } });
  await jurors(api, 'nobody', []);
  await addCase(api, 'nobody', { id: 'lonely' });
  await eventually(async () => (await timers('case/lonely')).includes('jurors are asked for again'));
});

test('S0.9 the details begin with the state, and signals and queries are described', async () => {
  await add(api, 'described', { id: 'described', delaySeconds: 3_600 });
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
