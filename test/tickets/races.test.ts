import { expect, test } from 'vitest';
import { dice, eventually, type Json, numbered, repeat } from '../support/client.ts';
import { behind } from '../support/database.ts';
import { LEASES } from '../support/leases.ts';
import { byNight } from '../support/nightly.ts';
import { startTestSystem, startTwoSystems, testStores } from '../support/system.ts';

const [{ api, sql }, twin] = await startTwoSystems('api');
const { add, addHeld, addMany, claimOne, configure, decide, eventTypes, operate, ticket } = api.tickets;
const either = (n: number) => (n % 2 ? api : twin.api);

const FINAL = new Set(['decided', 'invalidated', 'expired', 'dead']);
const BEFORE_CLAIM = 'created available released skipped reclaimed transferred changed refused'.split(' ');

/** No item of these stores is final and held, none has two live leases or two ends. */
async function expectSound(): Promise<void> {
  const [found] = await sql(`
    select (select count(*)::int from item where ended_at is not null and (holder is not null or lease_id is not null)) as final_held,
           (select count(*)::int from ${LEASES} join item i on i.kind = lease.kind and i.id = lease.item_id
             where lease.ended_at is null and i.granted_at is distinct from lease.granted_at) as stray_leases,
           (select count(*)::int from (select 1 from event where type in ('decided', 'invalidated', 'expired', 'dead')
             group by kind, item_id having count(*) > 1) s) as two_ends,
           (select count(*)::int from (select * from ${LEASES}) a join (select * from ${LEASES}) b on b.item_id = a.item_id and b.seq > a.seq
             where tstzrange(a.granted_at, a.ended_at) && tstzrange(b.granted_at, b.ended_at)) as overlaps`);
  expect(found).toEqual({ final_held: 0, stray_leases: 0, two_ends: 0, overlaps: 0 });
}

test('S0.4 invalidation races a claim: nobody ends up with an invalidated ticket', async () => {
  const roll = dice(7);
  let handed = 0;
  for (let round = 0; round < byNight(120, 40); round++) {
    const [queue, id] = [`inv-${round % 7}`, `inv-${round}`];
    await add(queue, { id });
    const pause = () => new Promise((r) => setTimeout(r, roll(3)));
    const [answer, ended] = await Promise.all([
      pause().then(() => either(round).tickets.claim(queue, `r-${round}`)),
      pause().then(() => either(round + 1).post(`/v1/tickets/${id}/invalidate`, { reason: 'gone' })),
    ]);
    const invalidation = { reason: 'gone', by: 'anonymous' };
    expect(ended).toMatchObject({ status: 200, body: { state: 'invalidated', lease: null, invalidation } });
    expect((await ticket(id)).state).toBe('invalidated');
    const [held] = answer.tickets as Json[];
    if (!held) continue;
    handed++;
    const late = { code: 'not_open', state: 'invalidated', reason: 'gone' };
    expect((await either(round).tickets.decide(held)).body).toMatchObject(late);
    expect((await either(round).tickets.withToken(held, 'renew')).body.code).toBe('not_open');
    expect(await eventTypes(id)).toEqual(['created', 'claimed', 'invalidated', 'refused']);
  }
  expect(handed).toBeGreaterThan(0);
  await expectSound();
});

test('S0.4 of a decision, a resolution and an invalidation at once exactly one wins', async () => {
  const winners = new Set<string>();
  for (let round = 0; round < byNight(60, 24); round++) {
    const id = `end-${round}`;
    const held = await addHeld('end', id);
    const calls = [
      () => either(round).tickets.decide(held, 'by anna'),
      () => either(round + 1).post(`/v1/tickets/${id}/resolve`, { decision: 'by another system', reason: 'r' }),
      () => operate(id, 'invalidate'),
    ];
    // each gets to be first
    const turned = calls.map((_, n) => calls[(n + round) % 3]);
    const replies = await Promise.all(turned.map((call) => call?.()));
    const won = replies.filter((r) => r?.status === 200);
    expect(won).toHaveLength(1);
    for (const lost of replies.filter((r) => r?.status !== 200)) expect(lost?.body.code).toBe('not_open');
    const { state, decision } = await ticket(id);
    winners.add(`${state} ${decision}`);
  }
  expect(winners.size).toBeGreaterThan(1);
  await expectSound();
});

test('S0.8 one decision sent to two processes at once is one decision with one answer', async () => {
  for (let round = 0; round < byNight(8, 4); round++) {
    const queue = `two-${round}`;
    await add(queue, { id: `two-${round}` });
    if (round % 2) await add(queue, { id: `two-next-${round}` });
    const held = await claimOne(queue, 'anna');
    const replies = await Promise.all(repeat(50, (n) => either(n).tickets.decide(held, { n: 1 }, { next: true })));
    await add(queue, { id: `two-late-${round}` });
    replies.push(await decide(held, { n: 1 }, { next: true }));
    expect(replies.map((r) => r.status)).toEqual(Array(51).fill(200));
    expect(new Set(replies.map((r) => JSON.stringify(r.body)))).toHaveLength(1);
    expect(replies[0]?.body.next?.id).toBe(round % 2 ? `two-next-${round}` : undefined);
    expect(await eventTypes(held.id)).toEqual(['created', 'claimed', 'decided']);
  }
  await expectSound();
});

