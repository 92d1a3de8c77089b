import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import type { AnyEndpoint } from '../../api/endpoint.ts';
import { endpoints } from '../../api/endpoints.ts';
import { needsSubject, type Role } from '../../contract/keys.ts';
import { ROLES } from '../../contract/kinds.ts';
import { readConfig } from '../../runtime/config.ts';
import { nameOf, pathOf, sampleBody } from '../support/calls.ts';
import type { Client, Json } from '../support/client.ts';
import { storedText } from '../support/database.ts';
import { createKey, endsWithinASecond, revokeKey } from '../support/keys.ts';
import { expectProblem } from '../support/problems.ts';
import { rawStatus } from '../support/raw.ts';
import { matrixOperations, mayCall } from '../support/role-matrix.ts';
import { startTestSystem, testStores } from '../support/system.ts';

const stores = await testStores();
const system = await startTestSystem({ DOCKET_AUTH: 'keys' }, { stores });
const { api, sql } = system;
const { db } = system.running.runtime;

const keys: string[] = [];
async function keyOf(role: Role, subject: string | null = null, name = subject ?? role) {
  const made = await createKey(db, { name, role, subject });
  keys.push(made.key);
  return made;
}
const as = async (role: Role, subject: string | null = null) => api.as((await keyOf(role, subject)).key);

const producer = await as('producer');
const agent = await as('agent');
const admin = await as('admin');
const anna = await as('reviewer', 'anna');
const bob = await as('reviewer', 'bob');

const add = (queue: string, id: string, more: object = {}) =>
  producer.post(`/v1/queues/${queue}/tickets`, { id, body: id, ...more });
const claim = async (client: Client, queue: string, more: object = {}): Promise<Json> =>
  (await client.post(`/v1/queues/${queue}/claim`, more)).body.tickets?.[0];

/** Status and problem of a call whose answer may go on for ever, as a stream's does. */
async function outcome(
  client: Client,
  key: string | null,
  e: AnyEndpoint,
  query = '',
): Promise<{ status: number; body: Json; headers: Headers }> {
  const body = sampleBody(e);
  const response = await fetch(client.url + pathOf(e) + query, {
    method: e.method.toUpperCase(),
    headers: { ...(key !== null && { authorization: `Bearer ${key}` }), 'content-type': 'application/json' },
    // not by the name of somebody whose tickets are looked at below
    ...(body && { body: JSON.stringify(body).replaceAll('anna', 'amelie') }),
  });
  const isProblem = (response.headers.get('content-type') ?? '').includes('problem');
  const problem = isProblem ? await response.json() : {};
  if (!isProblem) await response.body?.cancel();
  return { status: response.status, body: problem, headers: response.headers };
}

const closed = endpoints.filter((e) => mayCall(e.operation, 'admin') !== null);
const open = endpoints.filter((e) => mayCall(e.operation, 'admin') === null);

describe('who may call what', () => {
  test('every operation of the document is in the matrix, once', () => {
    const { paths } = JSON.parse(readFileSync('docs/openapi.json', 'utf8')) as { paths: Record<string, object> };
    const documented = Object.values(paths).flatMap((path) => Object.values(path) as { operationId: string }[]);
    expect(documented.map((o) => o.operationId).sort()).toEqual(matrixOperations);
    expect(endpoints.map((e) => e.operation).sort()).toEqual(matrixOperations);
  });

  const keys: Partial<Record<Role, string>> = {};
  test.each(closed.map((e) => [nameOf(e), e] as const))('%s', async (name, e) => {
    for (const role of ROLES) {
      keys[role] ??= (await keyOf(role, needsSubject(role) ? 'rita' : null)).key;
      const key = keys[role];
      const { status, body } = await outcome(api, key, e, e.path === '/v1/stream' ? '?queue=q' : '');
      const said = `${role}: ${name} → ${status} ${JSON.stringify(body)}`;
      expect(status, said).not.toBe(401);
      expect(status, said).toBeLessThan(500);
      const turnedAway =
        status === 403 && (body.detail === `a ${role} key may not do this` || e.problemAnswer !== undefined);
      expect(turnedAway, said).toBe(!mayCall(e.operation, role));
    }
  });

  test('without a key, or with none that is known: 401 and how to ask', async () => {
    const { key } = await keyOf('producer');
    const [, id, secret] = key.split('_') as [string, string, string];
    const wrong = [
      ...[null, '', 'nonsense', key.slice(0, -1), `${key}x`, key.toUpperCase()],
      ...[`docket_${id}_${'x'.repeat(43)}`, `docket_${'0'.repeat(12)}_${secret}`],
    ];
    // who calls is looked at before any endpoint: each endpoint in turn with one of them
    for (const [n, e] of closed.entries()) {
      const given = wrong[n % wrong.length] ?? null;
      const reply = await outcome(api, given, e);
      if (e.problemAnswer) expect(reply.status).toBe(401);
      else expectProblem(reply, `${nameOf(e)} with ${given}`, 'unauthenticated');
      expect(reply.headers.get('www-authenticate')).toBe('Bearer');
    }
    for (const authorization of [`Basic ${key}`, key, `Bearer ${key} x`, `Bearer Bearer ${key}`])
      expectProblem(await api.raw('GET', '/v1/queues', { headers: { authorization } }), authorization, 401);
    expect((await api.raw('GET', '/v1/queues', { headers: { authorization: `bearer ${key}` } })).status).toBe(200);
  });

  test('what needs no key answers without one', async () => {
    const names = ['get /livez', 'get /metrics', 'get /readyz', 'get /v1/sign-in', 'post /v1/session'];
    expect(open.map(nameOf).sort()).toEqual(names);
    for (const path of ['/livez', '/metrics', '/readyz', '/docs', '/openapi.json'])
      expect((await api.get(path)).status, path).toBe(200);
  });

  test('a key that is revoked ends within a second', async () => {
    const { id, key } = await keyOf('producer');
    expect((await api.as(key).get('/v1/queues')).status).toBe(200);
    await revokeKey(db, id);
    await endsWithinASecond(() => api.as(key).get('/v1/queues'));
  });

  test('a stream that is open ends within a second when its key is revoked', async () => {
    const { id, key } = await keyOf('reviewer', 'dora');
    const open = await fetch(`${api.url}/v1/stream?reviewer=dora`, { headers: { authorization: `Bearer ${key}` } });
    const ended = open.text();
    expect(await Promise.race([ended, sleep(1_500, 'open')])).toBe('open');
    await revokeKey(db, id);
    // with time for a busy machine
    expect(await Promise.race([ended, sleep(20_000, 'late')])).toContain('retry: 1000');
  }, 30_000);
});

