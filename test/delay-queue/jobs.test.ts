import { expect, test } from 'vitest';
import { eventually, type Json, repeat } from '../support/client.ts';
import { startTestSystem } from '../support/system.ts';
import { ADDED, DONE, delayQueueClient, failed } from './client.ts';

const { api, running } = await startTestSystem({ DELAY_QUEUE_PORT: '0' }, { role: 'api' });
const { push, pop, finish, remove, get } = delayQueueClient(running.delayQueue?.port ?? 0);

const command = async (name: string, fields: object): Promise<Json> =>
  (await api.post('/v1/jobs', { command: name, ...fields })).body;
const stateOf = async (id: string) => (await api.get(`/v1/jobs/${encodeURIComponent(id)}`)).body.state;

test('S3.8 pushed, popped when its delay is over, finished', async () => {
  expect(await push({ id: '15702398321' })).toEqual(ADDED);
  expect(await stateOf('15702398321')).toBe('delayed');
  const popped = await pop('order');
  expect(popped).toEqual({ ...DONE, data: { id: '15702398321', body: '{"uid": 10829378}' } });
  expect(await finish('15702398321')).toEqual(DONE);
  expect(await stateOf('15702398321')).toBe('finished');
  for (const repeated of ['15702398321', 'unknown']) expect(await finish(repeated)).toEqual(DONE);
});

test('S3.8 get shows an open job, with the second at which it is due', async () => {
  expect(await push({ id: 'shown', topic: 'get', delay: 3600, ttr: 120, body: 'b' })).toEqual(ADDED);
  const { availableAt } = (await api.get('/v1/jobs/shown')).body;
  const delay = Math.floor(Date.parse(availableAt) / 1000);
  expect(await get('shown')).toEqual({ ...DONE, data: { topic: 'get', id: 'shown', delay, ttr: 120, body: 'b' } });
  expect(await remove('shown')).toEqual(DONE);
  for (const id of ['shown', 'never pushed']) expect(await get(id)).toEqual(DONE);
});

test('S3.8 a deleted job is not handed out, in whatever state it was', async () => {
  await push({ id: 'delayed', topic: 'deleted', delay: 3600 });
  await push({ id: 'held', topic: 'deleted' });
  expect((await pop('deleted')).data.id).toBe('held');
  for (const id of ['delayed', 'held', 'unknown', 'delayed']) expect(await remove(id)).toEqual(DONE);
  for (const id of ['delayed', 'held']) expect(await stateOf(id)).toBe('deleted');
});

test('S3.8 a job that is not finished within its TTR is popped again', async () => {
  await push({ id: 'again', topic: 'ttr', ttr: 1 });
  expect((await pop('ttr')).data.id).toBe('again');
  expect((await pop('ttr')).data.id).toBe('again');
  expect((await api.get('/v1/jobs/again')).body).toMatchObject({ state: 'reserved', attempts: 2, TTR: 1 });
});

test('S3.8 of several topics the first goes first', async () => {
  for (const topic of ['low', 'high']) await command('add', { topic, id: topic, delay: 0, TTR: 60, body: topic });
  expect((await pop('none, high,low')).data).toEqual({ id: 'high', body: 'high' });
  expect((await pop('high,low')).data.id).toBe('low');
});

test('S3.8 50 callers who pop at once get 50 different jobs', async () => {
  const ids = repeat(50, (n) => `crowd-${n}`);
  const popping = ids.map(() => pop('crowd'));
  for (const id of ids) expect(await push({ id, topic: 'crowd' })).toEqual(ADDED);
  expect((await Promise.all(popping)).map(({ data }) => data.id).sort()).toEqual(ids.sort());
});

test('S3.8 a pop waits for a job, and one who hangs up takes none with them', async () => {
  const gone = new AbortController();
  const call = pop('waiting', { signal: gone.signal });
  await eventually(async () => running.runtime.waiters.size === 1);
  gone.abort();
  await expect(call).rejects.toThrow();
  await eventually(async () => running.runtime.waiters.size === 0);
  await push({ id: 'kept', topic: 'waiting' });
  expect((await pop('waiting')).data.id).toBe('kept');
});

test('S3.8 jobs of both APIs are the same: JSON is its text, bytes keep their form', async () => {
  await push({ id: 'over-v1', topic: 'mixed', body: 'Grüße \u0000' });
  const popped = await command('pop', { topic: 'mixed', wait: 20 });
  expect([popped.id, popped.value]).toEqual(['over-v1', { $base64: Buffer.from('Grüße \0').toString('base64') }]);
  expect(await command('release', { id: 'over-v1', token: popped.token })).toMatchObject({ success: true });
  expect((await pop('mixed')).data.body).toBe('Grüße \0');
  for (const [id, body, text] of [
    ['json', { order: 1 }, '{"order":1}'],
    ['bytes', { $base64: '/w==' }, '{"$base64":"/w=="}'],
  ] as const) {
    await command('add', { topic: id, id, delay: 0, TTR: 60, body });
    expect((await pop(id)).data).toEqual({ id, body: text });
    expect((await get(id)).data.body).toBe(text);
  }
});

test('S3.8 finish ends the job whoever has it, and a token that is no longer live does nothing', async () => {
  await push({ id: 'fence', topic: 'fence', ttr: 1 });
  await pop('fence');
  const current = await eventually(async () => {
    const popped = await command('pop', { topic: 'fence', wait: 5 });
    return popped.id ? popped : undefined;
  });
  expect(await finish('fence')).toEqual(DONE);
  const late = await command('finish', { id: 'fence', token: current.token });
  expect(late).toMatchObject({ success: false, code: 'not_open' });
});

test('S3.8 a push that is repeated is fine while the job is open; one that is over begins anew', async () => {
  const once = { id: 'once', topic: 'once' };
  for (let n = 0; n < 2; n++) expect(await push(once)).toEqual(ADDED);
  expect(await push({ ...once, body: 'other' })).toEqual(failed('job once exists with other content'));
  await pop('once');
  await finish('once');
  expect(await push(once)).toEqual(ADDED);
  expect((await pop('once')).data.id).toBe('once');
  await finish('once');
  await api.put('/v1/topics/once', { ids: 'once' });
  expect(await push(once)).toMatchObject({ code: 1, message: expect.stringMatching(/^job once finished at /) });
});
