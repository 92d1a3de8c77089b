import { expect, test } from 'vitest';
import { type Json, repeat } from '../support/client.ts';
import { startTestSystem } from '../support/system.ts';
import { ago, msBetween } from '../support/times.ts';

const { api } = await startTestSystem({}, { role: 'api' });
const { add, addHeld, addMany, claim, claimOne, configure, decide, events, eventTypes, history, inState } = api.tickets;
const { operate, stats, ticket, withToken } = api.tickets;
const post = (path: string, body: object, headers?: Record<string, string>) => api.post(`/v1${path}`, body, headers);

test('S0.5 a delayed, a waiting and a held ticket can be queried', async () => {
  const sent = { id: 'o1', body: { text: 'ä' }, priority: 4, requires: [], exclude: ['x'] };
  const made = await add('open', { ...sent, delaySeconds: 3 });
  expect(made).toMatchObject({ ...sent, queue: 'open', state: 'delayed', attempts: 0 });
  expect(msBetween(made.createdAt, made.availableAt)).toBe(3_000);
  expect((await claim('open', 'r')).tickets).toEqual([]);
  await inState('o1', 'waiting');
  const held = await claimOne('open', 'r');
  const seen = await ticket('o1');
  expect(seen).toMatchObject({ state: 'held', attempts: 1, decision: null, decidedBy: null, invalidation: null });
  expect(seen.lease).toEqual({ ...held.lease, token: null });
  expect(msBetween(seen.lease.grantedAt, seen.lease.expiresAt)).toBe(300_000);
  expect(seen.version).toBeGreaterThan(made.version);
  expect(await eventTypes('o1')).toEqual(['created', 'available', 'claimed']);
});

test('S0.5 a decided ticket keeps its decision and whole history', async () => {
  const held = await addHeld('decided', 'd1');
  const decision = { verdict: 'remove', of: [1, 2] };
  const { status, body } = await decide(held, decision);
  expect([status, body.ticket]).toEqual([200, await ticket('d1')]);
  expect(body.ticket).toMatchObject({ state: 'decided', decision, decidedBy: 'anna', lease: null });
  expect(await history('d1')).toEqual(['created by anonymous', 'claimed by anna', 'decided by anna']);
  const log = await events('d1');
  expect(log.map((e) => e.seq)).toEqual([1, 2, 3]);
  expect(log[2]).toMatchObject({ at: body.ticket.decidedAt, data: { decision } });
});

test("S0.5 a queue's deadline counts from creation and yields to a ticket's own", async () => {
  await configure('queue-deadline', { deadlineSeconds: 60 });
  const a = await add('queue-deadline', { id: 'qd1' });
  const b = await add('queue-deadline', { id: 'qd2', deadlineSeconds: 600 });
  const span = (t: Json) => msBetween(t.createdAt, t.deadlineAt) / 1_000;
  expect([span(a), span(b)]).toEqual([60, 600]);
  await configure('queue-deadline', { deadlineSeconds: 0.1 });
  await inState('qd1', 'expired');
  expect(span(await ticket('qd2'))).toBe(600);
  await api.patch('/v1/tickets/qd2', { deadlineAt: null });
  expect((await ticket('qd2')).deadlineAt).toBeNull();
  await api.patch('/v1/tickets/qd2', { deadlineAt: ago(1) });
  await inState('qd2', 'expired');
});

test('S0.5 after maxAttempts leases without a decision a ticket is dead, by release', async () => {
  await configure('dead', { maxAttempts: 2 });
  await withToken(await addHeld('dead', 'dead'), 'release');
  await withToken(await claimOne('dead', 'ben'), 'release');
  expect(await eventTypes('dead')).toEqual(['created', 'claimed', 'released', 'claimed', 'dead']);
  expect((await claim('dead', 'carl')).tickets).toEqual([]);
  expect(await ticket('dead')).toMatchObject({ state: 'dead', attempts: 2, lease: null, decision: null });
});

test('S0.5 S0.6 what was claimed ahead and not looked at was no attempt', async () => {
  await configure('ahead', { maxAttempts: 1 });
  const unseen = await withToken(await addHeld('ahead', 'ahead'), 'release', { unseen: true });
  expect(unseen.body).toMatchObject({ state: 'waiting', attempts: 0 });
  await withToken(await claimOne('ahead', 'ben'), 'release');
  expect(await ticket('ahead')).toMatchObject({ state: 'dead', attempts: 1 });
});

