import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { type Client, claimOne, eventTypes, type Json, repeat, walk } from '../support/client.ts';
import { expectProblem } from '../support/problems.ts';
import { startTestSystem } from '../support/system.ts';
import { add, configure, decide, ticket, withToken } from '../support/tickets.ts';

const { api } = await startTestSystem();

const note = (id: string, body: object, client = api) => client.post(`/v1/tickets/${id}/notes`, body);
const notes = async (id: string): Promise<Json[]> => (await api.get(`/v1/tickets/${id}/notes`)).body.items;
const key = async (wanted: object) => api.as((await api.post('/v1/keys', wanted)).body.key);

test('S0.5 notes stay with a ticket in every state, in order, with who wrote them; nothing else of it changes', async () => {
  await add(api, 'noted', { id: 'n-1' });
  const first = await note('n-1', { text: 'Ask the author first.', reviewer: 'anna' });
  expect([first.status, first.body]).toEqual([
    201,
    { seq: 2, by: 'anna', at: expect.any(String), text: 'Ask the author first.' },
  ]);
  const held = await claimOne(api, 'noted', 'ben');
  const before = await ticket(api, 'n-1');
  await note('n-1', { text: 'Zeile 1\nZeile 2 – «ä»', reviewer: 'ben' });
  expect(await ticket(api, 'n-1')).toEqual(before);
  expect((await withToken(api, held, 'renew')).status).toBe(200);
  await decide(api, held);
  await note('n-1', { text: 'Decided too early?' });
  expect((await notes('n-1')).map(({ by, text }) => [by, text])).toEqual([
    ['anna', 'Ask the author first.'],
    ['ben', 'Zeile 1\nZeile 2 – «ä»'],
    ['anonymous', 'Decided too early?'],
  ]);
  expect(await walk(api, '/v1/tickets/n-1/notes', 1)).toEqual(await notes('n-1'));
  expect(await eventTypes(api, 'n-1')).toEqual(['created', 'noted', 'claimed', 'noted', 'decided', 'noted']);
});

test('S0.5 the same words by the same person are one note, also 50 times at once', async () => {
  await add(api, 'noted', { id: 'n-2' });
  const answers = await Promise.all(repeat(50, () => note('n-2', { text: 'once', reviewer: 'anna' })));
  expect(new Set(answers.map(({ status, body }) => `${status} ${body.seq}`))).toEqual(new Set(['201 2']));
  await note('n-2', { text: 'once', reviewer: 'ben' });
  expect((await notes('n-2')).map(({ by }) => by)).toEqual(['anna', 'ben']);
});

test('S0.5 a reviewer writes and reads in their own name, and not where they are excluded', async () => {
  await add(api, 'noted', { id: 'n-3', exclude: ['carl'] });
  const [anna, carl] = [
    await key({ role: 'reviewer', subject: 'anna' }),
    await key({ role: 'reviewer', subject: 'carl' }),
  ];
  expect((await note('n-3', { text: 'mine' }, anna)).body.by).toBe('anna');
  expectProblem(await note('n-3', { text: 'x', reviewer: 'ben' }, anna), 'another', 403);
  expectProblem(await note('n-3', { text: 'x' }, carl), 'excluded', 'not_found');
  expectProblem(await carl.get('/v1/tickets/n-3/notes'), 'excluded', 'not_found');
  expect((await anna.get('/v1/tickets/n-3/notes')).body.items).toHaveLength(1);
  expect((await note('n-3', { text: 'by a program' }, await key({ role: 'producer', name: 'crm' }))).body.by).toBe(
    'crm',
  );
  const foreign = await key({ role: 'agent', queues: ['others'] });
  expectProblem(await note('n-3', { text: 'x' }, foreign), 'bound elsewhere', 403);
  expectProblem(await note('n-3', { text: 'x' }, await key({ role: 'consumer' })), 'consumer', 403);
});