describe('a reviewer speaks for himself', () => {
  test('the subject stands in for the reviewer, and no other name is taken', async () => {
    await add('own', 'own-1');
    const ticket = await claim(anna, 'own');
    expect(ticket.lease).toMatchObject({ reviewer: 'anna', token: expect.any(String) });
    expect((await claim(anna, 'own', { reviewer: 'anna' })).lease.token).toBe(ticket.lease.token);
    for (const path of ['/v1/queues/own/claim', '/v1/queues/own/explain'])
      expectProblem(await anna.post(path, { reviewer: 'bob' }), path, 'forbidden');
    expectProblem(await anna.get('/v1/stream?reviewer=bob'), 'stream', 'forbidden');
    expectProblem(await anna.get('/v1/tickets?reviewer=bob'), 'list', 'forbidden');
    expect((await anna.get('/v1/tickets')).body.items.map((t: Json) => t.id)).toEqual(['own-1']);
    expectProblem(await agent.post('/v1/queues/own/claim', {}), 'an agent names somebody', 422);
    const decided = await anna.post('/v1/tickets/own-1/decide', { token: ticket.lease.token, decision: 1 });
    expect(decided.body.ticket).toMatchObject({ state: 'decided', decidedBy: 'anna' });
  });

  test("S0.6 another's token is of no use to them, and their ticket as an unknown one; an agent may use any", async () => {
    await add('theirs', 'theirs-1');
    const { token } = (await claim(anna, 'theirs')).lease;
    const calls = { decide: { decision: 1 }, renew: {}, release: {}, transfer: { queue: 'own' } };
    for (const [name, body] of Object.entries(calls))
      expectProblem(await bob.post(`/v1/tickets/theirs-1/${name}`, { ...body, token }), name, 'not_found');
    for (const junk of ['junk', 'x'.repeat(200)])
      expectProblem(await bob.post('/v1/tickets/theirs-1/decide', { token: junk, decision: 1 }), junk, 'not_found');
    const asked = { ticket: 'theirs-1' };
    expectProblem(await bob.post('/v1/queues/theirs/explain', asked), 'explain', 'not_found');
    expect((await anna.post('/v1/queues/theirs/explain', asked)).body.why).toContain('heldByYou');
    for (const name of ['release', 'transfer'] as const)
      expectProblem(await anna.post(`/v1/tickets/theirs-1/${name}`, calls[name]), name, 403);
    expect((await agent.post('/v1/tickets/theirs-1/renew', { token })).status).toBe(200);
    const decided = await agent.post('/v1/tickets/theirs-1/decide', { token, decision: 1 });
    expect(decided.body.ticket).toMatchObject({ decidedBy: 'anna' });
  });

  test('a token is shown to its holder only', async () => {
    await add('shown', 'shown-1');
    const { token } = (await claim(anna, 'shown')).lease;
    expect((await anna.get('/v1/tickets/shown-1')).body.lease).toMatchObject({ reviewer: 'anna', token });
    expectProblem(await bob.get('/v1/tickets/shown-1'), 'of anna', 'not_found');
    const others = [bob, agent, producer, admin].flatMap((who) =>
      ['/v1/tickets/shown-1', '/v1/tickets?queue=shown'].map((path) => who.get(path)),
    );
    others.push(producer.patch('/v1/tickets/shown-1', { priority: 3 }), producer.get('/v1/tickets/shown-1/events'));
    for (const { body } of await Promise.all(others)) expect(JSON.stringify(body)).not.toContain(token);
  });

  test('S0.6 a reviewer reads the tickets that they hold, were handed or decided, and learns why they lost one, not to whom', async () => {
    await add('kept', 'kept-1', { exclude: ['bob'] });
    for (const who of [anna, bob]) expectProblem(await who.get('/v1/tickets/kept-1'), 'waits', 'not_found');
    const { token } = (await claim(anna, 'kept')).lease;
    expect((await anna.get('/v1/tickets/kept-1')).status).toBe(200);
    await admin.post('/v1/tickets/kept-1/release', {});
    expect((await anna.get('/v1/tickets/kept-1')).status).toBe(200);
    const next = (await agent.post('/v1/queues/kept/claim', { reviewer: 'carl' })).body.tickets[0];
    const late = await anna.post('/v1/tickets/kept-1/decide', { token, decision: 1 });
    expect(late.body).toMatchObject({ code: 'lease_lost', reason: 'revoked', holder: null });
    expect(JSON.stringify(late.body)).not.toContain('carl');
    await agent.post('/v1/tickets/kept-1/release', { token: next.lease.token });
    expect((await claim(bob, 'kept')) ?? null).toBeNull();
    for (const path of ['events', 'deliveries', 'workflow'])
      expectProblem(await bob.get(`/v1/tickets/kept-1/${path}`), path, 'forbidden');
  });

  test("a queue's secrets are for administrators", async () => {
    const secret = `whsec_${Buffer.alloc(32, 5).toString('base64')}`;
    await admin.put('/v1/queues/secret', { callback: { url: 'http://127.0.0.1:9/', secret } });
    expect((await admin.get('/v1/queues/secret')).body.callback.secret).toBe(secret);
    for (const who of [producer, agent, anna])
      for (const path of ['/v1/queues/secret', '/v1/queues?limit=500'])
        expect(JSON.stringify((await who.get(path)).body)).not.toContain(secret);
  });
});

