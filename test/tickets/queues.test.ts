import { expect, test, vi } from 'vitest';
import { dice, eventually, type Json, numbered, repeat, walk } from '../support/client.ts';
import { LEASES } from '../support/leases.ts';
import { startTestSystem } from '../support/system.ts';
import { ago, inMs, MINUTE_MS } from '../support/times.ts';

const { api, sql } = await startTestSystem({}, { role: 'api' });
const { add, addMany, claim, claimOne, configure, decide, events, operate, stats, ticket, withToken } = api.tickets;
const STATES = ['delayed', 'waiting', 'held', 'decided', 'invalidated', 'expired', 'dead'];

/** Stats against a recount of the rows. */
async function recounted(queue: string): Promise<void> {
  const shown = await stats(queue);
  const words: Record<string, string> = { ready: 'waiting', settled: 'decided' };
  const states = "select state, count(*)::int as n from item where kind = 'ticket' and queue = $1 group by 1";
  const rows = await sql(states, [queue]);
  const counted = Object.fromEntries(STATES.map((s) => [s, 0]));
  for (const { state, n } of rows) counted[words[state] ?? state] = n;
  expect(shown).toMatchObject(counted);
  const leases = `select count(*) filter (where why = 'expired')::int as "leaseExpiries",
    count(*)::int as "claimsPerMinute" from ${LEASES} where queue = $1`;
  expect(shown).toMatchObject((await sql(leases, [queue]))[0] ?? {});
}

test('S0.5 the counts of a queue agree with its rows after everything that can happen', async () => {
  const roll = dice(11);
  for (const queue of ['mix-0', 'mix-1']) await configure(queue, { leaseSeconds: 0.4, maxHeld: 20, maxAttempts: 2 });
  const sent = repeat(150, (n) => ({
    id: `mix-${n}`,
    delaySeconds: [0, 0, 0, 0.2, 600][roll(5)],
    ...(roll(5) === 0 && { deadlineSeconds: 0.5 }),
  }));
  await addMany('mix-0', sent);
  for (let round = 0; round < 12; round++) {
    const queue = `mix-${roll(2)}`;
    for (const held of (await claim(queue, `r${round}`, { count: 8 })).tickets) {
      const actions = [
        () => decide(held),
        () => withToken(held, 'release', { delaySeconds: roll(2) * 0.1 }),
        () => withToken(held, 'transfer', { queue: `mix-${roll(2)}` }),
        () => operate(held.id, 'invalidate'),
        () => operate(held.id, 'resolve', { decision: 1, reason: 'r' }),
        async () => null,
      ];
      await actions[roll(actions.length)]?.();
    }
    await operate(`mix-${roll(150)}`, 'transfer', { queue: 'mix-1' });
  }
  await eventually(
    async () => (await sql(`select 1 from item where wake_at < clock_timestamp() + interval '1 s'`)).length === 0,
  );
  await recounted('mix-0');
  await recounted('mix-1');
  // summing up in the background changes no sum
  const lines = () => sql(`select from tally_line where queue like 'mix-%' and (was is not null or at is null)`);
  await eventually(async () => (await lines()).length === 0);
  await recounted('mix-0');
  await recounted('mix-1');
});

test('S0.5 counts are exact in every answer while tickets come and go', async () => {
  const ids = await addMany('exact', numbered(60, 'exact-'));
  let over = false;
  const work = async (_: string, n: number) => decide(await claimOne('exact', `r${n}`));
  const working = Promise.all(ids.map(work)).finally(() => (over = true));
  while (!over) {
    const { waiting, held, decided } = await stats('exact');
    expect(waiting + held + decided).toBe(60);
  }
  await working;
  await recounted('exact');
});

