import { expect, test } from 'vitest';
import { dice, type Json, numbered, repeat } from '../support/client.ts';
import { LEASES } from '../support/leases.ts';
import { startTestSystem } from '../support/system.ts';

const { api, sql } = await startTestSystem();
const { add, addHeld, addMany, claim, claimOne, configure, decide, eventTypes, events, inState } = api.tickets;
const { operate, ticket, withToken } = api.tickets;

test('S0.7 a decision that comes late is refused also while nobody else has the ticket', async () => {
  await configure('alone', { leaseSeconds: 0.2 });
  const held = await addHeld('alone', 'al');
  await inState('al', 'waiting');
  const lost = { code: 'lease_lost', holder: null, reason: 'expired' };
  for (const call of ['decide', 'renew', 'release'])
    expect((await withToken(held, call, call === 'decide' ? { decision: 1 } : {})).body).toMatchObject(lost);
  expect((await ticket('al')).state).toBe('waiting');
});

test('S0.8 the same decision again has the same answer, the next ticket included', async () => {
  const held = await addHeld('again', ['s1', 's2', 's3']);
  const first = await decide(held, { a: 1, b: 2 }, { next: true });
  expect(first.body.next).toMatchObject({ id: 's2', state: 'held', resumed: false, lease: { reviewer: 'anna' } });
  expect((await decide(held, { b: 2, a: 1 }, { next: true })).body).toEqual(first.body);
  const other = await decide(held, { a: 1 }, { next: true });
  expect([other.status, other.body.code, other.body.reason]).toEqual([409, 'not_open', 'settled']);
  expect((await decide(first.body.next)).body.next).toBeNull();
  expect((await ticket('s3')).state).toBe('waiting');
  expect(await eventTypes('s1')).toEqual(['created', 'claimed', 'decided']);
});

test('S0.8 a decision that found no next ticket has the same answer when one is there', async () => {
  const held = await addHeld('none', 'no1');
  const first = await decide(held, 1, { next: true });
  expect(first.body.next).toBeNull();
  await add('none', { id: 'no2' });
  expect((await decide(held, 1, { next: true })).body).toEqual(first.body);
  expect((await ticket('no2')).state).toBe('waiting');
});

test('S0.8 decisions of one reviewer at once each have a next ticket, and never more than maxHeld', async () => {
  await configure('many', { maxHeld: 8 });
  await addMany('many', numbered(40, 'many-'));
  let held = (await claim('many', 'anna', { count: 8 })).tickets;
  for (let round = 0; round < 3; round++) {
    const answers = await Promise.all(held.map((t: Json) => decide(t, 'ok', { next: true })));
    expect(answers.map((a) => a.status)).toEqual(Array(8).fill(200));
    held = answers.map((a) => a.body.next);
    expect(new Set(held.map((t: Json) => t.id)).size).toBe(8);
  }
  expect((await claim('many', 'anna', { count: 20 })).tickets).toHaveLength(8);
});

test("S0.6 a repeated decision never shows another reviewer's token", async () => {
  const held = await addHeld('leak', ['t1', 't2']);
  const { next } = (await decide(held, 1, { next: true })).body;
  await withToken(next, 'release');
  const bens = await claimOne('leak', 'ben');
  expect(bens.id).toBe(next.id);
  const again = await decide(held, 1, { next: true });
  expect([again.status, again.body.next.id]).toEqual([200, next.id]);
  expect(again.body.next.lease.token).not.toBe(bens.lease.token);
  expect((await decide(next, 1)).body).toMatchObject({ code: 'lease_lost', reason: 'released', holder: 'ben' });
});

test('S0.6 giving back, with a delay, and never again to me', async () => {
  const held = await addHeld('back', ['r1', 'r2']);
  const back = await withToken(held, 'release', { reason: 'lunch', delaySeconds: 300 });
  expect(back.body).toMatchObject({ state: 'delayed', lease: null, attempts: 1 });
  expect(await withToken(held, 'release')).toMatchObject({ status: 200, body: { id: 'r1' } });
  const lost = { code: 'lease_lost', reason: 'released', holder: null };
  expect(await decide(held)).toMatchObject({ status: 409, body: lost });
  const second = await claimOne('back', 'anna');
  expect(second.id).toBe('r2');
  await withToken(second, 'release', { skip: true });
  const { tickets, reasons } = await claim('back', 'anna');
  expect([tickets, reasons.skipped, reasons.delayed]).toEqual([[], 1, 1]);
  expect((await claimOne('back', 'ben')).id).toBe('r2');
  const given = { type: 'released', actor: 'anna', data: { reason: 'lunch', delaySeconds: 300 } };
  expect((await events('r1')).at(-2)).toMatchObject(given);
  expect(await eventTypes('r2')).toEqual(['created', 'claimed', 'skipped', 'claimed']);
});

