import { randomBytes } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { eventually, type Json } from '../support/client.ts';
import { startTestSystem } from '../support/system.ts';
import { dataOf, lmstfyClient } from './client.ts';

// What lmstfy's own tests of its handlers and of its client ask, case by case.

const { running } = await startTestSystem({ LMSTFY_PORT: '0' }, { role: 'api' });
const port = running.lmstfy?.port ?? 0;
const { ask, publish, consume, take, ack, size, dead } = lmstfyClient(port);

/** What is left of a time to live that has begun just now, on a machine that may stall. */
function expectTtl({ ttl }: Json, whole: number): void {
  expect(ttl).toBeLessThanOrEqual(whole);
  expect(ttl).toBeGreaterThan(whole / 2);
}

/** A job whose only attempt ran out. */
async function deadJob(queue: string): Promise<string> {
  const id = await publish(queue, 'hello1');
  expect((await consume(queue, { ttr: 1 })).body.job_id).toBe(id);
  await eventually(async () => (await dead(queue))[0] === 1);
  return id;
}

describe('S3.8 cases of the handlers', () => {
  test('publish', async () => {
    const { status, body, headers } = await ask('PUT', 'q1', {
      query: { delay: 5, ttl: 10, tries: 1 },
      body: 'hello msg',
    });
    expect([status, body]).toEqual([201, { msg: 'published', job_id: expect.stringMatching(/^\d+$/) }]);
    expect(headers.get('x-request-id')).toMatch(/./);
  });

  test('consume', async () => {
    const bytes = randomBytes(10);
    const id = await publish('q2', bytes, { ttl: 0 });
    const { status, body } = await consume('q2', { ttr: 10, timeout: 2 });
    const data = bytes.toString('base64');
    const job = {
      msg: 'new job',
      namespace: 'ns',
      queue: 'q2',
      job_id: id,
      data,
      ttl: 0,
      remain_tries: 0,
      attributes: null,
    };
    expect([status, body]).toEqual([200, { ...job, elapsed_ms: expect.any(Number) }]);
    expect(body.elapsed_ms).toBeGreaterThanOrEqual(0);
    expect(await consume('q2')).toMatchObject({ status: 404, body: { msg: 'no job available' } });
  });

  test('HEAD is no call of lmstfy: no job is reserved', async () => {
    const id = await publish('q-head', 'x', { ttl: 60 });
    for (const path of ['q-head', 'q-head/peek', `q-head/job/${id}`])
      expect((await ask('HEAD', path, { query: { ttr: 60 } })).status).toBe(404);
    expect((await consume('q-head', { ttr: 60 })).body.job_id).toBe(id);
  });

  test('consume of several queues, without waiting', async () => {
    const id = await publish('q4', 'x', { ttl: 60 });
    const { body } = await consume('q3,q4,q5', { ttr: 10, timeout: 0 });
    expect(body).toMatchObject({ job_id: id, queue: 'q4' });
    expectTtl(body, 60);
  });

  test('consume of several queues waits for a delayed job of one of them', async () => {
    const id = await publish('q4', 'x', { delay: 2, ttl: 60 });
    const { body } = await consume('q3,q4,q5', { ttr: 10, timeout: 30 });
    expect(body).toMatchObject({ job_id: id, queue: 'q4' });
    expect(body.elapsed_ms).toBeGreaterThanOrEqual(2000);
  });

  test('a deleted job is not handed out when its delay is over', async () => {
    const id = await publish('q6', 'x', { delay: 1, ttl: 60 });
    expect(await ack('q6', id)).toBe(204);
    expect((await consume('q6', { ttr: 10, timeout: 2 })).status).toBe(404);
  });

  test('peek of a queue', async () => {
    expect(await ask('GET', 'q7/peek')).toMatchObject({ status: 404, body: { error: 'the queue is empty' } });
    const id = await publish('q7', 'x', { ttl: 60, tries: 3 });
    const { status, body } = await ask('GET', 'q7/peek');
    expect([status, body]).toMatchObject([
      200,
      { job_id: id, data: 'eA==', namespace: 'ns', queue: 'q7', remain_tries: 3 },
    ]);
  });

  test('size', async () => {
    expect(await size('q8')).toBe(0);
    await publish('q8');
    expect(await ask('GET', 'q8/size')).toMatchObject({ status: 200, body: { namespace: 'ns', queue: 'q8', size: 1 } });
  });

  test('peek of a job', async () => {
    const id = await publish('q9', 'x', { delay: 60, ttl: 90 });
    const { status, body } = await ask('GET', `q9/job/${id}`);
    expect([status, body]).toMatchObject([200, { job_id: id, data: 'eA==', remain_tries: 1 }]);
    expect(body.ttl).toBeGreaterThan(60);
    for (const other of ['q9/job/0', 'q9/job/none', `q9-other/job/${id}`])
      expect(await ask('GET', other)).toMatchObject({ status: 404, body: { error: 'job not found' } });
  });

  test('peek and size of the dead letter', async () => {
    const body = { namespace: 'ns', queue: 'q10', deadletter_size: 0, deadletter_head: '' };
    expect(await ask('GET', 'q10/deadletter')).toMatchObject({ status: 200, body });
    const id = await deadJob('q10');
    expect((await ask('GET', 'q10/deadletter')).body).toEqual({ ...body, deadletter_size: 1, deadletter_head: id });
    const { status, body: sizes } = await ask('GET', 'q10/deadletter/size');
    expect([status, sizes]).toEqual([200, { namespace: 'ns', queue: 'q10', size: 1 }]);
  });

  test('respawn of the dead letter', async () => {
    const id = await deadJob('q11');
    expect(await ask('PUT', 'q11/deadletter')).toMatchObject({ status: 200, body: { msg: 'respawned', count: 1 } });
    expect((await consume('q11')).body.job_id).toBe(id);
    expect((await ask('PUT', 'q11/deadletter')).body).toEqual({ msg: 'respawned', count: 0 });
  });

  test('deletion of the dead letter', async () => {
    const id = await deadJob('q12');
    expect((await ask('DELETE', 'q12/deadletter')).status).toBe(204);
    expect(await dead('q12')).toEqual([0, '']);
    expect((await ask('GET', `q12/job/${id}`)).status).toBe(404);
  });

  test('destroying a queue deletes what is ready, and nothing else', async () => {
    const [ready, delayed, held] = ['q13', 'q13', 'q13'].map((queue, n) =>
      publish(queue, String(n), { delay: n === 1 ? 60 : 0 }),
    );
    await Promise.all([ready, delayed, held]);
    const taken = (await consume('q13', { ttr: 60 })).body.job_id;
    expect((await ask('DELETE', 'q13')).status).toBe(204);
    expect(await size('q13')).toBe(0);
    expect((await ask('GET', `q13/job/${await delayed}`)).status).toBe(200);
    expect((await ask('GET', `q13/job/${taken}`)).status).toBe(200);
  });

  test('consume of several jobs at once', async () => {
    const ids = await Promise.all(Array.from({ length: 4 }, () => publish('q14', 'x', { ttl: 60 })));
    const three = await consume('q14', { ttr: 10, count: 3, timeout: 3 });
    expect([three.status, three.body.length]).toEqual([200, 3]);
    const last = await consume('q14', { ttr: 10, count: 3, timeout: 3 });
    const seen = [...three.body, ...last.body].map((job: Json) => job.job_id);
    expect(seen.sort()).toEqual(ids.sort());
    expect(three.body[0]).toMatchObject({ msg: 'new job', remain_tries: 0 });
    expect((await consume('q14', { ttr: 10, count: 3, timeout: 1 })).status).toBe(404);
  });

  test('republish', async () => {
    const id = await publish('q16', 'x', { ttl: 60 });
    const { status, body } = await ask('PUT', `q16/job/${id}`, { query: { delay: 0, ttl: 10, tries: 1 }, body: 'x' });
    expect(status).toBe(201);
    expect(body.job_id).not.toBe(id);
    const { body: job } = await consume('q16', { ttr: 5, timeout: 2 });
    expect(job).toMatchObject({ job_id: body.job_id, data: 'eA==' });
    expectTtl(job, 10);
    expect((await consume('q16')).status).toBe(404);
  });

  test('bulk: each element is a job, and its text the data', async () => {
    const elements = [
      '"hello msg"',
      '123456789012345678901',
      '{"msg": "a \\"b\\" ], {", "n": [1, 2]}',
      '["foo","bar"]',
      'true',
      'null',
      '1.0',
    ];
    const { status, body } = await ask('PUT', 'q17/bulk', {
      query: { ttl: 10 },
      body: ` [ ${elements.join(' ,\n')} ] `,
    });
    expect([status, body.msg, body.job_ids.length]).toEqual([201, 'published', elements.length]);
    for (const [n, element] of elements.entries()) {
      const job = (await consume('q17', { ttr: 10 })).body;
      expect([job.job_id, dataOf(job)]).toEqual([body.job_ids[n], element]);
    }
  });

  test.each(['YES', 'NO'])('attributes, where the client says that it reads them: %s', async (enabled) => {
    const long = { [`job-attr-${'k'.repeat(300)}`]: 'v'.repeat(300) };
    const headers = { 'enable-job-version': enabled, 'job-attr-Hello': 'world', 'job-attr-foo': 'bar', ...long };
    expect((await ask('PUT', 'q18', { body: 'x', headers })).status).toBe(201);
    const { body } = await consume('q18', { ttr: 10 });
    const attributes = { hello: 'world', foo: 'bar', ['k'.repeat(32)]: 'v'.repeat(128) };
    expect(body.attributes).toEqual(enabled === 'YES' ? attributes : null);
  });

  test('too many attributes', async () => {
    const many = Object.fromEntries(Array.from({ length: 17 }, (_, n) => [`job-attr-${n}`, 'x']));
    const { status, body } = await ask('PUT', 'q19', { body: 'x', headers: { 'enable-job-version': 'YES', ...many } });
    expect([status, body]).toEqual([400, { error: 'too many attributes, cannot exceed 16' }]);
  });
});

