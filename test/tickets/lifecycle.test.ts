import { expect, test } from 'vitest';
import { claimOne, eventTypes, eventually, type Json, repeat } from '../support/client.ts';
import { startTestSystem } from '../support/system.ts';
import { add, addMany, claim, configure, decide, events, ticket, withToken } from '../support/tickets.ts';

const { api } = await startTestSystem();
const post = (path: string, body: object, headers?: Record<string, string>) => api.post(`/v1${path}`, body, headers);
const inState = (id: string, state: string) => eventually(async () => (await ticket(api, id)).state === state);

test('S0.5 a delayed, a waiting and a held ticket can be queried', async () => {
  const made = await add(api, 'open', {
    id: 'o1',
    delaySeconds: 3,
    body: { text: 'ä' },
    priority: 4,
    requires: [],
    exclude: ['x'],
  });
  expect(made).toMatchObject({
    id: 'o1',
    queue: 'open',
    state: 'delayed',
    priority: 4,
    body: { text: 'ä' },
    exclude: ['x'],
    attempts: 0,
  });
  expect(Date.parse(made.availableAt) - Date.parse(made.createdAt)).toBe(3_000);
  expect((await claim(api, 'open', 'r')).tickets).toEqual([]);
  await inState('o1', 'waiting');
  const held = await claimOne(api, 'open', 'r');
  const seen = await ticket(api, 'o1');
  expect(seen).toMatchObject({ state: 'held', attempts: 1, decision: null, decidedBy: null, invalidation: null });
  expect(seen.lease).toEqual({ ...held.lease, token: null });
  expect(Date.parse(seen.lease.expiresAt) - Date.parse(seen.lease.grantedAt)).toBe(300_000);
  expect(seen.version).toBeGreaterThan(made.version);
  expect(await eventTypes(api, 'o1')).toEqual(['created', 'available', 'claimed']);
});

test('S0.5 a decided ticket keeps its decision and whole history', async () => {
  await add(api, 'decided', { id: 'd1' });
  const held = await claimOne(api, 'decided', 'anna');
  const { status, body } = await decide(api, held, { verdict: 'remove', of: [1, 2] });
  expect(status).toBe(200);
  expect(body.ticket).toEqual(await ticket(api, 'd1'));
  expect(body.ticket).toMatchObject({
    state: 'decided',
    decision: { verdict: 'remove', of: [1, 2] },
    decidedBy: 'anna',
    lease: null,
  });
  const log = await events(api, 'd1');
  expect(log.map((e) => [e.seq, e.type, e.actor])).toEqual([
    [1, 'created', 'anonymous'],
    [2, 'claimed', 'anna'],
    [3, 'decided', 'anna'],
  ]);
  expect(log[2].at).toBe(body.ticket.decidedAt);
  expect(log[2].data.decision).toEqual({ verdict: 'remove', of: [1, 2] });
});

test('S0.5 a deadline ends a ticket, waiting or held, and the holder learns why', async () => {
  await add(api, 'deadline', { id: 'e1', deadlineSeconds: 0.4 });
  await add(api, 'deadline', { id: 'e2', deadlineSeconds: 0.4, priority: -1 });
  const held = await claimOne(api, 'deadline', 'r');
  expect(held.id).toBe('e1');
  await inState('e1', 'expired');
  await inState('e2', 'expired');
  const late = await decide(api, held);
  expect(late.status).toBe(409);
  expect(late.body).toMatchObject({ code: 'not_open', state: 'expired', by: 'system' });
  expect(await eventTypes(api, 'e1')).toEqual(['created', 'claimed', 'expired', 'refused']);
  expect(await eventTypes(api, 'e2')).toEqual(['created', 'expired']);
  expect((await claim(api, 'deadline', 'r')).tickets).toEqual([]);
});

test("S0.5 a queue's deadline counts from creation and yields to a ticket's own", async () => {
  await configure(api, 'queue-deadline', { deadlineSeconds: 60 });
  const a = await add(api, 'queue-deadline', { id: 'qd1' });
  const b = await add(api, 'queue-deadline', { id: 'qd2', deadlineSeconds: 600 });
  const span = (t: Json) => (Date.parse(t.deadlineAt) - Date.parse(t.createdAt)) / 1000;
  expect([span(a), span(b)]).toEqual([60, 600]);
  await configure(api, 'queue-deadline', { deadlineSeconds: 0.1 });
  await inState('qd1', 'expired');
  expect(span(await ticket(api, 'qd2'))).toBe(600);
  await api.patch('/v1/tickets/qd2', { deadlineAt: null });
  expect((await ticket(api, 'qd2')).deadlineAt).toBeNull();
  await api.patch('/v1/tickets/qd2', { deadlineAt: new Date(Date.now() - 1000).toISOString() });
  await inState('qd2', 'expired');
});

