import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type AnyEndpoint, LARGE_BODY } from '../../api/endpoint.ts';
import { SMALL_BODY } from '../../contract/common.ts';
import { claimOne, type Reply } from '../support/client.ts';
import { digestOf, type Expected, expectProblem } from '../support/problems.ts';
import { bodyOf, nameOf, pathOf, sampleOf, withBody } from '../support/samples.ts';
import { startTestSystem } from '../support/system.ts';
import { HARMFUL, Raw, textOf, WRONG } from '../support/wrong.ts';

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

let before: Record<string, string> = {};
beforeEach(async () => {
  before = await digestOf(sql);
});
afterEach(async () => {
  expect(await digestOf(sql)).toEqual(before);
});

const call = (
  e: AnyEndpoint,
  body: string | Uint8Array | ReadableStream | null,
  headers: Record<string, string> = {},
): Promise<Reply> =>
  api.raw(e.method.toUpperCase(), pathOf(e), {
    headers: { 'content-type': 'application/json', ...headers },
    ...(body !== null && { body, duplex: 'half' }),
  } as RequestInit);

/** Sends JSON with one thing wrong and looks at the answer. */
async function refused(
  e: AnyEndpoint,
  body: unknown,
  what: string,
  expected: Expected = { status: 422, code: 'invalid_request' },
) {
  const text = textOf(body);
  const reply = await call(e, text);
  // where each entry is looked at by itself, each is refused by itself
  if (e.checksEntries && reply.status === 200) {
    expect(reply.body.results.length, what).toBeGreaterThan(0);
    for (const result of reply.body.results)
      expect(result, what).toMatchObject({ httpStatus: 422, code: 'invalid_request' });
  } else expectProblem(reply, `${nameOf(e)} ${what}: ${text.slice(0, 200)}`, expected);
}

describe.each(withBody.map((e) => [nameOf(e), e] as const))('%s', (_name, e) => {
  const sample = sampleOf(e);
  const valid = bodyOf(sample);

  test('each field refuses what it does not take', async () => {
    for (const [name, { kind, nullable }] of Object.entries(sample)) {
      for (const wrong of WRONG[kind]) await refused(e, { ...valid, [name]: wrong }, name);
      if (kind !== 'json' && !nullable) await refused(e, { ...valid, [name]: null }, name);
    }
  });

  test('a field that is missing, and one that is unknown', async () => {
    for (const [name, { required }] of Object.entries(sample))
      if (required) await refused(e, { ...valid, [name]: undefined }, `without ${name}`);
    for (const extra of ['extra', 'constructor', 'prototype', 'toString', ' ', '', 'Token', 'ID'])
      await refused(e, { ...valid, [extra]: 1 }, `with ${extra}`);
    if (Object.values(sample).some((f) => f.required)) {
      expectProblem(await call(e, null), 'no body', { status: 422 });
      await refused(e, {}, 'an empty body');
    }
  });

  test('a body that is no object', async () => {
    for (const body of [[], [valid], null, 0, 5, '', 'text', true, false]) await refused(e, body, 'no object');
  });

  test('what could not be kept as it was sent, in any place', async () => {
    for (const [what, harmful] of Object.entries(HARMFUL)) {
      for (const name of Object.keys(sample)) await refused(e, { ...valid, [name]: harmful }, `${name}: ${what}`);
      await refused(e, { ...valid, extra: harmful }, `extra: ${what}`);
    }
    await refused(e, new Raw(`{"__proto__": {}, ${textOf(valid).slice(1)}`), '__proto__ at the top');
  });

  test('what is not JSON in UTF-8', async () => {
    const text = textOf(valid);
    const broken = [
      '{',
      ' ',
      '{"a":}',
      "{'a':1}",
      '{"a":1,}',
      'nul',
      'NaN',
      `${text}x`,
      `${text}${text}`,
      text.slice(0, -1),
      '\0',
      '"\n"',
    ];
    const bytes = [`{"token":"\xff"}`, `{"\xc3\x28":1}`, '"\xed\xa0\x80"', '\xff\xfe{\0}\0', '"\xf0\x9f\x98"'].map(
      (b) => Buffer.from(b, 'latin1'),
    );
    for (const body of [...broken, ...bytes])
      expectProblem(await call(e, body), `${nameOf(e)} ${body}`, { status: 400, code: 'invalid_request' });
  });

  test('another content type', async () => {
    const wrong = { status: 415, code: 'unsupported_media_type' };
    const types = [
      'text/plain',
      'text/json',
      'application/x-www-form-urlencoded',
      'multipart/form-data; boundary=x',
      'application/jsonx',
      'nonsense',
    ];
    for (const type of types)
      expectProblem(await call(e, textOf(valid), { 'content-type': type }), `${nameOf(e)} ${type}`, wrong);
    const none = await api.raw(e.method.toUpperCase(), pathOf(e), { body: Buffer.from(textOf(valid)) });
    expectProblem(none, `${nameOf(e)} without a type`, wrong);
  });

  test('a body over the limit, announced or in chunks', async () => {
    const limit = e.bodyLimit ?? SMALL_BODY;
    expect([SMALL_BODY, LARGE_BODY]).toContain(limit);
    const body = Buffer.from(textOf({ ...valid, extra: 'x'.repeat(limit) }));
    const tooLarge = { status: 413, code: 'payload_too_large' };
    expectProblem(await call(e, body), `${nameOf(e)} announced`, tooLarge);
    expectProblem(await call(e, new Blob([body]).stream()), `${nameOf(e)} in chunks`, tooLarge);
  });

  test('an array of 100,000', async () => {
    const many = new Raw(`[${'0,'.repeat(99_999)}0]`);
    for (const [name, { kind }] of Object.entries(sample))
      if (kind !== 'json') await refused(e, { ...valid, [name]: many }, name);
  });
});
