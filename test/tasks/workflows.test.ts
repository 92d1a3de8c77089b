import { expect, test } from 'vitest';
import { eventually, type Json } from '../support/client.ts';
import { opened, startReceiver } from '../support/receiver.ts';
import { startTestSystem } from '../support/system.ts';
import { HOUR_MS, inMs, MINUTE_MS, msBetween } from '../support/times.ts';

const { api, running } = await startTestSystem();
const { addRotation, addTask, addTemplate, complete, completed, events, handed, next, putGroup, work } = api.tasks;
await addTemplate('plain', { n: { type: 'number', required: false } });
await putGroup('flow', ['ann', 'ben', 'cat']);

const workflow = async (id: string, occurrence: string): Promise<Json> =>
  (await api.get(`/v1/tasks/${id}/occurrences/${occurrence}/workflow`)).body;
const handle = (id: string) => running.runtime.client.workflow.getHandle(id);
const inStatus = (id: string, occurrence: string, status: string) =>
  eventually(async () => {
    const found = await workflow(id, occurrence);
    return found.status === status && found;
  });
const status = async (id: string) => (await handle(id).describe()).status.name;

test('S4.2 each occurrence has a workflow, which knows what it is, and ends with it', async () => {
  const { startTime } = await addTask({ id: 'flow', executor: 'gid_flow', dispatchTimes: 2 });
  const running = await inStatus('flow', startTime, 'running');
  expect(running).toMatchObject({ workflowId: `task/flow/${startTime}`, snapshot: { state: 'due' } });
  for (const uid of ['ann', 'ben']) await work(uid);
  await inStatus('flow', startTime, 'completed');
  // the same instant, written in another zone
  const other = startTime.replace('Z', '%2B00:00');
  expect((await workflow('flow', other)).workflowId).toBe(`task/flow/${startTime}`);
  expect((await api.get('/v1/tasks/flow/occurrences/2031-01-01T00:00:00Z/workflow')).status).toBe(404);
});

test('S4.9 an operator cancels an occurrence: what is out is given back and no longer completed', async () => {
  const { startTime } = await addTask({ id: 'op', executor: 'gid_flow', dispatchTimes: 3 });
  const { logId } = await handed('ann');
  await inStatus('op', startTime, 'running');
  await handle(`task/op/${startTime}`).signal('cancel', { reason: 'rain', by: 'olga' });
  await inStatus('op', startTime, 'completed');
  expect((await complete('ann', logId)).body).toMatchObject({ code: 'stale_log_id', current: null });
  expect((await next('ben')).task).toBeNull();
  expect((await events('op', startTime)).slice(-2)).toMatchObject([
    { type: 'returned', actor: 'olga' },
    { type: 'cancelled', actor: 'olga', data: { reason: 'rain' } },
  ]);
});

test('S4.9 an operator cancels a rotation, by signal or by cancelling its workflow: the task is deleted', async () => {
  for (const [id, ask] of [
    ['turn-signal', () => handle('rotation/turn-signal').signal('cancel', { reason: 'over', by: 'olga' })],
    ['turn-cancel', () => handle('rotation/turn-cancel').cancel()],
  ] as const) {
    await addRotation({ id, executor: `uid_${id}`, startTime: inMs(-HOUR_MS) });
    await eventually(async () => (await status(`rotation/${id}`)) === 'RUNNING');
    await ask();
    await eventually(async () => (await status(`rotation/${id}`)) === 'COMPLETED');
    expect((await api.get(`/v1/tasks/${id}`)).body.state).toBe('deleted');
    expect(await next(id)).toMatchObject({ task: null, nextAt: null });
  }
});

test('S4.2 a task whose time was moved away and back has a workflow again', async () => {
  const soon = inMs(2 * HOUR_MS);
  await addTask({ id: 'back', executor: 'uid_back', startTime: soon });
  await inStatus('back', soon, 'running');
  await api.patch('/v1/tasks/back', { startTime: inMs(3 * HOUR_MS) });
  await inStatus('back', soon, 'completed');
  await api.patch('/v1/tasks/back', { startTime: soon });
  await inStatus('back', soon, 'running');
});

test('S4.8 the end of an occurrence is told to its callback, signed, with what was completed', async () => {
  const receiver = await startReceiver();
  const { callback } = receiver;
  const sent = { id: 'tell', executor: 'gid_flow', params: { n: 7 } };
  const { startTime } = await addTask({ ...sent, dispatchTimes: 2, callback });
  const logIds: string[] = [];
  for (const uid of ['ann', 'ben']) {
    const { logId } = await handed(uid);
    logIds.push(logId);
    await completed(uid, logId, { by: uid });
  }
  const message = await eventually(async () => receiver.received[0]);
  const last = { uid: 'ben', logId: logIds[1], result: { by: 'ben' } };
  const completions = ['ann', 'ben'].map((uid, n) => ({ uid, logId: logIds[n] }));
  const task = { ...sent, ...last, occurrence: startTime, state: 'completed', completed: 2, completions };
  expect(opened(message)).toMatchObject({ type: 'task.completed', ...last, task });
  await eventually(async () => {
    const { body } = await api.get(`/v1/tasks/tell/occurrences/${startTime}/deliveries`);
    return body.items[0]?.state === 'delivered';
  });
  expect((await api.get('/v1/tasks/tell')).body.callback).toEqual({ url: receiver.url });
});

