import { expect, test } from 'vitest';
import { insist, type Json } from '../support/client.ts';
import { expectProblem } from '../support/problems.ts';
import { startTestSystem } from '../support/system.ts';
import { inMs } from '../support/times.ts';

const { api, keyed } = await startTestSystem();
const { addRotation, addTask, addTemplate, completed, deleteTask, handed, next, putGroup, work } = api.tasks;

const ask = async (uid: string, task?: string): Promise<Json> =>
  insist(await api.post(`/v1/clients/${uid}/explain`, task ? { task } : {}), 'explain', 200);
const why = async (uid: string, task: string): Promise<string[]> => (await ask(uid, task)).why;
const free = (ahead: number) => ({ offered: true, why: [], ahead });

test('S4.3 S4.6 explain of a task names everything that keeps a user from it, and how many occurrences go before it', async () => {
  await addTemplate('plain');
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
  await addTemplate('plain');
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
  await addTemplate('plain');
  await putGroup('keys', ['eva', 'fay']);
  const [eva, fay] = [await keyed('reviewer', 'eva'), await keyed('reviewer', 'fay')];
  await addTask({ id: 'e1', executor: 'gid_keys' });
  insist(await eva.post('/v1/clients/eva/next', {}), 'next', 200);
  expect((await eva.post('/v1/clients/eva/explain', { task: 'e1' })).body).toMatchObject({ why: ['heldByYou'] });
  expectProblem(await fay.post('/v1/clients/fay/explain', { task: 'e1' }), 'e1', 'not_found');
  expectProblem(await fay.post('/v1/clients/eva/explain', {}), 'another', 'forbidden');
  expect((await fay.post('/v1/clients/fay/explain', {})).body.reasons).toMatchObject({ taken: 1 });
});
