import { expect, test } from 'vitest';
import { insist, type Json, numbered, repeat } from '../support/client.ts';
import { erased, tablesWith } from '../support/erasures.ts';
import { expectProblem } from '../support/problems.ts';
import { startTestSystem } from '../support/system.ts';

const system = await startTestSystem({}, { role: 'api' });
const { api, keyed, sql } = system;
const { add, addMany, claim, claimOne, configure, decide, operate, suggest, suggested, ticket } = api.tickets;
const { withToken } = api.tickets;

const assist = (queue: string, mode: string, more: object = {}, settings: object = {}) =>
  configure(queue, { ...settings, assist: { mode, minConfidence: 0.9, ...more } });
const unsuggested = async (queue: string, model: string, more = '') =>
  (await api.get(`/v1/queues/${queue}/unsuggested?model=${model}${more}`)).body.items.map(({ id }: Json) => id);

test('B.2 a model suggests once for each ticket: the same again is the same, anything else a conflict', async () => {
  await add('once', { id: 'once-1' });
  const first = await suggest('once-1', 'm', { spam: true, why: 1 }, 0.5, { reasons: ['links'] });
  expect(first).toMatchObject({ status: 201, body: { model: 'm', decision: { spam: true, why: 1 }, confidence: 0.5 } });
  const again = await suggest('once-1', 'm', { why: 1, spam: true }, 0.5, { reasons: ['links'] });
  expect(again).toMatchObject({ status: 200, body: first.body });
  for (const other of [{ decision: { spam: false } }, { confidence: 0.6 }, { reasons: [] }]) {
    const body = { model: 'm', decision: { spam: true, why: 1 }, confidence: 0.5, reasons: ['links'], ...other };
    expect((await api.post('/v1/tickets/once-1/suggestions', body)).body.code).toBe('id_conflict');
  }
  expect((await suggest('once-1', 'other', { spam: false }, 0.6)).status).toBe(201);
  await decide(await claimOne('once', 'anna'));
  expect((await suggest('once-1', 'm', { why: 1, spam: true }, 0.5, { reasons: ['links'] })).status).toBe(200);
  expect(await suggest('once-1', 'late', 1, 1)).toMatchObject({ status: 409, body: { code: 'not_open', by: 'anna' } });
  expect((await suggest('nowhere', 'm', 1, 1)).status).toBe(404);
});

test('B.2 what a model suggests fits the form, and is made of the ticket as it is', async () => {
  const form = { type: 'object', required: ['spam'], properties: { spam: { type: 'boolean' } } };
  await configure('forms', { form });
  await addMany('forms', ['fo-1', 'fo-2']);
  const wrong = await suggest('fo-1', 'm', { spam: 'yes' }, 0.5);
  expect(wrong).toMatchObject({ status: 422, body: { errors: [{ path: 'decision.spam' }] } });
  for (const confidence of [-0.1, 1.1, '0.5', null])
    expect((await suggest('fo-1', 'm', {}, confidence as 1)).status).toBe(422);
  expect((await suggest('fo-1', 'model:m', { spam: true }, 1)).status).toBe(422);
  expect((await api.post('/v1/tickets/fo-1/suggestions', { model: 'm', confidence: 1 })).status).toBe(422);
  const { version } = await ticket('fo-1');
  insist(await api.patch('/v1/tickets/fo-1', { body: 'edited' }), 'patch', 200);
  const late = await suggest('fo-1', 'm', { spam: true }, 1, { version });
  expect(late).toMatchObject({ status: 409, body: { code: 'changed' } });
  const seen = (await ticket('fo-1')).version;
  expect((await suggest('fo-1', 'm', { spam: true }, 1, { version: seen })).status).toBe(201);
  const review = { review: 'r-1', kind: 'text' };
  await add('forms-none', { id: 'fo-3', callback: review });
  expect((await suggest('fo-3', 'm', { spam: true }, 1)).body.errors).toMatchObject([{ path: 'decision.status' }]);
});

