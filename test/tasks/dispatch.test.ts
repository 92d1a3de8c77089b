import { expect, test } from 'vitest';

import { numbered } from '../support/client.ts';
import { byNight } from '../support/nightly.ts';
import { startTwoSystems } from '../support/system.ts';
import { inMs } from '../support/times.ts';

const [{ api }, other] = await startTwoSystems('api');
const { addTask, addTemplate, complete, completed, dispatchLog, eventTypes, handed, next, pullAll } = api.tasks;
const { putGroup, work } = api.tasks;
await addTemplate('plain');

const ROUNDS = byNight(200, 20);

test(`S4.4 a group of 20 that all ask at once, of two servers, 6 to give, ${ROUNDS} rounds: 6 dispatches to 6 users, each round`, async () => {
  const users = numbered(20, 'crowd-');
  await putGroup('crowd', users);
  for (let round = 0; round < ROUNDS; round++) {
    await addTask({ id: `crowd-${round}`, executor: 'gid_crowd', dispatchTimes: 6 });
    const answers = await Promise.all(users.map((uid, n) => (n % 2 ? api : other.api).tasks.next(uid)));
    const given = answers.flatMap((a, n) => (a.task ? [{ uid: users[n] ?? '', ...a }] : []));
    expect(new Set(given.map((g) => g.uid)).size).toBe(6);
    expect(given).toHaveLength(6);
    for (const g of given) expect(g).toMatchObject({ task: { id: `crowd-${round}` }, redo: false });
    expect(new Set(given.map((g) => g.logId)).size).toBe(6);
    await Promise.all(given.map((g) => completed(g.uid, g.logId)));
  }
  for (const uid of users) expect((await next(uid)).task).toBeNull();
});

test('S4.4 blocking, everybody at once and over and over: the stock is used up to the last and no further', async () => {
  const users = numbered(16, 'rush-');
  await putGroup('rush', users);
  await addTask({ id: 'rush', executor: 'gid_rush', dispatchTimes: 100, dispatch: 'blocking' });
  const taken = await Promise.all(users.map((uid, n) => (n % 2 ? api : other.api).tasks.pullAll(uid)));
  expect(taken.flat()).toHaveLength(100);
  const [occurrence] = (await dispatchLog('taskId=rush')).map((l) => l.occurrence);
  expect((await eventTypes('rush', occurrence)).filter((type) => type === 'dispatched')).toHaveLength(100);
});

test('S4.5 asks five times without completing, from everywhere at once: the same task, the same log id', async () => {
  await addTask({ id: 'redo', executor: 'uid_ann' });
  await addTask({ id: 'redo-2', executor: 'uid_ann' });
  const first = await handed('ann');
  expect(first).toMatchObject({ redo: false, task: { id: 'redo', params: {} } });
  const again = await Promise.all(numbered(50).map((_, n) => (n % 2 ? api : other.api).tasks.next('ann')));
  for (const a of again) expect(a).toMatchObject({ redo: true, logId: first.logId, task: first.task });
  await completed('ann', first.logId);
  expect(await handed('ann')).toMatchObject({ redo: false, task: { id: 'redo-2' } });
  expect(await dispatchLog('uid=ann')).toMatchObject([
    { type: 'dispatched', taskId: 'redo', logId: first.logId },
    { type: 'completed', taskId: 'redo', logId: first.logId },
    { type: 'dispatched', taskId: 'redo-2' },
  ]);
});

test('S4.5 50 first pulls of a user at once, of two servers, each after another task, are one dispatch', async () => {
  const users = numbered(byNight(20, 6), 'once-user-');
  await putGroup('once', users);
  for (let n = 0; n < 10; n++) await addTask({ id: `once-${n}`, executor: 'gid_once', dispatchTimes: 20 });
  for (const uid of users) {
    const pull = (_: unknown, n: number) => (n % 2 ? api : other.api).tasks.next(uid, { exclude: [`once-${n % 10}`] });
    const answers = await Promise.all(Array.from({ length: 50 }, pull));
    expect(new Set(answers.map((a) => a.logId)).size).toBe(1);
    expect(answers.filter((a) => !a.redo)).toHaveLength(1);
  }
});

