import { expect, test } from 'vitest';
import { eventually, type Json } from '../support/client.ts';
import { opened, startReceiver } from '../support/receiver.ts';
import { startTestSystem, type TestSystem } from '../support/system.ts';
import {
  addTask,
  addTemplate,
  complete,
  completed,
  dispatchLog,
  HOUR_MS,
  handed,
  inMs,
  MINUTE_MS,
  next,
  putGroup,
} from '../support/tasks.ts';

const { api, running } = await startTestSystem();
await addTemplate(api, 'plain', { n: { type: 'number', required: false } });
await putGroup(api, 'flow', ['ann', 'ben', 'cat']);

const workflow = async (id: string, occurrence: string): Promise<Json> =>
  (await api.get(`/v1/tasks/${id}/occurrences/${occurrence}/workflow`)).body;
const handle = (id: string) => running.runtime.client.workflow.getHandle(id);
const status = async (id: string) => (await handle(id).describe()).status.name;

test('S4.2 each occurrence has a workflow, which knows what it is, and ends with it', async () => {
  const { startTime } = await addTask(api, { id: 'flow', executor: 'gid_flow', dispatchTimes: 2 });
  const running = await eventually(async () => {
    const found = await workflow('flow', startTime);
    return found.status === 'running' && found;
  });
  expect(running).toMatchObject({ workflowId: `task/flow/${startTime}`, snapshot: { state: 'due' } });
  for (const uid of ['ann', 'ben']) await completed(api, uid, (await handed(api, uid)).logId);
  await eventually(async () => (await workflow('flow', startTime)).status === 'completed');
  // the same instant, written in another zone
  const other = startTime.replace('Z', '%2B00:00');
  expect((await workflow('flow', other)).workflowId).toBe(`task/flow/${startTime}`);
  expect((await api.get('/v1/tasks/flow/occurrences/2031-01-01T00:00:00Z/workflow')).status).toBe(404);
});

test('S4.9 an operator cancels an occurrence: what is out is given back and no longer completed', async () => {
  const { startTime } = await addTask(api, { id: 'op', executor: 'gid_flow', dispatchTimes: 3 });
  const { logId } = await handed(api, 'ann');
  await eventually(async () => (await workflow('op', startTime)).status === 'running');
  await handle(`task/op/${startTime}`).signal('cancel', { reason: 'rain', by: 'olga' });
  await eventually(async () => (await workflow('op', startTime)).status === 'completed');
  expect((await complete(api, 'ann', logId)).body).toMatchObject({ code: 'stale_log_id', current: null });
  expect((await next(api, 'ben')).task).toBeNull();
  const { body } = await api.get(`/v1/tasks/op/occurrences/${startTime}/events`);
  expect(body.items.map((e: Json) => [e.type, e.actor]).slice(-2)).toEqual([
    ['returned', 'olga'],
    ['cancelled', 'olga'],
  ]);
  expect(body.items.at(-1).data).toMatchObject({ reason: 'rain' });
});

test('S4.9 an operator cancels a rotation, by signal or by cancelling its workflow: the task is deleted', async () => {
  for (const [id, ask] of [
    ['turn-signal', () => handle('rotation/turn-signal').signal('cancel', { reason: 'over', by: 'olga' })],
    ['turn-cancel', () => handle('rotation/turn-cancel').cancel()],
  ] as const) {
    await addTask(api, { id, type: 'rotate', everyMinutes: 60, executor: `uid_${id}`, startTime: inMs(-HOUR_MS) });
    await eventually(async () => (await status(`rotation/${id}`)) === 'RUNNING');
    await ask();
    await eventually(async () => (await status(`rotation/${id}`)) === 'COMPLETED');
    expect((await api.get(`/v1/tasks/${id}`)).body.state).toBe('deleted');
    expect(await next(api, id)).toMatchObject({ task: null, nextAt: null });
  }
});

test('S4.2 a task whose time was moved away and back has a workflow again', async () => {
  const soon = inMs(2 * HOUR_MS);
  await addTask(api, { id: 'back', executor: 'uid_back', startTime: soon });
  await eventually(async () => (await workflow('back', soon)).status === 'running');
  await api.patch('/v1/tasks/back', { startTime: inMs(3 * HOUR_MS) });
  await eventually(async () => (await workflow('back', soon)).status === 'completed');
  await api.patch('/v1/tasks/back', { startTime: soon });
  await eventually(async () => (await workflow('back', soon)).status === 'running');
});

test('S4.8 the end of an occurrence is told to its callback, signed, with what was completed', async () => {
  const receiver = await startReceiver();
  const { callback } = receiver;
  const { startTime } = await addTask(api, {
    id: 'tell',
    executor: 'gid_flow',
    dispatchTimes: 2,
    params: { n: 7 },
    callback,
  });
  const logIds: string[] = [];
  for (const uid of ['ann', 'ben']) {
    const { logId } = await handed(api, uid);
    logIds.push(logId);
    await completed(api, uid, logId, { by: uid });
  }
  const message = await eventually(async () => receiver.received[0]);
  expect(opened(message)).toMatchObject({
    type: 'task.completed',
    ...{ uid: 'ben', logId: logIds[1], result: { by: 'ben' } },
    task: {
      id: 'tell',
      occurrence: startTime,
      state: 'completed',
      params: { n: 7 },
      completed: 2,
      executor: 'gid_flow',
      uid: 'ben',
      logId: logIds[1],
      result: { by: 'ben' },
      completions: [
        { uid: 'ann', logId: logIds[0] },
        { uid: 'ben', logId: logIds[1] },
      ],
    },
  });
  await eventually(async () => {
    const { body } = await api.get(`/v1/tasks/tell/occurrences/${startTime}/deliveries`);
    return body.items[0]?.state === 'delivered';
  });
  expect((await api.get('/v1/tasks/tell')).body.callback).toEqual({ url: receiver.url });
});

