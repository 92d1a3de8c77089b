import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { TOOLS } from '../../api/mcp/tools.ts';
import { ROLES } from '../../contract/kinds.ts';
import { type Json, repeat } from '../support/client.ts';
import { createKey, endsWithinASecond, revokeKey } from '../support/keys.ts';
import { expectProblem } from '../support/problems.ts';
import { mayCall } from '../support/role-matrix.ts';
import { startTestSystem, testStores } from '../support/system.ts';
import { mcp, NEWEST, rpc, type Said } from './mcp.ts';

const stores = await testStores();
const { api, keyed, running } = await startTestSystem({}, { stores, role: 'api' });
const ask = (name: string, values: object): Promise<Json> => rpc(api, 'tools/call', { name, arguments: values });

/** A message as it was sent before each request said its revision. */
const post = (message: object, headers: Record<string, string> = {}, init: RequestInit = {}) =>
  api.unchecked().raw('POST', '/mcp', {
    ...init,
    headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream', ...headers },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, ...message }),
  });

/** The ticket of a claim. */
const claimed = ({ value }: Said): Json => value.tickets[0];

test('B.1 there are six tools, and their arguments are named as over HTTP', async () => {
  const { paths } = JSON.parse(readFileSync('docs/openapi.json', 'utf8'));
  const operations = new Map<string, Json>(
    Object.values<Json>(paths).flatMap((path) => Object.values<Json>(path).map((o) => [o.operationId, o] as const)),
  );
  const { schemas } = JSON.parse(readFileSync('docs/openapi.json', 'utf8')).components;
  const { client } = await mcp(api);
  const { tools } = await client.listTools();
  expect(tools.map((t) => t.name)).toEqual(['request_decision', 'claim', 'renew', 'decide', 'release', 'explain']);
  for (const { name, inputSchema } of tools) {
    const { parameters, requestBody } = operations.get(TOOLS[name]?.operation ?? '');
    const body = schemas[requestBody.content['application/json'].schema.$ref.split('/').at(-1)];
    const inPath = parameters.filter((p: Json) => p.in === 'path').map((p: Json) => p.name);
    expect(Object.keys(inputSchema.properties ?? {}).sort()).toEqual(
      [...inPath, ...Object.keys(body.properties)].sort(),
    );
    expect([...(inputSchema.required ?? [])].sort()).toEqual([...inPath, ...(body.required ?? [])].sort());
    expect(inputSchema.additionalProperties).toBe(false);
  }
});