test('S0.4 the same ending again is the same answer, another is not_open', async () => {
  await add('again', { id: 'g1' });
  await add('again', { id: 'g2', delaySeconds: 600 });
  const first = await operate('g1', 'invalidate', { reason: 'spam' });
  expect(await operate('g1', 'invalidate', { reason: 'spam' })).toMatchObject({ status: 200, body: first.body });
  const not = {
    status: 409,
    body: { code: 'not_open', state: 'invalidated', by: 'anonymous', reason: 'spam', at: first.body.invalidation.at },
  };
  expect(await operate('g1', 'invalidate', { reason: 'other' })).toMatchObject(not);
  expect(await operate('g1', 'resolve', { reason: 'spam', decision: 1 })).toMatchObject(not);
  expect(await api.patch('/v1/tickets/g1', { priority: 1 })).toMatchObject(not);
  expect(await operate('g1', 'transfer', { queue: 'elsewhere' })).toMatchObject(not);
  expect(await operate('g1', 'release', {})).toMatchObject(not);
  const resolve = async (decision: unknown) =>
    (await operate('g2', 'resolve', { reason: 'by the other system', decision })).body;
  const resolved = await resolve({ b: 1, a: 2 });
  expect(resolved).toMatchObject({ state: 'decided', decision: { a: 2, b: 1 }, decidedBy: 'anonymous' });
  expect(await resolve({ a: 2, b: 1 })).toEqual(resolved);
  expect((await resolve(3)).code).toBe('not_open');
  expect(await eventTypes('g1')).toEqual(['created', 'invalidated']);
  expect((await operate('unknown', 'invalidate', { reason: 'x' })).status).toBe(404);
});

test('S0.4 many tickets are resolved in one call, each with its own outcome', async () => {
  const held = await addHeld('many', ['m1', 'm2', 'm3'], 'r');
  await operate('m3', 'invalidate', { reason: 'gone' });
  const items = ['m1', 'm2', 'm3', 'nobody'].map((id) => ({ id, decision: `d-${id}` }));
  const call = () => post('/tickets/resolve', { items, reason: 'bulk' });
  const { results } = (await call()).body;
  const outcomes = results.map((r: Json) => [r.id, r.httpStatus, r.code].join(' '));
  expect(outcomes).toEqual(['m1 200 ', 'm2 200 ', 'm3 409 not_open', 'nobody 404 not_found']);
  expect((await call()).body.results).toEqual(results);
  expect((await decide(held)).body).toMatchObject({ code: 'not_open', state: 'decided', reason: 'bulk' });
  expect(await ticket('m2')).toMatchObject({ state: 'decided', decision: 'd-m2' });
});

test('S0.4 of several decisions on one ticket in a call the first that fits counts', async () => {
  const form = { type: 'object', properties: { ok: { type: 'boolean' } }, required: ['ok'] };
  await configure('twice', { form });
  const [yes, no, misfit] = [{ ok: true }, { ok: false }, { ok: 1 }];
  const decisions = { t1: [yes, no, yes], t2: [misfit, no], t3: [no, misfit] };
  for (const id of Object.keys(decisions)) await add('twice', { id });
  const items = Object.entries(decisions).flatMap(([id, all]) => all.map((decision) => ({ id, decision })));
  const call = () => post('/tickets/resolve', { items, reason: 'twice' });
  const { results } = (await call()).body;
  expect(results.map((r: Json) => r.httpStatus)).toEqual([200, 409, 200, 422, 200, 200, 422]);
  expect((await call()).body.results).toEqual(results);
  const stored = Object.keys(decisions).map(async (id) => (await ticket(id)).decision);
  expect(await Promise.all(stored)).toEqual([yes, no, no]);
});

