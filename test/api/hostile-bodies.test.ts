import { once } from 'node:events';
import { request } from 'node:http';
import { afterAll, expect, test } from 'vitest';
import { endpoints } from '../../api/endpoints.ts';
import { BODIES, FRAMES, statusesOf } from '../support/hostile.ts';
import { nameOf, pathOf } from '../support/samples.ts';
import { startTestSystem } from '../support/system.ts';

const { api, running } = await startTestSystem({ DELAY_QUEUE_PORT: '0' }, { role: 'api' });
await api.put('/v1/queues/neighbour', {});

const takesBody = endpoints.filter((e) => e.body !== undefined || e.document !== undefined);
const delayQueue = {
  'delay-queue push': { url: `http://${running.delayQueue?.address}`, method: 'POST', path: '/push' },
  'delay-queue pop': { url: `http://${running.delayQueue?.address}`, method: 'POST', path: '/pop' },
};
const targets: Record<string, { url: string; method: string; path: string }> = {
  ...Object.fromEntries(
    takesBody.map((e) => [nameOf(e), { url: api.url, method: e.method.toUpperCase(), path: pathOf(e) }]),
  ),
  ...delayQueue,
};

/** The ways in which bodies are read: one entry, many that are looked at one by one, by the handler itself, not as JSON at first. */
const READERS = new Set([
  ...[
    'post /v1/queues/{queue}/tickets',
    'post /v1/queues/{queue}/tickets/batch',
    'post /v1/jobs',
    'put /v1/queues/{queue}',
  ],
  ...Object.keys(delayQueue),
]);
/** Larger bodies only cost time where another call reads them in the same way. */
const SMALL = 20_000;

/** Someone else's call, which is answered whatever is sent beside it. */
async function neighbour(): Promise<void> {
  const { status, body } = await api.get('/v1/queues/neighbour');
  expect([status, body.name]).toEqual([200, 'neighbour']);
}

afterAll(async () => {
  // the server runs in this process: a prototype that was written to would be this one
  expect(Object.keys(Object.prototype)).toEqual([]);
  expect(({} as Record<string, unknown>).polluted).toBeUndefined();
  const { body: metrics } = await api.get('/metrics');
  expect(metrics).toContain('docket_refused_total{code="invalid_request"');
  expect(metrics).not.toMatch(/docket_http_seconds_count\{.*status="5\d\d"/);
  expect(metrics).not.toMatch(/docket_refused_total\{code="(internal|unavailable)"/);
  expect((await api.get('/readyz')).body).toMatchObject({ postgres: 'ok' });
});

test.each(Object.entries(targets))('no hostile body harms %s', async (name, { url, method, path }) => {
  for (const [what, { body, headers = { 'content-type': 'application/json' } }] of Object.entries(BODIES)) {
    if (body.length > SMALL && !READERS.has(name)) continue;
    const sent = fetch(url + path, { method, headers, body: new Uint8Array(Buffer.from(body)) });
    const [reply] = await Promise.all([sent, ...(READERS.has(name) ? [neighbour()] : [])]);
    const text = await reply.text();
    expect(reply.status, `${name}: ${what} → ${text.slice(0, 200)}`).toBeLessThan(500);
    expect(text, what).not.toMatch(/polluted|node_modules|\n {4}at /);
  }
  await neighbour();
});

test('a compressed body is not unpacked: it is no JSON', async () => {
  for (const [what, { body, headers }] of Object.entries(BODIES)) {
    if (headers?.['content-encoding'] === undefined || what.includes('none')) continue;
    const init = { headers, body: new Uint8Array(Buffer.from(body)) };
    expect((await api.raw('POST', '/v1/queues/q/tickets', init)).status, what).toBe(400);
  }
});

let answered = 0;

test.each(Object.entries(FRAMES))('%s: refused, and no other call is', async (what, frame) => {
  const places = [
    [api.url, '/v1/queues/q/tickets'],
    [delayQueue['delay-queue push'].url, '/push'],
  ] as const;
  for (const [url, path] of places) {
    const sent = frame.replaceAll('{path}', path);
    const [statuses] = await Promise.all([statusesOf(url, sent), neighbour()]);
    answered += statuses.length;
    for (const status of statuses) expect(status, `${what} at ${url}${path}`).toBeLessThan(500);
    await Promise.all([statusesOf(url, sent, 'reset'), neighbour()]);
  }
});

test('most of them were answered', () => {
  expect(answered).toBeGreaterThan(Object.keys(FRAMES).length);
});

test('a body of which half has come keeps no one else waiting', async () => {
  const slow = Array.from({ length: 20 }, () => {
    const headers = { 'content-type': 'application/json', 'content-length': '16' };
    const call = request(`${api.url}/v1/queues/q/tickets`, { method: 'POST', headers });
    call.write('{"body":');
    return call;
  });
  for (let n = 0; n < 20; n++) await neighbour();
  for (const call of slow) {
    const answered = once(call, 'response');
    call.end('1      }');
    const [response] = await answered;
    expect(response.statusCode).toBe(201);
    response.resume();
  }
});
