import { expect, test } from 'vitest';
import { claimOne, eventTypes, eventually, type Json, numbered, repeat } from '../support/client.ts';
import { LEASES } from '../support/leases.ts';
import { startTestSystem } from '../support/system.ts';
import { add, addMany, claim, configure, decide, dice, events, ticket, withToken } from '../support/tickets.ts';

const { api, sql } = await startTestSystem();

const inState = (id: string, state: string) => eventually(async () => (await ticket(api, id)).state === state);

test('S0.7 who decides too late is refused with holder, time and reason, and the log shows both', async () => {
  await configure(api, 'late', { leaseSeconds: 0.3 });
  await add(api, 'late', { id: 'l1' });
  const first = await claimOne(api, 'late', 'anna');
  await inState('l1', 'waiting');
  await configure(api, 'late', {});
  const second = await claimOne(api, 'late', 'ben');
  expect(second.lease.token).not.toBe(first.lease.token);
  const late = await decide(api, first);
  expect(late.status).toBe(409);
  expect(late.body).toMatchObject({ code: 'lease_lost', holder: 'ben', reason: 'expired' });
  expect(Date.parse(late.body.endedAt)).toBeGreaterThanOrEqual(Date.parse(first.lease.expiresAt));
  expect((await decide(api, second, 'kept')).body.ticket).toMatchObject({
    decision: 'kept',
    decidedBy: 'ben',
    attempts: 2,
  });
  expect((await events(api, 'l1')).map((e) => [e.type, e.actor])).toEqual([
    ['created', 'anonymous'],
    ['claimed', 'anna'],
    ['reclaimed', 'system'],
    ['claimed', 'ben'],
    ['refused', 'anna'],
    ['decided', 'ben'],
  ]);
  await decide(api, first);
  expect((await eventTypes(api, 'l1')).filter((t) => t === 'refused')).toHaveLength(1);
});

test('S0.7 a decision that comes late is refused also while nobody else has the ticket', async () => {
  await configure(api, 'alone', { leaseSeconds: 0.2 });
  await add(api, 'alone', { id: 'al' });
  const held = await claimOne(api, 'alone', 'anna');
  await inState('al', 'waiting');
  for (const call of ['decide', 'renew', 'release'])
    expect((await withToken(api, held, call, call === 'decide' ? { decision: 1 } : {})).body).toMatchObject({
      code: 'lease_lost',
      holder: null,
      reason: 'expired',
    });
  expect((await ticket(api, 'al')).state).toBe('waiting');
});

test('S0.7 renewing gives a full lease again, so the ticket stays with its holder', async () => {
  await configure(api, 'renew', { leaseSeconds: 1 });
  await add(api, 'renew', { id: 'n1' });
  const held = await claimOne(api, 'renew', 'anna');
  let last = held.lease.expiresAt;
  const until = Date.parse(held.lease.expiresAt) + 1500;
  while (Date.now() < until) {
    const { status, body } = await withToken(api, held, 'renew');
    expect([status, body]).toEqual([200, { expiresAt: expect.any(String) }]);
    expect(body.expiresAt > last).toBe(true);
    last = body.expiresAt;
    await new Promise((r) => setTimeout(r, 100));
  }
  expect((await decide(api, held)).status).toBe(200);
  expect(await eventTypes(api, 'n1')).toEqual(['created', 'claimed', 'decided']);
});

test('S0.8 the same decision again has the same answer, the next ticket included', async () => {
  for (const id of ['s1', 's2', 's3']) await add(api, 'again', { id });
  const held = await claimOne(api, 'again', 'anna');
  const first = await decide(api, held, { a: 1, b: 2 }, { next: true });
  expect(first.body.next).toMatchObject({ id: 's2', state: 'held', resumed: false, lease: { reviewer: 'anna' } });
  expect((await decide(api, held, { b: 2, a: 1 }, { next: true })).body).toEqual(first.body);
  const other = await decide(api, held, { a: 1 }, { next: true });
  expect([other.status, other.body.code, other.body.reason]).toEqual([409, 'not_open', 'settled']);
  expect((await decide(api, first.body.next)).body.next).toBeNull();
  expect((await ticket(api, 's3')).state).toBe('waiting');
  expect(await eventTypes(api, 's1')).toEqual(['created', 'claimed', 'decided']);
});

test('S0.8 a decision that found no next ticket has the same answer when one is there', async () => {
  await add(api, 'none', { id: 'no1' });
  const held = await claimOne(api, 'none', 'anna');
  const first = await decide(api, held, 1, { next: true });
  expect(first.body.next).toBeNull();
  await add(api, 'none', { id: 'no2' });
  expect((await decide(api, held, 1, { next: true })).body).toEqual(first.body);
  expect((await ticket(api, 'no2')).state).toBe('waiting');
});