test('S0.6 one reviewer never holds more than maxHeld, however many claims come at once to two processes', async () => {
  await addMany('max', numbered(20, 'mx'));
  for (const maxHeld of [1, 2]) {
    await configure('max', { maxHeld });
    const who = `anna-${maxHeld}`;
    const calls = repeat(30, (n) => either(n).tickets.claim('max', who, [{}, { count: 2 }, { skills: ['s'] }][n % 3]));
    const got = (await Promise.all(calls)).flatMap((a) => a.tickets);
    expect(new Set(got.map((t: Json) => t.id)).size).toBe(maxHeld);
    expect(got.filter((t: Json) => !t.resumed)).toHaveLength(maxHeld);
    const { tickets } = await api.tickets.claim('max', who, { count: 10 });
    expect(tickets.map((t: Json) => t.resumed)).toEqual(Array(maxHeld).fill(true));
  }
});

/** A caller who does anything to any of a few tickets, and believes no answer. */
async function meddle(no: number, rounds: number): Promise<void> {
  const roll = dice(100 + no);
  let mine: Json[] = [];
  for (let n = 0; n < rounds; n++) {
    const client = either(roll(2));
    const id = `mess-${roll(100)}`;
    const held = mine[roll(mine.length || 1)];
    const actions: (() => Promise<unknown>)[] = [
      async () => {
        mine = (await client.tickets.claim('mess', `m${roll(20)}`, { count: 1 + roll(3) })).tickets;
      },
      async () => held && client.tickets.decide(held, roll(2), { next: roll(2) === 0 }),
      async () =>
        held && client.tickets.withToken(held, 'release', { skip: roll(4) === 0, delaySeconds: roll(2) / 10 }),
      async () => held && client.tickets.withToken(held, 'renew'),
      async () => held && client.tickets.withToken(held, 'transfer', { queue: roll(2) ? 'mess' : 'mess-2' }),
      () => client.post(`/v1/tickets/${id}/release`, {}),
      () => client.post(`/v1/tickets/${id}/transfer`, { queue: 'mess' }),
      () => client.patch(`/v1/tickets/${id}`, { priority: roll(9) }),
      async () => roll(5) === 0 && client.post(`/v1/tickets/${id}/invalidate`, { reason: `r${roll(2)}` }),
      async () => roll(5) === 0 && client.post(`/v1/tickets/${id}/resolve`, { decision: roll(2), reason: 'r' }),
      () => client.post('/v1/queues/mess/tickets', { id, body: null }),
    ];
    const reply = (await actions[roll(actions.length)]?.()) as { status?: number; body?: Json } | undefined;
    if ((reply?.status ?? 200) >= 500) throw new Error(JSON.stringify(reply?.body));
  }
}

test('S0.6 whatever is done to tickets in whatever order, versions rise, histories have no gap and final is final', async () => {
  await configure('mess', { leaseSeconds: 0.2, maxHeld: 3, maxAttempts: 30, reclaimedFirst: true });
  await Promise.all(repeat(50, (n) => meddle(n, byNight(30, 15))));
  await expectSound();
  const logs = await sql<{ item_id: string; seqs: number[]; types: string[]; event_seq: number; state: string }>(`
    select e.item_id, array_agg(e.seq order by e.seq) as seqs, array_agg(e.type order by e.seq) as types,
           min(i.event_seq) as event_seq, min(i.state) as state
      from event e join item i on i.kind = e.kind and i.id = e.item_id where e.item_id like 'mess-%' group by e.item_id`);
  expect(logs.length).toBeGreaterThan(20);
  for (const { item_id, seqs, types, event_seq } of logs) {
    expect(seqs, item_id).toEqual(repeat(event_seq, (n) => n + 1));
    const end = types.findIndex((t) => FINAL.has(t));
    if (end >= 0) expect(new Set([...types.slice(end + 1), 'refused']), item_id).toEqual(new Set(['refused']));
    for (const [n, type] of types.entries()) if (type === 'claimed') expect(BEFORE_CLAIM).toContain(types[n - 1]);
  }
});

test('S0.6 a lease that begins behind a wait begins after the end of the one before', async () => {
  // no clock runs here: the reclaim is done by hand, while the next claim is under way
  const still = await testStores();
  const system = await startTestSystem({ DOCKET_PACEMAKER: 'off' }, { role: 'api', stores: still });
  await system.api.tickets.configure('wait', { leaseSeconds: 0.05 });
  await system.api.tickets.add('wait', { id: 'wait' });
  const first = await system.api.tickets.claimOne('wait', 'anna');
  await eventually(async () => Date.now() > Date.parse(first.lease.expiresAt) + 20);
  const again = () => system.api.tickets.claimOne('wait', 'ben');
  const second = await behind(still.databaseUrl, ['lock table queue in access exclusive mode'], again, [
    ["select tick_items('ticket', array['wait'])"],
  ]);
  expect(second.attempts).toBe(2);
  const leases = await system.sql<{ granted_at: Date; ended_at: Date | null }>(
    `select * from ${LEASES} order by granted_at`,
  );
  expect(leases[1]?.granted_at.getTime()).toBeGreaterThanOrEqual(leases[0]?.ended_at?.getTime() ?? Number.NaN);
});