test('S4.7 a log id that is old, of somebody else, or made up is refused, and the current one named', async () => {
  for (const id of ['log-1', 'log-2', 'log-3']) await addTask({ id, executor: 'uid_bob' });
  await addTask({ id: 'log-4', executor: 'uid_eve' });
  const stale = { code: 'stale_log_id' };
  const one = await handed('bob');
  expect((await complete('bob', 'lt_nonsense')).body).toMatchObject({ ...stale, status: 409, current: one.logId });
  await completed('bob', one.logId, { n: 1 });
  const two = await handed('bob');
  expect((await complete('bob', one.logId, { n: 2 })).body).toMatchObject({ ...stale, current: two.logId });
  const foreign = await handed('eve');
  expect((await complete('bob', foreign.logId)).body).toMatchObject({ ...stale, current: two.logId });
  expect((await complete('nobody', foreign.logId)).body).toMatchObject({ ...stale, current: null });
  expect((await handed('eve')).redo).toBe(true);
});

test('S4.7 the same completion again, 50 at once too, is the first answer; with another result it is refused', async () => {
  await addTask({ id: 'twice', executor: 'uid_cat' });
  const { logId } = await handed('cat');
  const answers = await Promise.all(numbered(50).map(() => complete('cat', logId, { a: 1, b: [2] })));
  for (const { status, body } of answers) expect([status, body]).toEqual([200, answers[0]?.body]);
  expect((await complete('cat', logId, { b: [2], a: 1 })).status).toBe(200);
  const settled = { status: 409, code: 'lease_lost', reason: 'settled' };
  expect((await complete('cat', logId, { a: 2 })).body).toMatchObject(settled);
  expect((await dispatchLog('uid=cat')).filter((l) => l.type === 'completed')).toMatchObject([
    { result: { a: 1, b: [2] } },
  ]);
});

test('S4.6 the earliest start first, over groups and the user; equal starts are each given, none twice', async () => {
  await putGroup('even', ['dan', 'dora']);
  await putGroup('odd', ['dan']);
  const same = inMs(-60_000);
  const executors = ['gid_even', 'uid_dan', 'gid_odd'];
  for (let n = 0; n < 12; n++)
    await addTask({ id: `tie-${n}`, executor: executors[n % 3], startTime: same, dispatchTimes: 2 });
  for (let n = 0; n < 6; n++)
    await addTask({ id: `early-${n}`, executor: executors[n % 3], startTime: inMs(-90_000 - n * 1000) });
  await addTask({ id: 'later', executor: 'uid_dan', startTime: inMs(60_000) });
  const got = (await pullAll('dan')).map((t) => t.id);
  expect(got).toEqual([...numbered(6, 'early-').reverse(), ...numbered(12, 'tie-')]);
  expect((await pullAll('dora')).map((t) => t.id)).toEqual(['tie-0', 'tie-3', 'tie-6', 'tie-9']);
  const nothing = await next('dan');
  expect(nothing).toMatchObject({ task: null, logId: null, redo: false, reasons: { notYet: 1 } });
  expect(Date.parse(nothing.nextAt)).toBeGreaterThan(Date.now());
});

test('S4.6 what the caller excludes, by task or by occurrence, is passed over, and nextAt with it', async () => {
  const startTime = inMs(-1000);
  for (const id of ['ex-1', 'ex-2', 'ex-3']) await addTask({ id, executor: 'uid_flo', startTime });
  await addTask({ id: 'ex-4', executor: 'uid_flo', startTime: inMs(3600_000) });
  const exclude = ['ex-1', `ex-2/${startTime}`];
  const { logId, task } = await handed('flo', { exclude });
  expect(task.id).toBe('ex-3');
  // what is unfinished comes first, excluded or not
  expect((await handed('flo', { exclude: ['ex-3'] })).logId).toBe(logId);
  await completed('flo', logId);
  const reasons = { excluded: 2, done: 0, taken: 0 };
  expect(await next('flo', { exclude })).toMatchObject({ task: null, reasons });
  expect((await next('flo', { exclude: [...exclude, 'ex-4'] })).nextAt).toBeNull();
  expect((await handed('flo')).task.id).toBe('ex-1');
});

