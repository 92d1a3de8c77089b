import type { WorkflowHandle } from '@temporalio/client';
import { expect, test } from 'vitest';
import { eventually } from '../support/client.ts';
import { testDoctor } from '../support/doctor.ts';
import { published } from '../support/published.ts';
import { startReceiver } from '../support/receiver.ts';
import { put } from '../support/reviews.ts';
import { startTestSystem, testStores } from '../support/system.ts';
import { add, decided } from '../support/tickets.ts';

// a test ends an item behind its workflow's back, which is no transition
const stores = await testStores();
const system = await startTestSystem({ LOG_LEVEL: 'silent' }, { stores });
const { api, running } = system;
const doctor = testDoctor(system);
const { client, sql } = doctor;

const handle = (id: string): WorkflowHandle => client.workflow.getHandle(id);
const isRunning = async (id: string) => (await handle(id).describe()).status.name === 'RUNNING';
/** Temporal's lists are some time late. */
const found = (check: string) => eventually(async () => (await doctor.findings())[check]);
const none = () => eventually(async () => (await doctor.broken()).length === 0);
const delivery = async (id: string) => (await api.get(`/v1/tickets/${id}/deliveries`)).body.items[0]?.state;

test('S0.9 workflows-missing: a workflow that was terminated is found, and repair starts it again', async () => {
  await add(api, 'missing', { id: 'missing', deadlineSeconds: 3_600 });
  await add(api, 'missing', { id: 'only-waits' });
  for (const id of ['ticket/missing', 'ticket/only-waits']) await eventually(() => isRunning(id));
  await published(running);
  await none();
  await handle('ticket/missing').terminate('a test');
  // nothing is due for this one: it gets its workflow when something happens to it
  await handle('ticket/only-waits').terminate('a test');
  expect(await found('workflows-missing')).toMatchObject({
    ...{ severity: 'broken', count: 1, examples: ['ticket/missing: its workflow is terminated'] },
  });
  expect(await doctor.broken()).toEqual(['workflows-missing']);
  expect((await doctor.findings({ repair: true }))['workflows-missing']).toMatchObject({
    ...{ count: 0, repaired: '1 are marked to be published again, which workers do within seconds.' },
  });
  await eventually(() => isRunning('ticket/missing'));
  await none();
  expect(await doctor.findings({ repair: true })).toEqual({});
});

test('S0.10 workflows-missing: an outcome that is to be delivered, and no one is at it', async () => {
  const answers = { status: 503 };
  const receiver = await startReceiver(() => answers.status);
  await decided(api, 'telling', { id: 'telling', callback: receiver.callback });
  await eventually(async () => receiver.received.length > 0);
  await published(running);
  await handle('ticket/telling').terminate('a test');
  expect((await found('workflows-missing')).examples).toEqual(['ticket/telling: its workflow is terminated']);
  answers.status = 204;
  await doctor.findings({ repair: true });
  await eventually(async () => (await delivery('telling')) === 'delivered', 60_000);
  await none();
});

test('S0.9 workflows-left: workflows of items that are over or not there end by themselves', async () => {
  await add(api, 'left', { id: 'over', deadlineSeconds: 3_600 });
  await eventually(() => isRunning('ticket/over'));
  await published(running);
  // without the trigger, which would log it
  await sql(`begin; alter table item disable trigger item_derived; update event set type = 'invalidated' where item_id = 'over';
             update item set state = 'invalidated', last_event = 'invalidated', ended_at = now(), ended_by = 'someone', wake_at = null,
                    updated_at = now() - interval '1 minute' where id = 'over';
             alter table item enable trigger item_derived; commit`);
  const snapshot = { version: 1, state: 'ready', wakeAt: null, wakeInMs: null, holder: null, telling: false };
  const startedWith = { graced: true, readAt: new Date().toISOString(), message: { snapshot, events: [] } };
  const ghost = { taskQueue: 'docket', args: [{ id: 'ghost', startedWith }] };
  // one whose first task has yet to run is about to find out
  await client.workflow.start('ticket', { ...ghost, workflowId: 'ticket/about-to', taskQueue: 'nobody-polls' });
  await client.workflow.start('ticket', { ...ghost, workflowId: 'ticket/ghost' });
  const left = await eventually(async () => {
    const finding = (await doctor.findings())['workflows-left'];
    return finding?.count === 2 ? finding : null;
  });
  expect(left.examples.sort()).toEqual(['ticket/ghost: there is no such item', 'ticket/over: its item is over']);
  const { 'workflows-left': repaired } = await doctor.findings({ repair: true });
  expect(repaired?.count).toBe(0);
  expect(repaired?.repaired).toMatch(/^2 were sent the state of their items/);
  for (const id of ['ticket/over', 'ticket/ghost'])
    await eventually(async () => (await handle(id).describe()).status.name === 'COMPLETED');
  await none();
});

