import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, inject, test } from 'vitest';
import { lastingPort } from '../../cli/servers/ports.ts';
import { startTemporal } from '../../cli/servers/temporal.ts';
import { settingsFor, startChild } from '../support/child.ts';
import { claimOne, eventually } from '../support/client.ts';
import { startReceiver } from '../support/receiver.ts';
import { startTestSystem, testStores } from '../support/system.ts';

const [mine, other] = ['docket-lost-', 'docket-other-'].map((name) => mkdtempSync(join(tmpdir(), name)));
const [port, uiPort] = [await lastingPort(), await lastingPort()];
const serve = (dir = '', namespace = 'mine') =>
  startTemporal({ cli: inject('temporalCli'), dir, port, uiPort, namespace });

let temporal = await serve(mine);
afterAll(() => temporal.stop());

test('S0.10 a worker that dies, because Temporal came back without its namespace, is started again', async () => {
  const stores = { ...(await testStores()), namespace: 'mine', temporalAddress: temporal.address };
  const { api } = await startTestSystem({}, { stores, role: 'api' });
  const worker = await startChild('worker', settingsFor(stores, { DOCKET_ALLOW_PRIVATE_CALLBACKS: '1' }));
  const { callback, received } = await startReceiver();
  await api.put('/v1/queues/lost', { callback });
  await temporal.stop();
  temporal = await serve(other, 'another');
  await api.post('/v1/queues/lost/tickets', { id: 'lost', body: {} });
  const { lease } = await claimOne(api, 'lost', 'anna');
  await api.post('/v1/tickets/lost/decide', { token: lease.token, decision: 1 });
  // the SDK gives up after a minute of errors that it does not retry
  await eventually(async () => worker.output().includes('the worker ended unexpectedly'), 120_000);
  await temporal.stop();
  temporal = await serve(mine);
  await eventually(async () => received.length > 0, 60_000);
  expect(await worker.end('SIGTERM')).toBe(0);
}, 300_000);
