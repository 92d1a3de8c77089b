import { expect, test } from 'vitest';
import { addCase, court } from '../support/cases.ts';
import { settingsFor, startChild } from '../support/child.ts';
import { deferred, eventually, type Json, ndjson, walk } from '../support/client.ts';
import { opened, type Received, startReceiver } from '../support/receiver.ts';
import { put, tell } from '../support/reviews.ts';
import { startTestSystem, testStores } from '../support/system.ts';
import { add, decided } from '../support/tickets.ts';

const { api } = await startTestSystem();
const deliveriesOf = async (path: string): Promise<Json[]> => (await api.get(`/v1/${path}/deliveries`)).body.items;

test('S0.10 a late attempt that fails does not undo the delivery of one beside it', async () => {
  const first = deferred<number>();
  const { callback, received } = await startReceiver((n) => (n === 1 ? first.promise : 204));
  await put(api, 'late', { text: { status: 1 }, callback });
  await tell(api, 'late', { kind: 'text', status: 2 });
  await eventually(async () => received.length === 1);
  // another host name for the same receiver, so that the second attempt does not wait for the first
  const url = callback.url.replace('127.0.0.1', 'localhost');
  await put(api, 'late', { text: { status: 1 }, callback: { ...callback, url } }, 200);
  const [oldest] = (await deliveriesOf('reviews/late')).slice(-1);
  expect((await api.post(`/v1/reviews/late/deliveries/${oldest.n}/redeliver`)).status).toBe(202);
  const state = async () => (await deliveriesOf('reviews/late')).find((d) => d.n === oldest.n);
  await eventually(async () => (await state()).state === 'delivered');
  const ofTheFirst = () =>
    received.filter(({ headers }) => headers['webhook-id'] === received[0]?.headers['webhook-id']).length;
  const before = ofTheFirst();
  first.resolve(500);
  // its own workflow goes on with the change after it, once the late attempt has ended
  await eventually(async () => (await deliveriesOf('reviews/late'))[0]?.state === 'delivered');
  expect(await state()).toMatchObject({ state: 'delivered', status: 204, attempts: 1 });
  expect(ofTheFirst()).toBe(before);
}, 60_000);

test('S0.10 the deliveries of one item are listed newest first, page by page', async () => {
  const { callback } = await startReceiver();
  await put(api, 'order', { text: { status: 1 }, callback });
  for (const status of [2, 3, 4]) await tell(api, 'order', { kind: 'text', status });
  const versions = (await deliveriesOf('reviews/order')).map((d) => d.version);
  expect(versions).toHaveLength(3);
  expect(versions).toEqual([...versions].sort((a, b) => b - a));
  expect((await walk(api, '/v1/reviews/order/deliveries', 2)).map((d) => d.version)).toEqual(versions);
});

test('S2.7 a court of appeal that does not exist is on record once, however often the callback is tried', async () => {
  const { callback, received } = await startReceiver(() => 500);
  await court(api, 'astray', { deadlineSeconds: 0.3, fallback: { court: 'nowhere' }, callback });
  await addCase(api, 'astray', { id: 'astray' });
  await eventually(async () => received.length >= 3, 40_000);
  const events: Json[] = (await api.get('/v1/cases/astray/events')).body.items;
  expect(events.filter((e) => e.type === 'refused')).toHaveLength(1);
}, 60_000);

test('S0.10 a verdict by resolve says why; one by a reviewer has no reason', async () => {
  const { callback, received } = await startReceiver();
  await add(api, 'why', { id: 'why', callback });
  await api.post('/v1/tickets/why/resolve', { decision: 'ok', reason: 'the account is closed' });
  const call = await eventually(async () => received[0]);
  expect(opened(call as Received)).toMatchObject({
    type: 'ticket.decided',
    reason: 'the account is closed',
    ticket: { id: 'why', decision: 'ok', reason: 'the account is closed' },
  });
  expect((await api.get('/v1/tickets/why')).body.reason).toBe('the account is closed');
  expect((await decided(api, 'by-hand')).reason).toBeNull();
});

test('S0.10 processes say where they listen, and log start, stop, each request and each attempt at a delivery, without secrets', async () => {
  const stores = await testStores();
  const env = settingsFor(stores, { DOCKET_ALLOW_PRIVATE_CALLBACKS: '1', LOG_LEVEL: 'info' });
  const [server, worker] = await Promise.all([
    startChild('api', env),
    startChild('worker', { ...env, METRICS_PORT: '0' }),
  ]);
  const metrics = /^Docket worker is ready, metrics (127\.0\.0\.1:\d+)$/m.exec(worker.output())?.[1];
  const { callback } = await startReceiver((n) => (n === 1 ? 500 : 204));
  await server.api.post('/v1/queues/logged/tickets', {
    ...{ id: 'logged', body: 'private', callback: { ...callback, url: `${callback.url}?key=hidden` } },
  });
  const sent = { decision: 'ok', reason: 'r' };
  await server.api.post('/v1/tickets/logged/resolve', sent, { 'x-request-id': 'call-7' });
  const delivered = async () => (await server.api.get('/v1/tickets/logged/deliveries')).body.items[0]?.state;
  await eventually(async () => (await delivered()) === 'delivered');
  const scraped = await (await fetch(`http://${metrics}/metrics`)).text();
  for (const line of ['docket_temporal_down 0', 'temporal_num_pollers{', 'process_cpu_seconds_total '])
    expect(scraped).toContain(`\n${line}`);
  expect(scraped, 'what is of the whole system is shown by API processes').not.toContain('docket_items');
  await Promise.all([server.end('SIGTERM'), worker.end('SIGTERM')]);
  const lines = (text: string) => ndjson(text.replaceAll(/^[^{].*$/gm, ''));
  for (const output of [server.output(), worker.output()]) {
    expect(lines(output).map((l) => l.msg)).toEqual(expect.arrayContaining(['started', 'stopping', 'stopped']));
    expect(output).not.toMatch(/hidden|whsec_|private/);
  }
  expect(lines(server.output()).find((l) => l.requestId === 'call-7')).toMatchObject({
    ...{ level: 30, msg: 'request', method: 'POST', route: '/v1/tickets/:id/resolve', status: 200 },
    ms: expect.any(Number),
  });
  const common = { kind: 'ticket', item: 'logged', n: 1, url: callback.url };
  expect(lines(worker.output()).filter((l) => l.item === 'logged')).toMatchObject([
    { ...common, level: 40, status: 500, attempt: 1, error: 'answered 500', nextAttemptAt: expect.any(String) },
    { ...common, level: 30, status: 204, attempt: 2, msg: 'delivered' },
  ]);
}, 90_000);
