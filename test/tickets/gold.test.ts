import { expect, test } from 'vitest';
import { type Client, type Json, numbered, repeat } from '../support/client.ts';
import { testDoctor } from '../support/doctor.ts';
import { erased, tablesWith } from '../support/erasures.ts';
import { wholeFeed } from '../support/feed.ts';
import { byNight } from '../support/nightly.ts';
import { expectProblem } from '../support/problems.ts';
import { startTestSystem } from '../support/system.ts';

const system = await startTestSystem({}, { role: 'api' });
const { api, keyed, sql } = system;
const { add, addMany, claim, claimOne, configure, decide, events, stats, ticket, withToken } = api.tickets;

const putGold = (queue: string, tickets: object[]) => api.put(`/v1/queues/${queue}/gold`, { tickets });
const goldOf = async (queue: string): Promise<Json[]> => (await api.get(`/v1/queues/${queue}/gold`)).body.items;
const isGold = async (id: string) => (await sql('select from gold_copy where id = $1', [id])).length > 0;

/** A queue of which every ticket is gold, as long as there is some. */
async function goldQueue(queue: string, n: number, settings: object = {}, more: object = {}) {
  await configure(queue, { gold: { share: 1 }, ...settings });
  const gold = numbered(n, 'g').map((id) => ({ id, body: { text: id }, answer: { verdict: 'keep' }, ...more }));
  expect((await putGold(queue, gold)).body).toEqual({ total: n });
}

test('B.2 gold sends nothing, is in no count, synced or sampled by nothing, and the feed names it', async () => {
  const { broken } = testDoctor(system);
  const callback = { url: 'http://127.0.0.1:9/never', secret: `whsec_${Buffer.alloc(32).toString('base64')}` };
  await goldQueue('apart', 2, { callback, second: { share: 1 }, sync: 'subject', maxHeld: 3 }, { subject: 's' });
  const before = await stats('apart');
  const { tickets } = await claim('apart', 'anna', { count: 2 });
  expect((await api.post('/v1/queues/apart/invalidate', { filter: {}, reason: 'r' })).body.invalidated).toBe(0);
  await withToken(tickets[1], 'release', { skip: true });
  await add('apart', { id: 'ap-1', subject: 's' });
  const { body } = await decide(tickets[0], { verdict: 'keep' });
  expect(body).toMatchObject({ synced: 0, ticket: { state: 'decided', looks: [] } });
  for (const sent of [{ cause: 'check' }, { cause: 'appeal' }, { cause: 'overturn', decision: { verdict: 'remove' } }])
    expectProblem(await api.post(`/v1/tickets/${tickets[0].id}/looks`, sent), sent.cause, 'not_final');
  expect((await ticket('ap-1')).state).toBe('waiting');
  expect((await ticket(tickets[1].id)).state).toBe('invalidated');
  expect(await stats('apart')).toEqual({ ...before, waiting: 1, oldestWaitingSeconds: expect.any(Number) });
  expect((await api.get('/v1/figures/people?queue=apart')).body.reviewers).toEqual([]);
  expect(await sql("select from delivery where kind = 'ticket'")).toEqual([]);
  expect(await broken({ deep: true })).toEqual([]);
  const lines = await wholeFeed(api);
  const gold = new Set(tickets.map(({ id }: Json) => id));
  for (const { itemId, gold: isMarked } of lines.filter(({ itemId }) => itemId === 'ap-1' || gold.has(itemId)))
    expect(isMarked).toBe(gold.has(itemId) || undefined);
});

test('B.2 each person is handed each gold ticket once, also by fifty claims at once, and then what waits', async () => {
  await goldQueue('once', 20, { maxHeld: 100 });
  const real = await addMany('once', numbered(30, 'o'));
  const claims = await Promise.all(repeat(50, () => claim('once', 'anna', { count: 2 })));
  const handed = [...new Set(claims.flatMap(({ tickets }) => tickets.map(({ id }: Json) => id)))];
  await claim('once', 'anna', { count: 100 });
  const copies = await sql('select gold, id from gold_copy where queue = $1 and person = $2', ['once', 'anna']);
  expect([copies.length, new Set(copies.map(({ gold }) => gold)).size]).toEqual([20, 20]);
  expect(handed.length).toBeGreaterThan(0);
  const held: Json[] = (await claim('once', 'anna', { count: 100 })).tickets;
  expect(held.map(({ id }) => id).sort()).toEqual([...real, ...copies.map(({ id }) => id)].sort());
  // another has the same gold, by decisions that ask for the next one, too
  let next = await claimOne('once', 'ben');
  const seen = [next.body.text];
  for (; next; seen.push(next?.body?.text)) next = (await decide(next, { verdict: 'keep' }, { next: true })).body.next;
  expect(seen.filter(Boolean).sort()).toEqual(numbered(20, 'g').sort());
});

