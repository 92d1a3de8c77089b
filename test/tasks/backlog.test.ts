import { expect, test } from 'vitest';
import { eventually } from '../support/client.ts';
import { expectProblem } from '../support/problems.ts';
import { startTestSystem } from '../support/system.ts';
import {
  addTask,
  addTemplate,
  completed,
  deleteTask,
  handed,
  inMs,
  MINUTE_MS,
  next,
  patchTask,
  putGroup,
  sendTask,
} from '../support/tasks.ts';

const { api, sql } = await startTestSystem();
await addTemplate(api, 'plain');

const MOST = 10_000;
const YEAR_SECONDS = 365 * 86_400;
const minutely = (id: string, minutes: number) => ({
  ...{ id, type: 'rotate', everyMinutes: 1, executor: `uid_${id}`, lookbackSeconds: 10 * YEAR_SECONDS },
  startTime: inMs(-minutes * MINUTE_MS + 5_000),
});
const made = async (id: string) =>
  Number(
    (await sql<{ n: string }>("select count(*) as n from item where kind = 'task' and id ^@ $1", [`${id}/`]))[0]?.n,
  );

/** How many rows of items have been updated, as the server counts them, with a delay of about a second. */
const updates = async () =>
  Number((await sql<{ n: string }>("select n_tup_upd as n from pg_stat_user_tables where relname = 'item'"))[0]?.n);

test('S4.6 what would catch up more than 10,000 occurrences is refused, when it is made and when it is changed', async () => {
  const refused = { status: 422, code: 'limit_reached' };
  const since2016 = { ...minutely('ten-years', 0), startTime: '2016-01-01T00:00:00.000Z' };
  expectProblem(await sendTask(api, since2016), 'since 2016', refused);
  expect(await made('ten-years')).toBe(0);
  expect((await api.get('/v1/tasks/ten-years')).status).toBe(404);
  expectProblem(await sendTask(api, minutely('one-more', MOST + 1)), 'one more', refused);
  // inside the look-back, up to the end, or of the newest only: as many as it takes
  await addTask(api, { ...since2016, id: 'a-day', lookbackSeconds: 86_400 });
  await addTask(api, { ...since2016, id: 'newest', catchUp: 'newest' });
  await addTask(api, { ...since2016, id: 'short', endTime: '2016-01-01T01:00:00.000Z' });
  await addTask(api, {
    ...since2016,
    id: 'daily',
    everyMinutes: undefined,
    dailyTime: '09:00',
    endTime: '2020-01-01T00:00:00.000Z',
  });
  for (const change of [{ lookbackSeconds: 10 * YEAR_SECONDS }, { lookbackSeconds: (MOST + 2) * 60 }])
    expectProblem(await api.patch('/v1/tasks/a-day', change), JSON.stringify(change), refused);
  expectProblem(await api.patch('/v1/tasks/newest', { catchUp: 'all' }), 'all', refused);
  expectProblem(await api.patch('/v1/tasks/short', { endTime: null }), 'no end', refused);
  expectProblem(await api.patch('/v1/tasks/daily', { dailyTime: null, everyMinutes: 1 }), 'rhythm', refused);
  expect(await patchTask(api, 'a-day', { lookbackSeconds: 3600 })).toMatchObject({ lookbackSeconds: 3600 });
});

test('S4.9 a task with thousands of open occurrences is deleted at once; nothing of it is handed out after the answer', async () => {
  const task = minutely('pile', MOST - 1);
  await putGroup(api, 'pile', ['ann', 'ben']);
  await addTask(api, { ...task, executor: 'gid_pile', dispatchTimes: 2 });
  await eventually(async () => (await made('pile')) >= MOST - 1, 120_000);
  const { logId } = await handed(api, 'ann');
  const before = await updates();
  expect((await deleteTask(api, 'pile')).state).toBe('deleted');
  expect((await next(api, 'ben')).task).toBeNull();
  await completed(api, 'ann', logId);
  expect((await next(api, 'ann')).task).toBeNull();
  const open = await sql("select 1 from item where kind = 'task' and id ^@ 'pile/' and ended_at is null limit 1");
  expect(open).toEqual([]);
  // whatever else the machine does: one write for each
  await eventually(async () => (await updates()) - before >= MOST - 2, 20_000);
  expect((await updates()) - before).toBeLessThan(MOST * 1.5);
}, 240_000);
