import { expect, test } from 'vitest';
import { insist, type Json, repeat } from '../support/client.ts';
import { erased, tablesWith } from '../support/erasures.ts';
import { expectProblem } from '../support/problems.ts';
import { startTestSystem } from '../support/system.ts';

const system = await startTestSystem();
const { api, keyed, sql } = system;
const { add, addMany, claimOne, configure, decide, operate, ticket } = api.tickets;

const suggest = (client: Json, id: string, body: object) => client.post(`/v1/tickets/${id}/suggestions`, body);
const suggested = async (id: string, model: string, decision: unknown, confidence: number) =>
  insist(await suggest(api, id, { model, decision, confidence }), 'suggestion', 201);

test("B.2 a model's key speaks for its model, for its queues, and may do nothing else", async () => {
  expectProblem(await api.post('/v1/keys', { role: 'model' }), 'without a subject', 422);
  const { key } = insist(await api.post('/v1/keys', { role: 'model', subject: 'spam-3', queues: ['mk'] }), 'key', 201);
  const model = api.as(key);
  await add('mk', { id: 'mk-1' });
  await add('mk-other', { id: 'mk-2' });
  const listed = insist(await model.get('/v1/queues/mk/unsuggested'), 'list', 200).items;
  expect(listed).toMatchObject([{ id: 'mk-1', lease: null, suggestion: null }]);
  const body = { decision: 1, confidence: 0.5 };
  expect((await suggest(model, 'mk-1', { ...body, model: 'other' })).body.code).toBe('forbidden');
  expect((await model.get('/v1/queues/mk/unsuggested?model=other')).body.code).toBe('forbidden');
  expect((await suggest(model, 'mk-1', body)).body).toMatchObject({ model: 'spam-3' });
  expect((await suggest(model, 'mk-1', { ...body, model: 'spam-3' })).status).toBe(200);
  expect((await suggest(model, 'mk-2', body)).body.code).toBe('forbidden');
  expect((await model.get('/v1/queues/mk-other/unsuggested')).status).toBe(403);
  for (const path of ['tickets/mk-1', 'tickets', 'queues', 'queues/mk', 'feed', 'stream?queue=mk', 'nodes'])
    expect((await model.get(`/v1/${path}`)).status, path).toBe(403);
  for (const [path, sent] of [
    ['queues/mk/claim', {}],
    ['queues/mk/tickets', { body: 1 }],
    ['tickets/mk-1/resolve', { decision: 1, reason: 'r' }],
  ] as const)
    expect((await model.post(`/v1/${path}`, sent)).status, path).toBe(403);
  const any = await keyed('model', 'm');
  expect((await any.get('/v1/queues/nowhere/unsuggested')).status).toBe(404);
  // a person is never a model
  expect((await api.post('/v1/queues/mk/claim', { reviewer: 'model:spam-3' })).status).toBe(422);
  const reviewer = await keyed('reviewer', 'anna');
  expect((await suggest(reviewer, 'mk-1', { ...body, model: 'anna' })).status).toBe(403);
});

const figures = async (queue: string) =>
  insist(await api.get(`/v1/queues/${queue}/suggestions/figures`), 'figures', 200);

test('B.2 figures say how right a model was, by decision and confidence, in shadow', async () => {
  await configure('figures', { assist: { mode: 'shadow' } });
  const people = ['a', 'a', 'b', 'b', 'b', 'a'];
  await addMany(
    'figures',
    people.map((_, n) => `fi-${n}`),
  );
  const said: [string, number][] = [
    ['a', 1],
    ['a', 0.95],
    ['a', 0.9],
    ['b', 0.31],
    ['b', 0.3],
    ['c', 0],
  ];
  for (const [n, [decision, confidence]] of said.entries()) await suggested(`fi-${n}`, 'm', decision, confidence);
  for (const decision of people) await decide(await claimOne('figures', 'anna'), decision);
  await add('figures', { id: 'fi-resolved' });
  await suggested('fi-resolved', 'm', 'a', 1);
  await operate('fi-resolved', 'resolve', { decision: 'b', reason: 'r' });
  const { decided, items, partial } = await figures('figures');
  expect({ decided, partial }).toEqual({ decided: 6, partial: false });
  expect(items).toHaveLength(1);
  expect(items[0]).toMatchObject({ model: 'm', mode: 'shadow', suggested: 6, shown: 0, automated: 0, saved: 0 });
  expect(items[0]).toMatchObject({ judged: 6, right: 4, agreement: 4 / 6, looked: 0, overturnedShare: null });
  expect(items[0].agreements).toEqual([
    { decision: 'a', judged: 3, right: 2 },
    { decision: 'b', judged: 2, right: 2 },
    { decision: 'c', judged: 1, right: 0 },
  ]);
  const bins = items[0].bins.map(({ judged, right }: Json) => [judged, right]);
  expect(bins).toEqual([[1, 0], [0, 0], [0, 0], [2, 2], ...repeat(5, () => [0, 0]), [3, 2]]);
  expect(items[0].bins[9]).toMatchObject({ from: 0.9, to: 1 });
});

