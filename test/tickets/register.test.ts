import { expect, test } from 'vitest';
import { eventually, insist, type Json, numbered } from '../support/client.ts';
import { expectProblem } from '../support/problems.ts';
import { startTwoSystems } from '../support/system.ts';
import { inMs } from '../support/times.ts';

const [{ api, sql }, twin] = await startTwoSystems('api');
const { add, addMany, claim, claimOne, configure, decide, operate, ticket, withToken } = api.tickets;

const register = async (name: string, entry: object = {}): Promise<Json> =>
  insist(await api.put(`/v1/reviewers/${encodeURIComponent(name)}`, entry), 'register', 200);
const remove = (name: string) => api.raw('DELETE', `/v1/reviewers/${encodeURIComponent(name)}`);
const idsOf = ({ tickets }: Json): string[] => tickets.map(({ id }: Json) => id);
const why = async (queue: string, reviewer: string, id: string, skills: string[] = []): Promise<string[]> =>
  (await api.post(`/v1/queues/${queue}/explain`, { reviewer, skills, ticket: id })).body.why;
/** Claims and decides until nothing comes; the ids, and the reasons of the last answer. */
async function drained(queue: string, reviewer: string): Promise<[string[], Json]> {
  const ids: string[] = [];
  for (;;) {
    const { tickets, reasons } = await claim(queue, reviewer);
    if (!tickets[0]) return [ids, reasons];
    insist(await decide(tickets[0]), 'decide', 200);
    ids.push(tickets[0].id);
  }
}

test('S0.8 the register has names in any script, is listed in pages, and each entry is replaced and removed as a whole', async () => {
  const sent = { displayName: 'سارا‌جان', person: 'p-sara', skills: ['law'], perDay: 7, exposure: { violence: 2 } };
  const at = inMs(60_000);
  const made = await register('审核员 一', { ...sent, awayUntil: at, timezone: 'asia/tokyo' });
  expect(made).toMatchObject({ name: '审核员 一', ...sent, awayUntil: at, timezone: 'Asia/Tokyo' });
  const path = `/v1/reviewers/${encodeURIComponent('审核员 一')}`;
  expect((await api.get(path)).body).toEqual(made);
  expect(await register('审核员 一')).toMatchObject({
    ...{ displayName: null, person: null, skills: [], perDay: null, exposure: {}, awayUntil: null, timezone: 'UTC' },
    createdAt: made.createdAt,
  });
  for (const name of numbered(4, 'listed-')) await register(name);
  const first = (await api.get('/v1/reviewers?limit=3')).body;
  const second = (await api.get(`/v1/reviewers?limit=3&cursor=${first.nextCursor}`)).body;
  expect([...first.items, ...second.items].map(({ name }: Json) => name).slice(0, 5)).toEqual([
    ...numbered(4, 'listed-').toReversed(),
    '审核员 一',
  ]);
  for (const name of ['model:x', 'erased-x', 'nexus/x', 'e\u0301'])
    expectProblem(await api.put(`/v1/reviewers/${encodeURIComponent(name)}`, {}), '', 422);
  for (const wrong of [{ timezone: 'Mars' }, { perDay: -1 }, { exposure: { x: 'many' } }, { person: 'model:x' }])
    expectProblem(await api.put('/v1/reviewers/wrong', wrong), '', 422);
  for (const name of ['审核员 一', ...numbered(4, 'listed-')])
    expect((await remove(name)).body).toEqual({ deleted: true });
  expectProblem(await remove('审核员 一'), 'not in the register', 404);
  expectProblem(await api.get(path), 'not in the register', 404);
  await configure('pointer', { categoryFrom: '/a/b~1c/0' });
  expectProblem(await api.put('/v1/queues/pointer', { categoryFrom: 'no-slash' }), '', 422);
});