test('B.2 a model finds its work in order of rank, what people hold and what needs skills included', async () => {
  await configure('work', { assist: { mode: 'shadow' } });
  await addMany('work', [
    { id: 'w-low', priority: -1 },
    { id: 'w-1' },
    { id: 'w-skilled', priority: 3, requires: ['de'] },
    { id: 'w-top', priority: 5 },
    { id: 'w-not', priority: 9, exclude: ['model:m'] },
    { id: 'w-later', delaySeconds: 900 },
  ]);
  expect((await claimOne('work', 'anna')).id).toBe('w-not');
  expect((await claimOne('work', 'ben')).id).toBe('w-top');
  expect(await unsuggested('work', 'm')).toEqual(['w-top', 'w-skilled', 'w-1', 'w-low']);
  expect(await unsuggested('work', 'm', '&limit=2')).toEqual(['w-top', 'w-skilled']);
  await suggested('w-skilled', 'm', 1, 0.5);
  expect(await unsuggested('work', 'm')).toEqual(['w-top', 'w-1', 'w-low']);
  expect(await unsuggested('work', 'n')).toEqual(['w-not', 'w-top', 'w-skilled', 'w-1', 'w-low']);
});

test('B.2 a work list waits for the next ticket, takes no wake-up from people, and each model hears of it', async () => {
  await configure('wait', {});
  const lists = ['a', 'b'].map((model) => unsuggested('wait', model, '&waitSeconds=30'));
  const claiming = claim('wait', 'anna', { waitSeconds: 30 });
  const [more] = await Promise.all([unsuggested('wait', 'c', '&waitSeconds=0.2')]);
  expect(more).toEqual([]);
  await add('wait', { id: 'wait-1' });
  expect(await Promise.all(lists)).toEqual([['wait-1'], ['wait-1']]);
  expect((await claiming).tickets).toMatchObject([{ id: 'wait-1' }]);
});

test('B.2 in mode suggest whoever decides is shown the suggestion with most confidence, then the oldest', async () => {
  await assist('show', 'suggest', {}, { maxHeld: 2 });
  await addMany('show', ['show-1', 'show-2', 'show-3']);
  await suggested('show-1', 'm', 'unsure', 0.4);
  await suggested('show-1', 'n', 'first', 0.8, { reasons: ['r'] });
  await suggested('show-1', 'o', 'second', 0.8);
  const shown = { model: 'n', decision: 'first', confidence: 0.8, reasons: ['r'] };
  const one = await claimOne('show', 'anna');
  expect(one).toMatchObject({ id: 'show-1', automation: 'none', suggestion: shown });
  expect((await claim('show', 'anna')).tickets).toMatchObject([{ resumed: true, suggestion: shown }]);
  expect(await ticket('show-1')).toMatchObject({ suggestion: shown });
  // its next ticket shows its own
  await suggested('show-2', 'm', 'other', 0.1);
  const { body } = await decide(one, 'mine', { next: true });
  expect(body).toMatchObject({
    ticket: { automation: 'partial', suggestion: null, standing: { automation: 'partial' } },
  });
  expect(body.next).toMatchObject({ id: 'show-2', suggestion: { model: 'm', decision: 'other' } });
  expect(await ticket('show-1')).toMatchObject({ automation: 'partial', suggestion: null });
  // none was there in time
  const [, third] = (await claim('show', 'anna', { count: 2 })).tickets;
  expect(third).toMatchObject({ id: 'show-3', suggestion: null });
  await suggested('show-3', 'm', 'late', 0.9);
  expect((await decide(third)).body.ticket.automation).toBe('none');
  // what ben saw is not anna's
  await withToken(body.next, 'release');
  const again = (await claim('show', 'ben')).tickets[0];
  expect(again).toMatchObject({ id: 'show-2', suggestion: { decision: 'other' } });
  await assist('show', 'shadow');
  await withToken(again, 'release', { skip: true });
  const hers = await claimOne('show', 'cleo');
  expect(hers).toMatchObject({ id: 'show-2', suggestion: null });
  expect((await decide(hers)).body.ticket.automation).toBe('none');
});

