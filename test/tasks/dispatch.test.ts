import { expect, test } from 'vitest';

import { type Json, numbered } from '../support/client.ts';
import { startTestSystem, testStores } from '../support/system.ts';
import {
  addTask,
  addTemplate,
  complete,
  completed,
  dispatchLog,
  handed,
  inMs,
  next,
  pullAll,
  putGroup,
} from '../support/tasks.ts';

const stores = await testStores();
const { api } = await startTestSystem({}, { role: 'api', stores });
const other = await startTestSystem({}, { role: 'api', stores });
await addTemplate(api, 'plain');

test('S4.4 a group of 20 that all ask at once, of two servers, 6 to give, 200 rounds: 6 dispatches to 6 users, each round', async () => {
  const users = numbered(20, 'crowd-');
  await putGroup(api, 'crowd', users);
  for (let round = 0; round < 200; round++) {
    await addTask(api, { id: `crowd-${round}`, executor: 'gid_crowd', dispatchTimes: 6 });
    const answers = await Promise.all(users.map((uid, n) => next(n % 2 ? api : other.api, uid)));
    const given = answers.flatMap((a, n) => (a.task ? [{ uid: users[n] ?? '', ...a }] : []));
    expect(new Set(given.map((g) => g.uid)).size).toBe(6);
    expect(given).toHaveLength(6);
    for (const g of given) expect(g).toMatchObject({ task: { id: `crowd-${round}` }, redo: false });
    expect(new Set(given.map((g) => g.logId)).size).toBe(6);
    await Promise.all(given.map((g) => completed(api, g.uid, g.logId)));
  }
  for (const uid of users) expect((await next(api, uid)).task).toBeNull();
});

test('S4.4 blocking: the fast one goes on taking it, and never more than 6 are given in all', async () => {
  await putGroup(api, 'fast', ['quick', 'slow-1', 'slow-2']);
  await addTask(api, {
    id: 'block',
    executor: 'gid_fast',
    dispatchTimes: 6,
    dispatch: 'blocking',
    startTime: inMs(-9000),
  });
  await addTask(api, { id: 'after', executor: 'gid_fast', dispatchTimes: 3, startTime: inMs(-5000) });
  await handed(api, 'slow-1');
  const quick = await pullAll(api, 'quick');
  expect(quick.map((t) => t.id)).toEqual([...Array(5).fill('block'), 'after']);
  expect((await handed(api, 'slow-2')).task.id).toBe('after');
  const rounds = (await dispatchLog(api, 'taskId=block')).filter((l) => l.type === 'dispatched');
  expect(rounds).toHaveLength(6);
});

test('S4.4 blocking, everybody at once and over and over: the stock is used up to the last and no further', async () => {
  const users = numbered(16, 'rush-');
  await putGroup(api, 'rush', users);
  await addTask(api, { id: 'rush', executor: 'gid_rush', dispatchTimes: 100, dispatch: 'blocking' });
  const taken = await Promise.all(users.map((uid, n) => pullAll(n % 2 ? api : other.api, uid)));
  expect(taken.flat()).toHaveLength(100);
  const [occurrence] = (await dispatchLog(api, 'taskId=rush')).map((l) => l.occurrence);
  const { body } = await api.get(`/v1/tasks/rush/occurrences/${occurrence}/events?limit=500`);
  expect(body.items.filter((e: Json) => e.type === 'dispatched')).toHaveLength(100);
});