test('S0.8 where a queue is registered, only registered people are served, by the skills that the register says', async () => {
  await register('skilled', { skills: ['law'] });
  await register('plain');
  const tickets = [{ id: 'sk-1', requires: ['law'], priority: 9 }, 'sk-2', 'sk-3', 'sk-4'];
  await addMany(
    'open-q',
    tickets.map((t) => (typeof t === 'string' ? `o-${t}` : { ...t, id: `o-${t.id}` })),
  );
  // elsewhere everybody gets what they get without a register, by the skills that they say
  expect(idsOf(await claim('open-q', 'plain', { skills: ['law'] }))).toEqual(['o-sk-1']);
  expect(idsOf(await claim('open-q', 'skilled'))).toEqual(['o-sk-2']);
  expect(idsOf(await claim('open-q', 'stranger'))).toEqual(['o-sk-3']);
  await configure('closed-q', { registered: true });
  await addMany('closed-q', tickets);
  const none = await claim('closed-q', 'stranger', { skills: ['law'] });
  expect(none).toMatchObject({ tickets: [], reasons: { notRegistered: 4, skills: 0 } });
  expect(await why('closed-q', 'stranger', 'sk-2')).toEqual(['notRegistered']);
  expect(idsOf(await claim('closed-q', 'plain', { skills: ['law'] }))).toEqual(['sk-2']);
  expect(await why('closed-q', 'plain', 'sk-1', ['law'])).toEqual(['skills', 'maxHeld']);
  const held = await claimOne('closed-q', 'skilled');
  expect(held.id).toBe('sk-1');
  const next = insist(await decide(held, 'ok', { next: true }), 'next', 200);
  expect(next.next.id).toBe('sk-3');
  // many at once, of whom some are not registered
  await addMany('crowd-q', numbered(20, 'crowd-'));
  await configure('crowd-q', { registered: true });
  const names = numbered(20, 'c-');
  for (const name of names.slice(0, 10)) await register(name, { skills: name.endsWith('3') ? ['law'] : [] });
  const got = await Promise.all(names.map((name) => claim('crowd-q', name)));
  expect(got.map((of) => idsOf(of).length)).toEqual(names.map((_, n) => (n < 10 ? 1 : 0)));
  expect(new Set(got.flatMap(idsOf)).size).toBe(10);
});

test('S0.8 S0.5 a daily quota counts each ticket once a person, also by next; releases are not refunded, and it may come again', async () => {
  await register('quota', { perDay: 3 });
  await addMany('quota-q', numbered(6, 'q-'));
  const first = await claimOne('quota-q', 'quota');
  insist(await withToken(first, 'release'), 'release', 200);
  expect((await claimOne('quota-q', 'quota')).id).toBe('q-0');
  const again = await claimOne('quota-q', 'quota');
  const { next } = insist(await decide(again, 'ok', { next: true }), 'next', 200);
  expect(next.id).toBe('q-1');
  const third = insist(await decide(next, 'ok', { next: true }), 'next', 200).next;
  insist(await withToken(third, 'release'), 'release', 200);
  await add('quota-q', { id: 'q-first', priority: 9 });
  // counted already: at a full quota it comes again, and nothing else does
  const { tickets } = await claim('quota-q', 'quota');
  expect(tickets.map(({ id }: Json) => id)).toEqual(['q-2']);
  expect(await why('quota-q', 'quota', 'q-first')).toEqual(['quota', 'maxHeld']);
  expect(insist(await decide(tickets[0], 'ok', { next: true }), 'next', 200).next).toBe(null);
  const empty = await claim('quota-q', 'quota');
  expect(empty.reasons).toMatchObject({ quota: 4, exposure: 0, away: 0 });
  expect(empty.retryAfterSeconds).toBeGreaterThan(0);
  expect(await why('quota-q', 'quota', 'q-first')).toEqual(['quota']);
  // another one is served, and a raise is heard by who waits
  expect((await claimOne('quota-q', 'other')).id).toBe('q-first');
  const waiting = claim('quota-q', 'quota', { waitSeconds: 30 });
  await register('quota', { perDay: 4 });
  expect(idsOf(await waiting)).toEqual(['q-3']);
  expect(await sql("select n from reviewer_day where name = 'quota'")).toEqual([{ n: 4 }]);
});

test('S0.8 names of one person are one: for exclusions, skips and quotas, with the least limit and the first zone', async () => {
  // the day of the first name ends in a few hours at the latest
  await register('one-a', { person: 'one', perDay: 5, timezone: 'Pacific/Kiritimati' });
  await register('one-b', { person: 'one', perDay: 2 });
  await addMany(
    'one-q',
    ['o-0', 'o-1', 'o-2', 'o-3'].map((id, n) => ({ id, ...(n === 0 && { exclude: ['one-a'], priority: 9 }) })),
  );
  expect(await why('one-q', 'one-b', 'o-0')).toEqual(['excluded']);
  const held = await claimOne('one-q', 'one-b');
  expect(held.id).toBe('o-1');
  insist(await withToken(held, 'release', { skip: true }), 'skip', 200);
  expect(await why('one-q', 'one-a', 'o-1')).toEqual(['skipped']);
  expect((await claimOne('one-q', 'one-a')).id).toBe('o-2');
  expect((await claim('one-q', 'one-b')).reasons).toMatchObject({ quota: 2, excluded: 1, skipped: 1 });
  const days = await sql<{ day: string }>("select day::text from reviewer_day where name like 'one-_' group by day");
  const [today] = await sql("select (now() at time zone 'Pacific/Kiritimati')::date::text as day");
  expect(days).toEqual([today]);
  // a new day there
  await sql("update reviewer_day set day = day - 1 where name like 'one-_'");
  expect((await claimOne('one-q', 'one-b')).id).toBe('o-3');
});

