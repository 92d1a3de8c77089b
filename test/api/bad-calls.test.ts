import type { RequestOptions } from 'node:http';
import { expect, test } from 'vitest';
import type { AnyEndpoint } from '../../api/endpoint.ts';
import { endpoints } from '../../api/endpoints.ts';
import { callWith, nameOf, oneOfEach, pathOf, sampleBody } from '../support/calls.ts';
import { repeat } from '../support/client.ts';
import { expectNoChanges, expectProblem } from '../support/problems.ts';
import { rawStatus } from '../support/raw.ts';
import { startTestSystem } from '../support/system.ts';
import { NOT_TIMES, textOf } from './wrong.ts';

const { api, sql } = await startTestSystem({ DOCKET_ALLOW_PRIVATE_CALLBACKS: '0' }, { role: 'api' });

const { ownToken, othersToken } = await oneOfEach(api);
const TICKETS = '/v1/queues/some-queue/tickets';
expectNoChanges(sql);

const textFor = (e: AnyEndpoint) => (e.body ? textOf(sampleBody(e)) : null);
const sendText = (path: string, body: string) =>
  api.raw('POST', path, { headers: { 'content-type': 'application/json' }, body });
const encodedTimes = NOT_TIMES.map((time) => encodeURIComponent(time));

const x = (length: number) => 'x'.repeat(length);
/** Names that are neither names nor percent-encoded UTF-8 without control characters. */
const NO_TEXT = ['%ZZ', '%', '%00', 'a%00b', '%E0%A4%A', '%ED%A0%80', '%0A'];
const NOT_IDS = [...NO_TEXT, x(201), 'a%2Fb', '%2F', 'a%20b', '%C3%A4', 'a,b', 'a%25'];
/** Those of jobs are chosen by the business. */
const NOT_CHOSEN = [...NO_TEXT, '%C2%85', '%7F'];
/** Names that people choose: too long, control, bidirectional and zero-width characters, not in NFC. */
const NOT_NAMES = [
  ...NOT_CHOSEN,
  x(201),
  ...['\u202e', '\u200b', '\u2066', '\ufeff', 'a\u0308'].map(encodeURIComponent),
];
const CHOSEN = ['queue', 'court', 'topic', 'gid', 'uid', 'juror', 'name'];

function wrongFor(e: AnyEndpoint, name: string): string[] {
  if (name === 'n') return ['0', '-1', '1.5', 'abc', 'NaN', '1e99', '2147483648', '%00'];
  if (name === 'occurrence') return encodedTimes;
  if (name === 'kind') return ['nonsense', 'Ticket', '%00'];
  if (name === 'itemId') return [...NOT_CHOSEN, x(501)];
  if (CHOSEN.includes(name) || e.path.startsWith('/v1/templates/')) return NOT_NAMES;
  return e.path.startsWith('/v1/jobs/') ? [...NOT_CHOSEN, x(222)] : NOT_IDS;
}

const withParams = endpoints.filter((e) => e.params);
test.each(withParams.map((e) => [nameOf(e), e] as const))('%s: names in the path', async (name, e) => {
  for (const [, param = ''] of e.path.matchAll(/\{(\w+)\}/g))
    for (const value of wrongFor(e, param))
      expectProblem(
        await callWith(api, e, textFor(e), { params: { [param]: value } }),
        `${name} ${param}=${value}`,
        'invalid_request',
      );
  if (/^\/v1\/(tickets|jobs|cases)\/\{id\}/.test(e.path))
    for (const id of ['nobody', x(200)])
      expectProblem(await callWith(api, e, textFor(e), { params: { id } }), name, 'not_found');
});

test('parameters that a call does not know are named', async () => {
  for (const e of endpoints) {
    const reply = await api.raw(e.method.toUpperCase(), `${pathOf(e)}?nonsense=1&constructor=2`);
    const said = `${nameOf(e)} → ${reply.status} ${JSON.stringify(reply.body)}`;
    if (e.problemAnswer) {
      expect(reply.body, said).toMatchObject({ success: false, code: 'invalid_request' });
      expect(reply.body.error, said).toContain('nonsense');
      continue;
    }
    expectProblem(reply, nameOf(e), 'invalid_request');
    expect(reply.body.errors.map((error: { path: string }) => error.path)).toEqual(['nonsense', 'constructor']);
  }
  for (const path of ['/docs?theme=dark', '/openapi.json?v=1']) expect((await api.get(path)).status).toBe(200);
});