test('S4.3 a change of the group shows at the next pull, in both directions', async () => {
  await putGroup('team', ['gus', 'hal']);
  for (let n = 0; n < 4; n++) await addTask({ id: `team-${n}`, executor: 'gid_team' });
  await work('gus');
  const changed = await api.post('/v1/groups/team/members', { remove: ['gus'], add: ['ida'] });
  expect(changed.body.members).toEqual(['hal', 'ida']);
  expect((await next('gus')).task).toBeNull();
  expect((await handed('ida')).task.id).toBe('team-1');
  await putGroup('team', ['gus']);
  expect((await next('hal')).task).toBeNull();
  expect((await handed('gus')).task.id).toBe('team-2');
  // what is with somebody stays with him: he has to complete it first (S4.5)
  expect((await handed('ida')).redo).toBe(true);
});

test('S4.3 users and groups are the same with and without their prefixes', async () => {
  await putGroup('gid_mixed', ['uid_jon', 'kim']);
  await addTask({ id: 'mixed', executor: 'gid_mixed', dispatchTimes: 2 });
  const { logId } = await handed('jon');
  expect((await handed('uid_jon')).logId).toBe(logId);
  expect((await handed('uid_kim')).task.id).toBe('mixed');
  expect((await dispatchLog('uid=uid_jon')).map((l) => l.uid)).toEqual(['jon']);
  expect((await api.get('/v1/groups/mixed')).body).toMatchObject({ id: 'gid_mixed', members: ['uid_jon', 'kim'] });
  await addTask({ id: 'mixed-2', executor: 'uid_kim' });
  await completed('uid_kim', (await handed('kim')).logId);
  expect((await handed('kim')).task.id).toBe('mixed-2');
});

test('S4.4 S4.7 completed with next: the next one in the same call, as of next; a repeat gives the same', async () => {
  for (const id of ['step-1', 'step-2']) await addTask({ id, executor: 'uid_step' });
  const first = await next('step');
  const both = { logId: first.logId, result: 1, next: true };
  const { status, body } = await api.post('/v1/clients/step/complete', both);
  expect(status).toBe(200);
  expect(body).toMatchObject({ logId: first.logId, next: { task: { id: 'step-2' }, redo: false, reasons: null } });
  const repeated = (await api.post('/v1/clients/step/complete', both)).body;
  expect(repeated).toMatchObject({ completedAt: body.completedAt, next: { logId: body.next.logId } });
  const last = { logId: body.next.logId, next: true };
  const waiting = api.post('/v1/clients/step/complete', { ...last, waitSeconds: 20, exclude: ['step-3'] });
  for (const id of ['step-3', 'step-4']) await addTask({ id, executor: 'uid_step' });
  const { next: given } = (await waiting).body;
  expect(given.task.id).toBe('step-4');
  await completed('step', given.logId);
  expect((await complete('step', 'nothing')).status).toBe(409);
  expect((await api.post('/v1/clients/step/complete', { logId: 'nothing', next: true })).body.code).toBe(
    'stale_log_id',
  );
  expect((await next('step')).task.id).toBe('step-3');
});

test('S4.7 the same again: 200 with the first answer, whatever was given since; `next` is what the first one had', async () => {
  for (const id of ['again-1', 'again-2', 'again-3']) await addTask({ id, executor: 'uid_again' });
  const send = (body: object) => api.post('/v1/clients/again/complete', body);
  const both = { logId: (await handed('again')).logId, result: 1, next: true };
  const { body: first } = await send(both);
  expect(first.next).toMatchObject({ redo: false, task: { id: 'again-2' } });
  const { next: second, ...completed } = first;
  expect(await complete('again', both.logId, 1)).toMatchObject({ status: 200, body: completed });
  expect(await send(both)).toMatchObject({ status: 200, body: first });
  const stale = { status: 409, body: { code: 'stale_log_id', current: second.logId } };
  for (const more of [{}, { next: false }]) expect(await send({ ...both, ...more, result: 2 })).toMatchObject(stale);
  // completed meanwhile, it is not given again, and nothing else instead of it, also while there is something
  expect((await complete('again', second.logId)).status).toBe(200);
  const none = { task: null, logId: null, redo: false, nextAt: null, reasons: null };
  const late = await send({ ...both, waitSeconds: 20 });
  expect(late).toMatchObject({ status: 200, body: { ...completed, next: none } });
  expect(await handed('again')).toMatchObject({ redo: false, task: { id: 'again-3' } });
  expect((await send(both)).body.next).toEqual(none);
  expect(await complete('again', both.logId, 1)).toMatchObject({ status: 200, body: completed });
});
