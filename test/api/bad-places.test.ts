import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { AnyEndpoint } from '../../api/endpoint.ts';
import { endpoints } from '../../api/endpoints.ts';
import { claimOne, type Reply } from '../support/client.ts';
import { digestOf, expectProblem } from '../support/problems.ts';
import { nameOf, pathOf, sampleBody } from '../support/samples.ts';
import { startTestSystem } from '../support/system.ts';
import { textOf, WRONG } from '../support/wrong.ts';

const { api, sql } = await startTestSystem({ DOCKET_ALLOW_PRIVATE_CALLBACKS: '0' });

await api.put('/v1/queues/some-queue', { leaseSeconds: 3600, maxHeld: 5 });
for (const id of ['some-id', 'held', 'over']) await api.post('/v1/queues/some-queue/tickets', { id, body: 1 });
await claimOne(api, 'some-queue', 'hans', { count: 1 });
await api.post('/v1/tickets/over/invalidate', { reason: 'over' });
const pictures = ['sample-picture', 'some-pictureId'].map((id) => ({ id, status: 1 }));
await api.put('/v1/reviews/some-id', { text: { status: 1 }, pictures });

await api.put('/v1/courts/some-court', {});
await api.post('/v1/courts/some-court/cases', { id: 'some-id', body: 1 });
await api.post('/v1/templates', { id: 'some-id', name: 'some' });
await api.put('/v1/groups/some-gid', { members: ['some-uid'] });
const task = { type: 'once', executor: 'gid_some-gid', startTime: '2026-01-02T03:04:05.678Z', templateId: 'some-id' };
await api.post('/v1/tasks', { id: 'some-id', ...task, lookbackSeconds: 1e8 });
await api.post('/v1/jobs', { command: 'add', topic: 'some-topic', id: 'some-id', body: 1 });

let before: Record<string, string> = {};
beforeEach(async () => {
  before = await digestOf(sql);
});
afterEach(async () => {
  expect(await digestOf(sql)).toEqual(before);
});

const call = (e: AnyEndpoint, body: string | null, params: Record<string, string>): Promise<Reply> =>
  api.raw(e.method.toUpperCase(), pathOf(e, params), {
    headers: { 'content-type': 'application/json' },
    ...(body !== null && { body }),
  });

/** Without pages: what these refuse of their queries is below, and in test/feed. */
const isStream = (e: AnyEndpoint) => ['/v1/stream', '/v1/feed'].includes(e.path);
const withParams = endpoints.filter((e) => e.params);

describe.each(withParams.map((e) => [nameOf(e), e] as const))('%s', (_name, e) => {
  test('ids and names in the path', async () => {
    const names = [...e.path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name as string);
    const body = e.body ? textOf(sampleBody(e)) : null;
    const wrong = [
      'x'.repeat(201),
      'a%2Fb',
      '%2F',
      '%ZZ',
      '%',
      '%00',
      'a%00b',
      '%E0%A4%A',
      '%ED%A0%80',
      'a%20b',
      '%C3%A4',
      'a,b',
      '%0A',
      'a%25',
    ];
    // the business decides how these look
    const chosen = ['%ZZ', '%', '%00', 'a%00b', '%E0%A4%A', '%ED%A0%80', '%0A', '%C2%85', '%7F', 'x'.repeat(222)];
    const wrongFor: Record<string, string[]> = {
      n: ['0', '-1', '1.5', 'abc', 'NaN', '1e99', '2147483648', '%00'],
      occurrence: WRONG.time
        .filter((t) => typeof t === 'string' && t !== '')
        .map((t) => encodeURIComponent(t as string)),
      topic: [...chosen, 'x'.repeat(201)],
      // of a delivery: of whatever kind
      ...{ kind: ['nonsense', 'Ticket', '%00'], itemId: [...chosen.slice(0, -1), 'x'.repeat(501)] },
      ...(e.path.startsWith('/v1/jobs/') && { id: chosen }),
    };
    for (const name of names)
      for (const value of wrongFor[name] ?? wrong) {
        const reply = await call(e, body, { [name]: value });
        expectProblem(reply, `${nameOf(e)} ${name}=${value}`, { status: 422, code: 'invalid_request' });
      }
  });

  if (!/^\/v1\/(tickets|jobs|cases)\/\{id\}/.test(e.path)) return;
  test('an unknown id', async () => {
    const body = e.body ? textOf(sampleBody(e)) : null;
    const nobody = { status: 404, code: 'not_found' };
    expectProblem(await call(e, body, { id: 'nobody' }), nameOf(e), nobody);
    expectProblem(await call(e, body, { id: 'x'.repeat(200) }), nameOf(e), nobody);
  });
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
    expectProblem(reply, nameOf(e), { status: 422, code: 'invalid_request' });
    const names = reply.body.errors.map((error: { path: string }) => error.path);
    expect(names, said).toEqual(['nonsense', 'constructor']);
  }
  expect((await api.get('/docs?theme=dark')).status).toBe(200);
  expect((await api.get('/openapi.json?v=1')).status).toBe(200);
});