test('S0.8 decisions of one reviewer at once each have a next ticket, and never more than maxHeld', async () => {
  await configure(api, 'many', { maxHeld: 8 });
  await addMany(api, 'many', numbered(40, 'many-'));
  let held = (await claim(api, 'many', 'anna', { count: 8 })).tickets;
  for (let round = 0; round < 3; round++) {
    const answers = await Promise.all(held.map((t: Json) => decide(api, t, 'ok', { next: true })));
    expect(answers.map((a) => a.status)).toEqual(Array(8).fill(200));
    held = answers.map((a) => a.body.next);
    expect(new Set(held.map((t: Json) => t.id)).size).toBe(8);
  }
  expect((await claim(api, 'many', 'anna', { count: 20 })).tickets).toHaveLength(8);
});

test("S0.6 a repeated decision never shows another reviewer's token", async () => {
  for (const id of ['t1', 't2']) await add(api, 'leak', { id });
  const held = await claimOne(api, 'leak', 'anna');
  const { next } = (await decide(api, held, 1, { next: true })).body;
  await withToken(api, next, 'release');
  const bens = await claimOne(api, 'leak', 'ben');
  expect(bens.id).toBe(next.id);
  const again = await decide(api, held, 1, { next: true });
  expect([again.status, again.body.next.id]).toEqual([200, next.id]);
  expect(again.body.next.lease.token).not.toBe(bens.lease.token);
  expect((await decide(api, next, 1)).body).toMatchObject({ code: 'lease_lost', reason: 'released', holder: 'ben' });
});

test('S0.6 giving back, with a delay, and never again to me', async () => {
  for (const id of ['r1', 'r2']) await add(api, 'back', { id });
  const held = await claimOne(api, 'back', 'anna');
  const back = await withToken(api, held, 'release', { reason: 'lunch', delaySeconds: 300 });
  expect(back.body).toMatchObject({ state: 'delayed', lease: null, attempts: 1 });
  expect(await withToken(api, held, 'release')).toMatchObject({ status: 200, body: { id: 'r1' } });
  const lost = await decide(api, held);
  expect([lost.status, lost.body.code, lost.body.reason, lost.body.holder]).toEqual([
    409,
    'lease_lost',
    'released',
    null,
  ]);
  const second = await claimOne(api, 'back', 'anna');
  expect(second.id).toBe('r2');
  await withToken(api, second, 'release', { skip: true });
  const { tickets, reasons } = await claim(api, 'back', 'anna');
  expect([tickets, reasons.skipped, reasons.delayed]).toEqual([[], 1, 1]);
  expect((await claimOne(api, 'back', 'ben')).id).toBe('r2');
  expect((await events(api, 'r1')).at(-2)).toMatchObject({
    type: 'released',
    actor: 'anna',
    data: { reason: 'lunch', delaySeconds: 300 },
  });
  expect(await eventTypes(api, 'r2')).toEqual(['created', 'claimed', 'skipped', 'claimed']);
});

test('S0.6 an operator takes a ticket away', async () => {
  await add(api, 'revoke', { id: 'v1' });
  const held = await claimOne(api, 'revoke', 'anna');
  expect((await api.post('/v1/tickets/v1/release', {})).body).toMatchObject({ state: 'waiting', lease: null });
  expect((await decide(api, held)).body).toMatchObject({ code: 'lease_lost', reason: 'revoked' });
  expect((await api.post('/v1/tickets/v1/decide', { token: 'made-up', decision: 1 })).body.code).toBe('lease_lost');
});

test('S0.6 a transferred ticket is handed out by the other queue only, and the old token is dead', async () => {
  await configure(api, 'from', { deadlineSeconds: 60 });
  for (const id of ['x1', 'x2']) await add(api, 'from', { id });
  const held = await claimOne(api, 'from', 'anna');
  const moved = await withToken(api, held, 'transfer', { queue: 'to', reason: 'needs a lawyer' });
  expect(moved.body).toMatchObject({ id: 'x1', queue: 'to', state: 'waiting', lease: null, deadlineAt: null });
  expect((await decide(api, held)).body).toMatchObject({ code: 'lease_lost', reason: 'transferred' });
  expect((await api.post('/v1/tickets/x2/transfer', { queue: 'to' })).body.queue).toBe('to');
  expect((await claim(api, 'from', 'anna')).tickets).toEqual([]);
  const there = [await claimOne(api, 'to', 'anna'), await claimOne(api, 'to', 'ben')];
  expect(there.map((t) => t.id)).toEqual(['x1', 'x2']);
  expect((await events(api, 'x1')).find((e) => e.type === 'transferred')).toMatchObject({
    actor: 'anna',
    data: { from: 'from', to: 'to', reason: 'needs a lawyer' },
  });
});

