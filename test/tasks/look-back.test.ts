import { expect, test } from 'vitest';
import { eventually, type Json, walk } from '../support/client.ts';
import { onDatabase } from '../support/database.ts';
import { expectProblem } from '../support/problems.ts';

import { startTestSystem } from '../support/system.ts';
import { HOUR_MS, inMs, MINUTE_MS } from '../support/times.ts';

const { api, cell, databaseUrl, sql } = await startTestSystem({}, { role: 'api' });
const { addTask, addTemplate, completed, deleteTask, dispatchedTo, handed, next, patchTask, pullAll } = api.tasks;
const { putGroup, sendTask, work } = api.tasks;

await addTemplate('plain');
const ids = (tasks: Json[]) => tasks.map((t) => t.id);

test('S4.6 look-back: from the last completed task on; who has completed nothing gets all of the look-back', async () => {
  await putGroup('shift', ['vera']);
  const shift = { executor: 'gid_shift', dispatchTimes: 5, lookbackSeconds: 4.5 * 3600 };
  for (const hours of [6, 5, 2, 1])
    await addTask({ ...shift, id: `shift-${hours}`, startTime: inMs(-hours * HOUR_MS) });
  await addTask({ id: 'vera-own', executor: 'uid_vera', startTime: inMs(-4 * HOUR_MS) });
  await work('vera');
  await patchTask('shift-5', { lookbackSeconds: 86_400 });
  expect(ids(await pullAll('vera'))).toEqual(['shift-2', 'shift-1']);
  expect((await next('vera')).reasons).toMatchObject({ passed: 1, tooOld: 1, done: 2, taken: 0, excluded: 0 });
  await putGroup('shift', ['vera', 'nils']);
  expect(ids(await pullAll('nils'))).toEqual(['shift-5', 'shift-2', 'shift-1']);
});

test('S4.6 look-back: what it withheld does not come after all, also beside a transaction that stays open', async () => {
  await onDatabase(databaseUrl, async (client) => {
    await client.query('begin');
    await client.query('select pg_current_xact_id()');
    await putGroup('open', ['olaf']);
    for (const hours of [5, 1]) {
      const startTime = inMs(-hours * HOUR_MS);
      await addTask({ id: `open-${hours}`, executor: 'gid_open', lookbackSeconds: 2 * 3600, startTime });
    }
    expect(ids(await pullAll('olaf'))).toEqual(['open-1']);
    await client.query('rollback');
  });
});

test('S4.6 look-back: a rotation made today is no thing of the past, and lookbackSeconds bounds what it makes', async () => {
  await putGroup('round', ['olga', 'piet']);
  const startTime = inMs(-10 * HOUR_MS - MINUTE_MS);
  const at = (k: number) => inMs(k * HOUR_MS, startTime);
  await addTask({ id: 'olga-own', executor: 'uid_olga', startTime: at(8) });
  await work('olga');
  const rotating = { type: 'rotate', everyMinutes: 60, startTime, executor: 'gid_round', dispatchTimes: 2 };
  await addTask({ id: 'round', ...rotating, lookbackSeconds: 4 * 3600 });
  const times = (all: Json[]) => all.map((t) => t.occurrence);
  for (const uid of ['olga', 'piet']) expect(times(await pullAll(uid))).toEqual([at(7), at(8), at(9), at(10)]);
});

test('S4.6 look-back: what came after the user was given a later task is no thing of the past', async () => {
  await addTask({ id: 'later', executor: 'uid_kim', startTime: inMs(-HOUR_MS) });
  const { logId } = await handed('kim');
  await addTask({ id: 'during', executor: 'uid_kim', startTime: inMs(-3 * HOUR_MS) });
  await completed('kim', logId);
  await addTask({ id: 'after', executor: 'uid_kim', startTime: inMs(-2 * HOUR_MS) });
  expect(ids(await pullAll('kim'))).toEqual(['during', 'after']);
});

test('S4.6 look-back: what another gave back, and what was raised or moved, is for those who had passed by too', async () => {
  await putGroup('back', ['lea']);
  const early = { executor: 'gid_back', startTime: inMs(-3 * HOUR_MS) };
  await addTask({ ...early, id: 'returned', answerSeconds: 10 });
  await addTask({ ...early, id: 'raised' });
  await addTask({ ...early, id: 'moved', executor: 'uid_other' });
  await handed('lea');
  await putGroup('back', ['lea', 'mia', 'max']);
  await handed('mia');
  await addTask({ id: 'max-own', executor: 'uid_max', startTime: inMs(-HOUR_MS) });
  await work('max');
  expect((await next('max')).reasons).toMatchObject({ taken: 2, passed: 0 });
  await patchTask('raised', { dispatchTimes: 2 });
  await patchTask('moved', { executor: 'uid_max' });
  expect(ids(await pullAll('max'))).toEqual(['raised', 'moved']);
  await eventually(async () => (await next('max')).task?.id === 'returned', 30_000);
});