describe('S3.8 cases of the client', () => {
  test('an acknowledgement at another queue is answered, and does nothing', async () => {
    const id = await publish('test-ack');
    expect((await consume('test-ack', { ttr: 10 })).body.job_id).toBe(id);
    expect(await ack('test-finish', id)).toBe(204);
    expect((await ask('GET', `test-ack/job/${id}`)).status).toBe(200);
    expect(await ack('test-ack', id)).toBe(204);
    expect((await ask('GET', `test-ack/job/${id}`)).status).toBe(404);
    for (const repeated of [id, '0', 'none']) expect(await ack('test-ack', repeated)).toBe(204);
  });

  test('the order of the queues is their priority', async () => {
    await publish('multi1', 'hello1');
    await publish('multi2', 'hello2');
    await publish('multi1', 'hello3');
    expect(await take('multi2,multi1', { ttr: 10, timeout: 1 })).toBe('hello2');
    const { body } = await consume('multi2,multi1', { ttr: 10, count: 5 });
    expect(body.map(dataOf)).toEqual(['hello1', 'hello3']);
  });

  test('peeks change nothing', async () => {
    const id = await publish('peeks', 'hello1');
    await publish('peeks', 'hello2');
    expect(dataOf((await ask('GET', 'peeks/peek')).body)).toBe('hello1');
    expect(dataOf((await ask('GET', `peeks/job/${id}`)).body)).toBe('hello1');
    expect(await size('peeks')).toBe(2);
  });

  test('respawned jobs have one attempt and the new ttl', async () => {
    const id = await deadJob('respawned');
    const { body } = await ask('PUT', 'respawned/deadletter', { query: { limit: 2, ttl: 120 } });
    expect(body.count).toBe(1);
    const job = (await consume('respawned', { ttr: 1 })).body;
    expect([job.job_id, dataOf(job), job.remain_tries]).toEqual([id, 'hello1', 0]);
    expectTtl(job, 120);
    await eventually(async () => (await dead('respawned'))[0] === 1);
  });

  test('a limit of the dead letter is kept, the longest dead first', async () => {
    const ids: string[] = [];
    for (const n of [1, 2, 3]) {
      ids.push(await publish('limits', String(n)));
      await consume('limits', { ttr: 1 });
      await eventually(async () => (await dead('limits'))[0] === n);
    }
    expect((await ask('PUT', 'limits/deadletter', { query: { limit: 1 } })).body.count).toBe(1);
    expect(await dead('limits')).toEqual([2, ids[1]]);
    expect((await ask('DELETE', 'limits/deadletter', { query: { limit: '9223372036854775807' } })).status).toBe(204);
    expect(await dead('limits')).toEqual([0, '']);
    expect(await take('limits')).toBe('1');
  });
});