test('B.2 gold is handed out at its share', async () => {
  const [n, share] = [byNight(2000, 200), 0.2];
  await goldQueue('share', n, { gold: { share } });
  await addMany('share', numbered(n, 'sh'));
  let next = await claimOne('share', 'anna');
  let gold = 0;
  for (let i = 0; i < n; i++) {
    gold += next.body ? 1 : 0;
    next = (await decide(next, 'x', { next: true })).body.next;
  }
  // five standard deviations
  expect(Math.abs(gold - n * share)).toBeLessThan(5 * Math.sqrt(n * share * (1 - share)));
});

test('B.2 gold is hidden among the others: it takes the place of a ticket only where its person may get no more', async () => {
  const texts = async (queue: string, person: string, count: number) =>
    (await claim(queue, person, { count })).tickets.map(({ body, priority }: Json) => [body.text ?? 'own', priority]);
  const tickets = [1, 2, 3].map((priority) => ({ priority, body: {} }));
  await goldQueue('room', 1, { maxHeld: 50 });
  await addMany('room', tickets);
  expect(await texts('room', 'anna', 10)).toEqual([
    ['g0', 3],
    ['own', 3],
    ['own', 2],
    ['own', 1],
  ]);
  await goldQueue('used-up', 1, { maxHeld: 3 });
  await addMany('used-up', tickets);
  expect(await texts('used-up', 'anna', 10)).toEqual([
    ['g0', 3],
    ['own', 2],
    ['own', 1],
  ]);
  await goldQueue('one', 1, { maxHeld: 50 });
  await addMany('one', tickets);
  expect(await texts('one', 'anna', 1)).toEqual([['g0', 3]]);
  // it counts in a quota
  await goldQueue('quota', 1, { maxHeld: 50 });
  await addMany('quota', tickets);
  await api.put('/v1/reviewers/quentin', { perDay: 3 });
  expect(await texts('quota', 'quentin', 10)).toEqual([
    ['g0', 3],
    ['own', 3],
    ['own', 2],
  ]);
});

test('B.2 a copy looks like the tickets around it: between them in age, with their deadline, in the form of their ids', async () => {
  await goldQueue('alike', 3, { gold: { share: 1, idPrefix: 'post-' }, maxHeld: 9, deadlineSeconds: 3600 });
  const actor = await keyed('producer', 'importer');
  for (const n of [1, 2, 3]) await actor.tickets.add('alike', { id: `post-a${n}7`, priority: n, exclude: ['author'] });
  const { tickets } = await claim('alike', 'anna', { count: 3 });
  expect(tickets.map(({ priority }: Json) => priority)).toEqual([3, 2, 1]);
  for (const copy of tickets) {
    expect(await isGold(copy.id)).toBe(true);
    expect(copy.id).toMatch(/^post-[a-z]\d\d$/);
    expect(copy).toMatchObject({ exclude: ['author'], subject: null, requires: [], attempts: 1 });
    expect(Date.parse(copy.deadlineAt) - Date.parse(copy.createdAt)).toBe(3_600_000);
    expect((await events(copy.id))[0]).toMatchObject({ type: 'created', actor: 'importer' });
  }
});

test('B.2 the time in a copy’s id is as far from its creation as in the ids around it, also of a batch that took long', async () => {
  await goldQueue('timed', 3, { gold: { share: 1 }, maxHeld: 30 });
  await addMany(
    'timed',
    repeat(20, () => ({ body: 'x'.repeat(20_000) })),
  );
  await sql("update item set created_at = created_at + interval '70 ms' where queue = 'timed'");
  const { tickets } = await claim('timed', 'anna', { count: 20 });
  const lags = await Promise.all(
    tickets.map(async ({ id, createdAt }: Json) => ({
      lag: Number.parseInt(id.slice(0, 8), 36) - Date.parse(createdAt),
      gold: await isGold(id),
    })),
  );
  const real = lags.filter(({ gold }) => !gold).map(({ lag }) => lag);
  const copies = lags.filter(({ gold }) => gold).map(({ lag }) => lag);
  expect([real.length, copies.length]).toEqual([17, 3]);
  for (const lag of copies) {
    expect(lag).toBeGreaterThanOrEqual(Math.min(...real) - 1);
    expect(lag).toBeLessThanOrEqual(Math.max(...real) + 1);
  }
});

test('B.2 a copy that is given back waits for its person alone, and gold asks for its skills', async () => {
  await goldQueue('back', 1);
  await goldQueue('skilled', 1, {}, { requires: ['de'], priority: 5, subject: 's' });
  const first = await claimOne('back', 'anna');
  await withToken(first, 'release');
  expect((await claim('back', 'ben')).tickets[0].id).not.toBe(first.id);
  expect((await claimOne('back', 'anna')).id).toBe(first.id);
  expect((await claim('skilled', 'anna')).tickets).toEqual([]);
  const { tickets } = await claim('skilled', 'anna', { skills: ['de'] });
  expect(tickets).toMatchObject([{ requires: ['de'], priority: 5, subject: 's', body: { text: 'g0' } }]);
  // where none is handed out any more, an open copy still comes back
  await withToken(tickets[0], 'release');
  await configure('skilled', {});
  expect((await claim('skilled', 'anna', { skills: ['de'] })).tickets[0].id).toBe(tickets[0].id);
  expect((await claim('skilled', 'ben', { skills: ['de'] })).tickets).toEqual([]);
});

