import { setTimeout as sleep } from 'node:timers/promises';
import { Connection } from '@temporalio/client';
import { afterAll, expect, inject, test } from 'vitest';
import { keepRunning } from '../../cli/servers/supervisor.ts';
import { startTemporal } from '../../cli/servers/temporal.ts';
import { claimOne, eventTypes, eventually } from '../support/client.ts';
import { OwnTemporal, ownFolder } from '../support/own.ts';
import { lastingPort } from '../support/ports.ts';
import { published, unpublished } from '../support/published.ts';
import { startTestSystem } from '../support/system.ts';

const temporal = await OwnTemporal.start();
const { api, running } = await startTestSystem({}, { stores: await temporal.stores() });

test('S0.9 Temporal down: claims, decisions, delays and expiries go on, and the workflows agree when it is back', async () => {
  await api.put('/v1/queues/down', { leaseSeconds: 4 });
  for (const id of ['before', 'before-open']) await api.post('/v1/queues/down/tickets', { id, priority: 9, body: {} });
  await eventually(async () => (await api.get('/v1/tickets/before-open/workflow')).body.status === 'running');

  temporal.kill();
  await eventually(async () => (await api.get('/readyz')).body.temporal === 'unreachable');
  expect(await api.get('/readyz')).toMatchObject({ status: 200, body: { status: 'degraded', postgres: 'ok' } });
  expect((await api.get('/v1/tickets/before/workflow')).status).toBe(503);

  const schedule = '/v1/topics/down/schedules/hourly';
  expect((await api.put(schedule, { everySeconds: 3_600, body: 1 })).status).toBe(503);
  expect((await api.get(schedule)).status).toBe(404);

  const first = await claimOne(api, 'down', 'anna');
  expect(first.id).toBe('before');
  expect((await api.post('/v1/tickets/before/decide', { token: first.lease.token, decision: 1 })).status).toBe(200);
  await api.post('/v1/queues/down/tickets', { id: 'delayed', body: {}, delaySeconds: 0.5 });
  await api.post('/v1/queues/down/tickets', { id: 'later', body: {}, delaySeconds: 3600 });
  await claimOne(api, 'down', 'ben'); // before-open, and its lease runs out
  await eventually(async () => (await eventTypes(api, 'before-open')).includes('reclaimed'));
  await eventually(async () => (await eventTypes(api, 'delayed')).includes('available'));
  await eventually(async () => running.runtime.follower?.down);
  expect(await unpublished(running)).toBeGreaterThan(0);

  await temporal.start();
  await published(running, 40_000);
  await eventually(async () => (await api.get('/v1/tickets/before/workflow')).body.status === 'completed', 40_000);
  for (const id of ['before-open', 'delayed', 'later'])
    await eventually(async () => {
      const { version, state } = (await api.get(`/v1/tickets/${id}`)).body;
      const { body } = await api.get(`/v1/tickets/${id}/workflow`);
      return body.status === 'running' && body.snapshot.version === version && body.snapshot.state === state;
    }, 40_000);
  expect((await api.get('/readyz')).body.status).toBe('ok');
  expect((await api.put(schedule, { everySeconds: 3_600, body: 1 })).status).toBe(200);
}, 150_000);

const PATIENCE_MS = 4_000;
const said: string[] = [];
const own = { dir: ownFolder('silent'), port: await lastingPort(), uiPort: await lastingPort() };
const options = { ...own, cli: inject('temporalCli'), namespace: 'default', patienceMs: PATIENCE_MS };
const { first, stop } = await keepRunning('Temporal', (signal) => startTemporal({ ...options, signal }), {
  say: (line) => said.push(line),
});
afterAll(stop);

test('S0.9 a Temporal server that lives but answers nothing is started again, and only then', async () => {
  await sleep(2 * PATIENCE_MS);
  expect(said).toEqual([]);
  process.kill(first.pid, 'SIGSTOP');
  await eventually(async () => said.includes('Temporal runs again'), 90_000);
  expect(said[0]).toMatch(/^Temporal ended unexpectedly \(it has answered nothing for 4 s: .+\); restarting it$/);
  const connection = await Connection.connect({ address: first.address });
  const { namespaceInfo } = await connection.workflowService.describeNamespace({ namespace: 'default' });
  await connection.close();
  expect(namespaceInfo?.name).toBe('default');
}, 120_000);
