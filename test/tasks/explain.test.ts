import { expect, test } from 'vitest';
import { insist, type Json, repeat } from '../support/client.ts';
import { expectProblem } from '../support/problems.ts';
import { startTestSystem } from '../support/system.ts';
import { inMs } from '../support/times.ts';

const { api, keyed } = await startTestSystem({}, { role: 'api' });
const { addRotation, addTask, addTemplate, completed, deleteTask, handed, next, patchTask, putGroup } = api.tasks;
const { sendTask, work } = api.tasks;

await addTemplate('plain');

const ask = async (uid: string, task?: string): Promise<Json> =>
  insist(await api.post(`/v1/clients/${uid}/explain`, task ? { task } : {}), 'explain', 200);
const why = async (uid: string, task: string): Promise<string[]> => (await ask(uid, task)).why;
const free = (ahead: number) => ({ offered: true, why: [], ahead });

test('S4.3 S4.6 explain of a task names everything that keeps a user from it, and how many occurrences go before it', async () => {
  await putGroup('crew', ['ann', 'bob']);
  const sent = (id: string, startMs: number, more = {}) => ({
    id,
    executor: 'gid_crew',
    startTime: inMs(startMs),
    ...more,
  });
  await addTask(sent('first', -30_000));
  await addTask(sent('second', -20_000));
  await addTask(sent('own', -10_000, { executor: 'uid_bob' }));
  await addTask(sent('later', 3_600_000));
  await addRotation(sent('hourly', 7_200_000));
  expect(await ask('ann', 'first')).toEqual(free(0));
  expect(await ask('ann', 'second')).toEqual(free(1));
  expect(await ask('bob', 'own')).toEqual(free(2));
  expect(await why('ann', 'own')).toEqual(['otherExecutor']);
  for (const id of ['later', 'hourly']) expect(await why('ann', id)).toEqual(['notYet']);
  expect(await why('nobody', 'later')).toEqual(['otherExecutor', 'notYet']);

  const { task, logId } = await handed('ann');
  expect([task.id, await why('ann', 'first')]).toEqual(['first', ['heldByYou']]);
  expect(await why('ann', 'second')).toEqual(['unfinished']);
  expect(await why('bob', 'first')).toEqual(['taken']);
  expect((await ask('bob')).reasons).toMatchObject({ taken: 1, notYet: 2, done: 0 });

  await completed('ann', logId);
  expect(await why('ann', 'first')).toEqual(['completed']);
  // begun before what bob completes, so that they are passed by
  const { task: late } = await handed('bob', { exclude: ['second'] });
  expect(late.id).toBe('own');
  await deleteTask('later');
  expect(await why('ann', 'later')).toEqual(['deleted', 'cancelled']);
  expect(await ask('ann', 'second')).toEqual(free(0));
  expectProblem(await api.post('/v1/clients/ann/explain', { task: 'none' }), 'none', 'not_found');
});

test('S4.4 S4.6 explain gives the reasons that an empty pull gives: done, passed by, too old', async () => {
  await putGroup('past', ['cat', 'dan']);
  const sent = { executor: 'gid_past', dispatchTimes: 2 };
  await addTask({ ...sent, id: 'p-old', startTime: inMs(-200_000_000) });
  await addTask({ ...sent, id: 'p-early', startTime: inMs(-60_000) });
  await addTask({ ...sent, id: 'p-late', startTime: inMs(-30_000) });
  expect(await why('cat', 'p-old')).toEqual(['tooOld']);
  expect(await ask('cat', 'p-late')).toEqual(free(1));
  await work('cat');
  expect(await why('cat', 'p-early')).toEqual(['done']);
  await work('cat');
  await addTask({ ...sent, id: 'p-new', startTime: inMs(-45_000) });
  // what has come since is no passed one
  expect(await ask('cat', 'p-new')).toEqual(free(0));
  await work('cat');
  const { task, reasons } = await next('cat');
  expect([task, (await ask('cat')).reasons]).toEqual([null, reasons]);
  expect(reasons).toMatchObject({ done: 3, tooOld: 1 });
  // a blocking one that was taken goes first, however late it began
  await addTask({ ...sent, id: 'p-block', startTime: inMs(-1_000), dispatch: 'blocking', dispatchTimes: 3 });
  await work('cat');
  await addTask({ ...sent, id: 'p-other', startTime: inMs(-500) });
  expect(await ask('cat', 'p-block')).toEqual(free(0));
});

test('S4.3 a user’s key learns of tasks that they were given only', async () => {
  await putGroup('keys', ['eva', 'fay']);
  const [eva, fay] = [await keyed('reviewer', 'eva'), await keyed('reviewer', 'fay')];
  await addTask({ id: 'e1', executor: 'gid_keys' });
  insist(await eva.post('/v1/clients/eva/next', {}), 'next', 200);
  expect((await eva.post('/v1/clients/eva/explain', { task: 'e1' })).body).toMatchObject({ why: ['heldByYou'] });
  expectProblem(await fay.post('/v1/clients/fay/explain', { task: 'e1' }), 'e1', 'not_found');
  expectProblem(await fay.post('/v1/clients/eva/explain', {}), 'another', 'forbidden');
  expect((await fay.post('/v1/clients/fay/explain', {})).body.reasons).toMatchObject({ taken: 1 });
});