test('S0.4 many tickets are invalidated by ids or by a filter, after a dry run', async () => {
  const sent = repeat(30, (n) => ({ id: `b${n}`, priority: n - 10 }));
  const ids = await addMany('bulk', sent);
  await add('bulk', { id: 'b-old', createdAt: ago(3_600) });
  await add('bulk', { id: 'b-delayed', delaySeconds: 100, priority: 50 });
  await add('elsewhere', { id: 'b-other' });
  const call = (body: object) => post('/queues/bulk/invalidate', { reason: 'clean-up', ...body }).then((r) => r.body);
  const low = { filter: { priorityBelow: -5 } };
  expect(await call({ ...low, dryRun: true })).toEqual({ invalidated: 5, skipped: 0 });
  expect(await call(low)).toEqual({ invalidated: 5, skipped: 0 });
  expect(await call(low)).toEqual({ invalidated: 0, skipped: 0 });
  expect(await call({ filter: { state: 'waiting', createdBefore: ago(1_800) } })).toEqual({
    invalidated: 1,
    skipped: 0,
  });
  const named = { ids: [ids[0], ids[10], ids[11], 'b-other', 'unknown'] };
  expect(await call({ ...named, dryRun: true })).toEqual({ invalidated: 2, skipped: 3 });
  const done = await call(named);
  expect(done.invalidated + done.skipped).toBe(5);
  expect((await ticket('b-other')).state).toBe('waiting');
  expect(await stats('bulk')).toMatchObject({ waiting: 23, invalidated: 8, delayed: 1 });
});

test('S0.9 the same ticket again is the one there is, in every state; other content is a conflict', async () => {
  const sent = { id: 'same', priority: 2, body: { a: 1, b: [2] }, exclude: ['x'], requires: [], deadlineSeconds: 900 };
  const first = await post('/queues/same/tickets', sent);
  expect(first.status).toBe(201);
  const again = () => post('/queues/same/tickets', { ...sent, body: { b: [2], a: 1 } });
  expect(await again()).toMatchObject({ status: 200, body: first.body });
  await api.patch('/v1/tickets/same', { priority: 7, body: 'changed since' });
  expect(await again()).toMatchObject({ status: 200, body: { priority: 7, body: 'changed since' } });
  for (const more of [{ priority: 7, body: 'changed since' }, { body: 2 }, { requires: ['x'] }, { delaySeconds: 1 }])
    expect((await post('/queues/same/tickets', { ...sent, ...more })).body.code).toBe('id_conflict');
  const held = await claimOne('same', 'r');
  expect((await again()).body.state).toBe('held');
  await decide(held);
  expect(await again()).toMatchObject({ status: 200, body: { state: 'decided', decision: 'ok' } });
  expect((await post('/queues/other/tickets', sent)).body.code).toBe('id_conflict');
  expect(await eventTypes('same')).toEqual(['created', 'changed', 'claimed', 'decided']);
});

test('S0.9 without an id an Idempotency-Key makes a repeat the same ticket', async () => {
  const call = (key: string, body: object) => post('/queues/key/tickets', body, { 'idempotency-key': key });
  const first = await call('k-1', { body: 'a' });
  expect(first.status).toBe(201);
  expect(await call('k-1', { body: 'a' })).toMatchObject({ status: 200, body: { id: first.body.id } });
  expect((await call('k-1', { body: 'b' })).body.code).toBe('id_conflict');
  expect((await call('k-2', { body: 'a' })).body.id).not.toBe(first.body.id);
});

test('S0.9 in a batch each ticket has its own outcome, in order', async () => {
  await add('batch', { id: 'ba', body: 1 });
  const outcomes: [ticket: unknown, id: unknown, httpStatus: number, code?: string][] = [
    [{ id: 'ba', body: 1 }, 'ba', 200],
    [{ id: 'ba', body: 2 }, 'ba', 409, 'id_conflict'],
    [{ id: 'bad id', body: 1 }, 'bad id', 422, 'invalid_request'],
    [{ body: 1 }, expect.any(String), 201],
    [7, null, 422, 'invalid_request'],
    [{ id: 'bb', body: null }, 'bb', 201],
    [{ id: 'bb', body: null }, 'bb', 200],
  ];
  const { status, body } = await post('/queues/batch/tickets/batch', { tickets: outcomes.map(([sent]) => sent) });
  expect(status).toBe(200);
  expect(body.results.map((r: Json) => [r.id, r.httpStatus, r.code])).toEqual(
    outcomes.map(([, id, httpStatus, code]) => [id, httpStatus, code]),
  );
});