const withPages = endpoints.filter((e) => e.query && !isStream(e));
const asCursor = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');

describe.each(withPages.map((e) => [nameOf(e), e] as const))('%s', (_name, e) => {
  const ask = async (query: string) =>
    expectProblem(await api.get(`${pathOf(e)}?${query}`), `${nameOf(e)} ?${query.slice(0, 100)}`, {
      status: 422,
      code: 'invalid_request',
    });

  test('limits', async () => {
    for (const limit of [
      '0',
      '501',
      '-1',
      'abc',
      'NaN',
      'Infinity',
      '1.5',
      '1e9',
      '',
      '%00',
      '9007199254740993',
      '5,6',
    ])
      await ask(`limit=${limit}`);
  });

  test('cursors', async () => {
    const odd = [
      null,
      true,
      {},
      [],
      [1],
      ['x', 'y'],
      ['2026-01-01', 1],
      [['2026-01-01T00:00:00Z'], 1],
      { a: 1 },
      1.5,
      -1e300,
      [5, 5],
    ];
    for (const cursor of ['nonsense', '%00', 'x'.repeat(501), '!', ...odd.map(asCursor)]) await ask(`cursor=${cursor}`);
  });

  test('cursors that look right and lead nowhere', async () => {
    const far = [
      2 ** 31,
      2 ** 40,
      -(2 ** 40),
      ['0000-01-01T00:00:00Z', 1],
      ['9999-12-31T23:59:59.999999999999Z', 2 ** 52],
      'zzz',
      ...['\ud800', '\0', 'lt_\0', 'lt_\ud800', [1, 'a\0', 1], ['2026-01-01T00:00:00.000Z', 1, 'a\0']],
    ];
    const own = ['0', '2147483648', '999999999999999', '8999-12-31T23:59:59.999Z_999999999999999', 'lt_nobody'];
    const lines = ['8999999999999999_999999999_a/b', '0_0_x', '1_1_%00', '2026-02-30T00:00:00.000Z_1', 'ticket/%00'];
    for (const cursor of [...far.map(asCursor), ...own, ...lines]) {
      const reply = await api.get(`${pathOf(e)}?cursor=${cursor}`);
      expect([200, 422], `${nameOf(e)} ${cursor} → ${JSON.stringify(reply.body)}`).toContain(reply.status);
    }
  });
});

describe('filters', () => {
  test('of the list of tickets', async () => {
    const times = WRONG.time.filter((t) => typeof t === 'string' && t !== '' && !t.includes('\0')) as string[];
    const queries = [
      ...[
        'queue=',
        'queue=a%20b',
        'queue=a%00',
        `queue=${'x'.repeat(201)}`,
        'state=nonsense',
        'state=ready',
        'state=',
        'reviewer=a,b',
        'reviewer=',
      ],
      ...times.flatMap((t) => [`createdAfter=${encodeURIComponent(t)}`, `createdBefore=${encodeURIComponent(t)}`]),
    ];
    for (const query of queries)
      expectProblem(await api.get(`/v1/tickets?${query}`), query, { status: 422, code: 'invalid_request' });
  });

  test('of the stream', async () => {
    for (const query of [
      '',
      'reviewer=',
      'reviewer=a%20b',
      'queue=a%00',
      'reviewer=a&queue=b',
      'juror=a&queue=b',
      'juror=',
    ])
      expectProblem(await api.get(`/v1/stream?${query}`), query, { status: 422, code: 'invalid_request' });
    expectProblem(await api.get('/v1/stream?ticket=nonsense&reviewer=a'), 'ticket', {
      status: 401,
      code: 'unauthenticated',
    });
  });

  test('a bulk invalidation needs either ids or a filter, and a filter that can be read', async () => {
    const wrong = [
      { ids: ['a'], filter: {} },
      { ids: [] },
      { filter: 5 },
      { filter: { nonsense: 1 } },
      { filter: { state: 'decided' } },
    ];
    const times = WRONG.time.map((createdBefore) => ({ filter: { createdBefore } }));
    for (const body of [
      {},
      ...wrong,
      ...times,
      { filter: { priorityBelow: 1002 } },
      { filter: { priorityBelow: 0.5 } },
    ]) {
      const reply = await api.raw('POST', '/v1/queues/some-queue/invalidate', {
        headers: { 'content-type': 'application/json' },
        body: textOf({ ...body, reason: 'bulk' }),
      });
      expectProblem(reply, JSON.stringify(body), { status: 422, code: 'invalid_request' });
    }
  });
});
