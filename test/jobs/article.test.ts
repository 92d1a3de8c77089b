import { describe, expect, test } from 'vitest';
import { eventually, type Json, repeat } from '../support/client.ts';
import { startTestSystem } from '../support/system.ts';

const { api } = await startTestSystem();

/** The article's one endpoint. */
async function job(command: string, fields: object): Promise<Json> {
  const { status, body } = await api.post('/v1/jobs', { command, ...fields });
  expect(status).toBe(200);
  return body;
}

describe("the article's protocol", () => {
  test('S3.1 its own example works, and the body comes back as it was given', async () => {
    const body = '{"uid": 10829378,"created": 1498657365 }';
    const add = { topic: 'orderclose', id: '15702398321', delay: 1800, TTR: 60, body };
    expect(await job('add', add)).toMatchObject({ success: true, error: null, id: '15702398321', value: null });
    expect(await job('add', add)).toMatchObject({ success: true, id: '15702398321' });
    expect(await job('add', { ...add, delay: 1 })).toMatchObject({ success: false, id: '15702398321' });
    expect((await api.get('/v1/jobs/15702398321')).body).toMatchObject({
      state: 'delayed',
      topic: 'orderclose',
      delay: 1800,
      TTR: 60,
      body,
    });
    expect(await job('pop', { topic: 'orderclose' })).toMatchObject({
      success: true,
      error: null,
      id: null,
      value: null,
    });
    expect(await job('delete', { id: '15702398321' })).toMatchObject({ success: true });
    expect((await api.get('/v1/jobs/15702398321')).body.state).toBe('deleted');
  });

  test('S3.1 S3.2 add, pop, finish', async () => {
    await job('add', { topic: 't', id: 'j1', delay: 0, TTR: 60, body: 'hello' });
    const popped = await job('pop', { topic: 't' });
    expect(popped).toMatchObject({ success: true, id: 'j1', value: 'hello', topic: 't', attempt: 1 });
    expect(await job('finish', { id: 'j1', token: 'wrong' })).toMatchObject({ success: false, id: 'j1' });
    expect(await job('finish', { id: 'j1', token: popped.token })).toMatchObject({ success: true, id: 'j1' });
    expect(await job('finish', { id: 'j1', token: popped.token })).toMatchObject({ success: true, id: 'j1' });
    expect((await api.get('/v1/jobs/j1')).body.state).toBe('finished');
  });

  test('S3.3 not finished in its TTR it is ready again, and a late finish with its token is refused', async () => {
    await job('add', { topic: 'ttr', id: 'late', delay: 0, TTR: 1, body: 1 });
    const first = await job('pop', { topic: 'ttr' });
    const second = await job('pop', { topic: 'ttr', wait: 10 });
    expect(second).toMatchObject({ id: 'late', attempt: 2 });
    expect(second.token).not.toBe(first.token);
    expect(await job('finish', { id: 'late', token: first.token })).toMatchObject({ success: false });
    expect(await job('finish', { id: 'late' })).toMatchObject({ success: true });
  });

  test('S3.6 batches, several topics, long poll, release, bury, kick, peek', async () => {
    const jobs = repeat(5, (n) => ({
      topic: n % 2 ? 'm1' : 'm2',
      id: `m${n}`,
      delay: 0,
      TTR: 60,
      body: n,
      priority: 10 - n,
    }));
    expect(await job('add', { jobs: [...jobs, { topic: '..', id: 'x', body: 1 }] })).toMatchObject({
      success: false,
    });
    const { jobs: popped } = await job('pop', { topic: ['m1', 'm2'], count: 3 });
    expect(popped.map((j: Json) => j.id)).toEqual(['m4', 'm3', 'm2']);
    expect(await job('finish', { jobs: popped.map(({ id, token }: Json) => ({ id, token })) })).toMatchObject({
      success: true,
    });
    const one = await job('pop', { topic: 'm1' });
    expect(await job('bury', { id: one.id, token: one.token })).toMatchObject({ success: true });
    expect((await api.get(`/v1/jobs/${one.id}`)).body.state).toBe('buried');
    const waiting = job('pop', { topic: ['m1', 'nothing'], wait: 20 });
    expect(await job('kick', { topic: 'm1', count: 5 })).toMatchObject({ success: true, value: 1 });
    const again = await waiting;
    expect(again).toMatchObject({ id: one.id, attempt: 2 });
    expect(await job('release', { id: again.id, token: again.token, delay: 0.3, priority: 1 })).toMatchObject({
      success: true,
    });
    expect(await job('pop', { topic: 'm1', wait: 10 })).toMatchObject({ id: one.id, attempt: 3 });
    expect(await job('peek', { topic: 'm2' })).toMatchObject({ success: true, id: 'm0', value: 0 });
  });

  test('S3.2 a job has a workflow, and an operator can cancel it', async () => {
    await job('add', { topic: 'w', id: 'w1', delay: 3600, TTR: 60, body: 1 });
    await eventually(async () => (await api.get('/v1/jobs/w1/workflow')).body.status === 'running');
  });
});
