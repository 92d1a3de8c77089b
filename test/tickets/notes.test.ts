import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { type Json, repeat, walk } from '../support/client.ts';
import { expectProblem } from '../support/problems.ts';
import { startTestSystem } from '../support/system.ts';

const { api, keyed, sql } = await startTestSystem({}, { role: 'api' });
const { add, addHeld, claimOne, configure, decide, eventTypes, ticket, withToken } = api.tickets;

const note = (id: string, body: object, client = api) => client.post(`/v1/tickets/${id}/notes`, body);
const notes = async (id: string): Promise<Json[]> => (await api.get(`/v1/tickets/${id}/notes`)).body.items;

test('S0.5 notes stay with a ticket in every state, in order, with who wrote them; nothing else of it changes', async () => {
  await add('noted', { id: 'n-1' });
  const text = 'Ask the author first.';
  const first = await note('n-1', { text, reviewer: 'anna' });
  expect([first.status, first.body]).toEqual([201, { seq: 2, by: 'anna', at: expect.any(String), text }]);
  const held = await claimOne('noted', 'ben');
  const before = await ticket('n-1');
  await note('n-1', { text: 'Zeile 1\nZeile 2 – «ä»', reviewer: 'ben' });
  expect(await ticket('n-1')).toEqual(before);
  expect((await withToken(held, 'renew')).status).toBe(200);
  await decide(held);
  await note('n-1', { text: 'Decided too early?' });
  expect((await notes('n-1')).map(({ by, text }) => [by, text])).toEqual([
    ['anna', 'Ask the author first.'],
    ['ben', 'Zeile 1\nZeile 2 – «ä»'],
    ['anonymous', 'Decided too early?'],
  ]);
  expect(await walk(api, '/v1/tickets/n-1/notes', 1)).toEqual(await notes('n-1'));
  expect(await eventTypes('n-1')).toEqual(['created', 'noted', 'claimed', 'noted', 'decided', 'noted']);
});

test('S0.5 the same words by the same person are one note, also 50 times at once', async () => {
  await add('noted', { id: 'n-2' });
  const answers = await Promise.all(repeat(50, () => note('n-2', { text: 'once', reviewer: 'anna' })));
  expect(new Set(answers.map(({ status, body }) => `${status} ${body.seq}`))).toEqual(new Set(['201 2']));
  await note('n-2', { text: 'once', reviewer: 'ben' });
  expect((await notes('n-2')).map(({ by }) => by)).toEqual(['anna', 'ben']);
});

test('S0.5 a reviewer writes and reads in their own name, on tickets that they may know of', async () => {
  await add('own-notes', { id: 'n-3', exclude: ['carl'] });
  const [anna, carl] = [await keyed('reviewer', 'anna'), await keyed('reviewer', 'carl')];
  await claimOne('own-notes', 'anna');
  expect((await note('n-3', { text: 'mine' }, anna)).body.by).toBe('anna');
  expectProblem(await note('n-3', { text: 'x', reviewer: 'ben' }, anna), 'another', 403);
  expectProblem(await note('n-3', { text: 'x' }, carl), 'excluded', 'not_found');
  expectProblem(await carl.get('/v1/tickets/n-3/notes'), 'excluded', 'not_found');
  expect((await anna.get('/v1/tickets/n-3/notes')).body.items).toHaveLength(1);
  expect((await note('n-3', { text: 'by a program' }, await keyed('producer', 'crm'))).body.by).toBe('crm');
  const foreign = (await api.post('/v1/keys', { role: 'agent', queues: ['others'] })).body.key;
  expectProblem(await note('n-3', { text: 'x' }, api.as(foreign)), 'bound elsewhere', 403);
  expectProblem(await note('n-3', { text: 'x' }, await keyed('consumer')), 'consumer', 403);
});

test('S0.5 what is no note is refused', async () => {
  await add('noted', { id: 'n-4' });
  expectProblem(await note('n-4', { text: 'x'.repeat(2_001) }), 'too long', 'invalid_request');
  expectProblem(await note('unknown', { text: 'x' }), 'unknown', 'not_found');
  expectProblem(await api.get('/v1/tickets/unknown/notes'), 'unknown', 'not_found');
  expect(await notes('n-4')).toEqual([]);
});

/** Much less than what a backtracking engine takes here, much more than a busy machine adds. */
const RESPONSIVE_MS = 1_500;

