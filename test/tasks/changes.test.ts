import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { eventually, type Json, numbered } from '../support/client.ts';
import { startTestSystem, startTwoSystems } from '../support/system.ts';
import { HOUR_MS, inMs } from '../support/times.ts';

const [first, second] = await startTwoSystems();
const { api, running } = first;
const { addRotation, addTask, addTemplate, complete, completed, deleteTask, dispatchedTo, dispatchLog } = api.tasks;
const { events, eventTypes, handed, next, occurrences, patchTask, pullAll, putGroup, work } = api.tasks;
await addTemplate('plain');
await addTemplate('text', { text: { type: 'string' } });
await putGroup('pair', ['ann', 'ben', 'cat']);

test('S4.3 edits between dispatch and completion: what was given stays as it was, what comes next is as it is', async () => {
  const text = (value: string) => ({ templateId: 'text', params: { text: value } });
  await addTask({ id: 'edit', executor: 'gid_pair', dispatchTimes: 3, ...text('old') });
  const ann = await handed('ann');
  await patchTask('edit', { params: { text: 'new' }, dispatch: 'blocking', dispatchTimes: 2 });
  expect(await handed('ann')).toMatchObject({ redo: true, logId: ann.logId, task: { params: { text: 'old' } } });
  expect((await handed('ben')).task.params).toEqual({ text: 'new' });
  expect((await next('cat')).reasons).toMatchObject({ taken: 1 });
  await completed('ann', ann.logId, { done: true });
  const log = (await dispatchLog('taskId=edit')).map((l) => `${l.type} ${l.uid} ${l.params.text}`);
  expect(log).toEqual(['dispatched ann old', 'dispatched ben new', 'completed ann old']);
  // more than there were: what is there is handed out at once
  await patchTask('edit', { dispatchTimes: 3 });
  expect((await handed('ann')).task.id).toBe('edit');
});

test('S4.3 another executor: from the next pull on, also for what is left of an occurrence', async () => {
  await addTask({ id: 'move', executor: 'gid_pair', dispatchTimes: 2 });
  const { logId } = await handed('cat');
  await patchTask('move', { executor: 'uid_dan' });
  expect((await next('ben', { exclude: ['edit'] })).task?.id).not.toBe('move');
  expect((await handed('dan')).task.id).toBe('move');
  await completed('cat', logId);
});

test('S4.2 another start, and back again: the occurrence is where the task says, never twice', async () => {
  const [soon, later] = [inMs(HOUR_MS), inMs(2 * HOUR_MS)];
  await addTask({ id: 'shift', executor: 'uid_eve', startTime: soon });
  expect((await next('eve')).nextAt).toBe(soon);
  await patchTask('shift', { startTime: later });
  expect((await next('eve')).nextAt).toBe(later);
  await patchTask('shift', { startTime: soon });
  expect((await next('eve')).nextAt).toBe(soon);
  const past = inMs(-1000);
  await patchTask('shift', { startTime: past });
  const { task, logId } = await handed('eve');
  expect(task.occurrence).toBe(past);
  await completed('eve', logId);
  await patchTask('shift', { startTime: soon });
  await patchTask('shift', { startTime: past });
  expect(await next('eve')).toMatchObject({ task: null, nextAt: null });
  const moves = ['cancelled', 'rescheduled', 'cancelled', 'rescheduled', 'cancelled'];
  expect(await eventTypes('shift', soon)).toEqual(['created', ...moves]);
});

test('S4.2 another rhythm: what was not dispatched follows it, what was done stays done', async () => {
  const startTime = inMs(-4 * HOUR_MS - 1000);
  await addRotation({ id: 'rhythm', startTime, executor: 'uid_fay' });
  const at = (hours: number) => inMs(hours * HOUR_MS, startTime);
  await work('fay');
  const second = await handed('fay');
  await patchTask('rhythm', { everyMinutes: 120 });
  expect(second.task.occurrence).toBe(at(1));
  await completed('fay', second.logId);
  expect((await pullAll('fay')).map((t) => t.occurrence)).toEqual([at(2), at(4)]);
  expect((await next('fay')).nextAt).toBe(at(6));
  await patchTask('rhythm', { everyMinutes: 60 });
  expect((await pullAll('fay')).map((t) => t.occurrence)).toEqual([at(3)]);
  const states = (await occurrences('rhythm', at(0), at(6))).map((o) => [o.occurrence, o.state]);
  expect(states).toEqual([...[0, 1, 2, 3, 4].map((h) => [at(h), 'completed']), [at(5), 'planned']]);
});