describe.each([
  ['2025-06-18', 'legacy'],
  ['2025-11-25', 'legacy'],
  [NEWEST, 'auto'],
] as const)('revision %s', (revision, mode) => {
  test('B.1 an agent asks, and another works', async () => {
    const queue = `work-${revision}`;
    const producer = await mcp(await keyed('producer'), mode, {}, [revision]);
    const agent = await mcp(await keyed('agent'), mode, {}, [revision]);
    expect(agent.client.getNegotiatedProtocolVersion()).toBe(revision);

    const wanted = { queue, id: `w-${revision}`, body: { text: 'hello' }, priority: 5 };
    const asked = await producer.call('request_decision', wanted);
    expect(asked).toMatchObject({ isError: false, value: { id: wanted.id, state: 'waiting', priority: 5 } });
    expect(asked.text).toMatch(/not decided yet.*make the same call/);
    await producer.call('request_decision', { queue, id: `x-${revision}`, body: null });

    const first = await agent.call('claim', { queue, reviewer: 'ann' });
    const { id, lease } = claimed(first);
    expect(id).toBe(wanted.id);
    expect(first.text).toMatch(/You hold one ticket.*call decide/);
    expect(first.text).toContain(lease.token);
    const renewed = await agent.call('renew', { id, token: lease.token });
    expect(renewed.value.expiresAt >= lease.expiresAt).toBe(true);
    const explained = await agent.call('explain', { queue, reviewer: 'ann', ticket: id });
    expect(explained.text).toMatch(/does not get this ticket \(heldByYou/);
    expect((await producer.call('request_decision', wanted)).text).toContain('ann holds it');

    const released = await agent.call('release', { id, token: lease.token, skip: true });
    expect(released).toMatchObject({ isError: false, value: { state: 'waiting' } });
    const second = claimed(await agent.call('claim', { queue, reviewer: 'ben' }));
    expect(second.id).toBe(wanted.id);
    const decided = await agent.call('decide', {
      ...{ id, token: second.lease.token, decision: { verdict: 'fine' }, next: true },
    });
    expect(decided).toMatchObject({ value: { ticket: { decidedBy: 'ben' }, next: { id: `x-${revision}` } } });
    expect(decided.text).toMatch(/is decided. You hold ticket x-/);
    const known = await producer.call('request_decision', wanted);
    expect(known.text).toMatch(/was decided by ben. The decision: {"verdict":"fine"}/);
  });
});

test('B.1 a claim waits for a ticket, and an empty one says why', async () => {
  const { call } = await mcp(api);
  const waiting = call('claim', { queue: 'later', reviewer: 'ann', waitSeconds: 20 });
  await api.tickets.add('later', { id: 'later-1' });
  expect(claimed(await waiting).id).toBe('later-1');
  await api.tickets.add('later', { id: 'later-2', requires: ['law'] });
  expect((await call('claim', { queue: 'later', reviewer: 'ben' })).text).toMatch(/No ticket for you now \(.*skills 1/);
});

test('B.1 a caller who left while it waited is handed nothing', async () => {
  const gone = new AbortController();
  const params = { name: 'claim', arguments: { queue: 'left', reviewer: 'ann', waitSeconds: 30 } };
  const claims = [
    post({ method: 'tools/call', params }, {}, { signal: gone.signal }),
    rpc(api, 'tools/call', params, { signal: gone.signal }),
  ];
  await sleep(500);
  gone.abort();
  for (const { status } of await Promise.allSettled(claims)) expect(status).toBe('rejected');
  await api.tickets.add('left', { id: 'left-1' });
  const { call } = await mcp(api);
  expect(claimed(await call('claim', { queue: 'left', reviewer: 'ben', waitSeconds: 20 })).id).toBe('left-1');
  expect((await api.tickets.history('left-1')).filter((event) => event.startsWith('claimed'))).toEqual([
    'claimed by ben',
  ]);
});

describe('errors are texts that say what to do', () => {
  test('B.1 a stale decision is refused, with who holds the ticket now', async () => {
    await api.tickets.configure('stale', { leaseSeconds: 1 });
    await api.tickets.add('stale', { id: 'stale-1' });
    const agent = await mcp(await keyed('agent'));
    const old = claimed(await agent.call('claim', { queue: 'stale', reviewer: 'ann' }));
    await api.tickets.configure('stale', { leaseSeconds: 300 });
    const taken = claimed(await agent.call('claim', { queue: 'stale', reviewer: 'ben', waitSeconds: 20 }));
    const stale = { id: old.id, token: old.lease.token, decision: 'late' };
    const refused = await agent.call('decide', stale);
    expect(refused).toMatchObject({ isError: true, value: { code: 'lease_lost', holder: 'ben', reason: 'expired' } });
    expect(refused.text).toMatch(/^lease_lost: .* ben holds it now. Drop your result, and claim again/);

    const ann = await mcp(await keyed('reviewer', 'ann'));
    const hers = await ann.call('decide', stale);
    expect(hers.value).toMatchObject({ code: 'lease_lost', holder: null });
    expect(JSON.stringify(hers)).not.toContain('ben');

    await agent.call('decide', { id: taken.id, token: taken.lease.token, decision: 'mine' });
    const over = await agent.call('decide', stale);
    expect(over).toMatchObject({ isError: true, value: { code: 'not_open', state: 'decided', by: 'ben' } });
    expect((await api.tickets.ticket('stale-1')).decision).toBe('mine');
  });

  test('B.1 wrong arguments are named, and nothing happens', async () => {
    const { call } = await mcp(api);
    const wrong: [string, object, RegExp][] = [
      ['request_decision', { queue: 'bad' }, /body/],
      ['request_decision', { queue: 'bad', body: 1, colour: 'red' }, /colour/],
      ['request_decision', { queue: 'bad', body: 'a\0b' }, /NUL/],
      ['request_decision', { queue: 'bad', body: 2 ** 60 }, /2\^53/],
      ['request_decision', { queue: 'bad', body: 1, priority: 'high' }, /priority/],
      ['request_decision', { queue: '..', body: 1 }, /queue/],
      ['request_decision', { queue: 5, body: 1 }, /queue/],
      ['request_decision', { body: 1 }, /queue/],
      ['claim', { queue: 'bad' }, /reviewer/],
      ['claim', { queue: 'bad', reviewer: 'ann', waitSeconds: 61 }, /waitSeconds/],
      ['decide', { id: 'bad-1', decision: 1 }, /token/],
    ];
    for (const [name, values, said] of wrong) {
      const { isError, value, text } = await call(name, values);
      expect([isError, value.code, text], JSON.stringify(values)).toEqual([
        true,
        'invalid_request',
        expect.stringMatching(said),
      ]);
    }
    const unknown = await call('decide', { id: 'nobody', token: 't', decision: 1 });
    expect(unknown.text).toMatch(/^not_found: there is no ticket nobody/);
    const conflict = { queue: 'bad', id: 'taken' };
    await call('request_decision', { ...conflict, body: 1 });
    expect((await call('request_decision', { ...conflict, body: 2 })).value.code).toBe('id_conflict');
    expect((await api.tickets.stats('bad')).waiting).toBe(1);
  });

  test('what is no call of a tool is an error of the protocol', async () => {
    expect((await ask('delete_all', {})).error).toMatchObject({ code: -32602, message: 'there is no tool delete_all' });
    for (const name of ['constructor', '__proto__', '']) expect((await ask(name, {})).error.code).toBe(-32602);
    expect((await rpc(api, 'tools/call', { name: 'claim', arguments: 5 })).error.code).toBe(-32602);
    expect(await rpc(api, 'tasks/list')).toMatchObject({ status: 404, error: { code: -32601 } });
    const old = { 'mcp-protocol-version': '2025-03-26' };
    expect((await post({ method: 'tools/list' }, old)).status).toBe(400);
    const params = { protocolVersion: '2025-03-26', capabilities: {}, clientInfo: { name: 'old', version: '1' } };
    expect((await post({ method: 'initialize', params })).body.result.protocolVersion).toBe('2025-11-25');
  });

  test('what is no message is a problem', async () => {
    const send = (body: string, type = 'application/json') =>
      api.unchecked().raw('POST', '/mcp', { body, headers: { 'content-type': type } });
    const ping = { jsonrpc: '2.0', id: 1, method: 'ping' };
    expectProblem(await send('{"jsonrpc":'), 'cut off', 400);
    expectProblem(await send(JSON.stringify(ping), 'text/plain'), 'text', 415);
    const batch = await send(JSON.stringify([ping, ping]));
    expectProblem(batch, 'a batch', 422);
    expect(batch.body.detail).toBe('the body must be one JSON-RPC message');
    expectProblem(await send(`"${'x'.repeat(300_000)}"`), 'too large', 413);
    for (const body of ['', 'null', '5', '{}', '{"jsonrpc":"1.0","id":1,"method":"ping"}'])
      expect([400, 406], body).toContain((await send(body)).status);
    for (const method of ['GET', 'DELETE', 'PUT']) {
      const reply = await api.unchecked().raw(method, '/mcp');
      expectProblem(reply, method, 'method_not_allowed');
      expect(reply.headers.get('allow')).toBe('POST');
    }
  });
});

test('B.1 fifty agents at once: each ticket is decided once', async () => {
  const n = 50;
  await api.tickets.addMany(
    'rush',
    repeat(n, (i) => `rush-${i}`),
  );
  const deciders = await Promise.all(
    repeat(n, async (i) => {
      const { call } = await mcp(api, i % 2 ? 'auto' : 'legacy');
      const ticket = claimed(await call('claim', { queue: 'rush', reviewer: `agent-${i}`, waitSeconds: 20 }));
      const { value } = await call('decide', { id: ticket.id, token: ticket.lease.token, decision: i });
      return value.ticket;
    }),
  );
  expect(new Set(deciders.map((t) => t.id)).size).toBe(n);
  for (const { decision, decidedBy } of deciders) expect(decidedBy).toBe(`agent-${decision}`);
  expect(await api.tickets.stats('rush')).toMatchObject({ decided: n, waiting: 0, held: 0 });
}, 120_000);

const { db } = running.runtime;

/** Arguments with which a tool gets to its endpoint. */
const VALUES: Record<string, object> = {
  request_decision: { queue: 'roles', body: 1 },
  claim: { queue: 'roles', reviewer: 'rita' },
  renew: { id: 'nothing', token: 't' },
  decide: { id: 'nothing', token: 't', decision: 1 },
  release: { id: 'nothing', token: 't' },
  explain: { queue: 'roles', reviewer: 'rita' },
};

describe.each(Object.entries(TOOLS))('B.1 %s', (name, { operation }) => {
  test.each(ROLES)('a key of role %s may as over HTTP', async (role) => {
    const server = await keyed(role, role === 'reviewer' ? 'rita' : role);
    const { result } = await rpc(server, 'tools/call', { name, arguments: VALUES[name] });
    const isTurnedAway = result.structuredContent.detail === `a ${role} key may not do this`;
    expect(isTurnedAway, JSON.stringify(result)).toBe(!mayCall(operation, role));
    if (isTurnedAway) expect(result).toMatchObject({ isError: true, structuredContent: { code: 'forbidden' } });
  });
});

test('without a key, or with one that is unknown or revoked, there is no MCP: 401 and how to ask', async () => {
  const asking = (await startTestSystem({ DOCKET_AUTH: 'keys' }, { stores, role: 'api' })).api;
  const { id, key } = await createKey(db, { name: 'ended', role: 'producer', subject: null });
  const send = (authorization?: string) =>
    asking.unchecked().raw('POST', '/mcp', {
      headers: { 'content-type': 'application/json', ...(authorization && { authorization }) },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' }),
    });
  for (const authorization of [undefined, 'Bearer nonsense', `Basic ${key}`, `Bearer ${key}x`]) {
    const reply = await send(authorization);
    expectProblem(reply, authorization ?? 'none', 'unauthenticated');
    expect(reply.headers.get('www-authenticate')).toBe('Bearer');
  }
  await expect(mcp(asking)).rejects.toThrow();
  expect((await send(`Bearer ${key}`)).status).toBe(406);
  await revokeKey(db, id);
  await endsWithinASecond(() => send(`Bearer ${key}`));
});

test('a reviewer’s key is for its subject, and a bound key for its queues', async () => {
  const rita = await mcp(await keyed('reviewer', 'rita'));
  const admin = await keyed('admin');
  await admin.tickets.add('own', { id: 'own-1' });
  expect((await rita.call('claim', { queue: 'own', reviewer: 'bob' })).value.detail).toContain('speaks for rita only');
  expect((await rita.call('claim', { queue: 'own' })).value.tickets[0].lease.reviewer).toBe('rita');
  const { key } = await createKey(db, { name: 'bound', role: 'producer', subject: null, queues: ['mine'] });
  const bound = await mcp(api.as(key));
  expect((await bound.call('request_decision', { queue: 'own', body: 1 })).value.code).toBe('forbidden');
  expect((await bound.call('request_decision', { queue: 'mine', body: 1 })).isError).toBe(false);
});

test('a key that calls too often is turned away, each message counted once', async () => {
  const { key } = await createKey(db, { name: 'often', role: 'producer', subject: null, callsPerSecond: 5 });
  const calls = Array.from({ length: 60 }, (_, n) =>
    rpc(api.as(key), 'tools/call', { name: 'request_decision', arguments: { queue: 'often', id: `o-${n}`, body: n } }),
  );
  const statuses = (await Promise.all(calls)).map(({ status }) => status);
  const passed = statuses.filter((status) => status === 200).length;
  expect(statuses.filter((status) => status === 429).length).toBe(60 - passed);
  expect(passed).toBeGreaterThanOrEqual(5);
  expect(passed).toBeLessThan(60);
});
