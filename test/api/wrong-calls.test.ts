import { request } from 'node:http';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { endpoints } from '../../api/endpoints.ts';
import { claimOne } from '../support/client.ts';
import { digestOf, expectProblem } from '../support/problems.ts';
import { SECRET } from '../support/sample-bodies.ts';
import { nameOf, pathOf } from '../support/samples.ts';
import { startTestSystem } from '../support/system.ts';

const { api, sql } = await startTestSystem({ DOCKET_ALLOW_PRIVATE_CALLBACKS: '0' });

await api.put('/v1/queues/q', { leaseSeconds: 3600, maxHeld: 5 });
for (const id of ['held', 'other', 'waiting', 'over'])
  await api.post('/v1/queues/q/tickets', { id, body: 1, priority: id === 'held' ? 9 : 0 });
await claimOne(api, 'q', 'hans');
const othersToken = (await api.post('/v1/queues/q/claim', { reviewer: 'olga' })).body.tickets[0].lease.token as string;
const [{ lease_id: ownToken }] = (await sql(`select lease_id from item where id = 'held'`)) as [{ lease_id: string }];
await api.post('/v1/tickets/over/invalidate', { reason: 'over' });

let before: Record<string, string> = {};
beforeEach(async () => {
  before = await digestOf(sql);
});
afterEach(async () => {
  expect(await digestOf(sql)).toEqual(before);
});

describe('tokens', () => {
  const calls = { decide: { decision: 1 }, renew: {}, release: {}, transfer: { queue: 'never-made' } };

  test.each(Object.entries(calls))('a token that is not live: %s', async (name, body) => {
    for (const token of [
      'nonsense',
      'lt_nonsense',
      othersToken,
      `${ownToken}x`,
      ownToken.slice(0, -1),
      ownToken.toUpperCase(),
      "' or 1=1 --",
    ]) {
      const lost = await api.post(`/v1/tickets/held/${name}`, { ...body, token });
      expectProblem(lost, `${name} ${token}`, { status: 409, code: 'lease_lost' });
      expect(lost.body).toMatchObject({ holder: 'hans', endedAt: null, reason: expect.any(String) });
      expectProblem(await api.post(`/v1/tickets/waiting/${name}`, { ...body, token }), name, {
        status: 409,
        code: 'lease_lost',
      });
      const over = await api.post(`/v1/tickets/over/${name}`, { ...body, token });
      expectProblem(over, `${name} ${token}`, { status: 409, code: 'not_open' });
      expect(over.body).toMatchObject({
        state: 'invalidated',
        by: 'anonymous',
        at: expect.any(String),
        reason: 'over',
      });
    }
  });

  test('a final ticket stays as it is', async () => {
    const calls = {
      resolve: { decision: 1, reason: 'x' },
      invalidate: { reason: 'another' },
      release: {},
      transfer: { queue: 'never-made' },
    };
    for (const [name, body] of Object.entries(calls))
      expectProblem(await api.post(`/v1/tickets/over/${name}`, body), name, { status: 409, code: 'not_open' });
    expectProblem(await api.patch('/v1/tickets/over', { priority: 5 }), 'patch', { status: 409, code: 'not_open' });
  });

  test('an id that stands for other content', async () => {
    for (const body of [
      { body: 2 },
      { body: 1, priority: 1 },
      { body: 1, requires: ['x'] },
      { body: 1, delaySeconds: 1 },
    ]) {
      const reply = await api.post('/v1/queues/q/tickets', { id: 'waiting', ...body });
      expectProblem(reply, JSON.stringify(body), { status: 409, code: 'id_conflict' });
    }
    expectProblem(await api.post('/v1/queues/never-made/tickets', { id: 'waiting', body: 1 }), 'queue', {
      status: 409,
      code: 'id_conflict',
    });
  });
});