test('S0.5 stats say how long the oldest one has waited; an unknown queue is 404', async () => {
  await add('oldest', { createdAt: ago(3_600) });
  await add('oldest', { createdAt: ago(7_200), delaySeconds: 100_000 });
  const { oldestWaitingSeconds, delayed, waiting } = await stats('oldest');
  expect([delayed, waiting]).toEqual([1, 1]);
  expect(oldestWaitingSeconds).toBeGreaterThan(3_599);
  expect(oldestWaitingSeconds).toBeLessThan(3_700);
  expect((await api.get('/v1/queues/unheard-of/stats')).status).toBe(404);
});

test('S0.5 pages show the tickets of all queues once each, newest first', async () => {
  // many of them as old as others, so that a page ends among equals
  const sent = repeat(120, (n) => ({
    id: `pg-${n}`,
    createdAt: inMs(-Math.floor(n / 25) * MINUTE_MS, '2024-01-01T00:00:00Z'),
  }));
  await addMany('pages-1', sent.slice(60));
  await addMany('pages-2', sent.slice(0, 60));
  for (const limit of [1, 7, 120, 500]) {
    const all = await walk(api, '/v1/tickets?createdBefore=2024-01-02T00:00:00Z', limit);
    expect(new Set(all.map((t) => t.id)).size).toBe(120);
    expect(all.map((t) => t.createdAt)).toEqual(sent.map((t) => t.createdAt));
  }
});

test('S0.5 what is added while somebody pages is no gap and no repeat in what was there', async () => {
  await addMany('moving', numbered(30, 'mv-'));
  const first = (await api.get('/v1/tickets?queue=moving&limit=10')).body;
  await addMany('moving', numbered(5, 'mv-new-'));
  await claimOne('moving', 'anna');
  const second = (await api.get(`/v1/tickets?queue=moving&limit=100&cursor=${first.nextCursor}`)).body;
  const ids = [...first.items, ...second.items].map((t: Json) => t.id);
  expect(ids).toEqual(repeat(30, (n) => `mv-${29 - n}`));
  expect(second.nextCursor).toBeNull();
  const [listed] = (await api.get('/v1/tickets?queue=moving&state=held')).body.items;
  expect(listed).toEqual(await ticket('mv-0'));
  expect(listed.lease.token).toBeNull();
});

test('S0.5 a long history is read page by page, in order', async () => {
  await add('log', { id: 'log' });
  for (let n = 0; n < 119; n++) await api.patch('/v1/tickets/log', { priority: n });
  const all = await walk(api, '/v1/tickets/log/events', 50);
  expect(all.map((e) => e.seq)).toEqual(repeat(120, (n) => n + 1));
  expect(all).toEqual(await events('log'));
});

test('S0.5 queues are listed newest first, page by page, each with its settings', async () => {
  for (const name of ['zq-2', 'zq-3', 'zq-1']) await configure(name, { maxHeld: 7 });
  const all = await walk(api, '/v1/queues', 2);
  const names = all.map((q) => q.name);
  expect(names.slice(0, 3)).toEqual(['zq-1', 'zq-3', 'zq-2']);
  expect(new Set(names).size).toBe(names.length);
  const found = all.find((q) => q.name === 'zq-2');
  expect(found).toEqual((await api.get('/v1/queues/zq-2')).body);
  expect(found).toMatchObject({ maxHeld: 7, leaseSeconds: 300, ageing: null, paused: false });
});

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
  const warn = vi.spyOn(process, 'emitWarning');
  await configure('any-c', {});
  await api.post('/v1/queues/any-c/pause');
  for (const queue of ['any-a', 'any-b']) {
    const waiting = claimFrom(['any-c', 'any-a', 'any-b', ...numbered(17, 'any-no-')], `w-${queue}`, {
      waitSeconds: 30,
    });
    await add('any-c', { id: `${queue}-paused` });
    await add(queue, { id: `${queue}-1` });
    expect(idsOf(await waiting)).toEqual([`${queue}-1`]);
  }
  const paused = claimFrom(['any-a', 'any-c'], 'late', { waitSeconds: 30 });
  await api.post('/v1/queues/any-c/resume');
  expect(idsOf(await paused)).toEqual(['any-a-paused']);
  expect(warn).not.toHaveBeenCalled();
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
