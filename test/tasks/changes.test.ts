import { expect, test } from 'vitest';

import { type Json, numbered } from '../support/client.ts';
import { startTestSystem, testStores } from '../support/system.ts';
import {
  addTask,
  addTemplate,
  complete,
  completed,
  deleteTask,
  dispatchLog,
  HOUR_MS,
  handed,
  inMs,
  next,
  occurrences,
  patchTask,
  pullAll,
  putGroup,
} from '../support/tasks.ts';

const stores = await testStores();
const { api } = await startTestSystem({}, { stores });
const other = await startTestSystem({}, { role: 'api', stores });
await addTemplate(api, 'plain');
await addTemplate(api, 'text', { text: { type: 'string' } });
await putGroup(api, 'pair', ['ann', 'ben', 'cat']);

test('S4.3 edits between dispatch and completion: what was given stays as it was, what comes next is as it is', async () => {
  const text = (value: string) => ({ templateId: 'text', params: { text: value } });
  await addTask(api, { id: 'edit', executor: 'gid_pair', dispatchTimes: 3, ...text('old') });
  const ann = await handed(api, 'ann');
  await patchTask(api, 'edit', { params: { text: 'new' }, dispatch: 'blocking', dispatchTimes: 2 });
  expect(await handed(api, 'ann')).toMatchObject({ redo: true, logId: ann.logId, task: { params: { text: 'old' } } });
  expect((await handed(api, 'ben')).task.params).toEqual({ text: 'new' });
  expect((await next(api, 'cat')).reasons).toMatchObject({ taken: 1 });
  await completed(api, 'ann', ann.logId, { done: true });
  const log = (await dispatchLog(api, 'taskId=edit')).map((l) => [l.type, l.uid, l.params.text]);
  expect(log).toEqual([
    ['dispatched', 'ann', 'old'],
    ['dispatched', 'ben', 'new'],
    ['completed', 'ann', 'old'],
  ]);
  // more than there were: what is there is handed out at once
  await patchTask(api, 'edit', { dispatchTimes: 3 });
  expect((await handed(api, 'ann')).task.id).toBe('edit');
});

test('S4.3 another executor: from the next pull on, also for what is left of an occurrence', async () => {
  await addTask(api, { id: 'move', executor: 'gid_pair', dispatchTimes: 2 });
  const { logId } = await handed(api, 'cat');
  await patchTask(api, 'move', { executor: 'uid_dan' });
  expect((await next(api, 'ben', { exclude: ['edit'] })).task?.id).not.toBe('move');
  expect((await handed(api, 'dan')).task.id).toBe('move');
  await completed(api, 'cat', logId);
});

test('S4.2 another start, and back again: the occurrence is where the task says, never twice', async () => {
  const [soon, later] = [inMs(HOUR_MS), inMs(2 * HOUR_MS)];
  await addTask(api, { id: 'shift', executor: 'uid_eve', startTime: soon });
  expect((await next(api, 'eve')).nextAt).toBe(soon);
  await patchTask(api, 'shift', { startTime: later });
  expect((await next(api, 'eve')).nextAt).toBe(later);
  await patchTask(api, 'shift', { startTime: soon });
  expect((await next(api, 'eve')).nextAt).toBe(soon);
  const past = inMs(-1000);
  await patchTask(api, 'shift', { startTime: past });
  const { task, logId } = await handed(api, 'eve');
  expect(task.occurrence).toBe(past);
  await completed(api, 'eve', logId);
  await patchTask(api, 'shift', { startTime: soon });
  await patchTask(api, 'shift', { startTime: past });
  expect(await next(api, 'eve')).toMatchObject({ task: null, nextAt: null });
  const { body } = await api.get(`/v1/tasks/shift/occurrences/${soon}/events`);
  expect(body.items.map((e: { type: string }) => e.type)).toEqual([
    'created',
    'cancelled',
    'rescheduled',
    'cancelled',
    'rescheduled',
    'cancelled',
  ]);
});

test('S4.2 another rhythm: what was not dispatched follows it, what was done stays done', async () => {
  const startTime = inMs(-4 * HOUR_MS - 1000);
  await addTask(api, { id: 'rhythm', type: 'rotate', everyMinutes: 60, startTime, executor: 'uid_fay' });
  const at = (hours: number) => new Date(Date.parse(startTime) + hours * HOUR_MS).toISOString();
  await completed(api, 'fay', (await handed(api, 'fay')).logId);
  const second = await handed(api, 'fay');
  await patchTask(api, 'rhythm', { everyMinutes: 120 });
  expect(second.task.occurrence).toBe(at(1));
  await completed(api, 'fay', second.logId);
  expect((await pullAll(api, 'fay')).map((t) => t.occurrence)).toEqual([at(2), at(4)]);
  expect((await next(api, 'fay')).nextAt).toBe(at(6));
  await patchTask(api, 'rhythm', { everyMinutes: 60 });
  expect((await pullAll(api, 'fay')).map((t) => t.occurrence)).toEqual([at(3)]);
  const states = (await occurrences(api, 'rhythm', at(0), at(6))).map((o) => [o.occurrence, o.state]);
  expect(states).toEqual([...[0, 1, 2, 3, 4].map((h) => [at(h), 'completed']), [at(5), 'planned']]);
});