test('B.2 answers are compared as second looks are; gold that most get wrong is retired, and can be disputed', async () => {
  await goldQueue('judge', 1, { second: { compare: ['/verdict'] } });
  const keys = await Promise.all(numbered(6, 'judge-').map((name) => keyed('reviewer', name)));
  const verdicts = ['keep', 'remove', 'remove', 'keep', 'remove'];
  let copy: Json;
  for (const [n, verdict] of verdicts.entries()) {
    const { tickets } = (await (keys[n] as Client).post('/v1/queues/judge/claim', {})).body;
    copy = tickets[0];
    expect((await (keys[n] as Client).tickets.decide(copy, { verdict, note: n })).status).toBe(200);
  }
  const call = (by: Client, reason = 'unclear') => by.post(`/v1/tickets/${copy.id}/dispute`, { reason });
  const [first, last, other] = [keys[0], keys[4], keys[5]] as [Client, Client, Client];
  for (const _ of [1, 2]) expect((await call(last)).body).toMatchObject({ id: copy.id, state: 'decided' });
  expect((await call(first)).status).toBe(404);
  expect((await call(await keyed('agent'))).body).toMatchObject({ code: 'invalid_request' });
  expect((await events(copy.id)).filter(({ type }) => type === 'disputed')).toMatchObject([
    { actor: 'judge-4', data: { reason: 'unclear' } },
  ]);
  expect(await goldOf('judge')).toMatchObject([
    { id: 'g0', retired: true, judged: 5, right: 2, skipped: 0, disputed: 1 },
  ]);
  expect((await other.post('/v1/queues/judge/claim', {})).body.tickets).toEqual([]);
  // changed, it begins anew; those who know it are not asked again
  await putGold('judge', [{ id: 'g0', body: 'better', answer: { verdict: 'remove' } }]);
  expect(await goldOf('judge')).toMatchObject([{ retired: false, judged: 0, disputed: 0 }]);
  expect((await first.post('/v1/queues/judge/claim', {})).body.tickets).toEqual([]);
  expect((await other.post('/v1/queues/judge/claim', {})).body.tickets).toMatchObject([{ body: 'better' }]);
});

test('B.2 only an answer that the form takes is gold, and an erased person is no longer named by it', async () => {
  await configure('formed', { form: { type: 'object', required: ['v'] } });
  const wrong = await putGold('formed', [
    { id: 'b', body: 1, answer: { v: 1 } },
    { id: 'a', body: 1, answer: {} },
  ]);
  expect(wrong).toMatchObject({
    status: 422,
    body: { errors: [{ path: expect.stringContaining('tickets.1.answer') }] },
  });
  expect(
    (
      await putGold(
        'formed',
        [1, 2].map(() => ({ id: 'a', body: 1, answer: { v: 1 } })),
      )
    ).status,
  ).toBe(422);
  expect((await putGold('nowhere', [])).status).toBe(404);
  // null is a body and an answer as any
  expect((await putGold('null-gold', [{ id: 'n', body: null, answer: null }])).body.code).toBe('not_found');
  await configure('null-gold', {});
  expect((await putGold('null-gold', [{ id: 'n', body: null, answer: null }])).status).toBe(200);
  expect(await goldOf('null-gold')).toMatchObject([{ body: null, answer: null }]);
  expect((await (await keyed('supervisor')).put('/v1/queues/formed/gold', { tickets: [] })).status).toBe(403);
  await goldQueue('persons', 1);
  await decide(await claimOne('persons', 'zoltan-the-great'), 'x');
  await erased(api, { person: 'zoltan-the-great' });
  expect(await tablesWith(system, 'zoltan-the-great')).toEqual({});
});

test('B.2 gold goes by the register: by its skills and quotas, once a person, and to nobody who is away', async () => {
  await goldQueue('listed', 3, { registered: true, categoryFrom: '/text' }, { requires: ['de'] });
  const register = (name: string, more: object) => api.put(`/v1/reviewers/${name}`, { skills: ['de'], ...more });
  await register('lisa', { perDay: 2, exposure: { g0: 0 } });
  await register('lisa-2', { person: 'lisa' });
  await register('away', { awayUntil: new Date(Date.now() + 60_000).toISOString() });
  for (const name of ['away', 'unlisted'])
    expect((await claim('listed', name, { skills: ['de'] })).tickets).toEqual([]);
  const texts: string[] = [];
  for (let held = await claimOne('listed', 'lisa'); held; ) {
    texts.push(held.body.text);
    expect(held.category).toBe(held.body.text);
    const { body } = await decide(held, 'x', { next: true });
    held = body.next;
  }
  expect(texts.sort()).toEqual(['g1', 'g2']);
  expect((await claim('listed', 'lisa')).reasons).toMatchObject({ quota: 1 });
  expect((await claim('listed', 'lisa-2')).tickets).toEqual([]);
});
