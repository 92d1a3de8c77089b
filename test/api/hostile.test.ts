import { once } from 'node:events';
import { request } from 'node:http';
import fc from 'fast-check';
import { afterAll, describe, expect, test } from 'vitest';
import { type AnyEndpoint, LARGE_BODY } from '../../api/endpoint.ts';
import { endpoints } from '../../api/endpoints.ts';
import { SMALL_BODY } from '../../contract/common.ts';
import { callWith, fieldsOf, nameOf, oneOfEach, pathOf, sampleBody, withBody } from '../support/calls.ts';
import { claimOne, repeat } from '../support/client.ts';
import { expectNoChanges, expectProblem } from '../support/problems.ts';
import { startTestSystem } from '../support/system.ts';
import { BODIES, FRAMES, statusesOf } from './hostile.ts';
import { HARMFUL, ODD_VALUES, Raw, SENSELESS, textOf, wrongFor } from './wrong.ts';

const RUNS = Number(process.env.FUZZ_RUNS ?? 400);

const { api, running, sql } = await startTestSystem(
  { DELAY_QUEUE_PORT: '0', DOCKET_ALLOW_PRIVATE_CALLBACKS: '0' },
  { role: 'api' },
);
await oneOfEach(api);
await api.put('/v1/queues/neighbour', {});

const takesBody = endpoints.filter((e) => e.body !== undefined || e.document !== undefined);
const delayQueue = `http://${running.delayQueue?.address}`;
const dialects = {
  'delay-queue push': { url: delayQueue, method: 'POST', path: '/push' },
  'delay-queue pop': { url: delayQueue, method: 'POST', path: '/pop' },
};
const targets: Record<string, { url: string; method: string; path: string }> = {
  ...Object.fromEntries(
    takesBody.map((e) => [nameOf(e), { url: api.url, method: e.method.toUpperCase(), path: pathOf(e) }]),
  ),
  ...dialects,
};

