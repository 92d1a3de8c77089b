import { expect, test } from 'vitest';
import { type Json, numbered, repeat } from '../support/client.ts';
import { byNight } from '../support/nightly.ts';
import { expectProblem } from '../support/problems.ts';
import { openStream } from '../support/stream.ts';
import { startTestSystem } from '../support/system.ts';

const { api, keyed, sql } = await startTestSystem({}, { role: 'api' });
const { add, addHeld, addMany, claim, claimOne, configure, decide, events, eventTypes, inState, operate } = api.tickets;
const { ticket, withToken } = api.tickets;

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
  expect((await operate('v1', 'release', {})).body).toMatchObject({ code: 'lease_lost', detail: 'no one holds it' });
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

const pathOf = (id: string) => `/v1/tickets/${id}/draft`;
const put = ({ id, lease }: Json, draft: unknown, client = api) =>
  client.put(pathOf(id), { token: lease.token, draft });
const get = async (id: string, reviewer: string) => {
  const { status, body } = await api.get(`${pathOf(id)}?reviewer=${reviewer}`);
  return status === 204 ? null : body.draft;
};

test('S0.7 a draft comes with the lease again, and is neither event nor version', async () => {
  const held = await addHeld('kept', 'd-1');
  const before = await ticket('d-1');
  expect(held.lease).not.toHaveProperty('draft');
  for (const draft of [{ verdict: 'keep' }, { verdict: 'remove', note: 'ä' }]) {
    expect((await put(held, draft)).status).toBe(204);
    expect(await claimOne('kept', 'anna')).toMatchObject({ id: 'd-1', resumed: true, lease: { draft } });
  }
  expect(await ticket('d-1')).toEqual(before);
  expect(await eventTypes('d-1')).toEqual(['created', 'claimed']);
  expect(await get('d-1', 'anna')).toEqual({ verdict: 'remove', note: 'ä' });
});

test('S0.7 only its writer sees it, with a live token it is written, and 64 KB are the most', async () => {
  const [anna, ben, crm] = [
    await keyed('reviewer', 'anna'),
    await keyed('reviewer', 'ben'),
    await keyed('producer', 'crm'),
  ];
  await add('own', { id: 'd-2' });
  const held = (await anna.post('/v1/queues/own/claim', {})).body.tickets[0];
  expect((await put(held, 'mine', anna)).status).toBe(204);
  expect((await anna.get(pathOf('d-2'))).body).toEqual({ draft: 'mine', at: expect.any(String) });
  expect((await anna.get('/v1/tickets/d-2')).body.lease.draft).toBe('mine');
  expectProblem(await ben.get(pathOf('d-2')), 'another reviewer', 'not_found');
  expectProblem(await anna.get(`${pathOf('d-2')}?reviewer=ben`), 'for another', 'forbidden');
  expectProblem(await crm.get(pathOf('d-2')), 'a producer', 'forbidden');
  expect(JSON.stringify((await crm.get('/v1/tickets/d-2')).body)).not.toContain('mine');
  expect(await get('d-2', 'ben')).toBeNull();
  expectProblem(await put({ ...held, lease: { token: 'junk' } }, 1), 'junk', 'lease_lost');
  expectProblem(await put(held, 'x'.repeat(65_535), anna), 'too large', 'payload_too_large');
  expect((await put(held, 'x'.repeat(65_534), anna)).status).toBe(204);
});

test('S0.7 it outlasts the lease for a day, and is its writer’s alone when another has the ticket', async () => {
  const held = await addHeld('later', 'd-3');
  await put(held, 'half');
  await withToken(held, 'release');
  expectProblem(await put(held, 'late'), 'after the lease', 'lease_lost');
  const bens = await claimOne('later', 'ben');
  expect(bens.lease).not.toHaveProperty('draft');
  expect([await get('d-3', 'anna'), await get('d-3', 'ben')]).toEqual(['half', null]);
  await put(bens, 'other');
  await withToken(bens, 'release');
  expect((await claimOne('later', 'anna')).lease.draft).toBe('half');
  await sql(`update event set at = at - interval '25 hours' where item_id = 'd-3'`);
  expect([await get('d-3', 'anna'), await get('d-3', 'ben')]).toEqual(['half', null]);
});

test('S0.7 it ends with a decision, a transfer or a skip, and is deleted in time', async () => {
  await configure('elsewhere', {});
  const ends: Record<string, (held: Json) => Promise<unknown>> = {
    decision: (held) => decide(held),
    transfer: (held) => withToken(held, 'transfer', { queue: 'elsewhere' }),
    skip: (held) => withToken(held, 'release', { skip: true }),
  };
  for (const [how, end] of Object.entries(ends)) {
    const held = await addHeld(`ends-${how}`, `ends-${how}`);
    await put(held, 'gone');
    await end(held);
    expect(await get(`ends-${how}`, 'anna'), how).toBeNull();
  }
  await sql(`update draft set at = at - interval '2 hours' where item_id like 'ends-%'`);
  await expect.poll(() => sql(`select from draft where item_id like 'ends-%'`), { timeout: 30_000 }).toEqual([]);
});

