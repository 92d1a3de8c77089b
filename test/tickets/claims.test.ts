import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { dice, eventually, type Json, repeat } from '../support/client.ts';
import { onDatabase } from '../support/database.ts';
import { startTestSystem } from '../support/system.ts';

const { api, databaseUrl, running } = await startTestSystem({}, { role: 'api' });
const { add, addHeld, addMany, claim, claimOne, configure, decide, drain, operate, withToken } = api.tickets;

/** Far above what a wake-up takes, well below what the slow poll beside it needs on average. */
const PROMPT_MS = 2_000;
const ids = (answer: Json): string[] => answer.tickets.map((t: Json) => t.id);
const explain = async (queue: string, body: object) => (await api.post(`/v1/queues/${queue}/explain`, body)).body;

/** A claim that can be given up. */
function poll(queue: string, reviewer: string, waitSeconds = 30) {
  const abort = new AbortController();
  const init = { signal: abort.signal, headers: { 'content-type': 'application/json' } };
  const body = JSON.stringify({ reviewer, waitSeconds });
  const answer = api.raw('POST', `/v1/queues/${queue}/claim`, { ...init, body }).then((r) => r.body);
  return { answer: answer.catch(() => null), abort: () => abort.abort() };
}
const waiting = (n: number) => eventually(async () => running.runtime.waiters.size === n);

test('S0.6 a ticket goes only to those who have all the skills it asks for', async () => {
  await add('skills', { id: 's-de', requires: ['de'], priority: 9 });
  await add('skills', { id: 's-both', requires: ['video', 'de'], priority: 8 });
  await add('skills', { id: 's-none' });
  expect(await drain('skills', 1)).toEqual(['s-none']);
  const { tickets, reasons } = await claim('skills', 'r1', { skills: ['video'] });
  expect([tickets, reasons.skills, reasons.held]).toEqual([[], 2, 1]);
  expect(ids(await claim('skills', 'r2', { skills: ['de', 'en', 'video'] }))).toEqual(['s-de']);
  expect(ids(await claim('skills', 'r3', { skills: ['de', 'en', 'video'] }))).toEqual(['s-both']);
});

test('S0.1 S0.6 what was handed out together is resumed in the order of the hand-out', async () => {
  await configure('resumed', { maxHeld: 5 });
  await addMany(
    'resumed',
    [1, 9, 5].map((priority) => ({ id: `re-${priority}`, priority })),
  );
  const first = ids(await claim('resumed', 'anna', { count: 3 }));
  expect(first).toEqual(['re-9', 're-5', 're-1']);
  expect(ids(await claim('resumed', 'anna', { count: 3 }))).toEqual(first);
  const { tickets } = (await api.post('/v1/claim', { queues: ['resumed', 'skills'], reviewer: 'anna', count: 3 })).body;
  expect(tickets.map(({ id }: Json) => id)).toEqual(first);
});

test('S0.1 among tickets that ask for different skills the best one goes first', async () => {
  const roll = dice(3);
  const skills = ['a', 'b', 'c', 'd'];
  const sent = repeat(60, (n) => ({ id: `sk${n}`, priority: roll(5), requires: skills.filter(() => roll(3) === 0) }));
  await configure('many-skills', { maxHeld: 100 });
  await addMany('many-skills', sent);
  const mine = ['a', 'b', 'c'];
  const wanted = sent.filter((t) => t.requires.every((r) => mine.includes(r))).sort((a, b) => b.priority - a.priority);
  expect(ids(await claim('many-skills', 'r', { skills: mine, count: 100 }))).toEqual(wanted.map((t) => t.id));
});

test('S0.6 changed requires and exclude count at the very next claim', async () => {
  await add('change', { id: 'ch', requires: ['law'], exclude: ['ben'] });
  expect(ids(await claim('change', 'anna'))).toEqual([]);
  await api.patch('/v1/tickets/ch', { requires: [], exclude: ['anna'] });
  expect((await claim('change', 'anna')).reasons).toMatchObject({ excluded: 1, skills: 0 });
  expect(ids(await claim('change', 'ben'))).toEqual(['ch']);
});