test('S4.5 asks five times without completing, from everywhere at once: the same task, the same log id', async () => {
  await addTask(api, { id: 'redo', executor: 'uid_ann' });
  await addTask(api, { id: 'redo-2', executor: 'uid_ann' });
  const first = await handed(api, 'ann');
  expect(first).toMatchObject({ redo: false, task: { id: 'redo', params: {} } });
  const again = await Promise.all(numbered(50).map((_, n) => next(n % 2 ? api : other.api, 'ann')));
  for (const a of again) expect(a).toMatchObject({ redo: true, logId: first.logId, task: first.task });
  await completed(api, 'ann', first.logId);
  expect(await handed(api, 'ann')).toMatchObject({ redo: false, task: { id: 'redo-2' } });
  expect(await dispatchLog(api, 'uid=ann')).toMatchObject([
    { type: 'dispatched', taskId: 'redo', logId: first.logId },
    { type: 'completed', taskId: 'redo', logId: first.logId },
    { type: 'dispatched', taskId: 'redo-2' },
  ]);
});

test('S4.5 50 first pulls of a user at once, of two servers, each after another task, are one dispatch', async () => {
  const users = numbered(20, 'once-user-');
  await putGroup(api, 'once', users);
  for (let n = 0; n < 10; n++) await addTask(api, { id: `once-${n}`, executor: 'gid_once', dispatchTimes: 20 });
  for (const uid of users) {
    const pull = (_: unknown, n: number) => next(n % 2 ? api : other.api, uid, { exclude: [`once-${n % 10}`] });
    const answers = await Promise.all(Array.from({ length: 50 }, pull));
    expect(new Set(answers.map((a) => a.logId)).size).toBe(1);
    expect(answers.filter((a) => !a.redo)).toHaveLength(1);
  }
});

test('S4.7 a log id that is old, of somebody else, or made up is refused, and the current one named', async () => {
  for (const id of ['log-1', 'log-2', 'log-3']) await addTask(api, { id, executor: 'uid_bob' });
  await addTask(api, { id: 'log-4', executor: 'uid_eve' });
  const one = await handed(api, 'bob');
  expect((await complete(api, 'bob', 'lt_nonsense')).body).toMatchObject({
    status: 409,
    code: 'stale_log_id',
    current: one.logId,
  });
  await completed(api, 'bob', one.logId, { n: 1 });
  const two = await handed(api, 'bob');
  expect((await complete(api, 'bob', one.logId, { n: 1 })).body).toMatchObject({
    code: 'stale_log_id',
    current: two.logId,
  });
  const foreign = await handed(api, 'eve');
  expect((await complete(api, 'bob', foreign.logId)).body).toMatchObject({ code: 'stale_log_id', current: two.logId });
  expect((await complete(api, 'nobody', foreign.logId)).body).toMatchObject({ code: 'stale_log_id', current: null });
  expect((await handed(api, 'eve')).redo).toBe(true);
});

test('S4.7 the same completion again, 50 at once too, is the first answer; with another result it is refused', async () => {
  await addTask(api, { id: 'twice', executor: 'uid_cat' });
  const { logId } = await handed(api, 'cat');
  const answers = await Promise.all(numbered(50).map(() => complete(api, 'cat', logId, { a: 1, b: [2] })));
  for (const { status, body } of answers) expect([status, body]).toEqual([200, answers[0]?.body]);
  expect((await complete(api, 'cat', logId, { b: [2], a: 1 })).status).toBe(200);
  expect((await complete(api, 'cat', logId, { a: 2 })).body).toMatchObject({
    status: 409,
    code: 'lease_lost',
    reason: 'settled',
  });
  expect((await dispatchLog(api, 'uid=cat')).filter((l) => l.type === 'completed')).toMatchObject([
    { result: { a: 1, b: [2] } },
  ]);
});