test.each(['expiry', 'release'])(
  'S0.5 after maxAttempts leases without a decision a ticket is dead, by %s',
  async (way) => {
    const [queue, id] = [`dead-${way}`, `dead-${way}-1`];
    await configure(api, queue, { maxAttempts: 2, leaseSeconds: way === 'expiry' ? 0.3 : 60 });
    await add(api, queue, { id });
    for (const reviewer of ['r1', 'r2']) {
      const held = await claimOne(api, queue, reviewer, { waitSeconds: 20 });
      if (way === 'release') await withToken(api, held, 'release');
      else await eventually(async () => (await ticket(api, id)).state !== 'held');
    }
    await inState(id, 'dead');
    const ends = way === 'expiry' ? 'reclaimed' : 'released';
    expect(await eventTypes(api, id)).toEqual(['created', 'claimed', ends, 'claimed', 'dead']);
    expect((await claim(api, queue, 'r3')).tickets).toEqual([]);
    expect(await ticket(api, id)).toMatchObject({ attempts: 2, lease: null, decision: null });
  },
);

test('S0.4 a held ticket can be invalidated; its holder cannot decide it, nobody is handed it', async () => {
  await add(api, 'inv', { id: 'i1' });
  const held = await claimOne(api, 'inv', 'r');
  const done = await post('/tickets/i1/invalidate', { reason: 'post deleted' });
  expect(done.status).toBe(200);
  expect(done.body).toMatchObject({
    state: 'invalidated',
    lease: null,
    invalidation: { reason: 'post deleted', by: 'anonymous' },
  });
  const late = await decide(api, held);
  expect(late.status).toBe(409);
  const { state, by, at, reason } = late.body;
  expect([late.body.code, state, by, at, reason]).toEqual([
    'not_open',
    'invalidated',
    'anonymous',
    done.body.invalidation.at,
    'post deleted',
  ]);
  expect((await withToken(api, held, 'renew')).body.code).toBe('not_open');
  expect((await claim(api, 'inv', 'r')).tickets).toEqual([]);
  expect(await eventTypes(api, 'i1')).toEqual(['created', 'claimed', 'invalidated', 'refused']);
});

test('S0.4 the same ending again is the same answer, another is not_open', async () => {
  await add(api, 'again', { id: 'g1' });
  await add(api, 'again', { id: 'g2', delaySeconds: 600 });
  const first = await post('/tickets/g1/invalidate', { reason: 'spam' });
  expect(await post('/tickets/g1/invalidate', { reason: 'spam' })).toMatchObject({ status: 200, body: first.body });
  const not = {
    status: 409,
    body: { code: 'not_open', state: 'invalidated', by: 'anonymous', reason: 'spam', at: first.body.invalidation.at },
  };
  expect(await post('/tickets/g1/invalidate', { reason: 'other' })).toMatchObject(not);
  expect(await post('/tickets/g1/resolve', { reason: 'spam', decision: 1 })).toMatchObject(not);
  expect(await api.patch('/v1/tickets/g1', { priority: 1 })).toMatchObject(not);
  expect(await post('/tickets/g1/transfer', { queue: 'elsewhere' })).toMatchObject(not);
  expect(await post('/tickets/g1/release', {})).toMatchObject(not);
  const resolved = await post('/tickets/g2/resolve', { reason: 'by the other system', decision: { b: 1, a: 2 } });
  expect(resolved.body).toMatchObject({ state: 'decided', decision: { a: 2, b: 1 }, decidedBy: 'anonymous' });
  expect((await post('/tickets/g2/resolve', { reason: 'by the other system', decision: { a: 2, b: 1 } })).body).toEqual(
    resolved.body,
  );
  expect((await post('/tickets/g2/resolve', { reason: 'by the other system', decision: 3 })).body.code).toBe(
    'not_open',
  );
  expect(await eventTypes(api, 'g1')).toEqual(['created', 'invalidated']);
  expect((await post('/tickets/unknown/invalidate', { reason: 'x' })).status).toBe(404);
});

test('S0.4 many tickets are resolved in one call, each with its own outcome', async () => {
  for (const id of ['m1', 'm2', 'm3']) await add(api, 'many', { id });
  const held = await claimOne(api, 'many', 'r');
  await post('/tickets/m3/invalidate', { reason: 'gone' });
  const items = ['m1', 'm2', 'm3', 'nobody'].map((id) => ({ id, decision: `d-${id}` }));
  const call = () => post('/tickets/resolve', { items, reason: 'bulk' });
  const { results } = (await call()).body;
  expect(results.map((r: Json) => [r.id, r.httpStatus, r.code])).toEqual([
    ['m1', 200, undefined],
    ['m2', 200, undefined],
    ['m3', 409, 'not_open'],
    ['nobody', 404, 'not_found'],
  ]);
  expect((await call()).body.results).toEqual(results);
  expect((await decide(api, held)).body).toMatchObject({ code: 'not_open', state: 'decided', reason: 'bulk' });
  expect(await ticket(api, 'm2')).toMatchObject({ state: 'decided', decision: 'd-m2' });
});