/** The ways in which bodies are read: one entry, many that are looked at one by one, by the handler itself, not as JSON at first. */
const READERS = new Set([
  ...['post /v1/queues/{queue}/tickets', 'post /v1/queues/{queue}/tickets/batch', 'post /v1/jobs'],
  ...['put /v1/queues/{queue}', ...Object.keys(dialects)],
]);
/** Larger bodies only cost time where another call reads them in the same way. */
const SMALL = 2_000;

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
  for (const [path, url] of Object.entries({ '/v1/queues/q/tickets': api.url, '/push': delayQueue })) {
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
  const slow = repeat(20, () => {
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

test('millions of small values in one body are refused without holding up the others', async () => {
  const many = (one: string) => `[${`${one},`.repeat(Math.floor(8_000_000 / (one.length + 1)))}${one}]`;
  const bodies = {
    '/v1/queues/q/tickets/batch': `{"tickets": ${many('0')}}`,
    '/v1/tickets/resolve': `{"items": ${many('0')}, "reason": "x"}`,
    '/v1/queues/q/invalidate': `{"ids": ${many('5')}, "reason": "x"}`,
    '/v1/jobs': `{"command": "finish", "jobs": ${many('[]')}}`,
  };
  for (const [path, body] of Object.entries(bodies)) {
    const started = process.cpuUsage();
    const reply = await api.raw('POST', path, { headers: { 'content-type': 'application/json' }, body });
    const { user } = process.cpuUsage(started);
    const said = `${path} ${Math.round(user / 1e3)} ms, ${Math.round(process.memoryUsage().rss / 1e6)} MB`;
    expect([200, 422], said).toContain(reply.status);
    expect(JSON.stringify(reply.body).length, said).toBeLessThan(20_000);
    // of the processor: a machine that is busy with others says nothing
    expect(user, said).toBeLessThan(5e6);
  }
});

/** How a test sends a body to an endpoint, and looks at the refusal of JSON with one thing wrong. */
const caller = (e: AnyEndpoint) => {
  const name = nameOf(e);
  const fields = fieldsOf(e);
  const valid = sampleBody(e) ?? {};
  const send = (body: Parameters<typeof callWith>[2], headers?: Record<string, string>) =>
    callWith(api, e, body, { headers: headers ?? {} });
  const refused = async (body: unknown, what: string) => {
    const text = textOf(body);
    const reply = await send(text);
    // where each entry is looked at by itself, each is refused by itself
    if (e.checksEntries && reply.status === 200) {
      expect(reply.body.results.length, what).toBeGreaterThan(0);
      for (const result of reply.body.results)
        expect(result, what).toMatchObject({ httpStatus: 422, code: 'invalid_request' });
    } else expectProblem(reply, `${name} ${what}: ${text.slice(0, 200)}`, 'invalid_request');
  };
  return { name, fields, valid, send, refused };
};

describe.each(withBody.map((e) => [nameOf(e), e] as const))('%s', (_, e) => {
  expectNoChanges(sql);
  const { fields, valid, send, refused } = caller(e);

  test('each field refuses values that it does not take', async () => {
    for (const field of fields) {
      const { name, types } = field;
      const wrong = wrongFor(field);
      expect(wrong.length, name).toBeGreaterThan(types.length === 0 ? -1 : 3);
      for (const value of [...wrong, ...(SENSELESS[name] ?? [])]) await refused({ ...valid, [name]: value }, name);
    }
  });

  test('a field that is missing, and one that is unknown', async () => {
    for (const { name } of fields.filter((field) => field.required))
      await refused({ ...valid, [name]: undefined }, `without ${name}`);
    for (const extra of ['extra', 'constructor', 'prototype', 'toString', ' ', '', 'Token', 'ID'])
      await refused({ ...valid, [extra]: 1 }, `with ${extra}`);
    if (fields.some((field) => field.required)) {
      expectProblem(await send(null), 'no body', 422);
      await refused({}, 'an empty body');
    }
  });

  test('a body that is no object', async () => {
    for (const body of [[], [valid], null, 0, 5, '', 'text', true, false]) await refused(body, 'no object');
  });
});

// what is read in the same way is refused in the same way: one endpoint of each
describe.each(withBody.filter((e) => READERS.has(nameOf(e))).map((e) => [nameOf(e), e] as const))('%s', (name, e) => {
  expectNoChanges(sql);
  const { fields, valid, send, refused } = caller(e);

  test('values that could not be kept as they were sent, in any place', async () => {
    // what looks for them knows no fields: each of them somewhere, and in each field some
    const places = [...fields.map((field) => field.name), 'extra'];
    const all = Object.entries(HARMFUL);
    for (let n = 0; n < Math.max(all.length, places.length); n++) {
      const [what, harmful] = all[n % all.length] ?? [];
      const name = places[n % places.length] ?? '';
      await refused({ ...valid, [name]: harmful }, `${name}: ${what}`);
    }
    await refused(new Raw(`{"__proto__": {}, ${textOf(valid).slice(1)}`), '__proto__ at the top');
  });

  test('a body that is not JSON in UTF-8', async () => {
    const text = textOf(valid);
    const broken = ['{', ' ', '{"a":}', "{'a':1}", '{"a":1,}', 'nul', 'NaN', '\0', '"\n"'];
    const bytes = [`{"token":"\xff"}`, `{"\xc3\x28":1}`, '"\xed\xa0\x80"', '\xff\xfe{\0}\0', '"\xf0\x9f\x98"'];
    const bodies = [...broken, `${text}x`, `${text}${text}`, text.slice(0, -1)];
    for (const body of [...bodies, ...bytes.map((b) => Buffer.from(b, 'latin1'))])
      expectProblem(await send(body), `${name} ${body}`, 400);
  });

  test('another content type', async () => {
    const wrong = 'unsupported_media_type';
    const types = ['text/plain', 'text/json', 'application/x-www-form-urlencoded', 'application/jsonx', 'nonsense'];
    for (const type of [...types, 'multipart/form-data; boundary=x', ''])
      expectProblem(await send(Buffer.from(textOf(valid)), { 'content-type': type }), `${name} ${type}`, wrong);
  });

  test('a body over the limit, announced or in chunks', async () => {
    const limit = e.bodyLimit ?? SMALL_BODY;
    expect([SMALL_BODY, LARGE_BODY]).toContain(limit);
    const body = Buffer.from(textOf({ ...valid, extra: 'x'.repeat(limit) }));
    const tooLarge = 'payload_too_large';
    expectProblem(await send(body), `${name} announced`, tooLarge);
    expectProblem(await send(new Blob([body]).stream()), `${name} in chunks`, tooLarge);
  });

  test('an array of 100,000', async () => {
    const many = new Raw(`[${'0,'.repeat(99_999)}0]`);
    const typed = fields.filter(({ types }) => types.length > 0);
    const field = typed.find(({ types }) => types.includes('array')) ?? typed[0];
    if (field) await refused({ ...valid, [field.name]: many }, field.name);
  });
});

// last: it adds what the calls above must find to be new
test(`${RUNS} bodies of any kind: answered or refused, never a bug, and what is stored can be read`, async () => {
  for (const id of ['t-1', 't-2', 't-3']) await api.post('/v1/queues/fuzz/tickets', { id, body: 1 });
  const { token } = (await claimOne(api, 'fuzz', 'hans')).lease;
  let taken = 0;
  await fc.assert(
    fc.asyncProperty(callsWith(token), async ({ e, params, body }) => {
      const text = JSON.stringify(impatient(body));
      const reply = await callWith(api, e, text, { params });
      if (reply.status < 300) taken++;
      else expectProblem(reply, `${nameOf(e)} ${text}`);
    }),
    { numRuns: RUNS },
  );
  // were everything refused at once, nothing behind that would have been tried
  expect(taken).toBeGreaterThan(RUNS / 20);
  const rows = await sql<{ kind: string; id: string }>(
    "select kind, id from item where kind <> 'task' order by seq desc limit 50",
  );
  for (const { kind, id } of rows)
    for (const path of ['', '/events'])
      expect((await api.get(`/v1/${kind}s/${encodeURIComponent(id)}${path}`)).status, `${kind} ${id}`).toBe(200);
  for (const path of ['/v1/tickets?limit=500', '/v1/queues?limit=500']) expect((await api.get(path)).status).toBe(200);
}, 120_000);

const ODD = [-0, 61, 't-1', 'fuzz', [[]], 2 ** 53, '9'.repeat(400), ...ODD_VALUES];

/** Calls with a valid body of which some fields are replaced, left out or added, or with anything at all. */
function callsWith(token: string) {
  const json = fc.oneof(
    fc.jsonValue({ maxDepth: 4, stringUnit: 'binary' }) as fc.Arbitrary<unknown>,
    fc.constantFrom<unknown>(...ODD, token),
    fc.string({ unit: 'binary', maxLength: 300 }),
    fc.date({ noInvalidDate: true }).map((d) => d.toISOString()),
  );
  const bodyFor = (e: AnyEndpoint): fc.Arbitrary<unknown> => {
    const sample = sampleBody(e) ?? {};
    const valid = { ...sample, ...('token' in sample && { token }) };
    const known = fc.constantFrom(...Object.keys(valid));
    const name = fc.oneof({ weight: 9, arbitrary: known }, { weight: 1, arbitrary: fc.string() });
    const fewer = fc
      .subarray(Object.keys(valid))
      .map((kept) => Object.fromEntries(Object.entries(valid).filter(([key]) => kept.includes(key))));
    const changed = fc
      .tuple(fc.oneof(fc.constant(valid), fewer), fc.dictionary(name, json, { maxKeys: 3 }))
      .map(([base, more]) => ({ ...base, ...more }));
    return fc.oneof({ weight: 6, arbitrary: changed }, { weight: 1, arbitrary: json });
  };
  const params = fc.record({
    id: fc.constantFrom('t-1', 't-2', 't-3', 'nobody', 'report-17'),
    queue: fc.constantFrom('fuzz', 'r'),
  });
  return fc.constantFrom(...withBody).chain((e) => fc.record({ e: fc.constant(e), params, body: bodyFor(e) }));
}

/** A poll that was asked to wait would only cost time here. */
const impatient = (body: unknown) =>
  typeof body === 'object' && body !== null && 'waitSeconds' in body && Number(body.waitSeconds) <= 60
    ? { ...body, ...(Number(body.waitSeconds) > 0 && { waitSeconds: 0 }) }
    : body;