test('S4.2 a task whose end has come goes on when the end is moved', async () => {
  const startTime = inMs(-3 * HOUR_MS - 1000);
  await addTask(api, {
    id: 'ended',
    type: 'rotate',
    everyMinutes: 60,
    startTime,
    endTime: inMs(-2.5 * HOUR_MS),
    executor: 'uid_gil',
  });
  expect(await pullAll(api, 'gil')).toHaveLength(1);
  expect((await next(api, 'gil')).nextAt).toBeNull();
  await patchTask(api, 'ended', { endTime: null });
  expect(await pullAll(api, 'gil')).toHaveLength(3);
  expect((await next(api, 'gil')).nextAt).toBe(new Date(Date.parse(startTime) + 4 * HOUR_MS).toISOString());
});

test('S4.9 a deleted task is dispatched no more; what is being done may be completed; the same again is the same', async () => {
  await addTask(api, {
    id: 'gone',
    type: 'rotate',
    everyMinutes: 60,
    startTime: inMs(-3 * HOUR_MS),
    executor: 'gid_last',
    dispatchTimes: 2,
  });
  await putGroup(api, 'last', ['hal', 'ida']);
  const { logId } = await handed(api, 'hal');
  const [a, b] = await Promise.all([deleteTask(api, 'gone'), deleteTask(api, 'gone')]);
  expect([a.state, b.state]).toEqual(['deleted', 'deleted']);
  expect(await next(api, 'ida')).toMatchObject({ task: null, nextAt: null });
  expect((await handed(api, 'hal')).logId).toBe(logId);
  await completed(api, 'hal', logId);
  expect(await next(api, 'hal')).toMatchObject({ task: null, nextAt: null });
  expect((await api.patch('/v1/tasks/gone', { dispatchTimes: 3 })).body).toMatchObject({
    status: 409,
    code: 'not_open',
    state: 'deleted',
  });
  expect((await api.get('/v1/tasks/gone')).body.state).toBe('deleted');
  expect((await api.get('/v1/tasks?executor=gid_last')).body.items).toEqual([]);
  expect((await api.get('/v1/tasks?executor=gid_last&state=deleted')).body.items).toHaveLength(1);
  expect((await api.raw('DELETE', '/v1/tasks/none')).status).toBe(404);
});

test('S4.11 50 changes of one task at once all take place, one after the other', async () => {
  await addTask(api, { id: 'many', executor: 'uid_jon', templateId: 'text', params: { text: '' } });
  const changes = numbered(50).map((text, n) =>
    patchTask(api, 'many', n % 2 ? { params: { text } } : { dispatchTimes: n + 1 }),
  );
  await Promise.all(changes);
  const { body } = await api.get('/v1/tasks/many');
  const { task, logId } = await handed(api, 'jon');
  expect(task.params).toEqual(body.params);
  // none has taken back what another one did
  const events = (await api.get(`/v1/tasks/many/occurrences/${task.occurrence}/events?limit=500`)).body.items;
  for (const e of events.filter((e: Json) => e.type === 'changed'))
    expect(['dispatchTimes', 'params']).toContain(Object.keys(e.data.changed ?? { params: 1 }).join());
  await completed(api, 'jon', logId);
});

test('S4.11 pulls, completions and changes side by side: stock and log agree in the end, to the last one', async () => {
  const users = numbered(12, 'mix-');
  await putGroup(api, 'mix', users);
  for (let n = 0; n < 20; n++) await addTask(api, { id: `mix-${n}`, executor: 'gid_mix', dispatchTimes: 4 });
  let over = false;
  const admin = (async () => {
    for (let n = 0; !over; n = (n + 1) % 20) {
      await patchTask(api, `mix-${n}`, { dispatchTimes: 3 + (n % 3) });
      await putGroup(api, 'mix', n % 2 ? users : users.slice(0, 8));
    }
    await putGroup(api, 'mix', users);
  })();
  const taken = await Promise.all(users.map((uid) => pullAll(api, uid)));
  over = true;
  await admin;
  const more = await Promise.all(users.map((uid) => pullAll(api, uid)));
  const all = [...taken.flat(), ...more.flat()].map((t) => t.id);
  for (let n = 0; n < 20; n++) {
    const { dispatchTimes } = (await api.get(`/v1/tasks/mix-${n}`)).body;
    const given = all.filter((id) => id === `mix-${n}`).length;
    const log = await dispatchLog(api, `taskId=mix-${n}`);
    expect(log.filter((l) => l.type === 'dispatched')).toHaveLength(given);
    expect(new Set(log.filter((l) => l.type === 'completed').map((l) => l.uid)).size).toBe(given);
    expect(given).toBeGreaterThanOrEqual(Math.min(dispatchTimes, 3));
    expect(given).toBeLessThanOrEqual(5);
  }
  expect((await complete(api, 'mix-0', 'lt_x')).body.current).toBeNull();
});

test('S4.11 stock is stock, however often its task is changed while users of two servers pull', async () => {
  const users = numbered(12, 'steady-');
  await putGroup(api, 'steady', users);
  const ids = numbered(40, 'steady-task-');
  for (const id of ids) await addTask(api, { id, executor: 'gid_steady', dispatchTimes: 4 });
  let over = false;
  const admins = [0, 1, 2, 3].map(async (k) => {
    for (let n = k; !over; n += 4) await patchTask(api, ids[n % ids.length] ?? '', { answerSeconds: 3600 + n });
  });
  await Promise.all(users.map((uid, n) => pullAll(n % 2 ? api : other.api, uid)));
  over = true;
  await Promise.all(admins);
  for (const id of ids) {
    const uids = (await dispatchLog(api, `taskId=${id}`)).filter((l) => l.type === 'dispatched').map((l) => l.uid);
    expect([id, uids.length, new Set(uids).size]).toEqual([id, 4, 4]);
  }
});
