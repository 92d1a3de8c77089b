import { expect, test } from 'vitest';
import { eventually } from '../support/client.ts';
import { opened, type Received, SECRET, startReceiver } from '../support/receiver.ts';
import { startTestSystem, testStores } from '../support/system.ts';

const { api } = await startTestSystem();
const { add, addHeld, claimOne, configure, decide, deliveries, eventTypes, events, operate, ticket } = api.tickets;
const carefulStores = await testStores();
const careful = await startTestSystem({ DOCKET_ALLOW_PRIVATE_CALLBACKS: '0' }, { role: 'api', stores: carefulStores });

const eventOf = (id: string, type: string) => eventually(async () => (await events(id)).find((e) => e.type === type));

test('S0.10 a decision is told to the ticket’s callback, signed and with its version', async () => {
  const { callback, received } = await startReceiver();
  await decide(await addHeld('one', { id: 'c1', callback, body: { user: 7 } }), { ban: 'ü' });
  const told = await eventOf('c1', 'delivered');
  expect(received).toHaveLength(1);
  const [call] = received as [Received];
  const decided = await ticket('c1');
  expect(opened(call)).toEqual({ type: 'ticket.decided', version: decided.version, ticket: decided });
  expect(call.headers['content-type']).toMatch(/^application\/json/);
  expect(call.body).not.toContain(SECRET);
  expect(told).toMatchObject({ actor: 'system', data: { n: 1, status: 204 } });
  const sent = { n: 1, type: 'ticket.decided', version: decided.version, url: callback.url };
  const outcome = { state: 'delivered', attempts: 1, status: 204, error: null };
  expect(await deliveries('c1')).toMatchObject([{ ...sent, ...outcome }]);
  const forged = { ...call, body: call.body.replace('ban', 'let') };
  expect(() => opened(forged)).toThrow();
});

test('S0.10 a queue’s callback hears of every kind of end, and a ticket’s own goes before it', async () => {
  const [queues, own] = [await startReceiver(), await startReceiver()];
  await configure('ends', { callback: queues.callback, leaseSeconds: 0.3, maxAttempts: 1 });
  await addHeld('ends', 'e-dead');
  await add('ends', { id: 'e-decided', delaySeconds: 600 });
  await operate('e-decided', 'resolve', { decision: 1, reason: 'r' });
  await add('ends', { id: 'e-invalidated', delaySeconds: 600 });
  await operate('e-invalidated', 'invalidate');
  await add('ends', { id: 'e-expired', deadlineSeconds: 0.2, delaySeconds: 600 });
  await add('ends', { id: 'e-own', callback: own.callback, delaySeconds: 600 });
  await operate('e-own', 'invalidate');
  await eventually(async () => queues.received.length >= 4 && own.received.length >= 1);
  const heard = queues.received.map(opened).map((m) => [m.type, m.ticket.id, m.ticket.state]);
  const ends = ['dead', 'decided', 'expired', 'invalidated'];
  expect(heard.sort()).toEqual(ends.map((end) => [`ticket.${end}`, `e-${end}`, end]));
  expect(own.received.map(opened)).toMatchObject([{ type: 'ticket.invalidated', ticket: { id: 'e-own' } }]);
});

test('S0.10 a receiver that fails is asked again within five seconds, with the same id and content', async () => {
  const { callback, received } = await startReceiver((n) => (n < 3 ? 500 : 200));
  await decide(await addHeld('retry', { id: 'r1', callback }));
  await eventOf('r1', 'delivered');
  expect(received).toHaveLength(3);
  const [first, second] = received as [Received, Received];
  expect(second.at - first.at).toBeLessThan(5_000);
  expect(new Set(received.map((r) => r.headers['webhook-id'])).size).toBe(1);
  expect(new Set(received.map((r) => r.body)).size).toBe(1);
  for (const call of received) opened(call);
  expect(await deliveries('r1')).toMatchObject([{ n: 1, state: 'delivered', attempts: 3, status: 200 }]);
  expect((await eventTypes('r1')).filter((t) => t.startsWith('deliver'))).toEqual(['delivered']);
});

test('S0.10 410 ends the attempts, and a delivery asked for again has the same id', async () => {
  let answer = 410;
  const { callback, received } = await startReceiver(() => answer);
  await decide(await addHeld('gone', { id: 'g1', callback }));
  expect((await eventOf('g1', 'delivery_failed')).data).toMatchObject({ n: 1, status: 410 });
  expect(await deliveries('g1')).toMatchObject([{ state: 'failed', attempts: 1, status: 410 }]);
  answer = 200;
  const again = await api.post('/v1/tickets/g1/deliveries/1/redeliver');
  expect([again.status, again.body.n, again.body.state]).toEqual([202, 1, 'pending']);
  await eventOf('g1', 'delivered');
  expect(received).toHaveLength(2);
  expect(received[1]?.headers['webhook-id']).toBe(received[0]?.headers['webhook-id']);
  expect(received[1]?.body).toBe(received[0]?.body);
  expect(await deliveries('g1')).toMatchObject([{ n: 1, state: 'delivered', attempts: 2 }]);
  // and again at once, while the workflow of the one before may still be ending
  for (let sent = 3; sent < 13; sent++) {
    await api.post('/v1/tickets/g1/deliveries/1/redeliver');
    await eventually(async () => received.length === sent && (await deliveries('g1'))[0]?.state === 'delivered');
  }
  expect((await api.post('/v1/tickets/g1/deliveries/2/redeliver')).status).toBe(404);
  expect((await api.get('/v1/tickets/unknown/deliveries')).status).toBe(404);
});

