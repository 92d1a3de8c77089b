import { expect, test } from 'vitest';
import { eventually, type Json, numbered, repeat } from '../support/client.ts';
import { startTestSystem } from '../support/system.ts';

const { api } = await startTestSystem({}, { role: 'api' });
const { eventTypes, job, oneJob, stats } = api.jobs;

const add = (topic: string, ids: string[], more: object = {}) =>
  job('add', { jobs: ids.map((id) => ({ topic, id, TTR: 60, body: id, ...more })) });
const finishNext = (id: string, token: string, more: object = {}) => job('finish', { id, token, next: true, ...more });

test('S3.6 a finish with next hands out the next job of its topic, and a repeat the same one', async () => {
  await add('one', ['a', 'b', 'c']);
  const a = await job('pop', { topic: 'one' });
  const done = await finishNext('a', a.token);
  expect(done).toMatchObject({ success: true, error: null, id: 'a', value: null });
  expect(done.next).toMatchObject({ id: 'b', value: 'b', topic: 'one', attempt: 1, token: expect.any(String) });
  expect((await oneJob('a')).state).toBe('finished');
  expect(await eventTypes('b')).toEqual(['created', 'reserved']);
  for (let n = 0; n < 3; n++) expect((await finishNext('a', a.token)).next).toEqual(done.next);
  expect(await stats('one')).toMatchObject({ ready: 1, reserved: 1, finished: 1 });
  await job('release', { id: 'b', token: done.next.token });
  expect(await finishNext('a', a.token)).toMatchObject({ success: true, next: null });
  const again = await job('pop', { topic: 'one' });
  expect(again.id).toBe('b');
  // it is somebody's, and not by that finish
  expect(await finishNext('a', a.token)).toMatchObject({ success: true, next: null });
  const last = await finishNext('b', again.token);
  expect(last.next.id).toBe('c');
  expect(await finishNext('c', last.next.token)).toMatchObject({ success: true, next: null });
  expect(await job('finish', { id: 'c', token: last.next.token })).not.toHaveProperty('next');
});

test('S3.6 the next one may be of other topics, by priority', async () => {
  await add('from', ['from-1', 'from-2']);
  await add('low', ['low-1'], { priority: 9 });
  await add('high', ['high-1'], { priority: 1 });
  const { token } = await job('pop', { topic: 'from' });
  const first = await finishNext('from-1', token, { topic: ['low', 'high', 'nothing'] });
  expect(first.next).toMatchObject({ id: 'high-1', topic: 'high' });
  expect((await finishNext('high-1', first.next.token, { topic: 'low' })).next).toMatchObject({ id: 'low-1' });
  expect(await stats('from')).toMatchObject({ ready: 1 });
});

test('S3.3 S3.6 where the finish is refused nothing is popped', async () => {
  await add('refused', ['r1', 'r2']);
  const { token } = await job('pop', { topic: 'refused' });
  for (const [id, given, code] of [
    ['r1', 'wrong', 'lease_lost'],
    ['nobody', token, 'not_found'],
  ] as const)
    expect(await finishNext(id, given)).toMatchObject({ success: false, id, code });
  expect(await job('finish', { id: 'r1', next: true })).toMatchObject({ success: false, code: 'invalid_request' });
  const many = { jobs: [{ id: 'r1', token }], next: true };
  expect(await job('finish', many)).toMatchObject({ success: false, code: 'invalid_request' });
  expect(await job('finish', { jobs: [{ id: 'r1', token, next: true }] })).toMatchObject({ success: false });
  await job('delete', { id: 'r1' });
  expect(await finishNext('r1', token)).toMatchObject({ success: false, code: 'not_open' });
  expect(await stats('refused')).toMatchObject({ ready: 1, reserved: 0 });
});

test('S3.6 it waits for the next one, finished before that; who hangs up takes none along', async () => {
  await add('wait', ['w1']);
  const { token } = await job('pop', { topic: 'wait' });
  const waiting = finishNext('w1', token, { wait: 20 });
  await eventually(async () => (await oneJob('w1')).state === 'finished');
  await add('wait', ['w2']);
  const { next } = await waiting;
  expect(next).toMatchObject({ id: 'w2', attempt: 1 });
  const gone = new AbortController();
  const body = JSON.stringify({ command: 'finish', id: 'w2', token: next.token, next: true, wait: 20 });
  const headers = { 'content-type': 'application/json' };
  const hung = fetch(`${api.url}/v1/jobs`, { method: 'POST', body, headers, signal: gone.signal }).catch(() => {});
  await eventually(async () => (await oneJob('w2')).state === 'finished');
  gone.abort();
  await hung;
  await add('wait', ['w3']);
  await eventually(async () => (await job('pop', { topic: 'wait', wait: 5 })).id === 'w3');
});

test('S3.6 fifty consumers who only finish and go on are handed each job once', async () => {
  const ids = numbered(600, 'crowd-');
  await add('crowd', ids);
  const seen: string[] = [];
  const consume = async () => {
    let held: Json | null = await job('pop', { topic: 'crowd' });
    while (held?.id) {
      seen.push(held.id);
      held = (await finishNext(held.id, held.token)).next;
    }
  };
  await Promise.all(repeat(50, consume));
  expect(seen.toSorted()).toEqual(ids.toSorted());
  expect(await stats('crowd')).toMatchObject({ finished: 600, total: 600 });
});
