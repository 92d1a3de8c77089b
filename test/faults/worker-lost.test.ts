import { expect, test } from 'vitest';
import { settingsFor, startChild } from '../support/child.ts';
import { claimOne, eventually } from '../support/client.ts';
import { OwnTemporal, ownFolder } from '../support/own.ts';
import { startReceiver } from '../support/receiver.ts';
import { startTestSystem } from '../support/system.ts';

// the development server makes the namespace `default` whatever it is told
const temporal = await OwnTemporal.start('mine');

test('S0.10 a worker that dies, because Temporal came back without its namespace, is started again', async () => {
  const stores = await temporal.stores();
  const { api } = await startTestSystem({}, { stores, role: 'api' });
  const worker = await startChild('worker', settingsFor(stores, { DOCKET_ALLOW_PRIVATE_CALLBACKS: '1' }));
  const { callback, received } = await startReceiver();
  await api.put('/v1/queues/lost', { callback });
  await temporal.server.stop();
  await temporal.start(ownFolder('other'), 'another');
  await api.post('/v1/queues/lost/tickets', { id: 'lost', body: {} });
  const { lease } = await claimOne(api, 'lost', 'anna');
  await api.post('/v1/tickets/lost/decide', { token: lease.token, decision: 1 });
  // the SDK gives up after a minute of errors that it does not retry
  await eventually(async () => worker.output().includes('the worker ended unexpectedly'), 120_000);
  await temporal.server.stop();
  await temporal.start();
  await eventually(async () => received.length > 0, 60_000);
  expect(await worker.end('SIGTERM')).toBe(0);
}, 300_000);