test('a parameter that is given twice is refused: one of the two would be ignored', async () => {
  for (const path of ['/v1/tickets?state=waiting&state=held', '/v1/deliveries?state=failed&limit=1&state=failed']) {
    const reply = await api.get(path);
    expectProblem(reply, path, 'invalid_request');
    expect(reply.body.errors).toEqual([{ path: 'state', message: 'is given more than once' }]);
  }
});

test('fields that a call does not know are named, wherever they are', async () => {
  const parties = [{ id: 'p', persona: 'x' }];
  for (const [reply, paths] of [
    [await api.post('/v1/queues/q/tickets', { body: 1, prio: 1, 'x.y': 2 }), ['prio', 'x.y']],
    [await api.put('/v1/queues/q', { second: { shares: 1 } }), ['second.shares']],
    [await api.post('/v1/courts/c/cases', { parties, body: 1 }), ['parties.0.persona']],
  ] as const) {
    expectProblem(reply, paths[0], 'invalid_request');
    expect(reply.body.errors).toEqual(paths.map((path) => ({ path, message: 'is not a known field' })));
  }
});

test('what is wrong with a callback is named by its field, whatever sorts of callbacks there are', async () => {
  const workflow = { namespace: 'default', workflowId: 'w', signal: '' };
  for (const [callback, path] of [
    [{ temporal: workflow }, 'callback.temporal.signal'],
    [{ temporal: { ...workflow, namespace: '*' } }, 'callback.temporal.namespace'],
    [{ url: 'https://receiver.example/', secret: 'whsec_' }, 'callback.secret'],
    [{ url: 'https://receiver.example/', secret: `whsec_${'A'.repeat(32)}`, retries: 3 }, 'callback.retries'],
    [{ review: 'r1', kind: 'video', targetId: 't' }, 'callback.kind'],
  ] as const) {
    const replies = [await api.post('/v1/queues/q/tickets', { body: 1, callback })];
    if (!('review' in callback)) replies.push(await api.put('/v1/queues/q', { callback }));
    for (const reply of replies) {
      expectProblem(reply, path, 'invalid_request');
      expect(reply.body.errors[0].path).toBe(path);
    }
  }
});

const LIMITS = ['0', '501', '-1', 'abc', 'NaN', 'Infinity', '1.5', '1e9', '', '%00', '9007199254740993', '5,6'];
const asCursor = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');
const ODD_CURSORS = [
  ...[null, true, {}, [], [1], ['x', 'y'], ['2026-01-01', 1], [['2026-01-01T00:00:00Z'], 1]],
  ...[{ a: 1 }, 1.5, -1e300, [5, 5]],
].map(asCursor);
/** They look right and lead nowhere, at least in some lists. */
const FAR_CURSORS = [
  ...[2 ** 31, 2 ** 40, -(2 ** 40), ['0000-01-01T00:00:00Z', 1], ['9999-12-31T23:59:59.999999999999Z', 2 ** 52]],
  ...['zzz', '\ud800', '\0', 'lt_\0', 'lt_\ud800', [1, 'a\0', 1], ['2026-01-01T00:00:00.000Z', 1, 'a\0']],
]
  .map(asCursor)
  .concat(['0', '2147483648', '999999999999999', '8999-12-31T23:59:59.999Z_999999999999999', 'lt_nobody'])
  .concat(['8999999999999999_999999999_a/b', '0_0_x', '1_1_%00', '2026-02-30T00:00:00.000Z_1', 'ticket/%00']);

// the feed and the stream have no pages
const withPages = endpoints.filter(
  (e) => e.query && e.method === 'get' && !['/v1/stream', '/v1/feed'].includes(e.path),
);
test.each(withPages.map((e) => [nameOf(e), e] as const))('%s: limits and cursors', async (name, e) => {
  const cursors = ['nonsense', '2024-02-30T00:00:00.000Z_1', '%00', x(501), '!', ...ODD_CURSORS];
  for (const query of [...LIMITS.map((limit) => `limit=${limit}`), ...cursors.map((cursor) => `cursor=${cursor}`)])
    expectProblem(await api.get(`${pathOf(e)}?${query}`), `${name} ?${query.slice(0, 100)}`, 'invalid_request');
  for (const cursor of FAR_CURSORS) {
    const reply = await api.get(`${pathOf(e)}?cursor=${cursor}`);
    expect([200, 422], `${name} ${cursor} → ${JSON.stringify(reply.body)}`).toContain(reply.status);
  }
});

test('S0.9 no parameter of a query takes text that the database has none of', async () => {
  for (const e of endpoints.filter(({ method }) => method === 'get'))
    for (const name of Object.keys((e.query as { shape?: object } | undefined)?.shape ?? {}))
      for (const wrong of ['%00', 'a%00b'])
        expectProblem(await api.get(`${pathOf(e)}?${name}=${wrong}`), `${nameOf(e)} ${name}`);
});