test('S4.6 look-back: starts in any order, added while their user pulls: each is given, none twice', async () => {
  const TASKS = 60;
  let adding = TASKS;
  const add = async () => {
    while (adding > 0) {
      const n = adding--;
      await addTask({ id: `mix-${n}`, executor: 'uid_mix', startTime: inMs(-((n * 7919) % 1000) * 60_000) });
    }
  };
  const adders = Promise.all([add(), add(), add(), add()]);
  const given: string[] = [];
  let done = false;
  void adders.finally(() => {
    done = true;
  });
  while (!done) given.push(...ids(await pullAll('mix')));
  await adders;
  given.push(...ids(await pullAll('mix')));
  expect(given).toHaveLength(TASKS);
  expect(new Set(given).size).toBe(TASKS);
});

test('S4.4 blocking: who has taken it goes on with it until it is used up, before an earlier one too', async () => {
  await putGroup('crew', ['ada', 'bob']);
  const press = { executor: 'gid_crew', dispatchTimes: 4, dispatch: 'blocking' };
  await addTask({ id: 'press', ...press, startTime: inMs(-HOUR_MS) });
  const first = await handed('ada');
  await addTask({ id: 'earlier', executor: 'gid_crew', dispatchTimes: 2, startTime: inMs(-2 * HOUR_MS) });
  // who has not taken it goes by the start
  expect((await handed('bob')).task.id).toBe('earlier');
  await completed('ada', first.logId);
  // what the caller excludes is left, and gone on with afterwards
  const other = await handed('ada', { exclude: ['press'] });
  expect(other.task.id).toBe('earlier');
  await completed('ada', other.logId);
  await addTask({ id: 'earliest', executor: 'uid_ada', startTime: inMs(-3 * HOUR_MS) });
  expect(ids(await pullAll('ada'))).toEqual(['press', 'press', 'press', 'earliest']);
  expect(await dispatchedTo('press')).toEqual(Array(4).fill('ada'));
});

test('S4.4 blocking: a task that becomes blocking is gone on with by those who had it, and no longer by who left the group', async () => {
  await putGroup('turn', ['eli', 'fay']);
  await addTask({ id: 'turn', executor: 'gid_turn', dispatchTimes: 9, startTime: inMs(-HOUR_MS) });
  for (const uid of ['eli', 'fay']) await work(uid);
  await patchTask('turn', { dispatch: 'blocking' });
  for (const uid of ['eli', 'fay'])
    await addTask({ id: `turn-${uid}`, executor: `uid_${uid}`, startTime: inMs(-2 * HOUR_MS) });
  await putGroup('turn', ['eli']);
  expect((await handed('eli')).task.id).toBe('turn');
  expect(ids(await pullAll('fay'))).toEqual(['turn-fay']);
});

test('S4.9 the tasks of a user include those of its groups, oldest start first, in pages; include=own leaves them out', async () => {
  for (const gid of ['list-1', 'list-2']) await putGroup(gid, ['gus']);
  await putGroup('list-3', ['hal']);
  const executors = ['uid_gus', 'gid_list-1', 'gid_list-2', 'gid_list-3'];
  for (let n = 0; n < 12; n++)
    await addTask({ id: `list-${n}`, executor: executors[n % 4], startTime: inMs(-HOUR_MS + n * 1000) });
  const listed = async (query: string): Promise<Json> => (await api.get(`/v1/tasks?${query}`)).body;
  const all = [0, 1, 2, 4, 5, 6, 8, 9, 10].map((n) => `list-${n}`);
  expect(ids((await listed('executor=uid_gus')).items)).toEqual(all);
  expect(ids((await listed('executor=uid_gus&include=own')).items)).toEqual(['list-0', 'list-4', 'list-8']);
  expect(ids((await listed('executor=gid_list-3')).items)).toEqual(['list-3', 'list-7', 'list-11']);
  const paged = ids(await walk(api, '/v1/tasks?executor=uid_gus', 2));
  expect(paged).toEqual(all);
  expect((await api.get('/v1/tasks?executor=uid_gus&include=all')).status).toBe(422);
});