describe('tickets for streams', () => {
  const stream = (ticket: string, query = 'queue=own') =>
    outcome(api, null, endpoints.find((e) => e.path === '/v1/stream') as AnyEndpoint, `?${query}&ticket=${ticket}`);

  test('one stands for its key in the URL of a stream, and nowhere else', async () => {
    const { id, key } = await keyOf('agent');
    const made = await api.as(key).post('/v1/stream-tickets');
    expect(made).toMatchObject({ status: 201, body: { ticket: expect.any(String), expiresAt: expect.any(String) } });
    expect((await stream(made.body.ticket)).status).toBe(200);
    expectProblem(await stream('st_unknown'), 'unknown', 'unauthenticated');
    expectProblem(await api.get(`/v1/queues?ticket=${made.body.ticket}`), 'elsewhere', 401);
    expectProblem(await api.as(made.body.ticket).get('/v1/queues'), 'as a key', 401);
    await sql(`update stream_ticket set expires_at = clock_timestamp() where key_id = $1`, [id]);
    expectProblem(await stream(made.body.ticket), 'run out', 401);
  });

  test('it is bound as its key is, and ends with it', async () => {
    const { id, key } = await keyOf('reviewer', 'carl');
    const { ticket } = (await api.as(key).post('/v1/stream-tickets')).body;
    expectProblem(await stream(ticket, 'reviewer=bob'), 'another', 'forbidden');
    expect((await stream(ticket, 'reviewer=carl')).status).toBe(200);
    await revokeKey(db, id);
    expectProblem(await stream(ticket, 'reviewer=carl'), 'revoked', 401);
  });
});

describe('where keys are kept, and where none are asked for', () => {
  test('no key and no stream ticket is in the database as it is', async () => {
    const { ticket } = (await agent.post('/v1/stream-tickets')).body;
    const all = await storedText(stores.databaseUrl);
    expect(all.length).toBeGreaterThan(10_000);
    expect(keys.length).toBeGreaterThan(ROLES.length);
    for (const secret of [ticket.slice(3), ...keys.map((k) => k.split('_').slice(2).join('_'))])
      expect(all.includes(secret)).toBe(false);
  });

  test('a server that others can reach does not start without keys', () => {
    for (const HOST of ['0.0.0.0', '::', '192.168.1.5', 'example.com'])
      expect(() => readConfig({ HOST, DOCKET_AUTH: 'open' })).toThrow(/127\.0\.0\.1 only/);
    expect(readConfig({ HOST: '0.0.0.0' }).open).toBe(false);
    expect(readConfig({}).open).toBe(true);
    expect(readConfig({ DOCKET_AUTH: 'keys' }).open).toBe(false);
  });

  test('an open server answers to names of this machine only (DNS rebinding)', async () => {
    const { url } = (await startTestSystem({}, { role: 'api', stores })).api;
    const call = (host: string) => rawStatus(url, { headers: { host } });
    for (const host of ['localhost', '127.0.0.1', '[::1]', 'LOCALHOST:3000']) expect(await call(host), host).toBe(200);
    const foreign = ['', 'localhost.', '127.0.0.1.'].map((start) => `${start}evil.example`);
    for (const host of [...foreign, 'evil.example:3000', '10.0.0.1']) expect(await call(host), host).toBe(403);
  });
});