test('S0.5 what is no note is refused', async () => {
  await add(api, 'noted', { id: 'n-4' });
  for (const body of [
    {},
    { text: '' },
    { text: 'x'.repeat(2_001) },
    { text: 7 },
    { text: 'x', reviewer: 'a b' },
    { text: 'x', by: 'me' },
  ])
    expectProblem(await note('n-4', body), JSON.stringify(body).slice(0, 60), 'invalid_request');
  expectProblem(await note('unknown', { text: 'x' }), 'unknown', 'not_found');
  expectProblem(await api.get('/v1/tickets/unknown/notes'), 'unknown', 'not_found');
  expect(await notes('n-4')).toEqual([]);
});

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
  expectProblem(result, 'misfit', 'invalid_request');
  expect(result.body.errors).toEqual([{ path: 'decision', message: 'must match pattern "^(\\w+\\s?)*$"' }]);
  expect(slowest).toBeLessThan(RESPONSIVE_MS);
  expect((await decide(api, held, 'words and words')).status).toBe(200);
});

test.each(['(a)\\1', 'a(?=b)', '(?<!a)b', '('])('S0.8 the pattern %s is refused with the form', async (pattern) => {
  const reply = await api.put('/v1/queues/refused', { form: { properties: { a: { pattern } } } });
  expectProblem(reply, pattern, 'invalid_request');
  expect(reply.body.errors).toEqual([{ path: 'form', message: expect.stringContaining('not a JSON Schema') }]);
});

test('S0.8 a list that must be unique, a form that doubles at each step: nobody else waits for them', async () => {
  const step = (n: number) => ({ allOf: [{ $ref: `#/$defs/d${n}` }, { $ref: `#/$defs/d${n}` }] });
  const $defs = Object.fromEntries(repeat(40, (n) => [`d${n}`, n < 39 ? step(n + 1) : {}]));
  const doubling = api.put('/v1/queues/doubling', { form: { $defs, ...step(0) } });
  const put = await slowestSignOfLife(doubling);
  expectProblem(put.result, 'doubling', 'invalid_request');
  expect(put.slowest).toBeLessThan(RESPONSIVE_MS);

  const held = await heldWith(api, 'unique', { uniqueItems: true });
  const twins = repeat(16_000, (n) => ({ n: n % 15_999 }));
  const checked = await slowestSignOfLife(decide(api, held, twins));
  expectProblem(checked.result, 'twins', 'invalid_request');
  expect(checked.slowest).toBeLessThan(RESPONSIVE_MS);
  expect((await decide(api, held, [{ a: 1 }, { a: 2 }])).status).toBe(200);
});

test('S0.8 a form as large as a body may be is compiled without anybody waiting', async () => {
  const properties = Object.fromEntries(
    repeat(3_000, (n) => [`p${n}`, { type: 'object', required: ['a'], minProperties: n }]),
  );
  const { result, slowest } = await slowestSignOfLife(api.put('/v1/queues/large', { form: { properties } }));
  expect([200, 422]).toContain(result.status);
  expect(slowest).toBeLessThan(RESPONSIVE_MS);
});

test('S0.8 many decisions at once, good and bad, are each judged by their own form', async () => {
  const queues = repeat(20, (n) => `own-${n}`);
  const held = await Promise.all(queues.map((queue, n) => heldWith(api, queue, { const: n })));
  const bad = await Promise.all(held.map((h, n) => decide(api, h, n + 1)));
  expect(bad.map((r) => r.status)).toEqual(queues.map(() => 422));
  const good = await Promise.all(held.map((h, n) => decide(api, h, n)));
  expect(good.map((r) => r.status)).toEqual(queues.map(() => 200));
});

describe('claiming', () => {
  test('S0.1 urgent tickets go first, equal ones oldest first', async () => {
    for (const [id, priority] of [
      ['p0', 0],
      ['p5', 5],
      ['p5b', 5],
      ['p-3', -3],
    ] as const)
      await api.post('/v1/queues/first/tickets', { id, priority, body: null });
    const order = [];
    for (const reviewer of ['a', 'b', 'c', 'd']) order.push((await claimOne(api, 'first', reviewer)).id);
    expect(order).toEqual(['p5', 'p5b', 'p0', 'p-3']);
  });

  test('S0.6 a reviewer who holds one gets the same again, and no event is written', async () => {
    await api.post('/v1/queues/resume/tickets', { id: 'res', body: {} });
    const first = await claimOne(api, 'resume', 'anna');
    const again = await claimOne(api, 'resume', 'anna');
    expect(again).toMatchObject({ id: 'res', resumed: true });
    expect(again.lease.token).toBe(first.lease.token);
    expect(await eventTypes(api, 'res')).toEqual(['created', 'claimed']);
  });
});