test('S0.6 one reviewer never holds more than maxHeld, however many claims come at once', async () => {
  await addMany(api, 'max', numbered(20, 'mx'));
  for (const maxHeld of [1, 2]) {
    await configure(api, 'max', { maxHeld });
    const reviewer = `anna-${maxHeld}`;
    const calls = repeat(12, (n) => claim(api, 'max', reviewer, n % 2 ? { count: 2 } : { skills: ['s'] }));
    const got = (await Promise.all([...calls, claim(api, 'max', reviewer)])).flatMap((a) => a.tickets);
    expect(new Set(got.map((t: Json) => t.id)).size).toBe(maxHeld);
    expect(got.filter((t: Json) => !t.resumed)).toHaveLength(maxHeld);
    const all = await claim(api, 'max', reviewer, { count: 10 });
    expect(all.tickets.map((t: Json) => t.resumed)).toEqual(Array(maxHeld).fill(true));
    expect(all.tickets).toHaveLength(maxHeld);
  }
});

test('S0.6 what a reviewer holds comes first and again with the same token, then new ones up to count', async () => {
  await configure(api, 'count', { maxHeld: 4 });
  await addMany(api, 'count', numbered(6, 'c'));
  const one = await claimOne(api, 'count', 'anna');
  const { tickets } = await claim(api, 'count', 'anna', { count: 3 });
  expect(tickets.map((t: Json) => [t.id, t.resumed])).toEqual([
    ['c0', true],
    ['c1', false],
    ['c2', false],
  ]);
  expect(tickets[0].lease).toEqual(one.lease);
  const more = await claim(api, 'count', 'anna', { count: 100 });
  expect(more.tickets.map((t: Json) => t.resumed)).toEqual([true, true, true, false]);
  expect(await eventTypes(api, 'c0')).toEqual(['created', 'claimed']);
  for (const t of more.tickets) await decide(api, t);
  expect((await claim(api, 'count', 'anna', { count: 100 })).tickets).toHaveLength(2);
});

/** One of fifty who work at once in all the ways there are; says so when he gets what another holds. */
async function worker(no: number, held: Set<string>): Promise<number> {
  const roll = dice(no);
  let done = 0;
  const take = (t: Json) => {
    if (!t.resumed && held.has(t.id)) throw new Error(`${t.id} was handed out twice`);
    held.add(t.id);
    return t;
  };
  for (;;) {
    const { tickets } = await claim(api, 'rush', `w${no}`, roll(3) === 0 ? { count: 1 + roll(5), skills: ['s'] } : {});
    if (tickets.length === 0) return done;
    for (let t = take(tickets[0]); t; ) {
      held.delete(t.id);
      if (roll(20) === 0) {
        await withToken(api, t, 'release');
        break;
      }
      const { status, body } = await decide(api, t, { by: no }, { next: roll(4) > 0 });
      if (status !== 200) throw new Error(JSON.stringify(body));
      done++;
      t = body.next && take(body.next);
    }
  }
}

test('S0.6 fifty reviewers and two thousand tickets: nobody is handed what another holds', async () => {
  await configure(api, 'rush', { maxHeld: 3 });
  for (const part of [0, 1]) await addMany(api, 'rush', numbered(1000, `u${part}-`));
  const held = new Set<string>();
  const done = await Promise.all(repeat(50, (n) => worker(n, held)));
  expect(done.reduce((a, b) => a + b)).toBe(2000);
  const [check] = await sql<{ overlaps: string; leases: string; live: string; decided: string }>(`
    with held as materialized (select * from ${LEASES})
    select (select count(*) from held a join held b on b.kind = a.kind and b.item_id = a.item_id and b.seq > a.seq
             where tstzrange(a.granted_at, a.ended_at) && tstzrange(b.granted_at, b.ended_at)) as overlaps,
           (select count(*) from held where queue = 'rush') as leases,
           (select count(*) from held where queue = 'rush' and ended_at is null) as live,
           (select count(*) from event e join item i on i.kind = e.kind and i.id = e.item_id
             where i.queue = 'rush' and e.type = 'decided') as decided`);
  expect(check).toMatchObject({ overlaps: '0', live: '0', decided: '2000' });
  expect(Number(check?.leases)).toBeGreaterThan(2000);
}, 240_000);