test('S1.2 reviews-stranded: callbacks that no one applies', async () => {
  await put(api, 'stranded', { text: { status: 1 } });
  await sql(`create function poison() returns trigger language plpgsql as $$ begin raise 'made to fail'; end $$;
             create trigger poison before update on review_index for each row execute function poison()`);
  await api.post('/v1/reviews/stranded/callbacks', { kind: 'text', status: 2 });
  await eventually(() => isRunning('review/stranded'));
  await published(running);
  await handle('review/stranded').terminate('a test');
  expect(await found('reviews-stranded')).toMatchObject({
    ...{ severity: 'broken', examples: ['review/stranded: callbacks or changes of it are left'] },
  });
  await sql('drop trigger poison on review_index');
  const { 'reviews-stranded': repaired } = await doctor.findings({ repair: true });
  expect(repaired?.repaired).toMatch(/^1 are marked/);
  await eventually(async () => (await api.get('/v1/reviews/stranded')).body.text.status === 2);
  await none();
});

test('S0.10 deliveries-stranded: a repeated delivery that no one makes', async () => {
  const answers = { status: 410 };
  const receiver = await startReceiver(() => answers.status);
  await decided(api, 'again', { id: 'again', callback: receiver.callback });
  await eventually(async () => (await delivery('again')) === 'failed');
  answers.status = 503;
  expect((await api.post('/v1/tickets/again/deliveries/1/redeliver')).status).toBe(202);
  await eventually(() => isRunning('delivery/ticket/again/1'));
  await handle('delivery/ticket/again/1').terminate('a test');
  expect(await found('deliveries-stranded')).toMatchObject({
    ...{ severity: 'broken', count: 1, examples: [expect.stringMatching(/^delivery\/ticket\/again\/1: /)] },
  });
  answers.status = 204;
  expect((await doctor.findings({ repair: true }))['deliveries-stranded']).toMatchObject({
    repaired: '1 are queued again.',
  });
  await eventually(async () => (await delivery('again')) === 'delivered', 60_000);
  await none();
});

test('S3.7 schedules-missing and schedules-left: Temporal is brought to the rows', async () => {
  await api.put('/v1/topics/jobs/schedules/daily', { cron: '0 6 * * *', body: 1 });
  await none();
  const { schedule } = client;
  await schedule.getHandle('schedule/jobs/daily').delete();
  await schedule.create({
    ...{ scheduleId: 'schedule/jobs/ghost', spec: { intervals: [{ every: '1d' }] } },
    action: { type: 'startWorkflow', workflowType: 'periodic', taskQueue: 'docket-urgent', args: ['jobs', 'ghost'] },
  });
  const findings = await eventually(async () => {
    const all = await doctor.findings();
    return all['schedules-missing'] && all['schedules-left'] && all;
  });
  const one = { severity: 'broken', count: 1 };
  expect(findings['schedules-missing']).toMatchObject({ ...one, examples: ['schedule/jobs/daily'] });
  expect(findings['schedules-left']).toMatchObject({ ...one, examples: ['schedule/jobs/ghost: of topic jobs'] });
  const repaired = await doctor.findings({ repair: true });
  expect(repaired['schedules-missing']).toMatchObject({ count: 0, repaired: '1 were made again.' });
  expect(repaired['schedules-left']).toMatchObject({ count: 0, repaired: '1 were deleted.' });
  expect((await schedule.getHandle('schedule/jobs/daily').describe()).action.args).toEqual(['jobs', 'daily']);
  await expect(schedule.getHandle('schedule/jobs/ghost').describe()).rejects.toThrow();
  await none();
});
