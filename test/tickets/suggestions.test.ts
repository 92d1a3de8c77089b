import { expect, test } from 'vitest';
import { insist, type Json } from '../support/client.ts';
import { startTestSystem } from '../support/system.ts';

const { api } = await startTestSystem();
const { add, addMany, claim, claimOne, configure, decide, operate, ticket, withToken } = api.tickets;

const suggest = (id: string, model: string, decision: unknown, confidence: number, more: object = {}) =>
  api.post(`/v1/tickets/${id}/suggestions`, { model, decision, confidence, ...more });
const suggested = async (...args: Parameters<typeof suggest>) => insist(await suggest(...args), 'suggestion', 201);
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