test('B.2 figures of auto: the share of work saved, and of looks that overturned', async () => {
  const second = { compare: ['/spam'] };
  await configure('saved', { assist: { mode: 'auto', minConfidence: 0.5, share: 1 }, second });
  await addMany('saved', ['sv-1', 'sv-2', 'sv-3', 'sv-4']);
  for (const id of ['sv-1', 'sv-2', 'sv-3']) await suggested(id, 'm', { spam: true, why: id }, 0.8);
  await suggested('sv-4', 'm', { spam: true }, 0.2);
  // two of three looks; what is compared is said by the queue
  for (let n = 0; n < 4; n++) {
    const held = await claimOne('saved', `p-${n}`);
    if (held.of?.id === 'sv-3') continue;
    await decide(held, { spam: held.of?.id !== 'sv-2' });
  }
  const { decided, items } = await figures('saved');
  expect(decided).toBe(4);
  expect(items[0]).toMatchObject({ mode: 'auto', suggested: 4, automated: 3, saved: 0.75, looked: 2, overturned: 1 });
  expect(items[0]).toMatchObject({ overturnedShare: 0.5, judged: 3, right: 2 });
  expect((await ticket('sv-2')).standing).toMatchObject({ decision: { spam: false }, automation: 'none' });
  expect((await ticket('sv-1')).standing).toMatchObject({ automation: 'full' });
});

test('S0.10 an erasure leaves nothing that a model said, nor to whom it was shown', async () => {
  await configure('er', { assist: { mode: 'suggest' } });
  await addMany('er', ['er-1', 'er-2']);
  const said = { model: 'm', decision: 'QqQsaidQqQ', confidence: 0.5, reasons: { why: 'QqQsaidQqQ' } };
  for (const id of ['er-1', 'er-2']) insist(await suggest(api, id, said), 'suggestion', 201);
  await claimOne('er', 'QqQannaQqQ');
  await erased(api, { item: { kind: 'ticket', id: 'er-1' } });
  expect(await sql('select item_id from suggestion where decision is null')).toEqual([{ item_id: 'er-1' }]);
  for (const body of [said, { ...said, model: 'n' }])
    expect((await suggest(api, 'er-1', body)).body.code).toBe('erased');
  await erased(api, { item: { kind: 'ticket', id: 'er-2' } });
  expect(await tablesWith(system, 'QqQsaidQqQ')).toEqual({});
  await erased(api, { person: 'QqQannaQqQ' });
  expect(await tablesWith(system, 'QqQannaQqQ')).toEqual({});
});

test('S0.10 of suggestions beside an erasure none is left over', async () => {
  for (let round = 0; round < 5; round++) {
    const id = `race-${round}`;
    await add('er-race', { id });
    const said = repeat(20, (n) => suggest(api, id, { model: `m-${n}`, decision: 'QqQlateQqQ', confidence: 0.5 }));
    const [answers] = await Promise.all([Promise.all(said), erased(api, { item: { kind: 'ticket', id } })]);
    expect(answers.every(({ status }) => status === 201 || status === 409)).toBe(true);
  }
  expect(await tablesWith(system, 'QqQlateQqQ')).toEqual({});
});
