import { expect, test } from 'vitest';
import { eventually, repeat } from '../support/client.ts';
import { startReceiver } from '../support/receiver.ts';
import { startTestSystem } from '../support/system.ts';
import { HOUR_MS, inMs } from '../support/times.ts';

const { api } = await startTestSystem();
const { addTask, addTemplate, completed, events, handed, next, occurrences, patchTask, pullAll, putGroup, work } =
  api.tasks;

await addTemplate('plain');
const release = (uid: string, sent: object) => api.post(`/v1/clients/${uid}/release`, sent);
const statesOf = async (id: string) =>
  (await occurrences(id, inMs(-24 * HOUR_MS), inMs(HOUR_MS))).map((o) => [o.state, o.stock]);

test('S4.3 dispatchTimes raised after the last dispatch was completed is new stock, and its end is delivered again', async () => {
  const { callback, received } = await startReceiver(() => 204);
  await putGroup('more', ['ann', 'ben']);
  await addTask({ id: 'more', executor: 'gid_more', callback });
  await work('ann');
  await eventually(async () => received.length === 1);
  expect(await statesOf('more')).toEqual([['completed', 0]]);
  await patchTask('more', { params: {} });
  expect((await next('ben')).task).toBeNull();
  await patchTask('more', { dispatchTimes: 2 });
  expect(await statesOf('more')).toEqual([['due', 1]]);
  expect((await next('ann')).reasons).toMatchObject({ done: 1 });
  await work('ben');
  await eventually(async () => received.length === 2);
  expect(await statesOf('more')).toEqual([['completed', 0]]);
});

test('S4.3 S4.4 blocking: stock that is added when all was completed goes to who had taken it, before anything else', async () => {
  await addTask({ id: 'again', executor: 'uid_cat', dispatch: 'blocking', startTime: inMs(-HOUR_MS) });
  await work('cat');
  await addTask({ id: 'again-earlier', executor: 'uid_cat', startTime: inMs(-2 * HOUR_MS) });
  await patchTask('again', { dispatchTimes: 3 });
  expect((await pullAll('cat')).map((t) => t.id)).toEqual(['again', 'again', 'again-earlier']);
});

test('S4.5 a user gives a task back: once, 50 at once too; it goes to others, and never to this user again', async () => {
  await putGroup('back', ['dan', 'eve']);
  await addTask({ id: 'back', executor: 'gid_back' });
  const { logId, task } = await handed('dan');
  const answers = await Promise.all(repeat(50, () => release('dan', { logId, reason: 'too far' })));
  for (const { status, body } of answers) expect([status, body]).toEqual([200, answers[0]?.body]);
  const types = (await events('back', task.occurrence)).map((e) => e.type);
  expect(types).toEqual(['created', 'dispatched', 'returned']);
  expect(await next('dan')).toMatchObject({ task: null, reasons: { done: 1 } });
  const eve = await handed('eve');
  expect(eve.task.id).toBe('back');
  await completed('eve', eve.logId);
  expect((await release('eve', { logId: eve.logId })).body).toMatchObject({ code: 'stale_log_id', current: null });
  expect((await release('eve', { logId })).body.code).toBe('stale_log_id');
  await addTask({ id: 'back-later', executor: 'uid_dan' });
  const later = await handed('dan');
  expect((await release('dan', { logId })).body).toMatchObject({ code: 'stale_log_id', current: later.logId });
  expect((await api.post('/v1/clients/dan/complete', { logId })).body.code).toBe('stale_log_id');
});

test('S4.5 what nobody else can take is returned; blocking: who gives it back is free, and may be served again', async () => {
  await addTask({ id: 'alone', executor: 'uid_fay' });
  await release('fay', { logId: (await handed('fay')).logId });
  expect((await next('fay')).task).toBeNull();
  expect(await statesOf('alone')).toEqual([['returned', 1]]);
  await patchTask('alone', { executor: 'uid_gus' });
  expect(await statesOf('alone')).toEqual([['due', 1]]);
  await addTask({ id: 'press', executor: 'uid_hal', dispatch: 'blocking', startTime: inMs(-HOUR_MS) });
  const { logId } = await handed('hal');
  await addTask({ id: 'press-earlier', executor: 'uid_hal', startTime: inMs(-2 * HOUR_MS) });
  await release('hal', { logId });
  expect((await pullAll('hal')).map((t) => t.id)).toEqual(['press-earlier', 'press']);
});

test('S4.3 an administrator takes back what a user has who left the group', async () => {
  await putGroup('left', ['ida', 'jon']);
  await addTask({ id: 'left', executor: 'gid_left' });
  await handed('ida');
  await putGroup('left', ['jon']);
  expect((await next('jon')).reasons).toMatchObject({ taken: 1 });
  const taken = await release('ida', { reason: 'has left' });
  expect(taken.status).toBe(200);
  expect((await release('ida', {})).body).toEqual(taken.body);
  await work('jon');
  expect((await release('nobody', {})).body).toMatchObject({ code: 'stale_log_id', current: null });
});