test('S0.5 an empty claim says why, each cause counted', async () => {
  await configure('why', { maxHeld: 2 });
  await addMany('why', [
    { id: 'w-held' },
    ...[1, 2].map((n) => ({ id: `w-delayed-${n}`, delaySeconds: 40 })),
    ...[1, 2, 3].map((n) => ({ id: `w-excluded-${n}`, exclude: ['anna', 'ben'] })),
    ...[1, 2, 3, 4].map((n) => ({ id: `w-skills-${n}`, requires: ['law'] })),
  ]);
  expect(ids(await claim('why', 'ben'))).toEqual(['w-held']);
  await add('why', { id: 'w-skipped' });
  await withToken(await claimOne('why', 'anna'), 'release', { skip: true });
  const register = { notRegistered: 0, away: 0, quota: 0, exposure: 0, forAnother: 0 };
  const counts = { ...register, delayed: 2, held: 1, excluded: 3, skills: 4, skipped: 1, paused: 0, maxHeld: 0 };
  const empty = await claim('why', 'anna');
  expect(empty).toMatchObject({ tickets: [], reasons: counts });
  expect(empty.retryAfterSeconds).toBeGreaterThan(0);
  expect(empty.retryAfterSeconds).toBeLessThanOrEqual(40);
  expect(await explain('why', { reviewer: 'anna' })).toEqual({ reasons: counts });
  await api.post('/v1/queues/why/pause');
  expect((await explain('why', { reviewer: 'anna' })).reasons).toEqual({ ...counts, paused: 8 });
  await api.post('/v1/queues/why/resume');
  await configure('why', { maxHeld: 1 });
  expect((await claim('why', 'ben', { count: 2 })).tickets).toHaveLength(1);
  expect((await explain('why', { reviewer: 'ben' })).reasons).toMatchObject({ maxHeld: 1, held: 0 });
});

test('S0.5 explain says of one ticket whether it would be mine and what goes before it', async () => {
  const sent = [{}, { priority: 5 }, { exclude: ['anna'] }, { requires: ['law'] }, { delaySeconds: 60 }];
  for (const [n, more] of sent.entries()) await add('explain', { id: `x${n + 1}`, ...more });
  const of = (id: string, more: object = {}) => explain('explain', { reviewer: 'anna', ticket: id, ...more });
  expect(await of('x2')).toEqual({ offered: true, why: [], ahead: 0 });
  expect(await of('x1')).toEqual({ offered: true, why: [], ahead: 1 });
  expect(await of('x3')).toMatchObject({ offered: false, why: ['excluded'] });
  expect(await of('x4')).toMatchObject({ offered: false, why: ['skills'] });
  expect(await of('x4', { skills: ['law'] })).toEqual({ offered: true, why: [], ahead: 2 });
  expect((await of('x5')).why).toEqual(['delayed']);
  await claimOne('explain', 'ben');
  expect(await of('x2')).toMatchObject({ offered: false, why: ['held'] });
  expect((await api.post('/v1/queues/explain/explain', { reviewer: 'anna', ticket: 'none' })).status).toBe(404);
});

test('S0.4 a paused queue hands nothing out, holders go on, and those who wait get theirs at its end', async () => {
  const held = await addHeld('pause', ['p1', 'p2']);
  expect((await api.post('/v1/queues/pause/pause')).body).toMatchObject({ name: 'pause', paused: true });
  expect(await claim('pause', 'ben')).toMatchObject({ tickets: [], reasons: { paused: 1 } });
  expect((await claimOne('pause', 'anna')).resumed).toBe(true);
  expect((await decide(held, 1, { next: true })).body.next).toBeNull();
  const waits = claim('pause', 'ben', { waitSeconds: 30 });
  await waiting(1);
  const start = performance.now();
  await api.post('/v1/queues/pause/resume');
  expect(ids(await waits)).toEqual(['p2']);
  expect(performance.now() - start).toBeLessThan(PROMPT_MS);
});

let made = 0;
const frees: [string, (queue: string) => Promise<unknown>][] = [
  ['is added', (queue) => add(queue)],
  ['becomes due', (queue) => add(queue, { delaySeconds: 0.2 })],
  [
    'is given back',
    async (queue) => {
      const { id } = await add(queue, { requires: ['x'] });
      const held = await claimOne(queue, `holder-${made++}`, { skills: ['x'] });
      await api.patch(`/v1/tickets/${id}`, { requires: [] });
      await withToken(held, 'release');
    },
  ],
  [
    'is transferred here',
    async (queue) => {
      await configure(queue, {});
      await operate((await add('poll-from')).id, 'transfer', { queue });
    },
  ],
  [
    'is drawn as a second look',
    async (queue) => {
      await configure(queue, { second: { share: 1 } });
      const { id } = await add(queue, { for: 'decider' });
      const [next] = (await claim(queue, 'decider')).tickets;
      await decide(next, id);
    },
  ],
  [
    'is changed so that it fits',
    async (queue) => api.patch(`/v1/tickets/${(await add(queue, { requires: ['law'] })).id}`, { requires: [] }),
  ],
];