test('S0.7 fifty drafts of one lease at once leave one of them', async () => {
  const held = await addHeld('many-drafts', 'd-4');
  const replies = await Promise.all(repeat(50, (n) => put(held, n)));
  expect(replies.map((r) => r.status)).toEqual(Array(50).fill(204));
  expect(await sql(`select from draft where item_id = 'd-4'`)).toHaveLength(1);
});

const patch = async (id: string, change: object) => (await api.patch(`/v1/tickets/${id}`, change)).body;

test('S0.7 a decision that names a version is refused once body or requirements have changed after it; the lease stays', async () => {
  await add('seen', { id: 'seen-1', body: { a: 1, b: 2 }, requires: ['law'] });
  const held = await claimOne('seen', 'anna', { skills: ['law'] });
  const { version } = await patch('seen-1', { body: { a: 1, b: 3 } });
  const late = await decide(held, 'keep', { version: held.version });
  expect([late.status, late.body.code, late.body.version]).toEqual([409, 'changed', version]);
  expect((await ticket('seen-1')).lease.reviewer).toBe('anna');
  const { version: third } = await patch('seen-1', { requires: ['law', 'medicine'] });
  expect((await decide(held, 'keep', { version })).body).toMatchObject({ code: 'changed', version: third });
  const decided = await decide(held, 'keep', { version: third });
  expect([decided.status, decided.body.ticket.decision]).toEqual([200, 'keep']);
  // repeated, it gets its first answer, whatever version it names
  expect((await decide(held, 'keep', { version: held.version })).body).toEqual(decided.body);
  expect(await eventTypes('seen-1')).toEqual(['created', 'claimed', 'changed', 'changed', 'decided']);
});

test('S0.7 nothing but body and requirements makes a decision too old: not priority, the same body, escalation or renewal', async () => {
  await configure('other', { rules: [{ when: { type: 'object' }, add: 1, requires: [] }] });
  await add('other', { id: 'other-1', body: { a: 1, b: 2 }, requires: ['law', 'x'] });
  const held = await claimOne('other', 'anna', { skills: ['law', 'x'] });
  await patch('other-1', { priority: 7, exclude: ['ben'], deadlineAt: new Date(Date.now() + 3_600_000).toISOString() });
  await patch('other-1', { body: { b: 2, a: 1 }, requires: ['x', 'law'] });
  await configure('other', { rules: [{ when: { type: 'object' }, requires: ['more'] }] });
  await withToken(held, 'renew');
  expect((await ticket('other-1')).version).toBeGreaterThan(held.version);
  expect((await decide(held, 'keep', { version: held.version })).status).toBe(200);
});

test('S0.6 a holder who is put into exclude loses the lease at once: revoked, and the ticket goes to another', async () => {
  await configure('party', { maxHeld: 2 });
  await add('party', { id: 'party-1' });
  const held = await claimOne('party', 'anna');
  const stream = await openStream(api, 'reviewer=anna');
  const changed = await patch('party-1', { exclude: ['anna'] });
  expect(changed).toMatchObject({ state: 'waiting', lease: null, exclude: ['anna'] });
  expect((await stream.first('lease_lost')).data).toMatchObject({ id: 'party-1', reason: 'revoked', by: 'anonymous' });
  stream.close();
  expect((await decide(held)).body).toMatchObject({ code: 'lease_lost', reason: 'revoked' });
  expect((await claim('party', 'anna')).reasons).toMatchObject({ excluded: 1 });
  const second = await claimOne('party', 'ben');
  expect((await events('party-1')).map(({ type, actor }) => [type, actor])).toEqual([
    ['created', 'anonymous'],
    ['claimed', 'anna'],
    ['changed', 'anonymous'],
    ['released', 'anonymous'],
    ['refused', 'anna'],
    ['claimed', 'ben'],
  ]);
  // somebody else is excluded: the holder keeps it
  expect((await patch('party-1', { exclude: ['anna', 'carl'] })).lease.reviewer).toBe('ben');
  expect((await decide(second)).status).toBe(200);
});

test('S0.6 nobody holds a ticket that excludes them, whoever claims while they are put into exclude', async () => {
  for (let round = 0; round < byNight(20, 8); round++) {
    const id = `race-${round}`;
    await add('race', { id });
    await Promise.all([claim('race', 'anna'), patch(id, { exclude: ['anna'] })]);
    expect((await ticket(id)).lease).toBeNull();
    await decide(await claimOne('race', 'ben'));
  }
});
