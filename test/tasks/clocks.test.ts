import { expect, test } from 'vitest';
import { eventually, type Json } from '../support/client.ts';
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