test('what is wrong with a parameter is said once, and is true', async () => {
  const [range, form] = ['must be a time from 1970 to 8999', expect.stringMatching(/^must be ISO 8601 with seconds/)];
  const times = {
    ...{ '1969-12-31T23:59:59Z': range, '9000-01-01T00:00:00Z': range, '1970-01-01T00:00:00+01:00': range },
    ...{ '2023-02-29T00:00:00Z': 'must be a day that exists', '2024-13-01T00:00:00Z': form, '2024-01-01': form },
    '2024-01-01T00:00:00+16:00': form,
  };
  const wrong = Object.entries(times).map(([time, message]) => ['/v1/tickets', 'createdAfter', time, message]);
  for (const list of ['topics/t1/jobs', 'topics'])
    wrong.push([`/v1/${list}`, 'cursor', 'abc', 'is not a cursor of this list']);
  for (const [path, name, value, message] of wrong) {
    const { body } = await api.get(`${path}?${name}=${encodeURIComponent(value)}`);
    expect(body.errors, value).toEqual([{ path: name, message }]);
  }
});

test('filters of the list of tickets', async () => {
  const ofQueues = ['', 'a%e2%80%8bb', 'a%00', x(201)].map((queue) => `queue=${queue}`);
  const ofStates = ['nonsense', 'ready', ''].map((state) => `state=${state}`);
  const times = encodedTimes.flatMap((time) => [`createdAfter=${time}`, `createdBefore=${time}`]);
  for (const query of [...ofQueues, ...ofStates, 'reviewer=a%cc%88', 'reviewer=', ...times])
    expectProblem(await api.get(`/v1/tickets?${query}`), query, 'invalid_request');
});

test('S0.4 a stream names one reviewer or one queue', async () => {
  const ofStream = [
    '',
    'reviewer=',
    'reviewer=a%e2%80%8b',
    'queue=a%00',
    'reviewer=a&queue=b',
    'juror=a&queue=b',
    'juror=',
  ];
  for (const query of ofStream) expectProblem(await api.get(`/v1/stream?${query}`), query, 'invalid_request');
  expectProblem(await api.get('/v1/stream?ticket=nonsense&reviewer=a'), 'ticket', 'unauthenticated');
});

test('a bulk invalidation needs either ids or a filter, and a filter that can be read', async () => {
  const filters = [5, { nonsense: 1 }, { state: 'decided' }, { priorityBelow: 1002 }, { priorityBelow: 0.5 }];
  const times = [...NOT_TIMES, '', 5, true, {}, []].map((createdBefore) => ({ createdBefore }));
  const bodies = [...filters, ...times].map((filter) => ({ filter }));
  for (const body of [{}, { ids: ['a'], filter: {} }, { ids: [] }, ...bodies])
    expectProblem(
      await api.post('/v1/queues/some-queue/invalidate', { ...body, reason: 'bulk' }),
      textOf(body),
      'invalid_request',
    );
});

const byToken = { decide: { decision: 1 }, renew: {}, release: {}, transfer: { queue: 'never-made' } };
test.each(Object.entries(byToken))(
  'S0.7 a token that was never given for this ticket: lease_lost, with a reason of the contract: %s',
  async (name, body) => {
    const near = [`${ownToken}x`, ownToken.slice(0, -1), ownToken.toUpperCase()];
    for (const token of ['nonsense', 'lt_nonsense', othersToken, ...near, "' or 1=1 --"]) {
      const lost = await api.post(`/v1/tickets/held/${name}`, { ...body, token });
      expectProblem(lost, `${name} ${token}`, 'lease_lost');
      expect(lost.body).toMatchObject({ holder: 'hans', endedAt: null, reason: 'revoked' });
      expectProblem(await api.post(`/v1/tickets/some-id/${name}`, { ...body, token }), name, 'lease_lost');
      const over = await api.post(`/v1/tickets/over/${name}`, { ...body, token });
      expectProblem(over, `${name} ${token}`, 'not_open');
      const end = { state: 'invalidated', by: 'anonymous', at: expect.any(String), reason: 'over' };
      expect(over.body).toMatchObject(end);
    }
  },
);

