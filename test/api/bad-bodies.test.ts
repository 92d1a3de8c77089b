import { describe, expect, test } from 'vitest';
import { LARGE_BODY } from '../../api/endpoint.ts';
import { SMALL_BODY } from '../../contract/common.ts';
import { callWith, fieldsOf, nameOf, oneOfEach, sampleBody, withBody } from '../support/calls.ts';
import { expectNoChanges, expectProblem } from '../support/problems.ts';
import { startTestSystem } from '../support/system.ts';
import { HARMFUL, Raw, SENSELESS, textOf, wrongFor } from '../support/wrong.ts';

const { api, sql } = await startTestSystem({ DOCKET_ALLOW_PRIVATE_CALLBACKS: '0' }, { role: 'api' });
await oneOfEach(api);
describe.each(withBody.map((e) => [nameOf(e), e] as const))('%s', (name, e) => {
  expectNoChanges(sql);
  const fields = fieldsOf(e);
  const valid = sampleBody(e) ?? {};
  const send = (body: Parameters<typeof callWith>[2], headers?: Record<string, string>) =>
    callWith(api, e, body, { headers: headers ?? {} });

  /** Sends JSON with one thing wrong and looks at the answer. */
  async function refused(body: unknown, what: string) {
    const text = textOf(body);
    const reply = await send(text);
    // where each entry is looked at by itself, each is refused by itself
    if (e.checksEntries && reply.status === 200) {
      expect(reply.body.results.length, what).toBeGreaterThan(0);
      for (const result of reply.body.results)
        expect(result, what).toMatchObject({ httpStatus: 422, code: 'invalid_request' });
    } else expectProblem(reply, `${name} ${what}: ${text.slice(0, 200)}`, 'invalid_request');
  }

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