test('S4.3 a task for a group that does not exist is taken, and its answer says so until there is one', async () => {
  const sent = { id: 'early-bird', executor: 'gid_to-come', startTime: inMs(-1000) };
  const added = await addTask(sent);
  expect(added.warnings).toMatchObject([{ path: 'executor', message: expect.stringContaining('gid_to-come') }]);
  expect((await sendTask(sent)).body.warnings).toHaveLength(1);
  await putGroup('to-come', ['ivo']);
  expect((await patchTask('early-bird', { dispatchTimes: 2 })).warnings).toEqual([]);
  expect((await handed('ivo')).task.id).toBe('early-bird');
  expect((await addTask({ executor: 'uid_nobody-yet' })).warnings).toEqual([]);
});

const MOST = 10_000;
const YEAR_SECONDS = 365 * 86_400;
const minutely = (id: string, minutes: number) => ({
  ...{ id, type: 'rotate', everyMinutes: 1, executor: `uid_${id}`, lookbackSeconds: 10 * YEAR_SECONDS },
  startTime: inMs(-minutes * MINUTE_MS + 5_000),
});
const made = (id: string): Promise<number> =>
  cell("select count(*)::int from item where kind = 'task' and id ^@ $1", [`${id}/`]);

/** How many rows of items have been updated, as the server counts them, with a delay of about a second. */
const updates = (): Promise<number> => cell("select n_tup_upd::int from pg_stat_user_tables where relname = 'item'");

test('S4.6 what would catch up more than 10,000 occurrences is refused, when it is made and when it is changed', async () => {
  const since2016 = { ...minutely('ten-years', 0), startTime: '2016-01-01T00:00:00.000Z' };
  expectProblem(await sendTask(since2016), 'since 2016', 'limit_reached');
  expect(await made('ten-years')).toBe(0);
  expect((await api.get('/v1/tasks/ten-years')).status).toBe(404);
  expectProblem(await sendTask(minutely('one-more', MOST + 1)), 'one more', 'limit_reached');
  // inside the look-back, up to the end, or of the newest only: as many as it takes
  await addTask({ ...since2016, id: 'a-day', lookbackSeconds: 86_400 });
  await addTask({ ...since2016, id: 'newest', catchUp: 'newest' });
  await addTask({ ...since2016, id: 'short', endTime: '2016-01-01T01:00:00.000Z' });
  const daily = { everyMinutes: undefined, dailyTime: '09:00', endTime: '2020-01-01T00:00:00.000Z' };
  await addTask({ ...since2016, id: 'daily', ...daily });
  for (const change of [{ lookbackSeconds: 10 * YEAR_SECONDS }, { lookbackSeconds: (MOST + 2) * 60 }])
    expectProblem(await api.patch('/v1/tasks/a-day', change), JSON.stringify(change), 'limit_reached');
  expectProblem(await api.patch('/v1/tasks/newest', { catchUp: 'all' }), 'all', 'limit_reached');
  expectProblem(await api.patch('/v1/tasks/short', { endTime: null }), 'no end', 'limit_reached');
  expectProblem(await api.patch('/v1/tasks/daily', { dailyTime: null, everyMinutes: 1 }), 'rhythm', 'limit_reached');
  expect(await patchTask('a-day', { lookbackSeconds: 3600 })).toMatchObject({ lookbackSeconds: 3600 });
});

test('S4.9 a task with thousands of open occurrences is deleted at once; nothing of it is handed out after the answer', async () => {
  const task = minutely('pile', MOST - 1);
  await putGroup('pile', ['ann', 'ben']);
  await addTask({ ...task, executor: 'gid_pile', dispatchTimes: 2 });
  await eventually(async () => (await made('pile')) >= MOST - 1, 120_000);
  const { logId } = await handed('ann');
  const before = await updates();
  expect((await deleteTask('pile')).state).toBe('deleted');
  expect((await next('ben')).task).toBeNull();
  await completed('ann', logId);
  expect((await next('ann')).task).toBeNull();
  const open = await sql("select 1 from item where kind = 'task' and id ^@ 'pile/' and ended_at is null limit 1");
  expect(open).toEqual([]);
  // whatever else the machine does: one write for each
  await eventually(async () => (await updates()) - before >= MOST - 2, 20_000);
  expect((await updates()) - before).toBeLessThan(MOST * 1.5);
}, 240_000);
