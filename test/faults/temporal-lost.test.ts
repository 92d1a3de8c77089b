import { execFile } from 'node:child_process';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, expect, inject, test } from 'vitest';
import { isFree } from '../../cli/servers/ports.ts';
import { startTemporal, type TemporalServer } from '../../cli/servers/temporal.ts';
import { claimOne, eventTypes, eventually, type Json } from '../support/client.ts';
import { lastingPort } from '../support/ports.ts';
import { published } from '../support/published.ts';
import { startReceiver } from '../support/receiver.ts';
import { startTestSystem, testStores } from '../support/system.ts';
import { addTask, addTemplate, HOUR_MS, inMs } from '../support/tasks.ts';

const port = await lastingPort();
const uiPort = await lastingPort();
/** Each on a store of its own: the next one knows nothing of what the one before had. */
const emptyTemporal = (): Promise<TemporalServer> => {
  const dir = mkdtempSync(join(tmpdir(), 'docket-lost-'));
  return startTemporal({ cli: inject('temporalCli'), dir, port, uiPort, namespace: 'default' });
};

let temporal = await emptyTemporal();
afterAll(() => temporal.stop());
const stores = { ...(await testStores()), namespace: 'default', temporalAddress: temporal.address };
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

/** No callback of an audit is applied until `heal` is called; `tries` says how often it was tried. */
const poison = () =>
  sql(`create sequence poisoned;
       create function poison() returns trigger language plpgsql as $$ begin
         perform nextval('poisoned'); raise 'made to fail'; end $$;
       create trigger poison before update on review_index for each row execute function poison()`);
const tries = async () => Number((await sql('select last_value, is_called from poisoned'))[0]?.last_value);
const heal = () => sql('drop trigger poison on review_index');

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
  await poison();
  expect((await api.post('/v1/reviews/stranded/callbacks', { kind: 'text', status: 2 })).status).toBe(202);
  await api.post('/v1/queues/waits/tickets', { id: 'idle', body: {} });
  await api.post('/v1/queues/waits/tickets', { id: 'waits', body: {}, deadlineSeconds: 30 });
  await eventually(async () => (await tries()) >= 2);
  await published(running, 60_000);
  for (const id of ['ticket/waits', 'ticket/idle', 'ticket/undelivered', 'rotation/hourly'])
    await eventually(() => isRunning(id));

  process.kill(temporal.pid, 'SIGKILL');
  await heal();
  await eventually(async () => (await isFree(port)) && (await isFree(uiPort)));
  temporal = await emptyTemporal();
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

const bin = fileURLToPath(new URL('../../cli/docket.mjs', import.meta.url));

test('S0.9 docket reconcile brings back what was lost inside a store that stayed', async () => {
  const { client } = running.runtime;
  await api.post('/v1/queues/part/tickets', { id: 'part', body: {} });
  await api.put('/v1/topics/part/schedules/each-second', { everySeconds: 1, body: 1 });
  await eventually(() => isRunning('ticket/part'));
  await published(running, 60_000);
  await client.workflow.getHandle('ticket/part').terminate('an older backup does not have it');
  await client.schedule.getHandle('schedule/part/each-second').delete();
  expect(await isRunning('ticket/part')).toBe(false);

  const { databaseUrl } = stores;
  const env = { ...process.env, DATABASE_URL: databaseUrl };
  const { stdout } = await promisify(execFile)(process.execPath, [bin, 'reconcile'], { env });
  expect(stdout).toMatch(/open/);
  await eventually(() => isRunning('ticket/part'), 60_000);
  const before = (await jobsOf('part')).length;
  await eventually(async () => (await jobsOf('part')).length > before, 60_000);
  // a second time finds everything there, and harms nothing
  await promisify(execFile)(process.execPath, [bin, 'reconcile'], { env });
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