test('B.2 what was shown counts as shown, also when the queue no longer shows it', async () => {
  await assist('was', 'suggest');
  await add('was', { id: 'was-1' });
  await suggested('was-1', 'm', 1, 0.4);
  const held = await claimOne('was', 'anna');
  await configure('was', {});
  expect((await api.get('/v1/queues/was')).body.assist).toEqual({ mode: 'off', minConfidence: 1, share: 0 });
  expect((await claimOne('was', 'anna')).suggestion).toBeNull();
  expect((await decide(held)).body.ticket.automation).toBe('partial');
});

test('B.2 a suggestion of other content, or of another queue, is not shown', async () => {
  await assist('other', 'suggest');
  await assist('other-2', 'suggest');
  await addMany('other', ['ot-1', 'ot-2']);
  for (const id of ['ot-1', 'ot-2']) await suggested(id, 'm', 1, 0.4);
  insist(await api.patch('/v1/tickets/ot-1', { body: 'edited' }), 'patch', 200);
  insist(await operate('ot-2', 'transfer', { queue: 'other-2' }), 'transfer', 200);
  expect((await claimOne('other', 'anna')).suggestion).toBeNull();
  expect((await claimOne('other-2', 'anna')).suggestion).toBeNull();
});

test('B.2 one per model and ticket as it is: with another body it is on the work list again, and takes a new one', async () => {
  await assist('anew', 'suggest');
  await add('anew', { id: 'an-1', requires: ['de'] });
  const { version } = await ticket('an-1');
  await suggested('an-1', 'm', 1, 0.4);
  for (const requires of [['en', 'de'], []]) {
    insist(await api.patch('/v1/tickets/an-1', { requires }), 'patch', 200);
    expect(await unsuggested('anew', 'm')).toEqual([]);
    expect((await suggest('an-1', 'm', 2, 0.4)).body.code).toBe('id_conflict');
    expect(await ticket('an-1')).toMatchObject({ suggestion: { decision: 1 } });
  }
  insist(await api.patch('/v1/tickets/an-1', { body: 'edited' }), 'patch', 200);
  expect(await unsuggested('anew', 'm')).toEqual(['an-1']);
  // a repeat that names what it saw is still one
  expect((await suggest('an-1', 'm', 1, 0.4, { version })).status).toBe(200);
  const tries = await Promise.all([2, 2, 2].map((decision) => suggest('an-1', 'm', decision, 0.5)));
  expect(tries.map(({ status }) => status).sort()).toEqual([200, 200, 201]);
  expect((await suggest('an-1', 'm', 1, 0.4)).body.code).toBe('id_conflict');
  expect(await unsuggested('anew', 'm')).toEqual([]);
  expect((await claimOne('anew', 'anna')).suggestion).toMatchObject({ decision: 2, confidence: 0.5 });
});

test('B.2 gold is suggested for as tickets are; in mode suggest a copy shows what was said of its gold', async () => {
  const gold = { share: 1, idPrefix: 'gold-n' };
  await configure('golden', { gold, assist: { mode: 'shadow' } });
  const answers = ['g-1', 'g-2'].map((id) => ({ id, body: { text: id }, answer: 'yes' }));
  insist(await api.put('/v1/queues/golden/gold', { tickets: answers }), 'gold', 200);
  await add('golden', { id: 'gold-n10482', body: { text: 't' } });
  expect((await unsuggested('golden', 'm')).toSorted()).toEqual(['g-1', 'g-2', 'gold-n10482']);
  await suggested('g-1', 'm', 'by model', 0.7, { reasons: ['r'] });
  expect((await suggest('g-1', 'm', 'by model', 0.7, { reasons: ['r'] })).status).toBe(200);
  expect((await suggest('g-1', 'm', 'other', 0.7)).body.code).toBe('id_conflict');
  expect((await unsuggested('golden', 'm')).toSorted()).toEqual(['g-2', 'gold-n10482']);
  await configure('golden', { gold, assist: { mode: 'suggest' } });
  const copy = await claimOne('golden', 'anna');
  expect(copy.body).toEqual({ text: 'g-1' });
  expect(copy.suggestion).toEqual({ model: 'm', decision: 'by model', confidence: 0.7, reasons: ['r'] });
  expect((await decide(copy, 'no')).body.ticket).toMatchObject({ automation: 'partial' });
  // of the other nothing was said, so it is not handed out
  expect(await claimOne('golden', 'anna')).toMatchObject({ id: 'gold-n10482', suggestion: null });
  expect((await claim('golden', 'ben')).tickets[0].body).toEqual({ text: 'g-1' });
  // what is changed is said anew
  const changed = [{ ...answers[0], body: { text: 'new' } }, answers[1]];
  insist(await api.put('/v1/queues/golden/gold', { tickets: changed }), 'gold', 200);
  expect((await unsuggested('golden', 'm')).toSorted()).toEqual(['g-1', 'g-2', 'gold-n10482']);
  expect((await suggest('g-3', 'm', 1, 1)).status).toBe(404);
});

