import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { Wire } from '../beanstalkd/wire.ts';
import { eventually, type Json, numbered, repeat } from '../support/client.ts';
import { startTestSystem } from '../support/system.ts';
import { msBetween } from '../support/times.ts';

// neither a pacemaker nor a worker: nothing but a pop hands out what is due
const { api, cell, running } = await startTestSystem(
  { DOCKET_PACEMAKER: 'off', BEANSTALKD_PORT: '0' },
  { role: 'api' },
);
const { eventTypes, events, job, oneJob, stats } = api.jobs;
const add = (topic: string, id: string, more: object = {}) =>
  job('add', { topic, id, delay: 0, TTR: 60, body: id, ...more });
const pop = async (topic: string | string[], count: number): Promise<string[]> =>
  (await job('pop', { topic, count })).jobs.map((j: Json) => j.id);
const overdue = (topic: string, n: number) =>
  eventually(async () => {
    const due = "queue = $1 and state = 'delayed' and available_at < clock_timestamp()";
    return (await cell(`select count(*)::integer from item where ${due}`, [topic])) === n;
  });

test('S3.1 a job is handed out when its delay is over though no clock has come by, never early', async () => {
  await add('alone', 'soon', { delay: 0.7 });
  await add('alone', 'later', { delay: 3600 });
  const popped = await eventually(async () => {
    const [first] = (await job('pop', { topic: 'alone', count: 10 })).jobs;
    return first;
  });
  expect(popped).toMatchObject({ id: 'soon', attempt: 1 });
  const { availableAt } = await oneJob('soon');
  const [created, available, reserved] = await events('soon');
  expect([created?.type, available?.type, reserved?.type]).toEqual(['created', 'available', 'reserved']);
  expect(msBetween(availableAt, available?.at)).toBeGreaterThanOrEqual(0);
  expect(await stats('alone')).toMatchObject({ delayed: 1, ready: 0, reserved: 1 });
  expect(await job('finish', { id: 'soon', token: popped.token })).toMatchObject({ success: true });
});

test('S3.1 due and ready jobs of several topics come in one order, by priority and number; paused topics have none', async () => {
  const places: [topic: string, id: string, priority: number, delay: number][] = [
    ['due-a', 'a-9', 9, 0.1],
    ['due-a', 'a-5', 5, 0],
    ['due-b', 'b-1', 1, 0.3],
    ['due-b', 'b-5', 5, 0.1],
    ['due-a', 'a-1', 1, 0],
    ['due-b', 'b-9', 9, 0],
    ['due-a', 'a-3', 3, 0.2],
    ['due-paused', 'p-0', 0, 0.1],
    ['due-b', 'b-0', 0, 3600],
  ];
  for (const [topic, id, priority, delay] of places) await add(topic, id, { priority, delay });
  await api.put('/v1/topics/due-paused', { paused: true });
  await Promise.all([overdue('due-a', 2), overdue('due-b', 2), overdue('due-paused', 1)]);
  const topics = ['due-a', 'due-b', 'due-paused'];
  expect(await pop(topics, 1)).toEqual(['b-1']);
  expect(await pop('due-a', 2)).toEqual(['a-1', 'a-3']);
  expect(await pop(topics, 10)).toEqual(['a-5', 'b-5', 'a-9', 'b-9']);
  expect(await pop(topics, 10)).toEqual([]);
  await api.put('/v1/topics/due-paused', { paused: false });
  expect(await pop(topics, 10)).toEqual(['p-0']);
});

test('S3.8 over TCP a due job is reserved too, longer ones are left to HTTP', async () => {
  await add('due-tcp', 'long', { body: 'x'.repeat(70_000), delay: 0.1 });
  await add('due-tcp', 'short', { delay: 0.1 });
  await overdue('due-tcp', 2);
  const wire = await Wire.open(running.beanstalkd?.port ?? 0);
  await wire.ask('watch due-tcp');
  expect(await wire.ask('reserve-with-timeout 0')).toMatch(/^RESERVED \d+ 5\r\nshort\r\n$/);
  expect(await wire.ask('reserve-with-timeout 0')).toBe('TIMED_OUT\r\n');
  expect(await pop('due-tcp', 10)).toEqual(['long']);
  wire.close();
});

