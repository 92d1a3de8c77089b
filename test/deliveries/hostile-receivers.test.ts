import { createServer, type Socket } from 'node:net';
import { expect, test } from 'vitest';
import { settingsFor, startChild } from '../support/child.ts';
import { eventually, type Json } from '../support/client.ts';
import { listening } from '../support/listening.ts';
import { SECRET } from '../support/receiver.ts';
import { startTestSystem, testStores } from '../support/system.ts';
import { add, configure } from '../support/tickets.ts';

const { api } = await startTestSystem();

const NO_CONTENT = 'HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n';
const UNAVAILABLE = 'HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\n';

/** Writes the text again and again, for as long as the socket takes it. */
const endlessly = (text: string) => (socket: Socket) => {
  const timer = setInterval(() => socket.write(text), 50);
  socket.on('close', () => clearInterval(timer));
};
const say = (text: string) => (socket: Socket) => void socket.write(text);
const end = (text: string) => (socket: Socket) => void socket.end(text);

/** What a receiver does with each call, and the cause that is shown. */
const BEHAVIOURS: [name: string, behave: (socket: Socket) => void, shown: RegExp][] = [
  ['switches-protocols', say('HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n'), /101/],
  ['early-hints', endlessly('HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n'), /no answer within 10 s/],
  ['hints-then-answer', end(`HTTP/1.1 103 Early Hints\r\n\r\n${UNAVAILABLE}\r\n`), /answered 503/],
  ['continues', endlessly('HTTP/1.1 100 Continue\r\n\r\n'), /no answer within 10 s/],
  ['endless-headers', endlessly('HTTP/1.1 200 OK\r\n'), /Parse Error|Header|no answer/],
  [
    'one-endless-header',
    (s) => void s.write(`HTTP/1.1 200 OK\r\nX: ${'x'.repeat(100_000)}`),
    /Header overflow|Parse Error/,
  ],
  ['endless-body', endlessly('HTTP/1.1 500 No\r\n\r\n'), /answered 500/],
  ['silent', () => {}, /no answer within 10 s/],
  ['closes', (socket) => void socket.end(), /socket hang up|without an answer/],
  ['closes-in-the-status', end('HTTP/1.1 20'), /socket hang up|without an answer/],
  ['closes-in-the-headers', end('HTTP/1.1 200 OK\r\nX: '), /socket hang up|without an answer/],
  ['resets', (socket) => void socket.resetAndDestroy(), /ECONNRESET|socket hang up/],
  ['speaks-something-else', end('220 mail.example ESMTP\r\n'), /Parse Error/],
];

/** A receiver that behaves so until it is repaired. */
async function startHostile(behave: (socket: Socket) => void) {
  const state = { calls: 0, open: 0, repaired: false };
  const server = createServer((socket) => {
    state.open++;
    socket.on('close', () => state.open--);
    socket.on('error', () => {});
    socket.once('data', () => {
      state.calls++;
      if (state.repaired) socket.end(NO_CONTENT);
      else behave(socket);
    });
  });
  return Object.assign(state, { callback: { url: `${await listening(server)}/verdicts`, secret: SECRET } });
}

async function decide(queue: string): Promise<string> {
  const { id } = await add(api, queue);
  expect((await api.post(`/v1/tickets/${id}/resolve`, { decision: 'ok', reason: 'elsewhere' })).status).toBe(200);
  return id;
}

const deliveryOf = async (id: string): Promise<Json | undefined> =>
  (await api.get(`/v1/tickets/${id}/deliveries`)).body.items[0];

const firstFailureOf = (id: string): Promise<Json> =>
  eventually(async () => {
    const delivery = await deliveryOf(id);
    return delivery?.attempts > 0 ? delivery : undefined;
  }, 120_000);

test.concurrent.each(BEHAVIOURS)(
  'S0.10 a receiver that %s ends each attempt within its time limit, with its cause, and gets all once repaired',
  async (name, behave, shown) => {
    const receiver = await startHostile(behave);
    await configure(api, name, { callback: receiver.callback });
    const ids = [await decide(name)];
    expect(await firstFailureOf(ids[0] as string)).toMatchObject({
      state: 'pending',
      error: expect.stringMatching(shown),
    });
    for (let n = 0; n < 3; n++) ids.push(await decide(name));
    receiver.repaired = true;
    for (const id of ids) await eventually(async () => (await deliveryOf(id))?.state === 'delivered', 120_000);
  },
  300_000,
);

const TRAILERS = 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTrailer: X\r\n\r\n0\r\n';

test.each<[name: string, behave: (socket: Socket) => void]>([
  ['body', endlessly('HTTP/1.1 200 OK\r\n\r\n')],
  [
    'trailers',
    (socket) => {
      socket.write(TRAILERS);
      endlessly('X: y\r\n')(socket);
    },
  ],
])('S0.10 a receiver that takes a message is hung up on, if its %s never ends', async (name, behave) => {
  const receiver = await startHostile(behave);
  await configure(api, `endless-${name}`, { callback: receiver.callback });
  const id = await decide(`endless-${name}`);
  await eventually(async () => (await deliveryOf(id))?.state === 'delivered');
  await eventually(async () => receiver.open === 0);
  expect(receiver.calls).toBe(1);
});