test('S0.8 of a category a person is handed so many a day, by the ticket or by its body, and of others as ever', async () => {
  await register('exposed', { exposure: { violence: 2, gore: 0 } });
  await configure('exposure-q', { categoryFrom: '/kind', maxHeld: 9 });
  await addMany('exposure-q', [
    { id: 'x-1', body: { kind: 'violence' } },
    { id: 'x-2', body: { kind: 'spam' }, category: 'violence' },
    { id: 'x-3', body: { kind: 'violence' } },
    { id: 'x-4', body: { kind: 'gore' } },
    { id: 'x-5', body: { kind: 7 } },
    { id: 'x-6', body: {} },
  ]);
  expect((await ticket('x-2')).category).toBe('violence');
  expect((await ticket('x-5')).category).toBe(null);
  expect(idsOf(await claim('exposure-q', 'exposed', { count: 9 }))).toEqual(['x-1', 'x-2', 'x-5', 'x-6']);
  const { reasons } = await claim('exposure-q', 'exposed-2');
  expect(reasons).toBe(null);
  await add('exposure-q', { id: 'x-7', body: { kind: 'gore' } });
  expect(await why('exposure-q', 'exposed', 'x-7')).toEqual(['exposure']);
  insist(await api.patch('/v1/tickets/x-7', { body: { kind: 'spam' } }), 'patch', 200);
  expect(idsOf(await claim('exposure-q', 'exposed', { count: 9 }))).toContain('x-7');
  // settings act on what waits
  await add('exposure-q', { id: 'x-8', body: { kind: 'fun', other: 'gore' } });
  await configure('exposure-q', { categoryFrom: '/other', maxHeld: 9 });
  expect((await ticket('x-8')).category).toBe('gore');
  expect((await claim('exposure-q', 'exposed-3', { count: 9 })).tickets).not.toHaveLength(0);
  insist(await operate('x-8', 'transfer', { queue: 'open-q' }), 'transfer', 200);
  expect((await ticket('x-8')).category).toBe(null);
});

test('S0.8 who is away keeps what they hold and gets nothing new, until they are back', async () => {
  await addMany('away-q', numbered(3, 'aw-'));
  const held = await claimOne('away-q', 'traveller');
  await register('traveller', { awayUntil: inMs(3_000) });
  expect((await claim('away-q', 'traveller')).tickets).toMatchObject([{ id: held.id, resumed: true }]);
  expect(insist(await decide(held, 'ok', { next: true }), 'next', 200).next).toBe(null);
  const { reasons, retryAfterSeconds } = await claim('away-q', 'traveller');
  expect(reasons).toMatchObject({ away: 2, quota: 0 });
  expect(retryAfterSeconds).toBeLessThanOrEqual(3);
  expect(await why('away-q', 'traveller', 'aw-2')).toEqual(['away']);
  expect(idsOf(await claim('away-q', 'traveller', { waitSeconds: 30 }))).toEqual(['aw-1']);
});

test('S0.8 a ticket for a person is theirs until its time, then anybody’s in its old order; who cannot have it binds nobody', async () => {
  const since = Date.now();
  await add('for-q', { id: 'f-1', priority: 5, for: 'friend', forSeconds: 3 });
  await addMany('for-q', ['f-2', 'f-3']);
  expect(await ticket('f-1')).toMatchObject({ for: 'friend', forUntil: expect.any(String) });
  expect((await claimOne('for-q', 'b')).id).toBe('f-2');
  expect(await why('for-q', 'c', 'f-1')).toEqual(['forAnother']);
  const late = (await claimOne('for-q', 'c')).id;
  expect(late).toBe('f-3');
  expect((await claim('for-q', 'd')).reasons).toMatchObject({ forAnother: 1 });
  const waiting = claim('for-q', 'd', { waitSeconds: 30 });
  expect(idsOf(await waiting)).toEqual(['f-1']);
  expect(Date.now() - since).toBeGreaterThan(2_500);
  expect(await ticket('f-1')).toMatchObject({ for: null, forUntil: null });
  // at once theirs, whatever goes before by skills; for ever without a time
  await add('ever-q', { id: 'e-1', for: 'friend' });
  expect((await claim('ever-q', 'x')).tickets).toEqual([]);
  insist(await api.patch('/v1/tickets/e-1', { for: 'x' }), 'patch', 200);
  expect((await claim('ever-q', 'friend')).tickets).toEqual([]);
  expect(await ticket('e-1')).toMatchObject({ for: 'x', forUntil: null });
  insist(await operate('e-1', 'transfer', { queue: 'for-q' }), 'transfer', 200);
  expect(await ticket('e-1')).toMatchObject({ for: null });
  // who is away, excluded, or has skipped it binds nobody
  await register('gone', { awayUntil: inMs(60_000), person: 'gone-one' });
  await register('gone-too', { person: 'gone-one' });
  await addMany('bound-q', [
    { id: 'b-1', for: 'gone-too' },
    { id: 'b-2', for: 'y', exclude: ['y'] },
  ]);
  expect((await claimOne('bound-q', 'z1')).id).toBe('b-1');
  expect((await claimOne('bound-q', 'z2')).id).toBe('b-2');
  expectProblem(await api.post('/v1/queues/for-q/tickets', { body: 1, forSeconds: 3 }), '', 422);
  // the person is found among many who claim at once
  await addMany(
    'many-q',
    numbered(10, 'm-').map((id, n) => ({ id, ...(n === 6 && { for: 'm7', priority: 3 }) })),
  );
  const all = await Promise.all(numbered(10, 'm').map(async (name) => [name, idsOf(await claim('many-q', name))]));
  expect(Object.fromEntries(all).m7).toEqual(['m-6']);
  expect(new Set(all.flatMap(([, ids]) => ids)).size).toBe(10);
});

