import { expect, test } from 'vitest';
import { dice, eventually, type Json, numbered, repeat, walk } from '../support/client.ts';
import { LEASES } from '../support/leases.ts';
import { startTestSystem } from '../support/system.ts';
import { ago, inMs, MINUTE_MS } from '../support/times.ts';

const { api, sql } = await startTestSystem({}, { role: 'api' });
const { add, addMany, claim, claimOne, configure, decide, events, operate, stats, ticket, withToken } = api.tickets;
const STATES = ['delayed', 'waiting', 'held', 'decided', 'invalidated', 'expired', 'dead'];
const minutesAgo = (n: number) => inMs(-n * MINUTE_MS, '2024-01-01T00:00:00Z');

const list = async (query: string): Promise<string[]> =>
  (await api.get(`/v1/tickets?${query}`)).body.items.map((t: Json) => t.id);

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

test.each([1, 7, 40, 120, 500])('S0.5 pages of %i show 120 tickets once each, newest first', async (limit) => {
  const queue = `pages-${limit}`;
  // many of them as old as others, so that a page ends among equals
  const sent = repeat(120, (n) => ({ id: `pg${limit}-${n}`, createdAt: minutesAgo(Math.floor(n / 25)) }));
  await addMany(queue, sent);
  const all = await walk(api, `/v1/tickets?queue=${queue}`, limit);
  expect(new Set(all.map((t) => t.id)).size).toBe(120);
  expect(all).toHaveLength(120);
  const times = all.map((t) => t.createdAt);
  expect(times).toEqual([...times].sort().reverse());
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
});

test('S0.5 over all queues the newest come first too', async () => {
  const at = (n: number) => inMs(n * 1_000, '2010-01-01T00:00:00Z');
  for (let n = 0; n < 30; n++) await add(`all-${n % 3}`, { id: `all-${n}`, createdAt: at((n * 7) % 30) });
  const all = await walk(api, '/v1/tickets?createdBefore=2011-01-01T00:00:00Z', 7);
  expect(all.map((t) => t.createdAt)).toEqual(repeat(30, (n) => at(29 - n)));
});

test('S0.5 tickets are found by queue, state, reviewer and time', async () => {
  for (let n = 0; n < 6; n++) await add('find', { id: `fi-${n}`, createdAt: minutesAgo(n), priority: -n });
  await decide(await claimOne('find', 'anna'));
  await claimOne('find', 'anna');
  await claimOne('find', 'ben');
  await operate('fi-3', 'invalidate');
  expect(await list('queue=find&state=waiting')).toEqual(['fi-4', 'fi-5']);
  expect(await list('queue=find&state=held')).toEqual(['fi-1', 'fi-2']);
  expect(await list('queue=find&state=invalidated')).toEqual(['fi-3']);
  expect(await list('queue=find&reviewer=anna')).toEqual(['fi-0', 'fi-1']);
  expect(await list('reviewer=anna&state=decided')).toEqual(['fi-0']);
  const time = (n: number) => encodeURIComponent(minutesAgo(n));
  expect(await list(`queue=find&createdAfter=${time(3)}`)).toEqual(['fi-0', 'fi-1', 'fi-2']);
  expect(await list(`queue=find&createdBefore=${time(3)}`)).toEqual(['fi-4', 'fi-5']);
  expect(await list(`queue=find&createdAfter=${time(5)}&createdBefore=${time(2)}&state=waiting`)).toEqual(['fi-4']);
  expect(await list('queue=nowhere')).toEqual([]);
  const [listed] = (await api.get('/v1/tickets?queue=find&state=held')).body.items;
  expect(listed).toEqual(await ticket('fi-1'));
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