// Each clock must be able to do the whole job alone, as for tickets.
async function clocked(pacemaker: string) {
  const { api, cell } = await startTestSystem({ DOCKET_PACEMAKER: pacemaker });
  await api.tasks.addTemplate('plain');
  return { on: api.tasks, cell };
}
const systems = [
  ['pacemaker', await clocked('on')],
  ['durable timers alone', await clocked('off')],
] as const;
const SOON = 40_000;

test.concurrent.each(systems)('S4.2 %s: a task is not there before its start, and then it is', async (_, { on }) => {
  const startTime = inMs(4_000);
  await on.addTask({ id: 'start', executor: 'uid_ann', startTime });
  expect(await on.next('ann')).toMatchObject({ task: null, nextAt: startTime, reasons: { notYet: 1 } });
  const { logId } = await on.handed('ann', { waitSeconds: 30 });
  const events = await on.events('start', startTime);
  expect(events.map((e) => e.type)).toEqual(['created', 'available', 'dispatched']);
  expect(msBetween(startTime, events[1]?.at)).toBeGreaterThanOrEqual(0);
  await on.completed('ann', logId);
});

test.concurrent.each(systems)(
  'S4.4 %s: what is not completed in time is given back to stock, and goes to another',
  async (_, { on }) => {
    await on.putGroup('back', ['ben', 'cat']);
    await on.addTask({ id: 'back', executor: 'gid_back', answerSeconds: 3 });
    const { logId } = await on.handed('ben');
    expect((await on.next('cat')).reasons).toMatchObject({ taken: 1 });
    const cat = await on.handed('cat', { waitSeconds: 30 });
    expect(cat).toMatchObject({ redo: false, task: { id: 'back' } });
    const stale = { status: 409, code: 'stale_log_id', current: null };
    expect((await on.complete('ben', logId)).body).toMatchObject(stale);
    // each gets a task once: what he has let go of is for others
    expect((await on.next('ben')).task).toBeNull();
    await on.completed('cat', cat.logId);
    const log = (await on.dispatchLog('taskId=back')).map((l) => `${l.type} ${l.uid}`);
    expect(log).toEqual(['dispatched ben', 'returned ben', 'dispatched cat', 'completed cat']);
  },
);

test.concurrent.each(systems)('S4.4 %s: a user who is the only one may have it again', async (_, { on }) => {
  await on.addTask({ id: 'own', executor: 'uid_own', answerSeconds: 1 });
  const first = await on.handed('own');
  const second = await eventually(async () => {
    const again = await on.next('own');
    return again.logId !== first.logId && again.task && again;
  }, SOON);
  expect(second.redo).toBe(false);
  await on.completed('own', second.logId);
});

test.concurrent.each(systems)(
  'S4.6 %s: past the look-back nothing is left; what is being done may be completed',
  async (_, { on }) => {
    await on.putGroup('look', ['dan', 'eve']);
    const startTime = inMs(0);
    await on.addTask({ id: 'look', executor: 'gid_look', dispatchTimes: 2, startTime, maxLookbackSeconds: 4 });
    await on.addTask({ id: 'never', executor: 'gid_look', startTime: inMs(-HOUR_MS), maxLookbackSeconds: 60 });
    const { logId } = await on.handed('dan');
    await eventually(async () => (await on.events('look', startTime)).some((e) => e.type === 'expired'), SOON);
    expect((await on.next('eve')).task).toBeNull();
    await on.completed('dan', logId);
    expect((await on.next('dan')).task).toBeNull();
    const types = (await on.events('look', startTime)).map((e) => e.type);
    expect(types).toEqual(['created', 'dispatched', 'expired', 'completed']);
  },
);

test.concurrent.each(systems)('S4.4 %s: what was completed in time wakes nobody', async (_, { on, cell }) => {
  await on.putGroup('calm', ['fay', 'gus']);
  await on.addTask({ id: 'calm', executor: 'gid_calm', dispatchTimes: 2, answerSeconds: 5 });
  await on.work('fay');
  await eventually(() => cell("select wake_at is null from item where id like 'calm/%'"), SOON);
});

test.concurrent.each(systems)('S4.2 %s: rotations go on by themselves', async (_, { on }) => {
  const startTime = inMs(-MINUTE_MS + 2_000);
  await on.addRotation({ id: 'turn', everyMinutes: 1, executor: 'uid_turn', startTime });
  expect((await on.work('turn')).task.occurrence).toBe(startTime);
  const { task } = await on.handed('turn', { waitSeconds: 40 });
  expect(msBetween(startTime, task.occurrence)).toBe(MINUTE_MS);
  expect(task.startTime).toBe(task.occurrence);
  // never early, by the database's clock
  const events = await on.events('turn', task.occurrence);
  expect(events.map((e) => e.type)).toEqual(['created', 'dispatched']);
  expect(msBetween(task.occurrence, events[0]?.at)).toBeGreaterThanOrEqual(0);
});