test('S4.6 the earliest start first, over groups and the user; equal starts are each given, none twice', async () => {
  await putGroup(api, 'even', ['dan', 'dora']);
  await putGroup(api, 'odd', ['dan']);
  const same = inMs(-60_000);
  const executors = ['gid_even', 'uid_dan', 'gid_odd'];
  for (let n = 0; n < 12; n++)
    await addTask(api, { id: `tie-${n}`, executor: executors[n % 3], startTime: same, dispatchTimes: 2 });
  for (let n = 0; n < 6; n++)
    await addTask(api, { id: `early-${n}`, executor: executors[n % 3], startTime: inMs(-90_000 - n * 1000) });
  await addTask(api, { id: 'later', executor: 'uid_dan', startTime: inMs(60_000) });
  const got = (await pullAll(api, 'dan')).map((t) => t.id);
  expect(got).toEqual([...numbered(6, 'early-').reverse(), ...numbered(12, 'tie-')]);
  expect((await pullAll(api, 'dora')).map((t) => t.id)).toEqual(['tie-0', 'tie-3', 'tie-6', 'tie-9']);
  const nothing = await next(api, 'dan');
  expect(nothing).toMatchObject({ task: null, logId: null, redo: false, reasons: { notYet: 1 } });
  expect(Date.parse(nothing.nextAt)).toBeGreaterThan(Date.now());
});

test('S4.6 what the caller excludes, by task or by occurrence, is passed over, and nextAt with it', async () => {
  const startTime = inMs(-1000);
  for (const id of ['ex-1', 'ex-2', 'ex-3']) await addTask(api, { id, executor: 'uid_flo', startTime });
  await addTask(api, { id: 'ex-4', executor: 'uid_flo', startTime: inMs(3600_000) });
  const exclude = ['ex-1', `ex-2/${startTime}`];
  const { logId, task } = await handed(api, 'flo', { exclude });
  expect(task.id).toBe('ex-3');
  // what is unfinished comes first, excluded or not
  expect((await handed(api, 'flo', { exclude: ['ex-3'] })).logId).toBe(logId);
  await completed(api, 'flo', logId);
  expect(await next(api, 'flo', { exclude })).toMatchObject({
    task: null,
    reasons: { excluded: 2, done: 0, taken: 0 },
  });
  expect((await next(api, 'flo', { exclude: [...exclude, 'ex-4'] })).nextAt).toBeNull();
  expect((await handed(api, 'flo')).task.id).toBe('ex-1');
});

test('S4.3 a change of the group shows at the next pull, in both directions', async () => {
  await putGroup(api, 'team', ['gus', 'hal']);
  for (let n = 0; n < 4; n++) await addTask(api, { id: `team-${n}`, executor: 'gid_team' });
  await completed(api, 'gus', (await handed(api, 'gus')).logId);
  expect((await api.post('/v1/groups/team/members', { remove: ['gus'], add: ['ida'] })).body.members).toEqual([
    'hal',
    'ida',
  ]);
  expect((await next(api, 'gus')).task).toBeNull();
  expect((await handed(api, 'ida')).task.id).toBe('team-1');
  await putGroup(api, 'team', ['gus']);
  expect((await next(api, 'hal')).task).toBeNull();
  expect((await handed(api, 'gus')).task.id).toBe('team-2');
  // what is with somebody stays with him: he has to complete it first (S4.5)
  expect((await handed(api, 'ida')).redo).toBe(true);
});

test('S4.3 users and groups are the same with and without their prefixes', async () => {
  await putGroup(api, 'gid_mixed', ['uid_jon', 'kim']);
  await addTask(api, { id: 'mixed', executor: 'gid_mixed', dispatchTimes: 2 });
  const { logId } = await handed(api, 'jon');
  expect((await handed(api, 'uid_jon')).logId).toBe(logId);
  expect((await handed(api, 'uid_kim')).task.id).toBe('mixed');
  expect((await dispatchLog(api, 'uid=uid_jon')).map((l) => l.uid)).toEqual(['jon']);
  expect((await api.get('/v1/groups/mixed')).body).toMatchObject({ id: 'gid_mixed', members: ['uid_jon', 'kim'] });
  await addTask(api, { id: 'mixed-2', executor: 'uid_kim' });
  await completed(api, 'uid_kim', (await handed(api, 'kim')).logId);
  expect((await handed(api, 'kim')).task.id).toBe('mixed-2');
});