describe('places', () => {
  test('unknown queues and tickets', async () => {
    for (const path of [
      '/v1/queues/none',
      '/v1/queues/none/stats',
      '/v1/tickets/none',
      '/v1/tickets/none/events',
      '/v1/tickets/none/deliveries',
    ])
      expectProblem(await api.get(path), path, { status: 404, code: 'not_found' });
    expectProblem(await api.post('/v1/tickets/waiting/deliveries/1/redeliver'), 'redeliver', {
      status: 404,
      code: 'not_found',
    });
    expectProblem(await api.post('/v1/queues/none/explain', { reviewer: 'a', ticket: 'none' }), 'explain', {
      status: 404,
      code: 'not_found',
    });
  });

  test('unknown paths', async () => {
    const paths = [
      '/v1',
      '/v1/',
      '/v2/tickets',
      '/v1/queues/',
      '/v1/queues/q/',
      '/v1/queues/q/nothing',
      '/v1/tickets/',
      '/v1/tickets/a/b/c',
      '/nothing',
    ];
    for (const path of [
      ...paths,
      '/docs/nothing',
      '/docs/../../etc/passwd',
      '/docs/%2e%2e%2fpackage.json',
      '/v1/tickets//events',
    ])
      for (const method of ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'])
        expectProblem(await api.raw(method, path), `${method} ${path}`, { status: 404, code: 'not_found' });
  });

  test('methods that a path does not have', async () => {
    const matches = (pattern: string, path: string) =>
      new RegExp(`^${pattern.replaceAll(/\{\w+\}/g, '[^/]+')}$`).test(path);
    const own = endpoints.map((e) => ({ path: pathOf(e), method: e.method.toUpperCase(), pattern: e.path }));
    const paths = new Set([...own.map((e) => e.path), '/', '/docs', '/openapi.json']);
    for (const path of paths) {
      const known = own.filter((e) => matches(e.pattern, path)).map((e) => e.method);
      // as the document has it: that an id may be the same word is not said
      const documented = own.filter((e) => e.path === path).map((e) => e.method);
      if (known.length === 0) for (const methods of [known, documented]) methods.push('GET');
      for (const method of ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'].filter((m) => !known.includes(m))) {
        const reply = await api.raw(method, path);
        expectProblem(reply, `${method} ${path}`, { status: 405, code: 'method_not_allowed' });
        expect(reply.headers.get('allow')?.split(', ').sort(), path).toEqual([...new Set(documented)].sort());
      }
    }
  });
});

describe('values that only fit together', () => {
  test('callbacks to this machine and its network', async () => {
    const hosts = [
      '127.0.0.1',
      'localhost',
      '[::1]',
      '0x7f.1',
      '2130706433',
      '10.0.0.1',
      '192.168.1.1',
      '172.16.0.1',
      '169.254.169.254',
      '0.0.0.0',
    ];
    for (const host of [
      ...hosts,
      '[::ffff:127.0.0.1]',
      '[fd00::1]',
      '[fe80::1]',
      'db.internal',
      'a.localhost',
      'LOCALHOST.',
      '100.64.0.1',
      '127.0.0.1.',
    ]) {
      const callback = { url: `http://${host}/hook`, secret: SECRET };
      expectProblem(await api.post('/v1/queues/q/tickets', { body: 1, callback }), host, {
        status: 422,
        code: 'invalid_request',
      });
      expectProblem(await api.put('/v1/queues/q', { callback }), host, { status: 422, code: 'invalid_request' });
    }
  });

  test('a creation that is still to come, and an Idempotency-Key that is none', async () => {
    const createdAt = new Date(Date.now() + 3_600_000).toISOString();
    expectProblem(await api.post('/v1/queues/q/tickets', { body: 1, createdAt }), createdAt, { status: 422 });
    // also where an id of its own makes it unnecessary
    for (const key of ['', 'a b', 'x'.repeat(256), 'ä'])
      for (const more of [{}, { id: 'keyed' }])
        expectProblem(await api.post('/v1/queues/q/tickets', { body: 1, ...more }, { 'idempotency-key': key }), key, {
          status: 422,
        });
  });

  test('times that only some readers understand', async () => {
    const odd = [
      '2026-01-02T03:04:05+23:59',
      '2026-01-02T03:04:05-23:59',
      `2026-01-02T03:04:05.${'1'.repeat(300)}Z`,
      '2026-01-02T03:04Z',
    ];
    for (const time of odd) {
      const query = await api.get(`/v1/tickets?createdAfter=${encodeURIComponent(time)}`);
      expect([200, 422], `${time}: ${JSON.stringify(query.body)}`).toContain(query.status);
      const dry = await api.post('/v1/queues/q/invalidate', {
        filter: { createdBefore: time },
        reason: 'x',
        dryRun: true,
      });
      expect([200, 422], `${time}: ${JSON.stringify(dry.body)}`).toContain(dry.status);
    }
  });

  test('skills that together are too long for the index', async () => {
    const random = () => Array.from({ length: 200 }, () => Math.random().toString(36).charAt(2) || 'x').join('');
    const requires = Array.from({ length: 50 }, random);
    expectProblem(await api.post('/v1/queues/q/tickets', { body: 1, requires }), 'requires', { status: 422 });
    expectProblem(await api.patch('/v1/tickets/waiting', { requires }), 'requires', { status: 422 });
  });
});

test('one bad ticket of a batch does not harm the others', async () => {
  const text = String.raw`{"tickets": [{"body": "\u0000"}, {"id": "waiting", "body": 1}, {"body": 1e400}, {"body": "\ud800"}, 5, null,
    {"body": {"__proto__": 1}}, {"id": "waiting", "body": 2}, {"id": "a b", "body": 1}, {"body": ${'['.repeat(1000)}${']'.repeat(1000)}}]}`;
  const reply = await api.raw('POST', '/v1/queues/q/tickets/batch', {
    headers: { 'content-type': 'application/json' },
    body: text,
  });
  const codes = reply.body.results.map((r: { httpStatus: number }) => r.httpStatus);
  expect(codes).toEqual([422, 200, 422, 422, 422, 422, 422, 409, 422, 422]);
});

test('millions of small values in one body are refused without holding up the others', async () => {
  const many = (one: string) => `[${`${one},`.repeat(Math.floor(8_000_000 / (one.length + 1)))}${one}]`;
  const bodies = {
    '/v1/queues/q/tickets/batch': `{"tickets": ${many('0')}}`,
    '/v1/tickets/resolve': `{"items": ${many('0')}, "reason": "x"}`,
    '/v1/queues/q/invalidate': `{"ids": ${many('5')}, "reason": "x"}`,
    '/v1/jobs': `{"command": "finish", "jobs": ${many('[]')}}`,
  };
  for (const [path, body] of Object.entries(bodies)) {
    const started = performance.now();
    const reply = await api.raw('POST', path, { headers: { 'content-type': 'application/json' }, body });
    const said = `${path} ${Math.round(performance.now() - started)} ms, ${Math.round(process.memoryUsage().rss / 1e6)} MB`;
    expect([200, 422], said).toContain(reply.status);
    expect(JSON.stringify(reply.body).length, said).toBeLessThan(20_000);
    expect(performance.now() - started, said).toBeLessThan(5_000);
  }
});

describe('calls that are no HTTP as fetch speaks it', () => {
  const call = (options: { path?: string; headers?: Record<string, string>; method?: string }) =>
    new Promise<number>((resolve, reject) => {
      const { hostname, port } = new URL(api.url);
      const sent = request({ hostname, port, method: 'GET', path: '/v1/queues', ...options }, (answer) => {
        answer.resume().on('end', () => resolve(answer.statusCode ?? 0));
      });
      sent.on('error', reject).end();
    });

  test('are refused, and the server goes on', async () => {
    expect(await call({ path: '/v1/tickets/%' })).toBe(422);
    expect(await call({ path: '/v1/../v1/queues' })).toBeLessThan(500);
    expect(await call({ path: 'http://example.com/v1/queues' })).toBeLessThan(500);
    expect(await call({ path: '//v1//queues' })).toBe(404);
    expect(await call({ path: `/v1/tickets/${'x'.repeat(8000)}` })).toBe(422);
    expect(await call({ path: `/v1/queues?${'limit=5&'.repeat(1500)}` })).toBeLessThan(500);
    expect(await call({ method: 'PROPFIND' })).toBe(405);
    expect(await call({ headers: { host: 'a b' } })).toBeLessThan(500);
    expect(await call({ headers: { 'content-length': '-5' } }).catch(() => 400)).toBe(400);
    expect((await api.get('/livez')).status).toBe(200);
  });
});

test('every endpoint has a name of its own', () => {
  expect(new Set(endpoints.map(nameOf)).size).toBe(endpoints.length);
});