const say = (client: Json, id: string, body: object) => client.post(`/v1/tickets/${id}/suggestions`, body);

test("B.2 a model's key speaks for its model, for its queues, and may do nothing else", async () => {
  expectProblem(await api.post('/v1/keys', { role: 'model' }), 'without a subject', 422);
  const { key } = insist(await api.post('/v1/keys', { role: 'model', subject: 'spam-3', queues: ['mk'] }), 'key', 201);
  const model = api.as(key);
  await add('mk', { id: 'mk-1' });
  await add('mk-other', { id: 'mk-2' });
  const listed = insist(await model.get('/v1/queues/mk/unsuggested'), 'list', 200).items;
  expect(listed).toMatchObject([{ id: 'mk-1', lease: null, suggestion: null }]);
  const body = { decision: 1, confidence: 0.5 };
  expect((await say(model, 'mk-1', { ...body, model: 'other' })).body.code).toBe('forbidden');
  expect((await model.get('/v1/queues/mk/unsuggested?model=other')).body.code).toBe('forbidden');
  expect((await say(model, 'mk-1', body)).body).toMatchObject({ model: 'spam-3' });
  expect((await say(model, 'mk-1', { ...body, model: 'spam-3' })).status).toBe(200);
  expect((await say(model, 'mk-2', body)).body.code).toBe('forbidden');
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
  expect((await say(reviewer, 'mk-1', { ...body, model: 'anna' })).status).toBe(403);
});

const figures = async (queue: string) =>
  insist(await api.get(`/v1/queues/${queue}/suggestions/figures`), 'figures', 200);

test('B.2 figures say how right a model was, by decision and confidence, in shadow', async () => {
  await configure('figures', { assist: { mode: 'shadow' } });
  const people = ['a', 'a', 'b', 'b', 'b', 'a'];
  await addMany('figures', numbered(6, 'fi-'));
  const said = Object.entries({ a: [1, 0.95, 0.9], b: [0.31, 0.3], c: [0] }).flatMap(([decision, all]) =>
    all.map((confidence) => [decision, confidence] as const),
  );
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
  for (const id of ['er-1', 'er-2']) insist(await say(api, id, said), 'suggestion', 201);
  await claimOne('er', 'QqQannaQqQ');
  await erased(api, { item: { kind: 'ticket', id: 'er-1' } });
  expect(await sql('select item_id from suggestion where decision is null')).toEqual([{ item_id: 'er-1' }]);
  for (const body of [said, { ...said, model: 'n' }]) expect((await say(api, 'er-1', body)).body.code).toBe('erased');
  await erased(api, { item: { kind: 'ticket', id: 'er-2' } });
  expect(await tablesWith(system, 'QqQsaidQqQ')).toEqual({});
  await erased(api, { person: 'QqQannaQqQ' });
  expect(await tablesWith(system, 'QqQannaQqQ')).toEqual({});
});

test('S0.10 of suggestions beside an erasure none is left over', async () => {
  for (let round = 0; round < 5; round++) {
    const id = `race-${round}`;
    await add('er-race', { id });
    const said = repeat(20, (n) => say(api, id, { model: `m-${n}`, decision: 'QqQlateQqQ', confidence: 0.5 }));
    const [answers] = await Promise.all([Promise.all(said), erased(api, { item: { kind: 'ticket', id } })]);
    expect(answers.every(({ status }) => status === 201 || status === 409)).toBe(true);
  }
  expect(await tablesWith(system, 'QqQlateQqQ')).toEqual({});
});