test('S0.6 an operator takes a ticket away', async () => {
  const held = await addHeld('revoke', 'v1');
  const released = await operate('v1', 'release', { reason: 'shift over' });
  expect(released.body).toMatchObject({ state: 'waiting', lease: null });
  const data = { reviewer: 'anna', reason: 'shift over' };
  expect((await events('v1')).at(-1)).toMatchObject({ type: 'released', actor: 'anonymous', data });
  expect((await decide(held)).body).toMatchObject({ code: 'lease_lost', reason: 'revoked' });
  expect((await api.post('/v1/tickets/v1/decide', { token: 'made-up', decision: 1 })).body.code).toBe('lease_lost');
});

test('S0.6 a transferred ticket is handed out by the other queue only, and the old token is dead', async () => {
  await configure('from', { deadlineSeconds: 60 });
  const held = await addHeld('from', ['x1', 'x2']);
  await configure('to', {});
  const moved = await withToken(held, 'transfer', { queue: 'to', reason: 'needs a lawyer' });
  expect(moved.body).toMatchObject({ id: 'x1', queue: 'to', state: 'waiting', lease: null, deadlineAt: null });
  expect((await decide(held)).body).toMatchObject({ code: 'lease_lost', reason: 'transferred' });
  expect((await operate('x2', 'transfer', { queue: 'to' })).body.queue).toBe('to');
  expect((await claim('from', 'anna')).tickets).toEqual([]);
  const there = [await claimOne('to', 'anna'), await claimOne('to', 'ben')];
  expect(there.map((t) => t.id)).toEqual(['x1', 'x2']);
  const data = { from: 'from', to: 'to', reason: 'needs a lawyer' };
  expect((await events('x1')).find((e) => e.type === 'transferred')).toMatchObject({ actor: 'anna', data });
});

test('S0.6 one reviewer never holds more than maxHeld, however many claims come at once', async () => {
  await addMany('max', numbered(20, 'mx'));
  for (const maxHeld of [1, 2]) {
    await configure('max', { maxHeld });
    const reviewer = `anna-${maxHeld}`;
    const calls = repeat(12, (n) => claim('max', reviewer, n % 2 ? { count: 2 } : { skills: ['s'] }));
    const got = (await Promise.all([...calls, claim('max', reviewer)])).flatMap((a) => a.tickets);
    expect(new Set(got.map((t: Json) => t.id)).size).toBe(maxHeld);
    expect(got.filter((t: Json) => !t.resumed)).toHaveLength(maxHeld);
    const all = await claim('max', reviewer, { count: 10 });
    expect(all.tickets.map((t: Json) => t.resumed)).toEqual(Array(maxHeld).fill(true));
    expect(all.tickets).toHaveLength(maxHeld);
  }
});

test('S0.6 what a reviewer holds comes first and again with the same token, then new ones up to count', async () => {
  await configure('count', { maxHeld: 4 });
  await addMany('count', numbered(6, 'c'));
  const one = await claimOne('count', 'anna');
  const { tickets } = await claim('count', 'anna', { count: 3 });
  expect(tickets.map((t: Json) => `${t.id} ${t.resumed}`)).toEqual(['c0 true', 'c1 false', 'c2 false']);
  expect(tickets[0].lease).toEqual(one.lease);
  const more = await claim('count', 'anna', { count: 100 });
  expect(more.tickets.map((t: Json) => t.resumed)).toEqual([true, true, true, false]);
  expect(await eventTypes('c0')).toEqual(['created', 'claimed']);
  for (const t of more.tickets) await decide(t);
  expect((await claim('count', 'anna', { count: 100 })).tickets).toHaveLength(2);
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
    const { tickets } = await claim('rush', `w${no}`, roll(3) === 0 ? { count: 1 + roll(5), skills: ['s'] } : {});
    if (tickets.length === 0) return done;
    for (let t = take(tickets[0]); t; ) {
      held.delete(t.id);
      if (roll(20) === 0) {
        await withToken(t, 'release');
        break;
      }
      const { status, body } = await decide(t, { by: no }, { next: roll(4) > 0 });
      if (status !== 200) throw new Error(JSON.stringify(body));
      done++;
      t = body.next && take(body.next);
    }
  }
}

test('S0.6 fifty reviewers and two thousand tickets: nobody is handed what another holds', async () => {
  await configure('rush', { maxHeld: 3 });
  for (const part of [0, 1]) await addMany('rush', numbered(1000, `u${part}-`));
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