/** The result of `work`, while which others are answered in time. */
async function meanwhileResponsive<T>(work: Promise<T>): Promise<T> {
  let over = false;
  void work.finally(() => {
    over = true;
  });
  while (!over) {
    const start = performance.now();
    expect((await api.get('/livez')).status).toBe(200);
    expect(performance.now() - start).toBeLessThan(RESPONSIVE_MS);
    await sleep(10);
  }
  return work;
}

/** A lease on a new ticket of a queue with this form. */
async function heldWith(queue: string, form: object) {
  await configure(queue, { form });
  return addHeld(queue, queue);
}

test('S0.8 a decision is checked against the form of its moment, whatever this process knew before', async () => {
  const form = (word: string) => ({ type: 'object', required: [word] });
  await configure('moved', { form: form('a') });
  for (const n of [1, 2, 3, 4, 5]) await add('moved', { id: `moved-${n}` });
  /** Decides the next one, after another process has changed the form. */
  const decided = async (decision: object, changed?: object | null) => {
    const held = await claimOne('moved', 'anna');
    const set = `update queue set form = $1, settings_version = nextval('item_version') where name = 'moved'`;
    if (changed !== undefined) await sql(set, [changed]);
    return (await decide(held, decision)).status;
  };
  for (const _ of [1, 2]) expect(await decided({ a: 1 })).toBe(200);
  expect(await decided({ b: 1 }, form('b'))).toBe(200);
  expect(await decided({ b: 1 }, form('c'))).toBe(422);
  expect(await decided({ z: 1 })).toBe(422);
  expect(await decided({ c: 1 })).toBe(200);
  expect(await decided({ z: 1 }, null)).toBe(200);
});

test('S0.8 a form whose pattern makes other engines backtrack is checked in linear time', async () => {
  const held = await heldWith('pattern', { type: 'string', pattern: '^(\\w+\\s?)*$' });
  const wrong = await meanwhileResponsive(decide(held, `${'a'.repeat(20_000)}!`));
  expectProblem(wrong, 'misfit', 'invalid_request');
  expect(wrong.body.errors).toEqual([{ path: 'decision', message: 'must match pattern "^(\\w+\\s?)*$"' }]);
  expect((await decide(held, 'words and words')).status).toBe(200);
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
  expectProblem(await meanwhileResponsive(doubling), 'doubling', 'invalid_request');
  // work that grows with the square of a list is refused with the form
  for (const items of [undefined, {}, { type: 'object' }, { type: ['string', 'array'] }]) {
    const form = { properties: { a: { anyOf: [{ uniqueItems: true, ...(items && { items }) }] } } };
    expectProblem(await api.put('/v1/queues/unique', { form }), JSON.stringify(items), 'invalid_request');
  }
  const unique = { uniqueItems: true, items: { type: 'string' } };
  const named = { properties: { uniqueItems: true }, const: { uniqueItems: true } };
  expect((await api.put('/v1/queues/unique', { form: { ...unique, anyOf: [{}, named] } })).status).toBe(200);
  // one that is dear for some decisions only is found when one comes
  const held = await heldWith('dear', { $defs, properties: { a: step(0) } });
  expectProblem(await meanwhileResponsive(decide(held, { a: 1 })), 'dear', 'invalid_request');
  expect((await decide(held, { b: 1 })).status).toBe(200);
});

test('S0.8 a form as large as a body may be is compiled without anybody waiting', async () => {
  const property = (n: number) => [`p${n}`, { type: 'object', required: ['a'], minProperties: n }];
  const properties = Object.fromEntries(repeat(3_000, property));
  const reply = await meanwhileResponsive(api.put('/v1/queues/large', { form: { properties } }));
  expect([200, 422]).toContain(reply.status);
});

test('S0.8 many decisions at once, good and bad, are each judged by their own form', async () => {
  const queues = repeat(20, (n) => `own-${n}`);
  const held = await Promise.all(queues.map((queue, n) => heldWith(queue, { const: n })));
  const bad = await Promise.all(held.map((h, n) => decide(h, n + 1)));
  expect(bad.map((r) => r.status)).toEqual(queues.map(() => 422));
  const good = await Promise.all(held.map((h, n) => decide(h, n)));
  expect(good.map((r) => r.status)).toEqual(queues.map(() => 200));
});
