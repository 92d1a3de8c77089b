import { expect, test } from 'vitest';
import { type Json, repeat } from '../support/client.ts';
import { startTestSystem } from '../support/system.ts';

const { api } = await startTestSystem();
const { job, oneJob } = api.jobs;

test('S3.1 its own example works, and the body comes back as it was given', async () => {
  const body = '{"uid": 10829378,"created": 1498657365 }';
  const add = { topic: 'orderclose', id: '15702398321', delay: 1800, TTR: 60, body };
  expect(await job('add', add)).toMatchObject({ success: true, error: null, id: '15702398321', value: null });
  expect(await job('add', add)).toMatchObject({ success: true, id: '15702398321' });
  expect(await job('add', { ...add, delay: 1 })).toMatchObject({ success: false, id: '15702398321' });
  const kept = { state: 'delayed', topic: 'orderclose', delay: 1800, TTR: 60, body };
  expect(await oneJob('15702398321')).toMatchObject(kept);
  const nothing = { success: true, error: null, id: null, value: null };
  expect(await job('pop', { topic: 'orderclose' })).toMatchObject(nothing);
  expect(await job('delete', { id: '15702398321' })).toMatchObject({ success: true });
  expect((await oneJob('15702398321')).state).toBe('deleted');
});

test('S3.1 S3.2 add, pop, finish', async () => {
  await job('add', { topic: 't', id: 'j1', delay: 0, TTR: 60, body: 'hello' });
  const popped = await job('pop', { topic: 't' });
  expect(popped).toMatchObject({ success: true, id: 'j1', value: 'hello', topic: 't', attempt: 1 });
  expect(await job('finish', { id: 'j1', token: 'wrong' })).toMatchObject({ success: false, id: 'j1' });
  expect(await job('finish', { id: 'j1', token: popped.token })).toMatchObject({ success: true, id: 'j1' });
  expect(await job('finish', { id: 'j1', token: popped.token })).toMatchObject({ success: true, id: 'j1' });
  expect((await oneJob('j1')).state).toBe('finished');
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
  const topicOf = (n: number) => (n % 2 ? 'm1' : 'm2');
  const jobs = repeat(5, (n) => ({ topic: topicOf(n), id: `m${n}`, TTR: 60, body: n, priority: 10 - n }));
  expect((await job('add', { jobs: [...jobs, { topic: '..', id: 'x', body: 1 }] })).success).toBe(false);
  const { jobs: popped } = await job('pop', { topic: ['m1', 'm2'], count: 3 });
  expect(popped.map((j: Json) => j.id)).toEqual(['m4', 'm3', 'm2']);
  const ended = popped.map(({ id, token }: Json) => ({ id, token }));
  expect((await job('finish', { jobs: ended })).success).toBe(true);
  const one = await job('pop', { topic: 'm1' });
  expect(await job('bury', { id: one.id, token: one.token })).toMatchObject({ success: true });
  expect((await oneJob(one.id)).state).toBe('buried');
  const waiting = job('pop', { topic: ['m1', 'nothing'], wait: 20 });
  expect(await job('kick', { topic: 'm1', count: 5 })).toMatchObject({ success: true, value: 1 });
  const again = await waiting;
  expect(again).toMatchObject({ id: one.id, attempt: 2 });
  const given = await job('release', { id: again.id, token: again.token, delay: 0.3, priority: 1 });
  expect(given.success).toBe(true);
  expect(await job('pop', { topic: 'm1', wait: 10 })).toMatchObject({ id: one.id, attempt: 3 });
  expect(await job('peek', { topic: 'm2' })).toMatchObject({ success: true, id: 'm0', value: 0 });
});

test('S3.3 a job can be deleted in every state, and finished without a token as in the article', async () => {
  const add = (id: string, delay = 0) => job('add', { topic: id, id, delay, TTR: 60, body: id });
  await Promise.all([add('ready'), add('delayed', 100), add('reserved'), add('buried'), add('again')]);
  await job('pop', { topic: 'reserved' });
  const { token } = await job('pop', { topic: 'buried' });
  await job('bury', { id: 'buried', token });
  for (const id of ['ready', 'delayed', 'reserved', 'buried']) {
    expect(await job('delete', { id })).toMatchObject({ success: true, id });
    expect(await job('delete', { id })).toMatchObject({ success: true, id });
    expect((await oneJob(id)).state).toBe('deleted');
    expect(await job('pop', { topic: id })).toMatchObject({ success: true, id: null });
  }
  expect(await job('delete', { id: 'never-added' })).toMatchObject({ success: false });
  expect(await job('finish', { id: 'again' })).toMatchObject({ success: true });
  expect((await oneJob('again')).state).toBe('finished');
});

test("S3.1 what PHP's curl sends is taken: no content type, text/plain or a form with a JSON body, numbers in quotes", async () => {
  const send = (command: object, headers: Record<string, string>) =>
    api.raw('POST', '/v1/jobs', { headers, body: new TextEncoder().encode(JSON.stringify(command)) });
  const types = ['', 'text/plain', 'text/plain;charset=UTF-8', 'application/x-www-form-urlencoded'];
  for (const [n, type] of types.entries()) {
    const headers: Record<string, string> = type === '' ? {} : { 'content-type': type };
    const job = { topic: 'php', id: `php${n}`, delay: '0', TTR: '90.5', priority: '7', body: '1' };
    expect((await send({ command: 'add', ...job }, headers)).body, type).toMatchObject({ success: true });
    expect((await api.get(`/v1/jobs/php${n}`)).body).toMatchObject({ delay: 0, TTR: 90.5, priority: 7, body: '1' });
    const popped = (await send({ command: 'pop', topic: 'php' }, headers)).body;
    const release = { command: 'release', id: popped.id, token: popped.token, delay: '3600', priority: '5' };
    expect((await send(release, headers)).body).toMatchObject({ success: true });
    expect((await api.get(`/v1/jobs/${popped.id}`)).body).toMatchObject({ state: 'delayed', priority: 5 });
  }
  const jobs = [{ topic: 'php', id: 'many', delay: '3600', TTR: '60', body: 1 }];
  expect((await send({ command: 'add', jobs }, {})).body).toMatchObject({ success: true });
  for (const wrong of ['', ' ', '-1', '1e3', 'soon', '0x10', null, [1]])
    expect(await job('add', { topic: 'php', id: 'wrong', delay: wrong, body: 1 }), String(wrong)).toMatchObject({
      ...{ success: false, code: 'invalid_request' },
    });
  // a page of another site may send such a call without asking first
  const foreign = { 'content-type': 'text/plain', origin: 'https://evil.example' };
  expect((await send({ command: 'delete', id: 'many' }, foreign)).status).toBe(403);
  expect((await send({ command: 'add' }, { 'content-type': 'multipart/form-data; boundary=x' })).status).toBe(415);
  const text = { headers: { 'content-type': 'text/plain' }, body: '{"topic": "php", "id"' };
  expect((await api.raw('POST', '/v1/jobs', text)).status).toBe(400);
});
