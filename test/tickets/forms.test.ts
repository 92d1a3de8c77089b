import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { type Client, claimOne } from '../support/client.ts';
import { expectProblem } from '../support/problems.ts';
import { startTestSystem } from '../support/system.ts';
import { add, configure, decide } from '../support/tickets.ts';

const { api } = await startTestSystem({}, { role: 'api' });

/** Milliseconds of the slowest of the signs of life while `work` is under way. */
async function slowestSignOfLife<T>(work: Promise<T>): Promise<{ result: T; slowest: number }> {
  let over = false;
  let slowest = 0;
  const watching = (async () => {
    while (!over) {
      const start = performance.now();
      expect((await api.get('/livez')).status).toBe(200);
      slowest = Math.max(slowest, performance.now() - start);
      await sleep(10);
    }
  })();
  const result = await work;
  over = true;
  await watching;
  return { result, slowest };
}

/** A lease on a new ticket of a queue with this form. */
async function heldWith(client: Client, queue: string, form: object) {
  await configure(client, queue, { form });
  await add(client, queue, { id: queue });
  return claimOne(client, queue, 'r');
}

/** Much less than what a backtracking engine takes here, much more than a busy machine adds. */
const RESPONSIVE_MS = 1_500;

test('S0.8 a form whose pattern makes other engines backtrack is checked in linear time', async () => {
  const held = await heldWith(api, 'pattern', { type: 'string', pattern: '^(\\w+\\s?)*$' });
  const wrong = decide(api, held, `${'a'.repeat(20_000)}!`);
  const { result, slowest } = await slowestSignOfLife(wrong);
  expectProblem(result, 'misfit', { status: 422, code: 'invalid_request' });
  expect(result.body.errors).toEqual([{ path: 'decision', message: 'must match pattern "^(\\w+\\s?)*$"' }]);
  expect(slowest).toBeLessThan(RESPONSIVE_MS);
  expect((await decide(api, held, 'words and words')).status).toBe(200);
});

test.each(['(a)\\1', 'a(?=b)', '(?<!a)b', '('])('S0.8 the pattern %s is refused with the form', async (pattern) => {
  const reply = await api.put('/v1/queues/refused', { form: { properties: { a: { pattern } } } });
  expectProblem(reply, pattern, { status: 422, code: 'invalid_request' });
  expect(reply.body.errors).toEqual([{ path: 'form', message: expect.stringContaining('not a JSON Schema') }]);
});

test('S0.8 a list that must be unique, a form that doubles at each step: nobody else waits for them', async () => {
  const step = (n: number) => ({ allOf: [{ $ref: `#/$defs/d${n}` }, { $ref: `#/$defs/d${n}` }] });
  const $defs = Object.fromEntries(Array.from({ length: 40 }, (_, n) => [`d${n}`, n < 39 ? step(n + 1) : {}]));
  const doubling = api.put('/v1/queues/doubling', { form: { $defs, ...step(0) } });
  const put = await slowestSignOfLife(doubling);
  expectProblem(put.result, 'doubling', { status: 422, code: 'invalid_request' });
  expect(put.slowest).toBeLessThan(RESPONSIVE_MS);

  const held = await heldWith(api, 'unique', { uniqueItems: true });
  const twins = Array.from({ length: 16_000 }, (_, n) => ({ n: n % 15_999 }));
  const checked = await slowestSignOfLife(decide(api, held, twins));
  expectProblem(checked.result, 'twins', { status: 422, code: 'invalid_request' });
  expect(checked.slowest).toBeLessThan(RESPONSIVE_MS);
  expect((await decide(api, held, [{ a: 1 }, { a: 2 }])).status).toBe(200);
});

test('S0.8 a form as large as a body may be is compiled without anybody waiting', async () => {
  const properties = Object.fromEntries(
    Array.from({ length: 3_000 }, (_, n) => [`p${n}`, { type: 'object', required: ['a'], minProperties: n }]),
  );
  const { result, slowest } = await slowestSignOfLife(api.put('/v1/queues/large', { form: { properties } }));
  expect([200, 422]).toContain(result.status);
  expect(slowest).toBeLessThan(RESPONSIVE_MS);
});

test('S0.8 many decisions at once, good and bad, are each judged by their own form', async () => {
  const queues = Array.from({ length: 20 }, (_, n) => `own-${n}`);
  const held = await Promise.all(queues.map((queue, n) => heldWith(api, queue, { const: n })));
  const bad = await Promise.all(held.map((h, n) => decide(api, h, n + 1)));
  expect(bad.map((r) => r.status)).toEqual(queues.map(() => 422));
  const good = await Promise.all(held.map((h, n) => decide(api, h, n)));
  expect(good.map((r) => r.status)).toEqual(queues.map(() => 200));
});
