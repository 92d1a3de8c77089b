import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';

import { eventually, type Json, numbered } from '../support/client.ts';
import { startTestSystem, startTwoSystems } from '../support/system.ts';
import { inMs } from '../support/times.ts';

const [first, second] = await startTwoSystems();
const { api, running } = first;
const { addTask, addTemplate, completed, handed, next, patchTask, putGroup } = api.tasks;
await addTemplate('plain');

/** A pull that waits, once it has taken its place. */
async function waiting(uid: string, { api, running } = first, waitSeconds = 20) {
  const before = running.runtime.waiters.size;
  const answer = api.tasks.next(uid, { waitSeconds });
  await eventually(async () => running.runtime.waiters.size > before);
  return { answer };
}

test('S4.3 a waiting user hears of a task for him or for his group, added on either of two servers', async () => {
  await putGroup('wait', ['ann', 'ben']);
  for (const [n, system] of [first, second].entries()) {
    const { answer } = await waiting('ann', system);
    await addTask({ id: `wait-${n}`, executor: 'gid_wait' });
    const { task, logId } = await answer;
    expect(task).not.toBeNull();
    await completed('ann', logId);
  }
  const own = await waiting('ben');
  await second.api.tasks.addTask({ id: 'wait-own', executor: 'uid_ben' });
  expect((await own.answer).task.id).toBe('wait-own');
});

test('S4.3 a waiting user hears that he became a member, and of a task that was moved to him', async () => {
  await addTask({ id: 'joined', executor: 'gid_join' });
  await putGroup('join', []);
  const { answer } = await waiting('cat');
  await api.post('/v1/groups/join/members', { add: ['cat'] });
  expect((await answer).task.id).toBe('joined');
  await addTask({ id: 'moved', executor: 'uid_nobody' });
  const other = await waiting('dan');
  await patchTask('moved', { executor: 'uid_dan' });
  expect((await other.answer).task.id).toBe('moved');
});

test('S4.4 of 20 who wait, 6 are called and get it; the others go on waiting, and hear of the next one', async () => {
  const users = numbered(20, 'line-');
  await putGroup('line', users);
  const calls = await Promise.all(users.map((uid) => waiting(uid, first, 6)));
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
  await addTask({ id: 'far', executor: 'uid_eve', startTime });
  const nothing = { task: null, nextAt: startTime, reasons: { notYet: 1 } };
  expect(await next('eve', { waitSeconds: 0.5 })).toMatchObject(nothing);
  const gone = new AbortController();
  const headers = { 'content-type': 'application/json' };
  const init = { headers, body: JSON.stringify({ waitSeconds: 30 }), signal: gone.signal };
  const left = api.raw('POST', '/v1/clients/flo/next', init).catch(() => null);
  await eventually(async () => running.runtime.waiters.size === 1);
  gone.abort();
  await left;
  await eventually(async () => running.runtime.waiters.size === 0);
  await addTask({ id: 'flo', executor: 'uid_flo' });
  await sleep(300);
  expect(await handed('flo')).toMatchObject({ redo: false, task: { id: 'flo' } });
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