test.each(frees)('S0.8 a long poll wakes up when a ticket %s', async (how, free) => {
  const queue = how.replaceAll(' ', '-');
  for (let round = 0; round < 2; round++) {
    await waiting(0);
    const waits = claim(queue, `waiter-${round}`, { waitSeconds: 30 });
    await waiting(1);
    const start = performance.now();
    await free(queue);
    expect((await waits).tickets).toHaveLength(1);
    expect(performance.now() - start).toBeLessThan(PROMPT_MS);
  }
});

test('S0.8 a long poll without luck ends in its time and says why', async () => {
  await add('poll-none', { requires: ['law'] });
  const start = performance.now();
  const answer = await claim('poll-none', 'r', { waitSeconds: 0.5 });
  expect(performance.now() - start).toBeGreaterThan(490);
  expect(answer).toMatchObject({ tickets: [], reasons: { skills: 1 } });
});

test('S0.6 of forty who wait exactly one gets the one ticket, whoever may have it', async () => {
  for (let round = 0; round < 2; round++) {
    const [queue, id] = [`forty-${round}`, `forty-${round}`];
    const excluded = repeat(39, (n) => `w${n}`);
    const polls = [...excluded, 'lucky'].map((reviewer) => ({ reviewer, ...poll(queue, reviewer, 2) }));
    await waiting(40);
    await add(queue, { id, exclude: round % 2 ? excluded : [] });
    const answers = await Promise.all(polls.map(async (p) => ({ reviewer: p.reviewer, got: ids(await p.answer) })));
    const winners = answers.filter((a) => a.got.length > 0);
    expect(winners).toHaveLength(1);
    if (round % 2) expect(winners[0]?.reviewer).toBe('lucky');
  }
});

test('S0.6 a caller who goes in the moment a ticket comes does not keep it', async () => {
  const stuck: string[] = [];
  for (let round = 0; round < 15; round++) {
    const queue = `race-${round}`;
    const gone = poll(queue, 'gone');
    await sleep(20);
    gone.abort();
    await add(queue, { id: queue });
    const { tickets } = await claim(queue, 'here', { waitSeconds: 2 });
    if (tickets.length === 0) stuck.push(queue);
  }
  expect(stuck).toEqual([]);
});

test('S0.6 what was handed to a caller who left in the middle of his claim is given back', async () => {
  await add('middle', { id: 'middle' });
  await configure('middle', { maxAttempts: 1 });
  await onDatabase(databaseUrl, async (client) => {
    await client.query('begin; lock table queue in access exclusive mode');
    const gone = poll('middle', 'gone', 0);
    const blocked = "select 1 from pg_locks where not granted and relation = 'queue'::regclass";
    await eventually(async () => (await client.query(blocked)).rowCount);
    gone.abort();
    await sleep(300); // nothing shows when the server has noticed
    await client.query('commit');
  });
  const held = await claimOne('middle', 'here', { waitSeconds: 20 });
  expect(held.attempts).toBe(1);
});

test('S0.6 somebody excluded from the best ticket gets another, also when many claim at once', async () => {
  for (let round = 0; round < 4; round++) {
    const queue = `excl-${round}`;
    const people = repeat(10, (n) => `p${n}`);
    // one more than there are people: in any order each finds one he may have
    await addMany(queue, [...people.map((p) => ({ id: `${queue}-${p}`, exclude: [p] })), { id: `${queue}-any` }]);
    const got = await Promise.all(people.map(async (p) => [p, ids(await claim(queue, p))[0]] as const));
    expect(got.filter(([, id]) => id === undefined)).toEqual([]);
    expect(got.filter(([p, id]) => id === `${queue}-${p}`)).toEqual([]);
    expect(new Set(got.map(([, id]) => id)).size).toBe(10);
  }
});

test('S0.6 a ticket one person may not have goes to the next who asks at the same time', async () => {
  for (let round = 0; round < 8; round++) {
    const queue = `pair-${round}`;
    await configure(queue, {});
    await addMany(queue, [{ id: `${queue}-0` }, { id: `${queue}-1`, exclude: ['anna'] }]);
    // the first call goes alone, the two behind it share a statement
    const [, anna, ben] = await Promise.all(['first', 'anna', 'ben'].map((r) => claim(queue, r).then(ids)));
    expect([anna, ben]).toEqual([[], [`${queue}-1`]]);
  }
});
