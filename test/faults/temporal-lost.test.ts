import { expect, test } from 'vitest';
import { isFree } from '../../cli/servers/ports.ts';
import { docket } from '../support/cli.ts';
import { claimOne, eventTypes, eventually, type Json } from '../support/client.ts';
import { OwnTemporal, ownFolder } from '../support/own.ts';
import { poison } from '../support/poison.ts';
import { published } from '../support/published.ts';
import { startReceiver } from '../support/receiver.ts';
import { startTestSystem } from '../support/system.ts';
import { addTask, addTemplate } from '../support/tasks.ts';
import { HOUR_MS, inMs } from '../support/times.ts';

const temporal = await OwnTemporal.start();
const stores = await temporal.stores();
const { api, sql, running } = await startTestSystem({ DOCKET_PACEMAKER: 'off' }, { stores });

const jobsOf = async (topic: string): Promise<Json[]> =>
  (await api.get(`/v1/topics/${topic}/jobs?limit=500`)).body.items;
const isRunning = async (id: string) => {
  const { status } = await running.runtime.client.workflow.getHandle(id).describe();
  return status.name === 'RUNNING';
};

async function decided(id: string, callback: object): Promise<void> {
  await api.post(`/v1/queues/${id}/tickets`, { id, body: {}, callback });
  const { lease } = await claimOne(api, id, 'anna');
  await api.post(`/v1/tickets/${id}/decide`, { token: lease.token, decision: 'ok' });
}

test("S0.9 Temporal's store is moved away: schedules, callbacks, verdicts, deadlines and rotations go on", async () => {
  const answers = { undelivered: 500, failed: 410 };
  const receivers = {
    undelivered: await startReceiver(() => answers.undelivered),
    failed: await startReceiver(() => answers.failed),
  };
  await api.put('/v1/topics/lost/schedules/each-second', { everySeconds: 1, body: 1 });
  await eventually(async () => (await jobsOf('lost')).length > 0);
  await decided('undelivered', receivers.undelivered.callback);
  await decided('failed', receivers.failed.callback);
  await eventually(async () => (await eventTypes(api, 'failed')).includes('delivery_failed'), 40_000);
  answers.failed = 500;
  expect((await api.post('/v1/tickets/failed/deliveries/1/redeliver')).status).toBe(202);
  await addTemplate(api, 'plain');
  await addTask(api, { id: 'hourly', executor: 'uid_u', type: 'rotate', startTime: inMs(HOUR_MS), everyMinutes: 60 });
  await api.put('/v1/reviews/stranded', { text: { status: 1 } });
  const { tries, heal } = await poison(sql, 'review_index');
  expect((await api.post('/v1/reviews/stranded/callbacks', { kind: 'text', status: 2 })).status).toBe(202);
  await api.post('/v1/queues/waits/tickets', { id: 'idle', body: {} });
  await api.post('/v1/queues/waits/tickets', { id: 'waits', body: {}, deadlineSeconds: 30 });
  await eventually(async () => (await tries()) >= 2);
  await published(running, 60_000);
  for (const id of ['ticket/waits', 'ticket/idle', 'ticket/undelivered', 'rotation/hourly'])
    await eventually(() => isRunning(id));

  temporal.kill();
  await heal();
  const { port, uiPort } = temporal.ports;
  await eventually(async () => (await isFree(port)) && (await isFree(uiPort)));
  // it knows nothing of what the one before had
  await temporal.start(ownFolder('empty'));
  Object.assign(answers, { undelivered: 204, failed: 204 });
  const before = (await jobsOf('lost')).length;

  const { schedule } = running.runtime.client;
  await eventually(async () => (await schedule.getHandle('schedule/lost/each-second').describe()).spec, 60_000);
  await eventually(async () => (await jobsOf('lost')).length > before + 2, 60_000);
  await eventually(async () => (await api.get('/v1/reviews/stranded')).body.text.status === 2, 60_000);
  for (const id of ['undelivered', 'failed'])
    await eventually(async () => (await eventTypes(api, id)).at(-1) === 'delivered', 60_000);
  for (const id of ['rotation/hourly', 'ticket/idle']) await eventually(() => isRunning(id), 60_000);
  await eventually(async () => (await api.get('/v1/tickets/waits')).body.state === 'expired', 90_000);
  await eventually(async () => (await api.get('/v1/tickets/waits/workflow')).body.status === 'completed', 60_000);
}, 300_000);

test('S0.9 docket reconcile brings back what was lost inside a store that stayed', async () => {
  const { client } = running.runtime;
  await api.post('/v1/queues/part/tickets', { id: 'part', body: {} });
  await api.put('/v1/topics/part/schedules/each-second', { everySeconds: 1, body: 1 });
  await eventually(() => isRunning('ticket/part'));
  await published(running, 60_000);
  await client.workflow.getHandle('ticket/part').terminate('an older backup does not have it');
  await client.schedule.getHandle('schedule/part/each-second').delete();
  expect(await isRunning('ticket/part')).toBe(false);

  const reconcile = () => docket(['reconcile'], { DATABASE_URL: stores.databaseUrl });
  expect(await reconcile()).toMatchObject({ code: 0, stdout: expect.stringContaining('open') });
  await eventually(() => isRunning('ticket/part'), 60_000);
  const before = (await jobsOf('part')).length;
  await eventually(async () => (await jobsOf('part')).length > before, 60_000);
  for (const topic of ['lost', 'part']) await api.raw('DELETE', `/v1/topics/${topic}/schedules/each-second`);
  // a second time finds everything there, and harms nothing
  expect((await reconcile()).code).toBe(0);
  await published(running, 60_000);
  expect(await eventTypes(api, 'part')).toEqual(['created']);

  const passes = () => sql('select started_at from reconciliation where finished_at is not null');
  const passed = await eventually(async () => (await passes())[0]);
  const another = await startTestSystem({}, { stores, role: 'api' });
  await eventually(async () => (await another.api.get('/readyz')).body.status === 'ok');
  await another.api.put('/v1/topics/part/schedules/each-second', { everySeconds: 1, body: 2 });
  // the store is known: a start walks through nothing
  expect(await passes()).toEqual([passed]);
}, 180_000);
