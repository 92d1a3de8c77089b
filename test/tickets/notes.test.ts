import { expect, test } from 'vitest';
import { claimOne, eventTypes, type Json, walk } from '../support/client.ts';
import { expectProblem } from '../support/problems.ts';
import { startTestSystem } from '../support/system.ts';
import { add, decide, ticket, withToken } from '../support/tickets.ts';

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
  const answers = await Promise.all(Array.from({ length: 50 }, () => note('n-2', { text: 'once', reviewer: 'anna' })));
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
  expectProblem(await note('n-3', { text: 'x', reviewer: 'ben' }, anna), 'another', { status: 403 });
  expectProblem(await note('n-3', { text: 'x' }, carl), 'excluded', { status: 404, code: 'not_found' });
  expectProblem(await carl.get('/v1/tickets/n-3/notes'), 'excluded', { status: 404, code: 'not_found' });
  expect((await anna.get('/v1/tickets/n-3/notes')).body.items).toHaveLength(1);
  expect((await note('n-3', { text: 'by a program' }, await key({ role: 'producer', name: 'crm' }))).body.by).toBe(
    'crm',
  );
  const foreign = await key({ role: 'agent', queues: ['others'] });
  expectProblem(await note('n-3', { text: 'x' }, foreign), 'bound elsewhere', { status: 403 });
  expectProblem(await note('n-3', { text: 'x' }, await key({ role: 'consumer' })), 'consumer', { status: 403 });
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
    expectProblem(await note('n-4', body), JSON.stringify(body).slice(0, 60), { status: 422, code: 'invalid_request' });
  expectProblem(await note('unknown', { text: 'x' }), 'unknown', { status: 404, code: 'not_found' });
  expectProblem(await api.get('/v1/tickets/unknown/notes'), 'unknown', { status: 404, code: 'not_found' });
  expect(await notes('n-4')).toEqual([]);
});