test('S3.1 S3.2 of a crowd that is due at once each goes to one consumer, while the clock takes them too', async () => {
  const both = await startTestSystem({}, { role: 'api' });
  const jobs = repeat(3_000, (n) => ({ topic: 'crowd', id: `c-${n}`, delay: 3, TTR: 600, body: n }));
  for (let at = 0; at < jobs.length; at += 1_000)
    expect((await both.api.jobs.job('add', { jobs: jobs.slice(at, at + 1_000) })).success).toBe(true);
  const got: string[] = [];
  const consume = async (count: number) => {
    while (got.length < jobs.length) {
      const { jobs: popped } = await both.api.jobs.job('pop', { topic: 'crowd', count });
      got.push(...popped.map((j: Json) => j.id));
      if (popped.length === 0) await sleep(20);
    }
  };
  await Promise.all([1, 1, 7, 100].map(consume));
  expect(new Set(got).size).toBe(jobs.length);
  const early = `select count(*)::integer from event e join item i on i.kind = e.kind and i.id = e.item_id
    where e.kind = 'job' and e.type in ('available', 'reserved') and e.at < i.available_at`;
  expect(await both.cell(early)).toBe(0);
  expect(await both.api.jobs.stats('crowd')).toMatchObject({ delayed: 0, ready: 0, reserved: 3_000 });
}, 60_000);

const addAll = (topic: string, ids: string[], more: object = {}) =>
  job('add', { jobs: ids.map((id) => ({ topic, id, TTR: 60, body: id, ...more })) });
const finishNext = (id: string, token: string, more: object = {}) => job('finish', { id, token, next: true, ...more });

test('S3.6 a finish with next hands out the next job of its topic, and a repeat the same one', async () => {
  await addAll('one', ['a', 'b', 'c']);
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
  await addAll('from', ['from-1', 'from-2']);
  await addAll('low', ['low-1'], { priority: 9 });
  await addAll('high', ['high-1'], { priority: 1 });
  const { token } = await job('pop', { topic: 'from' });
  const first = await finishNext('from-1', token, { topic: ['low', 'high', 'nothing'] });
  expect(first.next).toMatchObject({ id: 'high-1', topic: 'high' });
  expect((await finishNext('high-1', first.next.token, { topic: 'low' })).next).toMatchObject({ id: 'low-1' });
  expect(await stats('from')).toMatchObject({ ready: 1 });
});

test('S3.3 S3.6 where the finish is refused nothing is popped', async () => {
  await addAll('refused', ['r1', 'r2']);
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
  await addAll('wait', ['w1']);
  const { token } = await job('pop', { topic: 'wait' });
  const waiting = finishNext('w1', token, { wait: 20 });
  await eventually(async () => (await oneJob('w1')).state === 'finished');
  await addAll('wait', ['w2']);
  const { next } = await waiting;
  expect(next).toMatchObject({ id: 'w2', attempt: 1 });
  const gone = new AbortController();
  const body = JSON.stringify({ command: 'finish', id: 'w2', token: next.token, next: true, wait: 20 });
  const headers = { 'content-type': 'application/json' };
  const hung = fetch(`${api.url}/v1/jobs`, { method: 'POST', body, headers, signal: gone.signal }).catch(() => {});
  await eventually(async () => (await oneJob('w2')).state === 'finished');
  gone.abort();
  await hung;
  await addAll('wait', ['w3']);
  await eventually(async () => (await job('pop', { topic: 'wait', wait: 5 })).id === 'w3');
});

test('S3.6 fifty consumers who only finish and go on are handed each job once', async () => {
  const ids = numbered(600, 'beats-');
  await addAll('beats', ids);
  const seen: string[] = [];
  const consume = async () => {
    let held: Json | null = await job('pop', { topic: 'beats' });
    while (held?.id) {
      seen.push(held.id);
      held = (await finishNext(held.id, held.token)).next;
    }
  };
  await Promise.all(repeat(50, consume));
  expect(seen.toSorted()).toEqual(ids.toSorted());
  expect(await stats('beats')).toMatchObject({ finished: 600, total: 600 });
});
