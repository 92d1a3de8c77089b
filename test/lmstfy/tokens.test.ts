import { expect, test } from 'vitest';
import * as items from '../../services/items/items.ts';
import { eventually } from '../support/client.ts';
import { createKey, revokeKey } from '../support/keys.ts';
import { startTestSystem } from '../support/system.ts';
import { lmstfyClient } from './client.ts';

const { running } = await startTestSystem({ LMSTFY_PORT: '0', DOCKET_AUTH: 'keys' }, { role: 'api' });
const port = running.lmstfy?.port ?? 0;
const keyOf = (name: string, role: 'producer' | 'consumer' | 'reviewer', queues: string[] | null = null) =>
  createKey(running.runtime.db, { name, role, queues, subject: role === 'reviewer' ? name : null });

test('S3.8 where keys are asked for, a token is a key', async () => {
  const { id, key } = await keyOf('worker', 'consumer');
  const client = lmstfyClient(port, 'ns', key);
  const job = await client.publish('q');
  expect((await client.consume('q')).body.job_id).toBe(job);
  expect((await lmstfyClient(port, 'ns', '').ask('GET', 'q/size', { query: { token: key } })).status).toBe(200);
  expect((await lmstfyClient(port, 'ns', `default:${key}`).ask('GET', 'q/size')).status).toBe(200);
  await revokeKey(running.runtime.db, id);
  await eventually(async () => (await client.ask('GET', 'q/size')).status === 401);
});

test.each([
  ['no token', '', 401, 'token not found'],
  ['a token of lmstfy', '01DGCV9G6RRZ8Y8A3QXMRG2TFE', 401, 'invalid token'],
  ['a key that was never given', `docket_${'0'.repeat(12)}_${'x'.repeat(43)}`, 401, 'invalid token'],
  ['a token of a pool', 'other:01DGCV9G6RRZ8Y8A3QXMRG2TFE', 404, 'pool not found'],
])('S3.8 %s is refused by every call', async (_, token, status, error) => {
  const { ask } = lmstfyClient(port, 'ns', token);
  const calls = [
    'PUT q',
    'PUT q/bulk',
    'PUT q/job/1',
    'GET q',
    'GET q/peek',
    'GET q/size',
    'GET q/job/1',
    'DELETE q/job/1',
    'DELETE q',
  ];
  const dead = ['GET q/deadletter', 'GET q/deadletter/size', 'PUT q/deadletter', 'DELETE q/deadletter'];
  for (const [method = '', path = ''] of [...calls, ...dead].map((call) => call.split(' '))) {
    const answer = await ask(method, path, method === 'PUT' ? { body: '[1]' } : {});
    expect([method, path, answer.status, answer.body]).toEqual([method, path, status, { error }]);
  }
});

test('S3.8 a producer publishes, peeks and calls off; what hands out and clears is for consumers', async () => {
  const producer = lmstfyClient(port, 'ns', (await keyOf('shop', 'producer')).key);
  const id = await producer.publish('roles');
  expect((await producer.ask('GET', `roles/job/${id}`)).status).toBe(200);
  for (const [method, path] of [
    ['GET', 'roles'],
    ['DELETE', 'roles'],
    ['PUT', 'roles/deadletter'],
    ['DELETE', 'roles/deadletter'],
  ] as const) {
    const { status, body } = await producer.ask(method, path);
    expect([status, body]).toEqual([403, { error: 'a token that is a producer key may not do this' }]);
  }
  expect(await producer.ack('roles', id)).toBe(204);
  const reviewer = lmstfyClient(port, 'ns', (await keyOf('rita', 'reviewer')).key);
  expect((await reviewer.ask('GET', 'roles/size')).status).toBe(403);
});

test('S3.8 a key that is bound to ns/* is a token of that namespace', async () => {
  const { key } = await keyOf('bound', 'consumer', ['mine/*']);
  const mine = lmstfyClient(port, 'mine', key);
  const id = await mine.publish('q');
  expect((await mine.consume('other,q')).body.job_id).toBe(id);
  const other = lmstfyClient(port, 'yours', key);
  for (const [method, path] of [
    ['PUT', 'q'],
    ['GET', 'q'],
    ['GET', `q/job/${id}`],
    ['DELETE', `q/job/${id}`],
  ] as const)
    expect((await other.ask(method, path)).status).toBe(403);
  expect((await mine.ask('GET', `q/job/${id}`)).status).toBe(200);
});

test('S3.8 histories name the key', async () => {
  const { key } = await keyOf('named', 'consumer');
  const client = lmstfyClient(port, 'ns', key);
  const id = await client.publish('history');
  await client.consume('history');
  await client.ack('history', id);
  const events = await items.events(running.ctx, 'job', `ns/history:${id}`, 0, 10);
  expect(events.map((e) => [e.type, e.actor])).toEqual([
    ['created', 'named'],
    ['reserved', 'named'],
    ['finished', 'named'],
  ]);
});