await addTemplate('form', {
  name: { type: 'string' },
  amount: { type: 'number' },
  urgent: { type: 'boolean', required: false },
  place: { type: 'object', required: false },
});
const right = { name: 'shelf', amount: 3, urgent: true, place: { aisle: 4 } };
const task = { templateId: 'form', executor: 'uid_t' };

test('S4.1 params that match their template are taken as they are', async () => {
  expect((await addTask({ ...task, id: 'right', params: right })).params).toEqual(right);
  const least = { name: '', amount: 0 };
  expect((await addTask({ ...task, id: 'least', params: least })).params).toEqual(least);
});

const WRONG: [string, object, string[]][] = [
  ['nothing at all', {}, ['params.name', 'params.amount']],
  [
    'wrong types',
    { name: 5, amount: '3', urgent: 'yes', place: [] },
    ['params.name', 'params.amount', 'params.urgent', 'params.place'],
  ],
  ['null', { name: null, amount: 1 }, ['params.name']],
  ['one too many', { ...right, color: 'red' }, ['params.color']],
  ['a name of every object', { ...right, constructor: 1 }, ['params.constructor']],
];

test.each(WRONG)('S4.1 %s: refused at creation, every mismatch named', async (_, params, paths) => {
  const { status, body } = await sendTask({ ...task, params });
  expect([status, body.code]).toEqual([422, 'template_mismatch']);
  expect(body.errors.map((e: { path: string }) => e.path)).toEqual(paths);
});

test.each(WRONG)('S4.1 %s: refused at a change, which changes nothing', async (name, params, paths) => {
  const id = `change-${WRONG.findIndex(([n]) => n === name)}`;
  await addTask({ ...task, id, params: right });
  const { status, body } = await api.patch(`/v1/tasks/${id}`, { params, dispatchTimes: 7 });
  expect([status, body.code]).toEqual([422, 'template_mismatch']);
  expect(body.errors.map((e: { path: string }) => e.path)).toEqual(paths);
  expect((await api.get(`/v1/tasks/${id}`)).body).toMatchObject({ params: right, dispatchTimes: 1 });
});

test('S4.1 another template is another measure', async () => {
  await addTemplate('other', { color: { type: 'string' } });
  await addTask({ ...task, id: 'move', params: right });
  expect((await api.patch('/v1/tasks/move', { templateId: 'other' })).body.code).toBe('template_mismatch');
  expect(await patchTask('move', { templateId: 'other', params: { color: 'red' } })).toMatchObject({
    templateId: 'other',
  });
  const unknown = await sendTask({ ...task, templateId: 'nobody', params: {} });
  expect([unknown.status, unknown.body.errors[0].path]).toEqual([422, 'templateId']);
});

test('S4.1 a template again is the same one, with other content a conflict; lists begin with the newest', async () => {
  const sent = { id: 'again', name: 'Again', params: { a: { type: 'number', required: false } } };
  expect((await api.post('/v1/templates', sent)).status).toBe(201);
  expect((await api.post('/v1/templates', sent)).status).toBe(200);
  expect((await api.post('/v1/templates', { ...sent, name: 'Else' })).body.code).toBe('id_conflict');
  expect((await api.get('/v1/templates/again')).body).toMatchObject(sent);
  expect((await api.get('/v1/templates/none')).status).toBe(404);
  expect((await api.get('/v1/templates?limit=1')).body.items[0].id).toBe('again');
  expect((await api.post('/v1/templates', { name: 'without an id' })).body.id).toMatch(/./);
});

test('S4.1 a template is changed: tasks keep the version that they were made with; parameters may be arrays', async () => {
  await addTemplate('grow', { list: { type: 'array' } });
  const grow = { templateId: 'grow', executor: 'uid_t' };
  expect((await sendTask({ ...grow, params: { list: {} } })).body.code).toBe('template_mismatch');
  expect(await addTask({ ...grow, id: 'grow', params: { list: [1] } })).toMatchObject({ templateVersion: 1 });
  const params = { list: { type: 'array', required: false }, size: { type: 'number', required: true } };
  const patched = await Promise.all(repeat(50, () => api.patch('/v1/templates/grow', { params })));
  for (const { status, body } of patched) expect([status, body.version, body.params]).toEqual([200, 2, params]);
  expect((await api.patch('/v1/templates/grow', { name: 'Growing' })).body).toMatchObject({ version: 2, params });
  expect((await sendTask({ ...grow, params: { list: [1] } })).body.code).toBe('template_mismatch');
  expect(await patchTask('grow', { params: { list: [2] } })).toMatchObject({ templateVersion: 1 });
  expect((await api.patch('/v1/tasks/grow', { params: { size: 1 } })).body.code).toBe('template_mismatch');
  const now = { templateId: 'grow', params: { size: 1 } };
  expect(await patchTask('grow', now)).toMatchObject({ templateVersion: 2, params: { size: 1 } });
  expect((await api.patch('/v1/templates/none', { name: 'x' })).status).toBe(404);
});