test('S4.2 a task whose end has come goes on when the end is moved', async () => {
  const startTime = inMs(-3 * HOUR_MS - 1000);
  await addRotation({ id: 'ended', executor: 'uid_gil', startTime, endTime: inMs(-2.5 * HOUR_MS) });
  expect(await pullAll('gil')).toHaveLength(1);
  expect((await next('gil')).nextAt).toBeNull();
  await patchTask('ended', { endTime: null });
  expect(await pullAll('gil')).toHaveLength(3);
  expect((await next('gil')).nextAt).toBe(inMs(4 * HOUR_MS, startTime));
});

test('S4.9 a deleted task is dispatched no more; what is being done may be completed; the same again is the same', async () => {
  await addRotation({ id: 'gone', executor: 'gid_last', dispatchTimes: 2, startTime: inMs(-3 * HOUR_MS) });
  await putGroup('last', ['hal', 'ida']);
  const { logId } = await handed('hal');
  const [a, b] = await Promise.all([deleteTask('gone'), deleteTask('gone')]);
  expect([a.state, b.state]).toEqual(['deleted', 'deleted']);
  expect(await next('ida')).toMatchObject({ task: null, nextAt: null });
  expect((await handed('hal')).logId).toBe(logId);
  await completed('hal', logId);
  expect(await next('hal')).toMatchObject({ task: null, nextAt: null });
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
  await addTask({ id: 'many', executor: 'uid_jon', templateId: 'text', params: { text: '' } });
  const changes = numbered(50).map((text, n) =>
    patchTask('many', n % 2 ? { params: { text } } : { dispatchTimes: n + 1 }),
  );
  await Promise.all(changes);
  const { body } = await api.get('/v1/tasks/many');
  const { task, logId } = await handed('jon');
  expect(task.params).toEqual(body.params);
  // none has taken back what another one did
  for (const e of (await events('many', task.occurrence)).filter((e) => e.type === 'changed'))
    expect(['dispatchTimes', 'params']).toContain(Object.keys(e.data.changed ?? { params: 1 }).join());
  await completed('jon', logId);
});

test('S4.11 pulls, completions and changes side by side: stock and log agree in the end, to the last one', async () => {
  const users = numbered(12, 'mix-');
  await putGroup('mix', users);
  for (let n = 0; n < 20; n++) await addTask({ id: `mix-${n}`, executor: 'gid_mix', dispatchTimes: 4 });
  let over = false;
  const admin = (async () => {
    for (let n = 0; !over; n = (n + 1) % 20) {
      await patchTask(`mix-${n}`, { dispatchTimes: 3 + (n % 3) });
      await putGroup('mix', n % 2 ? users : users.slice(0, 8));
    }
    await putGroup('mix', users);
  })();
  const taken = await Promise.all(users.map((uid) => pullAll(uid)));
  over = true;
  await admin;
  const more = await Promise.all(users.map((uid) => pullAll(uid)));
  const all = [...taken.flat(), ...more.flat()].map((t) => t.id);
  for (let n = 0; n < 20; n++) {
    const { dispatchTimes } = (await api.get(`/v1/tasks/mix-${n}`)).body;
    const given = all.filter((id) => id === `mix-${n}`).length;
    const log = await dispatchLog(`taskId=mix-${n}`);
    expect(log.filter((l) => l.type === 'dispatched')).toHaveLength(given);
    expect(new Set(log.filter((l) => l.type === 'completed').map((l) => l.uid)).size).toBe(given);
    expect(given).toBeGreaterThanOrEqual(Math.min(dispatchTimes, 3));
    expect(given).toBeLessThanOrEqual(5);
  }
  expect((await complete('mix-0', 'lt_x')).body.current).toBeNull();
});

test('S4.11 stock is stock, however often its task is changed while users of two servers pull', async () => {
  const users = numbered(12, 'steady-');
  await putGroup('steady', users);
  const ids = numbered(40, 'steady-task-');
  for (const id of ids) await addTask({ id, executor: 'gid_steady', dispatchTimes: 4 });
  let over = false;
  const admins = [0, 1, 2, 3].map(async (k) => {
    for (let n = k; !over; n += 4) await patchTask(ids[n % ids.length] ?? '', { answerSeconds: 3600 + n });
  });
  await Promise.all(users.map((uid, n) => (n % 2 ? api : second.api).tasks.pullAll(uid)));
  over = true;
  await Promise.all(admins);
  for (const id of ids) {
    const uids = await dispatchedTo(id);
    expect([id, uids.length, new Set(uids).size]).toEqual([id, 4, 4]);
  }
});

