import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { eventually, type Json, numbered } from '../support/client.ts';
import { rowsOf } from '../support/database.ts';
import { opened, type Received, SECRET, startReceiver } from '../support/receiver.ts';
import { startTestSystem } from '../support/system.ts';

const { api, running } = await startTestSystem();
const { job, oneJob, stats } = api.jobs;

/** A receiver that answers as `status` says for each job, and remembers how many it had at once. */
async function receiver(status: (job: Json) => number, workMs = 0) {
  const seen = { most: 0, open: 0 };
  const answer = async (_: number, call: Received) => {
    const { type, job } = opened(call);
    expect(type).toBe('job');
    seen.most = Math.max(seen.most, ++seen.open);
    await sleep(workMs);
    seen.open--;
    return status(job);
  };
  return { ...(await startReceiver(answer)), seen };
}

const add = (topic: string, ids: string[], more: object = {}) =>
  job('add', { jobs: ids.map((id) => ({ topic, id, TTR: 5, body: id, ...more })) });
const stateOf = async (id: string) => (await oneJob(id)).state;

test('S3.7 a receiver has as long as the TTR of its job, and a stop does not wait for it as long as that', async () => {
  const { callback, received } = await receiver((job) => (job.id === 'slow' ? 204 : 500), 35_000);
  const own = await startTestSystem();
  await own.api.put('/v1/topics/slow', { push: callback });
  const addSlow = (id: string) => own.api.jobs.job('add', { topic: 'slow', id, TTR: 600, body: id });
  await addSlow('slow');
  await eventually(async () => (await own.api.jobs.oneJob('slow')).state === 'finished', 60_000);
  await addSlow('hangs');
  await eventually(async () => received.length === 2);
  await own.stop();
  const left = 'select state, attempts from item where id = $1';
  expect(await rowsOf(own.databaseUrl, left, ['hangs'])).toEqual([{ state: 'held', attempts: 1 }]);
}, 120_000);

test('S3.7 jobs are pushed signed, 2xx finishes them, and never more at once than the topic allows', async () => {
  const { callback, received, seen } = await receiver(() => 204, 30);
  await api.put('/v1/topics/pushed', { push: { ...callback, concurrency: 3 } });
  const ids = numbered(30, 'p');
  await add('pushed', ids);
  await eventually(async () => (await stats('pushed')).finished === 30);
  expect(received.map((r) => opened(r).job.id).sort()).toEqual([...ids].sort());
  expect(seen.most).toBeLessThanOrEqual(3);
  expect(seen.most).toBeGreaterThan(1);
});

test('S0.3 S3.7 topics that are pushed do not count as waiting callers, and their waits are taken off no calls', async () => {
  const { callback } = await receiver(() => 204);
  await api.put('/v1/topics/no-caller', { push: callback });
  await add('no-caller', ['n1']);
  await eventually(async () => (await stateOf('n1')) === 'finished');
  const { waiters, load } = running.runtime;
  expect(waiters.size).toBe(0);
  await eventually(async () => load.calls === 0);
});

test('S3.7 what is refused comes again later with the same message id, and is buried after maxAttempts', async () => {
  const { callback, received } = await receiver((job) => (job.id === 'bad' ? 422 : 200));
  await api.put('/v1/topics/refused', { maxAttempts: 2, push: callback });
  await add('refused', ['bad', 'good']);
  await eventually(async () => (await stateOf('bad')) === 'buried');
  expect(await stateOf('good')).toBe('finished');
  const tries = received.filter((r) => opened(r).job.id === 'bad');
  expect(tries).toHaveLength(2);
  expect(new Set(tries.map((r) => r.headers['webhook-id'])).size).toBe(1);
  expect((await api.get('/v1/jobs/bad')).body.lastReason).toBe('the receiver answered 422');
});

test('S3.7 a receiver that is down is tried one job at a time, and served again when it is back', async () => {
  let up = false;
  const { callback, received } = await receiver(() => (up ? 200 : 503));
  await api.put('/v1/topics/down', { push: { ...callback, concurrency: 5 } });
  await add('down', numbered(40, 'd'));
  await eventually(async () => received.length >= 5);
  await sleep(1_500);
  expect(received.length).toBeLessThan(15);
  up = true;
  await eventually(async () => (await stats('down')).finished === 40, 50_000);
}, 70_000);

test('S3.7 without a target consumers pull, and a private target is refused unless allowed', async () => {
  const strict = await startTestSystem({ DOCKET_ALLOW_PRIVATE_CALLBACKS: '0' });
  const push = { url: 'http://10.0.0.1/', secret: SECRET };
  expect((await strict.api.put('/v1/topics/x', { push })).status).toBe(422);
  await add('pulled', ['l1']);
  expect((await job('pop', { topic: 'pulled' })).id).toBe('l1');
});