test('S0.4 of several decisions on one ticket in a call the first that fits counts', async () => {
  const form = { type: 'object', properties: { ok: { type: 'boolean' } }, required: ['ok'] };
  await configure(api, 'twice', { form });
  const [yes, no, misfit] = [{ ok: true }, { ok: false }, { ok: 1 }];
  const decisions = { t1: [yes, no, yes], t2: [misfit, no], t3: [no, misfit] };
  for (const id of Object.keys(decisions)) await add(api, 'twice', { id });
  const items = Object.entries(decisions).flatMap(([id, all]) => all.map((decision) => ({ id, decision })));
  const call = () => post('/tickets/resolve', { items, reason: 'twice' });
  const { results } = (await call()).body;
  expect(results.map((r: Json) => r.httpStatus)).toEqual([200, 409, 200, 422, 200, 200, 422]);
  expect((await call()).body.results).toEqual(results);
  const stored = Object.keys(decisions).map(async (id) => (await ticket(api, id)).decision);
  expect(await Promise.all(stored)).toEqual([yes, no, no]);
});

test('S0.4 many tickets are invalidated by ids or by a filter, after a dry run', async () => {
  const ids = await addMany(
    api,
    'bulk',
    repeat(30, (n) => ({ id: `b${n}`, priority: n - 10 })),
  );
  await addMany(api, 'bulk', [
    { id: 'b-old', createdAt: new Date(Date.now() - 3600_000).toISOString() },
    { id: 'b-delayed', delaySeconds: 100, priority: 50 },
  ]);
  await add(api, 'elsewhere', { id: 'b-other' });
  const call = (body: object) => post('/queues/bulk/invalidate', { reason: 'clean-up', ...body }).then((r) => r.body);
  const low = { filter: { priorityBelow: -5 } };
  expect(await call({ ...low, dryRun: true })).toEqual({ invalidated: 5, skipped: 0 });
  expect(await call(low)).toEqual({ invalidated: 5, skipped: 0 });
  expect(await call(low)).toEqual({ invalidated: 0, skipped: 0 });
  const before = new Date(Date.now() - 1800_000).toISOString();
  expect(await call({ filter: { state: 'waiting', createdBefore: before } })).toEqual({ invalidated: 1, skipped: 0 });
  const named = { ids: [ids[0], ids[10], ids[11], 'b-other', 'unknown'] };
  expect(await call({ ...named, dryRun: true })).toEqual({ invalidated: 2, skipped: 3 });
  const done = await call(named);
  expect(done.invalidated + done.skipped).toBe(5);
  expect((await ticket(api, 'b-other')).state).toBe('waiting');
  const stats = (await api.get('/v1/queues/bulk/stats')).body;
  expect([stats.waiting, stats.invalidated, stats.delayed]).toEqual([23, 8, 1]);
});

test('S0.9 the same ticket again is the one there is, in every state; other content is a conflict', async () => {
  const sent = { id: 'same', priority: 2, body: { a: 1, b: [2] }, exclude: ['x'], requires: [], deadlineSeconds: 900 };
  const first = await post('/queues/same/tickets', sent);
  expect(first.status).toBe(201);
  const again = () => post('/queues/same/tickets', { ...sent, body: { b: [2], a: 1 } });
  expect(await again()).toMatchObject({ status: 200, body: first.body });
  await api.patch('/v1/tickets/same', { priority: 7, body: 'changed since' });
  expect(await again()).toMatchObject({ status: 200, body: { priority: 7, body: 'changed since' } });
  const changed = await post('/queues/same/tickets', { ...sent, priority: 7, body: 'changed since' });
  expect([changed.status, changed.body.code]).toEqual([409, 'id_conflict']);
  const held = await claimOne(api, 'same', 'r');
  expect((await again()).body.state).toBe('held');
  await decide(api, held);
  expect(await again()).toMatchObject({ status: 200, body: { state: 'decided', decision: 'ok' } });
  expect((await post('/queues/other/tickets', sent)).body.code).toBe('id_conflict');
  expect(await eventTypes(api, 'same')).toEqual(['created', 'changed', 'claimed', 'decided']);
});

test('S0.9 twenty callers who add the same ticket at once make one', async () => {
  const replies = await Promise.all(repeat(20, () => post('/queues/once/tickets', { id: 'once', body: 1 })));
  expect(replies.map((r) => r.status).sort()).toEqual([...Array(19).fill(200), 201]);
  expect(new Set(replies.map((r) => JSON.stringify(r.body))).size).toBe(1);
  expect((await api.get('/v1/queues/once/stats')).body.waiting).toBe(1);
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
  await add(api, 'batch', { id: 'ba', body: 1 });
  const tickets = [
    { id: 'ba', body: 1 },
    { id: 'ba', body: 2 },
    { id: 'bad id', body: 1 },
    { body: 1 },
    7,
    { id: 'bb', body: null },
    { id: 'bb', body: null },
  ];
  const { status, body } = await post('/queues/batch/tickets/batch', { tickets });
  expect(status).toBe(200);
  expect(body.results.map((r: Json) => [r.httpStatus, r.code])).toEqual([
    [200, undefined],
    [409, 'id_conflict'],
    [422, 'invalid_request'],
    [201, undefined],
    [422, 'invalid_request'],
    [201, undefined],
    [200, undefined],
  ]);
  expect(body.results.map((r: Json) => r.id).toSpliced(3, 1)).toEqual(['ba', 'ba', 'bad id', null, 'bb', 'bb']);
});
