import { expect, test } from 'vitest';
import type { Client, Json } from '../support/client.ts';
import { startTestSystem } from '../support/system.ts';

const { api, keyed, sql } = await startTestSystem();
const { add, configure, claim, decide } = api.tickets;

const contextOf = async (client: Client, { id }: Json, query = '') =>
  (await client.get(`/v1/tickets/${id}/context${query}`)).body;

async function decided(queue: string, id: string, subject: string, decision: unknown, person = 'earlier') {
  await add(queue, { id, subject, body: id });
  const [held] = (await claim(queue, person)).tickets;
  expect(held.id).toBe(id);
  expect((await decide(held, decision)).status).toBe(200);
}

test('S4.9 the holder is told of the subject: counts and last decisions, without ids and names', async () => {
  await decided('ctx', 'c1', 'acct-1', 'keep');
  await decided('ctx', 'c2', 'acct-1', { verdict: 'remove', why: 'spam' });
  await decided('ctx-other', 'c3', 'acct-1', 'keep');
  await decided('ctx', 'c4', 'acct-2', 'keep');
  await add('ctx', { id: 'c5', subject: 'acct-1', body: 5 });
  await add('ctx', { id: 'c6', subject: 'acct-1', body: 6, delaySeconds: 600 });
  await add('ctx', { id: 'c7', body: 7 });
  const anna = await keyed('reviewer', 'anna');
  const bert = { name: 'bert', role: 'reviewer', subject: 'bert', queues: ['ctx'] };
  const bound = api.as((await api.post('/v1/keys', bert)).body.key);
  const [held] = (await anna.tickets.claim('ctx', 'anna')).tickets;
  const shown = await contextOf(anna, held);
  const last = ['keep', { verdict: 'remove', why: 'spam' }, 'keep'];
  expect(shown).toMatchObject({ open: 1, decided: 3, last: last.map((decision) => ({ decision })) });
  expect(shown.last.every(({ at }: Json) => Date.parse(at) <= Date.now() && at.endsWith('Z'))).toBe(true);
  expect(JSON.stringify(shown)).not.toMatch(/c[1-7]|earlier/);
  expect(await contextOf(api, held)).toEqual(shown);
  expect(await contextOf(api, held, '?reviewer=bert')).toMatchObject({ code: 'not_found' });
  expect(await contextOf(bound, held)).toMatchObject({ code: 'not_found' });
  expect(await contextOf(api, { id: 'c6' })).toMatchObject({ code: 'not_found' });
  await anna.tickets.withToken(held, 'release');
  expect(await contextOf(anna, held)).toMatchObject({ code: 'not_found' });
  const [next] = (await bound.tickets.claim('ctx', 'bert')).tickets;
  expect(next.id).toBe('c5');
  expect(await contextOf(bound, next)).toMatchObject({ open: 1, decided: 2 });
  const [alone] = (await anna.tickets.claim('ctx', 'anna')).tickets;
  expect(await contextOf(anna, alone)).toEqual({ open: 0, decided: 0, last: [] });
});

test('S4.9 B.2 a look is told nothing of its original and its looks, and a decider not that their decision was drawn', async () => {
  await configure('ctx-looks', { second: { share: 1 }, maxHeld: 9 });
  await decided('ctx-looks', 'l1', 's', 'keep', 'anna');
  await add('ctx-looks', { id: 'l2', subject: 's', body: 2, priority: 9 });
  const [mine] = (await claim('ctx-looks', 'anna')).tickets;
  expect(await contextOf(api, mine)).toMatchObject({ open: 0, decided: 1 });
  const [look] = (await claim('ctx-looks', 'bert')).tickets;
  expect(look.of).toMatchObject({ id: 'l1' });
  expect(await contextOf(api, look)).toMatchObject({ open: 1, decided: 0, last: [] });
  await decide(look, 'remove');
  await api.post('/v1/tickets/l1/looks', { cause: 'appeal', by: 'their author' });
  const [again] = (await claim('ctx-looks', 'cora')).tickets;
  expect(again.of).toMatchObject({ id: 'l1', cause: 'appeal' });
  expect(await contextOf(api, again)).toMatchObject({ open: 1, decided: 0 });
});

test('B.2 where gold is, no figure of a reviewer counts the looks that their decisions were drawn for', async () => {
  const queue = 'ctx-drawn';
  const anna = await keyed('reviewer', 'gold-anna');
  await configure(queue, { second: { share: 1 }, gold: { share: 1 } });
  await api.put(`/v1/queues/${queue}/gold`, { tickets: [{ id: 'g', body: 1, answer: 'keep' }] });
  await add(queue, { body: 1 });
  const shown = async () => {
    const { waiting, held, decided: done } = (await anna.get(`/v1/queues/${queue}/stats`)).body;
    const { excluded } = (await anna.post(`/v1/queues/${queue}/explain`, {})).body.reasons;
    return { waiting, held, done, excluded };
  };
  const seen = [];
  for (const drawn of [0, 1]) {
    const [held] = (await anna.tickets.claim(queue, 'gold-anna')).tickets;
    const before = await shown();
    await anna.tickets.decide(held, 'keep');
    const after = await shown();
    seen.push({ held: after.held - before.held, waiting: after.waiting - before.waiting, excluded: after.excluded });
    expect(await sql('select from item where queue = $1 and look ? $2', [queue, 'drawn'])).toHaveLength(drawn);
  }
  expect(seen[1]).toEqual(seen[0]);
  expect((await api.get(`/v1/queues/${queue}/stats`)).body.waiting).toBe(1);
});

test('S4.9 a queue keeps highlighted words and guidelines, and warns of one that its form names and that is not there', async () => {
  const form = {
    oneOf: [
      { const: 'keep', title: 'Keep' },
      { const: 'hate', title: 'Hate', 'x-guideline': 'hate' },
    ],
  };
  const settings = { form, highlight: ['weapon', '武器'], guidelines: { hate: '**Never** quote it.' } };
  const { status, body } = await api.put('/v1/queues/ctx-guided', settings);
  expect([status, body.warnings]).toEqual([200, undefined]);
  expect((await api.get('/v1/queues/ctx-guided')).body).toMatchObject(settings);
  const bare = (await api.put('/v1/queues/ctx-guided', { form })).body;
  expect(bare).toMatchObject({ highlight: [], guidelines: {}, warnings: [expect.stringContaining('hate')] });
  const dry = await api.put('/v1/queues/ctx-guided', { form, dryRun: true });
  expect(dry.body.warnings).toEqual(bare.warnings);
  for (const wrong of [
    { highlight: [''] },
    { guidelines: { a: '' } },
    { highlight: 'x' },
    { guidelines: { '.': 'x' } },
  ])
    expect((await api.put('/v1/queues/ctx-guided', wrong)).body).toMatchObject({ code: 'invalid_request' });
});