test('S0.10 redirects are not followed, and a receiver that is not there is tried again', async () => {
  const target = await startReceiver();
  const { callback, received } = await startReceiver((n) => (n === 1 ? 307 : 200));
  await add('redirect', { id: 'rd', callback });
  await add('redirect', { id: 'nobody', callback: { url: 'http://127.0.0.1:9/x', secret: SECRET } });
  for (const reviewer of ['anna', 'ben']) await decide(await claimOne('redirect', reviewer));
  await eventOf('rd', 'delivered');
  expect([received.length, target.received.length]).toEqual([2, 0]);
  await eventually(async () => (await deliveries('nobody'))[0]?.attempts >= 2);
  const refused = { state: 'pending', status: null, error: expect.stringContaining('ECONNREFUSED') };
  expect((await deliveries('nobody'))[0]).toMatchObject(refused);
});

/** This machine and its network, in the ways in which hosts are written. */
const HOSTS = [
  ...'127.0.0.1 127.255.255.254 2130706433 0177.0.0.1 0x7f.0.0.1 0x7f000001 0 0.0.0.0 10.0.0.1 172.16.0.1'.split(' '),
  ...'168.63.129.16 [::ffff:168.63.129.16] 172.31.255.255 192.168.1.1 100.64.0.1 198.18.0.1 224.0.0.1 240.0.0.1 255.255.255.255 [::1] [::]'.split(
    ' ',
  ),
  ...'[::127.0.0.1] [::ffff:127.0.0.1] [::ffff:7f00:1] [::ffff:10.0.0.1] [0:0:0:0:0:ffff:7f00:1]'.split(' '),
  ...'[64:ff9b::7f00:1] [2002:7f00:1::] [fe80::1] [fc00::1] [fd12:3456::1] [fec0::1] [ff02::1] localhost'.split(' '),
  ...'LOCALHOST:3000 localhost. LOCALHOST. api.localhost a.localhost printer.local db.internal'.split(' '),
  ...'１２７.0.0.1 127。0。0。1 127.0.0.1.'.split(' '),
];
const PRIVATE = [
  ...HOSTS.map((host) => `http://${host}/`),
  ...['http://127.0.0.1:8080/hook', 'https://127.1/', 'http://169.254.169.254/latest/meta-data/'],
  ...['http://user:pass@example.com/', 'ftp://example.com/', 'file:///etc/passwd', 'javascript:alert(1)'],
  ...['not a url', ''],
];

test.each(PRIVATE.map((url, n) => [url, `private-${n}`]))('S0.10 a callback to %s is refused', async (url, id) => {
  const callback = { url, secret: SECRET };
  for (const reply of [
    await careful.api.post('/v1/queues/q/tickets', { id, body: null, callback }),
    await careful.api.put('/v1/queues/q', { callback }),
  ]) {
    expect([reply.status, reply.body.code]).toEqual([422, 'invalid_request']);
    expect(reply.body.errors[0].path).toBe('callback.url');
    // the others are wrong whatever is permitted
    if (url.startsWith('http') && !url.includes('user:'))
      expect(reply.body.detail).toContain('DOCKET_ALLOW_PRIVATE_CALLBACKS=1');
  }
  expect((await careful.api.get(`/v1/tickets/${id}`)).status).toBe(404);
});

test.each([
  'https://example.com/hook',
  'http://example.com:8080/a?b=c',
  'https://8.8.8.8/',
  'https://[2606:4700:4700::1111]/',
  'https://localhost.example.com/',
])('S0.10 a callback to %s is taken', async (url) => {
  const reply = await careful.api.post('/v1/queues/public/tickets', { body: null, callback: { url, secret: SECRET } });
  expect(reply.status).toBe(201);
});

test('S0.10 an address that was allowed once is checked again at each send, on each process by its own list', async () => {
  const { callback, received } = await startReceiver();
  const listed = await startReceiver();
  const { host } = new URL(listed.url);
  const env = { DOCKET_ALLOW_PRIVATE_CALLBACKS: `hooks.internal,${host}` };
  await startTestSystem(env, { role: 'worker', stores: carefulStores });
  const lenient = await startTestSystem(env, { role: 'api', stores: carefulStores });
  const other = await lenient.api.post('/v1/queues/q/tickets', { body: null, callback });
  expect([other.status, other.body.errors?.[0].path]).toEqual([422, 'callback.url']);
  await lenient.api.tickets.add('listed', { id: 'listed', callback: listed.callback });
  await lenient.api.tickets.operate('listed', 'invalidate');
  await eventually(async () => listed.received.length > 0);
  await careful.api.tickets.add('sneaky', { id: 'sneaky', callback: { url: 'https://example.com/', secret: SECRET } });
  await careful.sql(`update item set callback = $1 where id = 'sneaky'`, [JSON.stringify(callback)]);
  await careful.api.tickets.operate('sneaky', 'invalidate');
  const sent = async () => (await careful.api.tickets.deliveries('sneaky'))[0];
  await eventually(async () => (await sent())?.attempts >= 1);
  expect(await sent()).toMatchObject({
    ...{ state: 'pending', status: null },
    error: expect.stringMatching(/private address.*DOCKET_ALLOW_PRIVATE_CALLBACKS=1/),
  });
  expect(received).toEqual([]);
});