test('S0.5 explain/who names everybody of the register: who could take a ticket, and why the others not', async () => {
  for (const { name } of (await api.get('/v1/reviewers?limit=500')).body.items) await remove(name);
  await configure('who-q', { registered: true });
  await register('w-could', { skills: ['law'] });
  await register('w-skills');
  await register('w-away', { skills: ['law'], awayUntil: inMs(60_000) });
  await register('w-quota', { skills: ['law'], perDay: 0 });
  await register('w-exposure', { skills: ['law'], exposure: { violence: 0 } });
  await register('w-excluded', { skills: ['law'] });
  await register('w-busy', { skills: ['law'] });
  await add('who-q', { id: 'w-0' });
  expect((await claimOne('who-q', 'w-busy')).id).toBe('w-0');
  await add('who-q', { id: 'w-1', requires: ['law'], category: 'violence', exclude: ['w-excluded'] });
  const who = async (id: string) => {
    const { could, others } = insist(await api.get(`/v1/explain/who?ticket=${id}`), 'who', 200);
    return { could, others: Object.fromEntries(others.map(({ reviewer, reason }: Json) => [reviewer, reason])) };
  };
  const causes = { 'w-skills': 'skills', 'w-away': 'away', 'w-quota': 'quota', 'w-exposure': 'exposure' };
  const others = { ...causes, 'w-excluded': 'excluded', 'w-busy': 'maxHeld' };
  expect(await who('w-1')).toEqual({ could: ['w-could'], others });
  insist(await api.patch('/v1/tickets/w-1', { for: 'w-skills', forSeconds: 60 }), 'patch', 200);
  expect((await who('w-1')).others).toMatchObject({ 'w-could': 'forAnother', 'w-skills': 'skills' });
  expect((await who('w-0')).others).toMatchObject({ 'w-busy': 'heldByYou', 'w-could': 'held' });
  expectProblem(await api.get('/v1/explain/who?ticket=none'), 'no ticket', 404);
  expectProblem(await api.get('/v1/explain/who'), '', 422);
});

test('S0.6 50 claims and decisions at once, by all names of a person and through two processes, never exceed a quota', async () => {
  const either = (n: number) => (n % 2 ? api : twin.api);
  const names = numbered(10, 'r-');
  for (const name of names) await register(name, { person: 'racer', perDay: 9, exposure: { violence: 4 } });
  const queues = numbered(3, 'race-q');
  for (const queue of queues) {
    await configure(queue, { maxHeld: 50 });
    await addMany(
      queue,
      numbered(60, `${queue}-`).map((id, n) => ({ id, ...(n % 2 && { category: 'violence' }) })),
    );
  }
  const beat = async (n: number) => {
    const { tickets } = await either(n).tickets.claim(queues[n % 3] ?? '', names[n % 10] ?? '', { count: 1 + (n % 4) });
    for (const held of tickets) await either(n + 1).tickets.decide(held, 'ok', { next: n % 5 > 0 });
  };
  for (let round = 0; round < 2; round++) await Promise.all(numbered(50, '').map((_, n) => beat(n)));
  const [had] = await sql<{ n: number; violent: number }>(`
    select count(distinct item_id)::int as n, count(distinct item_id) filter (where category is not null)::int as violent
      from event e join item i on i.kind = e.kind and i.id = e.item_id
     where e.type = 'claimed' and e.actor like 'r-_'`);
  expect(had?.n).toBe(9);
  expect(had?.violent).toBeLessThanOrEqual(4);
  const [counted] = await sql(`
    select sum(n)::int as n, sum((categories ->> 'violence')::int)::int as violent from reviewer_day where name like 'r-_'`);
  expect(counted).toEqual(had);
  expect((await claim('race-q0', 'r-0')).reasons).toMatchObject({ quota: expect.any(Number) });
  await eventually(async () => (await drained('race-q2', 'r-1'))[0].length === 0);
});