test('S0.10 an answer that is broken off at any byte is none', async () => {
  const each = Array.from({ length: NO_CONTENT.length }, async (_, length) => {
    const receiver = await startHostile(end(NO_CONTENT.slice(0, length)));
    await configure(api, `bytes-${length}`, { callback: receiver.callback });
    const { state, status, error } = await firstFailureOf(await decide(`bytes-${length}`));
    expect({ length, state, status }).toEqual({ length, state: 'pending', status: null });
    expect(error).toMatch(/socket hang up|without an answer|Parse Error|ECONNRESET/);
  });
  await Promise.all(each);
});

test('S3.7 a topic whose receiver has answered 101 pushes on', async () => {
  const [, behave] = BEHAVIOURS[0] as (typeof BEHAVIOURS)[0];
  const receiver = await startHostile(behave);
  const { url, secret } = receiver.callback;
  await api.put('/v1/topics/upgraded', { push: { url, secret, concurrency: 1 } });
  await api.post('/v1/jobs', { command: 'add', topic: 'upgraded', id: 'upgraded-1', delay: 0, TTR: 600, body: '1' });
  await eventually(async () => receiver.calls > 0, 60_000);
  receiver.repaired = true;
  await eventually(async () => (await api.get('/v1/jobs/upgraded-1')).body.state === 'finished', 120_000);
}, 180_000);

test('S0.10 S3.7 SIGTERM ends a worker beside receivers that answered 101 as it ends one that has nothing to deliver', async () => {
  const stores = await testStores();
  const own = await startTestSystem({}, { stores, role: 'api' });
  const [, behave] = BEHAVIOURS[0] as (typeof BEHAVIOURS)[0];
  const [verdicts, pushes] = [await startHostile(behave), await startHostile(behave)];
  /** @returns how long its end took, in milliseconds */
  const endWorker = async (before: () => Promise<unknown>) => {
    const worker = await startChild('worker', settingsFor(stores, { DOCKET_ALLOW_PRIVATE_CALLBACKS: '1' }));
    await before();
    const since = performance.now();
    expect(await worker.end('SIGTERM')).toBe(0);
    return performance.now() - since;
  };
  const idle = await endWorker(async () => {});
  await configure(own.api, 'upgraded', { callback: verdicts.callback });
  const { url, secret } = pushes.callback;
  await own.api.put('/v1/topics/upgraded', { push: { url, secret, concurrency: 4 } });
  const jobs = ['a', 'b', 'c', 'd'].map((id) => ({ topic: 'upgraded', id, delay: 0, TTR: 600, body: '1' }));
  await own.api.post('/v1/jobs', { command: 'add', jobs });
  for (const { id } of jobs) {
    await add(own.api, 'upgraded', { id });
    await own.api.post(`/v1/tickets/${id}/resolve`, { decision: 'ok', reason: 'elsewhere' });
  }
  const beside = await endWorker(() => eventually(async () => verdicts.calls > 0 && pushes.calls > 0, 60_000));
  // a call that never ends has the worker wait until it gives up, after 10 to 15 seconds
  expect(beside).toBeLessThan(idle + 9_000);
}, 180_000);

test("S0.10 Retry-After is whole seconds or a date, by the receiver's own clock", async () => {
  const headers: [after: string, least: number, most: number][] = [
    ['600', 590, 600],
    ['Sun, 06 Nov 1994 08:59:37 GMT', 590, 600],
    ['Sun Nov  6 08:59:37 1994', 590, 600],
    ['Sunday, 06-Nov-94 08:59:37 GMT', 590, 600],
    // what it does not say is as if it said nothing
    ...['-600', '6e2', '600.5', '0x258', 'Infinity', 'soon', '2030-01-01'].map((each): [string, number, number] => [
      each,
      0,
      30,
    ]),
  ];
  await Promise.all(
    headers.map(async ([after, least, most], n) => {
      const date = 'Date: Sun, 06 Nov 1994 08:49:37 GMT';
      const { callback } = await startHostile(end(`${UNAVAILABLE}${date}\r\nRetry-After: ${after}\r\n\r\n`));
      await configure(api, `after-${n}`, { callback });
      const id = await decide(`after-${n}`);
      const { nextAttemptAt, updatedAt } = await firstFailureOf(id);
      const seconds = (Date.parse(nextAttemptAt) - Date.parse(updatedAt)) / 1000;
      expect(seconds, after).toBeGreaterThanOrEqual(least);
      expect(seconds, after).toBeLessThanOrEqual(most);
    }),
  );
}, 120_000);