// Each clock must be able to do the whole job alone, as for tickets.
const systems: [string, TestSystem][] = [
  ['pacemaker', await startTestSystem({ DOCKET_PACEMAKER: 'on' })],
  ['durable timers alone', await startTestSystem({ DOCKET_PACEMAKER: 'off' })],
];
for (const [, { api }] of systems) await addTemplate(api, 'plain');
const SOON = 40_000;

const eventsOf = async ({ api }: TestSystem, id: string, occurrence: string): Promise<Json[]> =>
  (await api.get(`/v1/tasks/${id}/occurrences/${occurrence}/events?limit=500`)).body.items;

test.each(systems)('S4.2 %s: a task is not there before its start, and then it is', async (_, system) => {
  const { api } = system;
  const startTime = inMs(2_000);
  await addTask(api, { id: 'start', executor: 'uid_ann', startTime });
  expect(await next(api, 'ann')).toMatchObject({ task: null, nextAt: startTime, reasons: { notYet: 1 } });
  const { logId } = await handed(api, 'ann', { waitSeconds: 30 });
  const events = await eventsOf(system, 'start', startTime);
  expect(events.map((e) => e.type)).toEqual(['created', 'available', 'dispatched']);
  expect(Date.parse(events[1]?.at)).toBeGreaterThanOrEqual(Date.parse(startTime));
  await completed(api, 'ann', logId);
});

test.each(systems)(
  'S4.4 %s: what is not completed in time is given back to stock, and goes to another',
  async (_, system) => {
    const { api } = system;
    await putGroup(api, 'back', ['ben', 'cat']);
    await addTask(api, { id: 'back', executor: 'gid_back', answerSeconds: 1 });
    const { logId } = await handed(api, 'ben');
    expect((await next(api, 'cat')).reasons).toMatchObject({ taken: 1 });
    const cat = await handed(api, 'cat', { waitSeconds: 30 });
    expect(cat).toMatchObject({ redo: false, task: { id: 'back' } });
    expect((await complete(api, 'ben', logId)).body).toMatchObject({
      status: 409,
      code: 'stale_log_id',
      current: null,
    });
    // each gets a task once: what he has let go of is for others
    expect((await next(api, 'ben')).task).toBeNull();
    await completed(api, 'cat', cat.logId);
    const log = (await dispatchLog(api, 'taskId=back')).map((l) => [l.type, l.uid]);
    expect(log).toEqual([
      ['dispatched', 'ben'],
      ['returned', 'ben'],
      ['dispatched', 'cat'],
      ['completed', 'cat'],
    ]);
  },
);

test.each(systems)('S4.4 %s: a user who is the only one may have it again', async (_, { api }) => {
  await addTask(api, { id: 'own', executor: 'uid_own', answerSeconds: 1 });
  const first = await handed(api, 'own');
  const second = await eventually(async () => {
    const again = await next(api, 'own');
    return again.logId !== first.logId && again.task && again;
  }, SOON);
  expect(second.redo).toBe(false);
  await completed(api, 'own', second.logId);
});

test.each(systems)(
  'S4.6 %s: past the look-back nothing is left; what is being done may be completed',
  async (_, system) => {
    const { api } = system;
    await putGroup(api, 'look', ['dan', 'eve']);
    const startTime = inMs(0);
    await addTask(api, { id: 'look', executor: 'gid_look', dispatchTimes: 2, startTime, lookbackSeconds: 2 });
    await addTask(api, { id: 'never', executor: 'gid_look', startTime: inMs(-HOUR_MS), lookbackSeconds: 60 });
    const { logId } = await handed(api, 'dan');
    await eventually(async () => (await eventsOf(system, 'look', startTime)).some((e) => e.type === 'expired'), SOON);
    expect((await next(api, 'eve')).task).toBeNull();
    await completed(api, 'dan', logId);
    expect((await next(api, 'dan')).task).toBeNull();
    const types = (await eventsOf(system, 'look', startTime)).map((e) => e.type);
    expect(types).toEqual(['created', 'dispatched', 'expired', 'completed']);
  },
);

test.each(systems)('S4.4 %s: what was completed in time wakes nobody', async (_, { api, sql }) => {
  await putGroup(api, 'calm', ['fay', 'gus']);
  await addTask(api, { id: 'calm', executor: 'gid_calm', dispatchTimes: 2, answerSeconds: 1 });
  await completed(api, 'fay', (await handed(api, 'fay')).logId);
  await eventually(async () => {
    const [row] = await sql<{ calm: boolean }>(`select wake_at = deadline_at as calm from item where id like 'calm/%'`);
    return row?.calm;
  }, SOON);
});

test.each(systems)('S4.2 %s: rotations go on by themselves', async (_, { api }) => {
  const startTime = inMs(-MINUTE_MS + 2_000);
  await addTask(api, { id: 'turn', type: 'rotate', everyMinutes: 1, executor: 'uid_turn', startTime });
  await completed(api, 'turn', (await handed(api, 'turn')).logId);
  const { task } = await handed(api, 'turn', { waitSeconds: 40 });
  expect(Date.parse(task.occurrence) - Date.parse(startTime)).toBe(MINUTE_MS);
});
