import { describe, expect, test } from 'vitest';
import { TOOLS } from '../../api/mcp/tools.ts';
import { ROLES } from '../../contract/kinds.ts';
import { eventually } from '../support/client.ts';
import { createKey, revokeKey } from '../support/keys.ts';
import { mcp, rpc } from '../support/mcp.ts';
import { expectProblem } from '../support/problems.ts';
import { mayCall } from '../support/role-matrix.ts';
import { startTestSystem } from '../support/system.ts';

const { api, keyed, running } = await startTestSystem({ DOCKET_AUTH: 'keys' });
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
  const { id, key } = await createKey(db, { name: 'ended', role: 'producer', subject: null });
  const send = (authorization?: string) =>
    api.unchecked().raw('POST', '/mcp', {
      headers: { 'content-type': 'application/json', ...(authorization && { authorization }) },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' }),
    });
  for (const authorization of [undefined, 'Bearer nonsense', `Basic ${key}`, `Bearer ${key}x`]) {
    const reply = await send(authorization);
    expectProblem(reply, authorization ?? 'none', 'unauthenticated');
    expect(reply.headers.get('www-authenticate')).toBe('Bearer');
  }
  await expect(mcp(api)).rejects.toThrow();
  expect((await send(`Bearer ${key}`)).status).toBe(406);
  await revokeKey(db, id);
  await eventually(async () => (await send(`Bearer ${key}`)).status === 401, 1_500);
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
