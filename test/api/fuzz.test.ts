import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { AnyEndpoint } from '../../api/endpoint.ts';
import { claimOne } from '../support/client.ts';
import { expectProblem } from '../support/problems.ts';
import { bodyOf, nameOf, pathOf, sampleOf, withBody } from '../support/samples.ts';
import { startTestSystem } from '../support/system.ts';

const RUNS = Number(process.env.FUZZ_RUNS ?? 400);

const { api, sql } = await startTestSystem();
for (const id of ['t-1', 't-2', 't-3']) await api.post('/v1/queues/q/tickets', { id, body: 1 });
const { token } = (await claimOne(api, 'q', 'hans')).lease;

const json = fc.oneof(
  fc.jsonValue({ maxDepth: 4, stringUnit: 'binary' }) as fc.Arbitrary<unknown>,
  fc.constantFrom<unknown>(
    -1,
    0,
    0.5,
    61,
    1e300,
    -0,
    '',
    '\0',
    '\ud800',
    token,
    't-1',
    'q',
    null,
    [],
    {},
    [[]],
    2 ** 53,
    '9'.repeat(400),
  ),
  fc.string({ unit: 'binary', maxLength: 300 }),
  fc.date({ noInvalidDate: true }).map((d) => d.toISOString()),
);

/** A valid body with some fields replaced, left out or added, or anything at all. */
const bodyFor = (e: AnyEndpoint): fc.Arbitrary<unknown> => {
  const valid = { ...bodyOf(sampleOf(e)), ...('token' in sampleOf(e) && { token }) };
  const changes = fc.dictionary(
    fc.oneof({ weight: 9, arbitrary: fc.constantFrom(...Object.keys(valid)) }, { weight: 1, arbitrary: fc.string() }),
    json,
    { maxKeys: 3 },
  );
  const fewer = fc
    .subarray(Object.keys(valid))
    .map((kept) => Object.fromEntries(Object.entries(valid).filter(([k]) => kept.includes(k))));
  return fc.oneof(
    {
      weight: 6,
      arbitrary: fc.tuple(fc.oneof(fc.constant(valid), fewer), changes).map(([base, more]) => ({ ...base, ...more })),
    },
    { weight: 1, arbitrary: json },
  );
};

const calls = fc.constantFrom(...withBody).chain((e) =>
  fc.record({
    e: fc.constant(e),
    params: fc.record({
      id: fc.constantFrom('t-1', 't-2', 't-3', 'nobody', 'sample-1'),
      queue: fc.constantFrom('q', 'r'),
    }),
    body: bodyFor(e),
  }),
);

/** A poll that was asked to wait would only cost time here. */
const impatient = (body: unknown) =>
  typeof body === 'object' &&
  body !== null &&
  'waitSeconds' in body &&
  Number(body.waitSeconds) > 0 &&
  Number(body.waitSeconds) <= 60
    ? { ...body, waitSeconds: 0 }
    : body;

test(`${RUNS} bodies of any kind: answered or refused, never a bug`, async () => {
  let answered = 0;
  await fc.assert(
    fc.asyncProperty(calls, async ({ e, params, body }) => {
      const text = JSON.stringify(impatient(body));
      const reply = await api.raw(e.method.toUpperCase(), pathOf(e, params), {
        headers: { 'content-type': 'application/json' },
        body: text,
      });
      if (reply.status < 300) answered++;
      else expectProblem(reply, `${nameOf(e)} ${text}`);
    }),
    { numRuns: RUNS },
  );
  // were everything refused at the door, nothing behind it would have been tried
  expect(answered).toBeGreaterThan(RUNS / 20);
}, 120_000);

test('the server is well afterwards, and what it stored can be read', async () => {
  expect((await api.get('/readyz')).body).toMatchObject({ status: 'ok' });
  const rows = await sql<{ kind: string; id: string }>('select kind, id from item order by seq desc limit 50');
  for (const { kind, id } of rows) {
    expect((await api.get(`/v1/${kind}s/${id}`)).status).toBe(200);
    expect((await api.get(`/v1/${kind}s/${id}/events`)).status).toBe(200);
  }
  for (const path of ['/v1/tickets?limit=500', '/v1/queues?limit=500', '/metrics'])
    expect((await api.get(path)).status).toBe(200);
});