/** A pull that waits, once it has taken its place. */
async function waiting(uid: string, { api, running } = first, waitSeconds = 20) {
  const before = running.runtime.waiters.size;
  const answer = api.tasks.next(uid, { waitSeconds });
  await eventually(async () => running.runtime.waiters.size > before);
  return { answer };
}

test('S4.3 a waiting user hears of a task for him or for his group, added on either of two servers', async () => {
  await putGroup('wait', ['w-ann', 'w-ben']);
  for (const [n, system] of [first, second].entries()) {
    const { answer } = await waiting('w-ann', system);
    await addTask({ id: `wait-${n}`, executor: 'gid_wait' });
    const { task, logId } = await answer;
    expect(task).not.toBeNull();
    await completed('w-ann', logId);
  }
  const own = await waiting('w-ben');
  await second.api.tasks.addTask({ id: 'wait-own', executor: 'uid_w-ben' });
  expect((await own.answer).task.id).toBe('wait-own');
});

test('S4.3 a waiting user hears that he became a member, and of a task that was moved to him', async () => {
  await addTask({ id: 'joined', executor: 'gid_join' });
  await putGroup('join', []);
  const { answer } = await waiting('w-cat');
  await api.post('/v1/groups/join/members', { add: ['w-cat'] });
  expect((await answer).task.id).toBe('joined');
  await addTask({ id: 'moved', executor: 'uid_nobody' });
  const other = await waiting('w-dan');
  await patchTask('moved', { executor: 'uid_w-dan' });
  expect((await other.answer).task.id).toBe('moved');
});

test('S4.4 of 20 who wait, 6 are called and get it; the others go on waiting, and hear of the next one', async () => {
  const users = numbered(20, 'line-');
  await putGroup('line', users);
  const calls = await Promise.all(users.map((uid) => waiting(uid, first, 10)));
  const answers = calls.map((c) => c.answer);
  await addTask({ id: 'line-1', executor: 'gid_line', dispatchTimes: 6, startTime: inMs(300) });
  await addTask({ id: 'line-2', executor: 'gid_line', dispatchTimes: 4, startTime: inMs(900) });
  const got = (await Promise.all(answers)).map((a) => a.task?.id ?? null);
  expect(got.filter((id) => id === 'line-1')).toHaveLength(6);
  expect(got.filter((id) => id === 'line-2')).toHaveLength(4);
  expect(got.filter((id) => id === null)).toHaveLength(10);
});

test('S4.5 a wait that nothing comes of says when there will be something; one whose caller went away dispatches nothing', async () => {
  const startTime = inMs(3600_000);
  await addTask({ id: 'far', executor: 'uid_w-eve', startTime });
  const nothing = { task: null, nextAt: startTime, reasons: { notYet: 1 } };
  expect(await next('w-eve', { waitSeconds: 0.5 })).toMatchObject(nothing);
  const gone = new AbortController();
  const headers = { 'content-type': 'application/json' };
  const init = { headers, body: JSON.stringify({ waitSeconds: 30 }), signal: gone.signal };
  const left = api.raw('POST', '/v1/clients/w-flo/next', init).catch(() => null);
  await eventually(async () => running.runtime.waiters.size === 1);
  gone.abort();
  await left;
  await eventually(async () => running.runtime.waiters.size === 0);
  await addTask({ id: 'flo', executor: 'uid_w-flo' });
  await sleep(300);
  expect(await handed('w-flo')).toMatchObject({ redo: false, task: { id: 'flo' } });
});

test('S4.4 what a late completion finds overdue, before any clock does, is for those who wait', async () => {
  const alone = await startTestSystem({ DOCKET_PACEMAKER: 'off' });
  const on = alone.api.tasks;
  await on.addTemplate('plain');
  await on.putGroup('late', ['gil', 'hal']);
  await on.addTask({ id: 'late', executor: 'gid_late', answerSeconds: 0.4 });
  // the durable timer is kept from being first: its workflow is over
  const { task, logId } = await on.handed('gil');
  const workflow = alone.running.runtime.client.workflow.getHandle(`task/late/${task.occurrence}`);
  await eventually(() => workflow.describe());
  await workflow.terminate();
  // nor is the slow poll to be
  alone.running.runtime.waiters.pollSome = () => {};
  let given: Json;
  const waits = on.next('hal', { waitSeconds: 60 }).then((answer) => {
    given = answer;
  });
  await sleep(600);
  expect((await on.complete('gil', logId)).body).toMatchObject({ code: 'stale_log_id', current: null });
  await eventually(async () => given?.task.id === 'late', 15_000);
  await waits;
});
