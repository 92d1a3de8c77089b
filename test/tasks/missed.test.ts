import { expect, test } from 'vitest';
import { eventually, type Json, repeat } from '../support/client.ts';
import { opened, startReceiver } from '../support/receiver.ts';
import { startTestSystem } from '../support/system.ts';
import { HOUR_MS, inMs, MINUTE_MS } from '../support/times.ts';

const { api } = await startTestSystem();
const { addTask, addTemplate, completed, events, handed, next, occurrences, patchTask, pullAll, putGroup } = api.tasks;
const { work } = api.tasks;

await addTemplate('plain');
const ids = (tasks: Json[]) => tasks.map((t) => t.id);
const statesOf = async (id: string) =>
  (await occurrences(id, inMs(-24 * HOUR_MS), inMs(HOUR_MS))).map((o) => [o.state, o.stock]);

test('S4.6 look-back: all that was missed comes, however long ago the last completion; lookbackSeconds bounds new users only', async () => {
  await putGroup('away', ['yan', 'zed']);
  const hours = [60, 50, 40, 30, 20, 10];
  for (const h of hours)
    await addTask({
      ...{ id: `away-${h}`, executor: 'gid_away', dispatchTimes: 2, startTime: inMs(-h * HOUR_MS) },
      ...(h === 60 && { lookbackSeconds: 7 * 86_400 }),
    });
  const startTime = inMs(-59 * HOUR_MS - MINUTE_MS);
  await addTask({
    ...{ id: 'hourly', type: 'rotate', everyMinutes: 60, executor: 'uid_yan', startTime },
    lookbackSeconds: 7 * 86_400,
  });
  await work('yan');
  await patchTask('hourly', { lookbackSeconds: 60 });
  const all = await pullAll('yan');
  expect(ids(all.filter((t) => t.id !== 'hourly'))).toEqual(['away-50', 'away-40', 'away-30', 'away-20', 'away-10']);
  expect(all.filter((t) => t.id === 'hourly').map((t) => t.occurrence)).toEqual(
    repeat(60, (k) => inMs(k * HOUR_MS, startTime)),
  );
  await patchTask('away-60', { lookbackSeconds: 86_400 });
  expect(await next('zed', { exclude: ['away-20', 'away-10'] })).toMatchObject({
    ...{ task: null, reasons: { tooOld: 4, excluded: 2 } },
  });
  expect(ids(await pullAll('zed'))).toEqual(['away-20', 'away-10']);
});

test('S4.6 look-back: what lookbackSeconds withheld from a user never comes later, unless it has new stock', async () => {
  await addTask({ id: 'withheld', executor: 'uid_nia', startTime: inMs(-50 * HOUR_MS) });
  await addTask({ id: 'nia-first', executor: 'uid_nia', startTime: inMs(-HOUR_MS) });
  await work('nia');
  await addTask({ id: 'nia-older', executor: 'uid_nia', startTime: inMs(-60 * HOUR_MS) });
  expect(ids(await pullAll('nia'))).toEqual(['nia-older']);
  expect((await next('nia')).reasons).toMatchObject({ tooOld: 1, passed: 0 });
  for (const executor of ['uid_else', 'uid_nia']) await patchTask('withheld', { executor });
  expect(ids(await pullAll('nia'))).toEqual(['withheld']);
});

test('S4.6 look-back: what a call excluded comes at a later call that does not, by task and by occurrence', async () => {
  const startTime = inMs(-5 * HOUR_MS);
  await addTask({ id: 'skip-1', executor: 'uid_ola', startTime });
  await addTask({ id: 'skip-2', executor: 'uid_ola', startTime });
  await addTask({ id: 'skip-3', executor: 'uid_ola', startTime: inMs(-4 * HOUR_MS) });
  for (const n of [1, 2, 3]) await addTask({ id: `ola-${n}`, executor: 'uid_ola', startTime: inMs(-n * MINUTE_MS) });
  const exclude = ['skip-1', `skip-2/${startTime}`];
  // the second call may have them all but those: the third is excluded no more
  for (const [excluded, id] of [
    [[...exclude, 'skip-3'], 'ola-3'],
    [exclude, 'skip-3'],
    [exclude, 'ola-2'],
  ] as const) {
    const { task, logId } = await handed('ola', { exclude: excluded });
    expect(task.id).toBe(id);
    await completed('ola', logId);
  }
  expect(ids(await pullAll('ola'))).toEqual(['skip-1', 'skip-2', 'ola-1']);
});

test('S4.6 look-back: who joins a group gets what it had before, too', async () => {
  await putGroup('join', []);
  await addTask({ id: 'join', executor: 'gid_join', startTime: inMs(-3 * HOUR_MS) });
  await addTask({ id: 'zoe-own', executor: 'uid_zoe', startTime: inMs(-HOUR_MS) });
  await work('zoe');
  expect((await next('zoe')).task).toBeNull();
  await putGroup('join', ['zoe']);
  expect(ids(await pullAll('zoe'))).toEqual(['join']);
});

test('S4.2 what nobody got within maxLookbackSeconds is missed, never planned; raising the bound plans it again', async () => {
  const max = { maxLookbackSeconds: 2.5 * 3600, executor: 'uid_max-1' };
  await addTask({ ...max, id: 'max-once', startTime: inMs(-4 * HOUR_MS) });
  const startTime = inMs(-5 * HOUR_MS - MINUTE_MS);
  await addTask({ ...max, id: 'max-rotate', type: 'rotate', everyMinutes: 60, startTime });
  await eventually(async () => (await statesOf('max-once')).join() === 'missed,0');
  const missed = ['missed', 0];
  const due = ['due', 1];
  const planned = ['planned', 1];
  expect(await statesOf('max-rotate')).toEqual([missed, missed, missed, due, due, due, planned]);
  expect((await next('max-1', { exclude: ['max-rotate'] })).reasons).toMatchObject({ tooOld: 1, excluded: 3 });
  await patchTask('max-once', { maxLookbackSeconds: 4.5 * 3600 });
  await patchTask('max-rotate', { maxLookbackSeconds: null });
  expect(await statesOf('max-rotate')).toEqual([...repeat(6, () => due), planned]);
  expect(ids(await pullAll('max-1'))).toEqual(repeat(7, (n) => (n === 2 ? 'max-once' : 'max-rotate')));
});

const release = (uid: string, sent: object) => api.post(`/v1/clients/${uid}/release`, sent);

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

  // the first end is sent again as it was, to where the task's outcomes go by now
  const elsewhere = await startReceiver();
  await patchTask('more', { callback: elsewhere.callback });
  const at = `/v1/tasks/more/occurrences/${opened(received[0] as never).task.occurrence}/deliveries`;
  const { items } = (await api.get(at)).body;
  const first = items.find(({ version }: Json) => version === opened(received[0] as never).version);
  expect((await api.post(`${at}/${first.n}/redeliver`)).status).toBe(202);
  const again = await eventually(async () => elsewhere.received[0]);
  expect(again.body).toBe(received[0]?.body);
  expect(again.headers['webhook-id']).toBe(received[0]?.headers['webhook-id']);
});

test('S0.10 S4.8 a corrected callback of a task counts for what is pending', async () => {
  const wrong = await startReceiver(() => 500);
  const right = await startReceiver();
  await addTask({ id: 'moved-receiver', executor: 'uid_fay', callback: wrong.callback });
  await work('fay');
  await eventually(async () => wrong.received.length > 0);
  await patchTask('moved-receiver', { callback: right.callback });
  const message = await eventually(async () => right.received[0]);
  expect(message.headers['webhook-id']).toBe(wrong.received[0]?.headers['webhook-id']);
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