test('unknown paths', async () => {
  const paths = ['/v1', '/v1/', '/v2/tickets', '/v1/queues/', '/v1/queues/q/', '/v1/queues/q/nothing', '/v1/tickets/'];
  const outside = ['/nothing', '/docs/nothing', '/docs/../../etc/passwd', '/docs/%2e%2e%2fpackage.json'];
  for (const path of [...paths, ...outside, '/v1/tickets/a/b/c', '/v1/tickets//events'])
    for (const method of ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'])
      expectProblem(await api.raw(method, path), `${method} ${path}`, 'not_found');
});

test('methods that a path does not have', async () => {
  const matches = (pattern: string, path: string) =>
    new RegExp(`^${pattern.replaceAll(/\{\w+\}/g, '[^/]+')}$`).test(path);
  const own = endpoints.map((e) => ({ path: pathOf(e), method: e.method.toUpperCase(), pattern: e.path }));
  for (const path of new Set([...own.map((e) => e.path), '/', '/docs', '/openapi.json'])) {
    const known = own.filter((e) => matches(e.pattern, path)).map((e) => e.method);
    // as the document has it: that an id may be the same word is not said
    const documented = own.filter((e) => e.path === path).map((e) => e.method);
    if (known.length === 0) for (const methods of [known, documented]) methods.push('GET');
    for (const method of ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'].filter((m) => !known.includes(m))) {
      const reply = await api.raw(method, path);
      expectProblem(reply, `${method} ${path}`, 'method_not_allowed');
      expect(reply.headers.get('allow')?.split(', ').sort(), path).toEqual([...new Set(documented)].sort());
    }
  }
});

test('a creation that is still to come, and an Idempotency-Key that is none', async () => {
  const createdAt = new Date(Date.now() + 3_600_000).toISOString();
  expectProblem(await api.post(TICKETS, { body: 1, createdAt }), createdAt, 422);
  // also where an id of its own makes it unnecessary
  for (const key of ['', 'a b', x(256), 'ä'])
    for (const more of [{}, { id: 'keyed' }])
      expectProblem(await api.post(TICKETS, { body: 1, ...more }, { 'idempotency-key': key }), key, 422);
});

test('times that only some readers understand', async () => {
  const zones = ['2026-01-02T03:04:05+23:59', '2026-01-02T03:04:05-23:59'];
  for (const time of [...zones, `2026-01-02T03:04:05.${'1'.repeat(300)}Z`, '2026-01-02T03:04Z']) {
    const query = await api.get(`/v1/tickets?createdAfter=${encodeURIComponent(time)}`);
    const bulk = { filter: { createdBefore: time }, reason: 'x', dryRun: true };
    for (const { status, body } of [query, await api.post('/v1/queues/some-queue/invalidate', bulk)])
      expect([200, 422], `${time}: ${JSON.stringify(body)}`).toContain(status);
  }
});

test('skills that together are too long for the index', async () => {
  const random = () => repeat(200, () => Math.random().toString(36).charAt(2) || 'x').join('');
  const requires = Array.from({ length: 50 }, random);
  expectProblem(await api.post(TICKETS, { body: 1, requires }), 'requires', 422);
  expectProblem(await api.patch('/v1/tickets/some-id', { requires }), 'requires', 422);
});

test('one bad ticket of a batch does not harm the others', async () => {
  const deep = `${'['.repeat(1000)}${']'.repeat(1000)}`;
  const reply = await sendText(
    `${TICKETS}/batch`,
    String.raw`{"tickets": [{"body": "\u0000"}, {"id": "some-id", "body": 1}, {"body": 1e400}, {"body": "\ud800"}, 5, null,
      {"body": {"__proto__": 1}}, {"id": "some-id", "body": 2}, {"id": "a b", "body": 1}, {"body": ${deep}}]}`,
  );
  const codes = reply.body.results.map((r: { httpStatus: number }) => r.httpStatus);
  expect(codes).toEqual([422, 200, 422, 422, 422, 422, 422, 409, 422, 422]);
});

test('calls that are no HTTP as fetch speaks it are refused, and the server goes on', async () => {
  const call = (options: RequestOptions) => rawStatus(api.url, options);
  expect(await call({ path: '/v1/tickets/%' })).toBe(422);
  expect(await call({ path: '//v1//queues' })).toBe(404);
  expect(await call({ path: `/v1/tickets/${x(8000)}` })).toBe(422);
  for (const path of ['/v1/../v1/queues', 'http://example.com/v1/queues', `/v1/queues?${'limit=5&'.repeat(1500)}`])
    expect(await call({ path }), path).toBeLessThan(500);
  expect(await call({ method: 'PROPFIND' })).toBe(405);
  expect(await call({ headers: { host: 'a b' } })).toBeLessThan(500);
  expect(await call({ headers: { 'content-length': '-5' } }).catch(() => 400)).toBe(400);
  expect((await api.get('/livez')).status).toBe(200);
});
