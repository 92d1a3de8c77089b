import { expect, test } from 'vitest';
import { type Json, repeat } from '../support/client.ts';
import { startTestSystem } from '../support/system.ts';

const { api } = await startTestSystem();
const { add, addMany, claimOne, configure, decide, ticket, withToken } = api.tickets;

const claimFrom = (queues: string[], reviewer: string, more: object = {}) =>
  api.post('/v1/claim', { queues, reviewer, ...more });
const idsOf = ({ body }: { body: Json }) => body.tickets.map(({ id }: Json) => id);

test('S0.2 a claim over several queues asks them in their order, whatever the priorities, until it has as many as wanted', async () => {
  await addMany('turn-a', ['ta-1', 'ta-2', { id: 'ta-3', requires: ['law'] }]);
  await addMany('turn-b', [{ id: 'tb-1', priority: 900 }, 'tb-2']);
  await configure('turn-a', { maxHeld: 2, leaseSeconds: 60 });
  await configure('turn-b', { maxHeld: 3, leaseSeconds: 600 });
  const first = await claimFrom(['turn-none', 'turn-a', 'turn-b'], 'anna', { count: 3 });
  expect([idsOf(first), first.body.reasons, first.body.retryAfterSeconds]).toEqual([['ta-1', 'ta-2', 'tb-1'], null, 0]);
  // each with the settings of its own queue
  const lease = ({ lease: { grantedAt, expiresAt } }: Json) => (Date.parse(expiresAt) - Date.parse(grantedAt)) / 1000;
  expect(first.body.tickets.map(lease).map(Math.round)).toEqual([60, 60, 600]);
  // held ones count; what is held in any of them comes first, with the same tokens
  const again = await claimFrom(['turn-b', 'turn-a'], 'anna', { count: 4, skills: ['law'] });
  expect(again.body.tickets.map(({ id, resumed }: Json) => [id, resumed])).toEqual([
    ['ta-1', true],
    ['ta-2', true],
    ['tb-1', true],
    ['tb-2', false],
  ]);
  expect(again.body.tickets[0].lease.token).toBe(first.body.tickets[0].lease.token);
  expect(idsOf(await claimFrom(['turn-b', 'turn-a'], 'anna', { count: 2 }))).toEqual(['ta-1', 'ta-2']);
  expect(idsOf(await claimFrom(['turn-b', 'turn-a'], 'anna', { count: 9 }))).toHaveLength(4);
  expect((await ticket('ta-3')).state).toBe('waiting');
});

test('S0.5 an empty claim over several queues sums the reasons of each, and retries when the first may have one', async () => {
  await addMany('sum-a', [
    { id: 'sa-1', exclude: ['anna'] },
    { id: 'sa-2', delaySeconds: 3_000 },
  ]);
  await addMany('sum-b', [
    { id: 'sb-1', requires: ['law'] },
    { id: 'sb-2', exclude: ['anna'] },
    { id: 'sb-3', delaySeconds: 20 },
  ]);
  await api.post('/v1/queues/sum-a/pause');
  const { tickets, reasons, retryAfterSeconds } = (await claimFrom(['sum-a', 'sum-b'], 'anna')).body;
  expect(tickets).toEqual([]);
  expect(reasons).toMatchObject({ delayed: 2, held: 0, excluded: 2, skills: 1, skipped: 0, paused: 1, maxHeld: 0 });
  expect(retryAfterSeconds).toBeGreaterThan(5);
  expect(retryAfterSeconds).toBeLessThanOrEqual(20);
});

test('S0.3 a waiting claim over several queues is woken by a ticket of any of them, and paused ones give nothing', async () => {
  await configure('any-c', {});
  await api.post('/v1/queues/any-c/pause');
  for (const queue of ['any-a', 'any-b']) {
    const waiting = claimFrom(['any-c', 'any-a', 'any-b'], `w-${queue}`, { waitSeconds: 30 });
    await add('any-c', { id: `${queue}-paused` });
    await add(queue, { id: `${queue}-1` });
    expect(idsOf(await waiting)).toEqual([`${queue}-1`]);
  }
  const paused = claimFrom(['any-a', 'any-c'], 'late', { waitSeconds: 30 });
  await api.post('/v1/queues/any-c/resume');
  expect(idsOf(await paused)).toEqual(['any-a-paused']);
});

