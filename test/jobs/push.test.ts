import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Webhook } from 'standardwebhooks';
import { describe, expect, test } from 'vitest';
import { eventually, type Json, repeat } from '../support/client.ts';
import { rowsOf } from '../support/database.ts';
import { atEndOfFile } from '../support/endings.ts';
import { startTestSystem } from '../support/system.ts';

const { api, running } = await startTestSystem();
const secret = `whsec_${Buffer.alloc(32, 5).toString('base64')}`;

interface Received {
  id: string;
  job: Json;
  at: number;
}

/** A receiver that answers as `status` says for each job, and remembers how many it had at once. */
async function receiver(status: (job: Json, received: Received[]) => number, workMs = 0) {
  const received: Received[] = [];
  let open = 0;
  const seen = { most: 0 };
  const server = createServer(async (request, answer) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const text = Buffer.concat(chunks).toString();
    const headers = Object.fromEntries(Object.entries(request.headers).map(([k, v]) => [k, String(v)]));
    const { type, job } = new Webhook(secret.slice(6)).verify(text, headers) as Json;
    expect(type).toBe('job');
    received.push({ id: headers['webhook-id'] ?? '', job, at: Date.now() });
    seen.most = Math.max(seen.most, ++open);
    await new Promise((resolve) => setTimeout(resolve, workMs));
    open--;
    answer.writeHead(status(job, received)).end();
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  atEndOfFile(() => void server.close());
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`, received, seen };
}

const add = (topic: string, ids: string[], more: object = {}) =>
  api.post('/v1/jobs', { command: 'add', jobs: ids.map((id) => ({ topic, id, TTR: 5, body: id, ...more })) });

const stateOf = async (id: string) => (await api.get(`/v1/jobs/${id}`)).body.state;

describe('push', () => {
  test('S3.7 a receiver has as long as the TTR of its job, and a stop does not wait for it as long as that', async () => {
    const { url, received } = await receiver((job) => (job.id === 'slow' ? 204 : 500), 35_000);
    const own = await startTestSystem();
    await own.api.put('/v1/topics/slow', { push: { url, secret } });
    const addSlow = (id: string) => own.api.post('/v1/jobs', { command: 'add', topic: 'slow', id, TTR: 600, body: id });
    await addSlow('slow');
    await eventually(async () => (await own.api.get('/v1/jobs/slow')).body.state === 'finished', 60_000);
    await addSlow('hangs');
    await eventually(async () => received.length === 2);
    await own.stop();
    const left = 'select state, attempts from item where id = $1';
    expect(await rowsOf(own.databaseUrl, left, ['hangs'])).toEqual([{ state: 'held', attempts: 1 }]);
  }, 120_000);

  test('S3.7 jobs are pushed signed, 2xx finishes them, and never more at once than the topic allows', async () => {
    const { url, received, seen } = await receiver(() => 204, 30);
    await api.put('/v1/topics/pushed', { push: { url, secret, concurrency: 3 } });
    const ids = repeat(30, (n) => `p${n}`);
    await add('pushed', ids);
    await eventually(async () => (await api.get('/v1/topics/pushed/stats')).body.finished === 30);
    expect(received.map((r) => r.job.id).sort()).toEqual([...ids].sort());
    expect(seen.most).toBeLessThanOrEqual(3);
    expect(seen.most).toBeGreaterThan(1);
  });

  test('S0.3 S3.7 topics that are pushed do not count as waiting callers, and their waits are taken off no calls', async () => {
    const { url } = await receiver(() => 204);
    await api.put('/v1/topics/no-caller', { push: { url, secret } });
    await add('no-caller', ['n1']);
    await eventually(async () => (await stateOf('n1')) === 'finished');
    const { waiters, load } = running.runtime;
    expect(waiters.size).toBe(0);
    await eventually(async () => load.calls === 0, 2_000);
  });

  test('S3.7 what is refused comes again later with the same message id, and is buried after maxAttempts', async () => {
    const { url, received } = await receiver((job) => (job.id === 'bad' ? 422 : 200));
    await api.put('/v1/topics/refused', { maxAttempts: 2, push: { url, secret } });
    await add('refused', ['bad', 'good']);
    await eventually(async () => (await stateOf('bad')) === 'buried');
    expect(await stateOf('good')).toBe('finished');
    const tries = received.filter((r) => r.job.id === 'bad');
    expect(tries).toHaveLength(2);
    expect(new Set(tries.map((r) => r.id)).size).toBe(1);
  });

  test('S3.7 a receiver that is down is tried one job at a time, and served again when it is back', async () => {
    let up = false;
    const { url, received } = await receiver(() => (up ? 200 : 503));
    await api.put('/v1/topics/down', { push: { url, secret, concurrency: 5 } });
    await add(
      'down',
      repeat(40, (n) => `d${n}`),
    );
    await eventually(async () => received.length >= 5);
    await new Promise((resolve) => setTimeout(resolve, 1_500));
    expect(received.length).toBeLessThan(15);
    up = true;
    await eventually(async () => (await api.get('/v1/topics/down/stats')).body.finished === 40, 50_000);
  }, 70_000);

  test('S3.7 without a target consumers pull, and a private target is refused unless allowed', async () => {
    const strict = await startTestSystem({ DOCKET_ALLOW_PRIVATE_CALLBACKS: '0' });
    const push = { url: 'http://10.0.0.1/', secret };
    expect((await strict.api.put('/v1/topics/x', { push })).status).toBe(422);
    await add('pulled', ['l1']);
    expect((await api.post('/v1/jobs', { command: 'pop', topic: 'pulled' })).body.id).toBe('l1');
  });
});