test('S0.6 many claims of one person over several queues at once are handed the same one ticket', async () => {
  for (let round = 0; round < 5; round++) {
    const queues = [`same-${round}-a`, `same-${round}-b`, `same-${round}-c`];
    for (const queue of queues) await addMany(queue, [`${queue}-1`, `${queue}-2`]);
    const answers = await Promise.all(
      repeat(50, (n) => claimFrom(n % 2 ? queues : queues.toReversed(), 'anna', { count: 1 })),
    );
    expect(new Set(answers.flatMap(idsOf)).size).toBe(1);
    expect(answers.filter(({ body }) => !body.tickets[0].resumed)).toHaveLength(1);
  }
});

test('S0.6 many persons over the same queues at once are handed each ticket once', async () => {
  const queues = ['many-a', 'many-b', 'many-c'];
  for (const queue of queues)
    await addMany(
      queue,
      repeat(20, (n) => `${queue}-${n}`),
    );
  const answers = await Promise.all(
    repeat(50, (n) =>
      claimFrom(
        [0, 1, 2].map((k) => queues[(n + k) % 3] as string),
        `p${n}`,
      ),
    ),
  );
  const ids = answers.flatMap(idsOf);
  expect([ids.length, new Set(ids).size]).toEqual([50, 50]);
});

test('S0.8 the next ticket of a decision comes from the queues that it names, and a repeat gets the same', async () => {
  await add('nx-a', { id: 'nx-a1' });
  await addMany('nx-b', [{ id: 'nx-b1', requires: ['law'] }, 'nx-b2']);
  await add('nx-c', { id: 'nx-c1', priority: 9 });
  const wanted = { next: true, queues: ['nx-a', 'nx-b', 'nx-c'] };
  const held = await claimOne('nx-a', 'anna');
  const first = await decide(held, 'ok', wanted);
  expect(first.body.next).toMatchObject({ id: 'nx-b2', queue: 'nx-b', resumed: false, lease: { reviewer: 'anna' } });
  expect((await decide(held, 'ok', wanted)).body).toEqual(first.body);
  // without names it is the next one of its own queue
  expect((await decide(first.body.next, 'ok', { next: true })).body.next).toBeNull();
  await withToken((await claimFrom(['nx-c'], 'anna')).body.tickets[0], 'release');
});

test('a claim over several queues names one to twenty, and all must be of the key', async () => {
  for (const queues of [[], repeat(21, (n) => `q${n}`), ['a\u200b'], undefined]) {
    const { status, body } = await claimFrom(queues as string[], 'anna');
    expect([status, body.code]).toEqual([422, 'invalid_request']);
  }
  const made = await api.post('/v1/keys', { role: 'reviewer', subject: 'rita', queues: ['key-a', 'key-b*'] });
  const rita = api.as(made.body.key);
  await addMany('key-b1', ['kb-1', 'kb-2']);
  await configure('key-a', {});
  const own = await rita.post('/v1/claim', { queues: ['key-a', 'key-b1', 'key-a'] });
  expect(idsOf(own)).toEqual(['kb-1']);
  expect((await rita.post('/v1/claim', { queues: ['key-a', 'key-c'] })).status).toBe(403);
  const next = { next: true, queues: ['key-b1', 'key-c'] };
  expect((await rita.tickets.decide(own.body.tickets[0], 'ok', next)).status).toBe(403);
  expect((await rita.tickets.decide(own.body.tickets[0], 'ok', { next: true, queues: ['key-b1'] })).body.next.id).toBe(
    'kb-2',
  );
});
