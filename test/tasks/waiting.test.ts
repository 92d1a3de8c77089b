import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';

import { eventually, type Json, numbered } from '../support/client.ts';
import { startTestSystem, testStores } from '../support/system.ts';
import {
  addTask,
  addTemplate,
  complete,
  completed,
  handed,
  inMs,
  next,
  patchTask,
  putGroup,
} from '../support/tasks.ts';

const stores = await testStores();
const { api, running } = await startTestSystem({}, { stores });
const second = await startTestSystem({}, { role: 'api', stores });
await addTemplate(api, 'plain');

/** A pull that waits, once it has taken its place. */
async function waiting(uid: string, client = api, waitSeconds = 20) {
  const before = client === api ? running.runtime.waiters.size : second.running.runtime.waiters.size;
  const answer = next(client, uid, { waitSeconds });
  const { waiters } = client === api ? running.runtime : second.running.runtime;
  for (let n = 0; n < 500 && waiters.size <= before; n++) await sleep(10);
  return { answer };
}

test('S4.3 a waiting user hears of a task for him or for his group, added on either of two servers', async () => {
  await putGroup(api, 'wait', ['ann', 'ben']);
  for (const client of [api, second.api]) {
    const { answer } = await waiting('ann', client);
    await addTask(api, { id: `wait-${client.url.at(-1)}-${client === api}`, executor: 'gid_wait' });
    const { task, logId } = await answer;
    expect(task).not.toBeNull();
    await completed(api, 'ann', logId);
  }
  const own = await waiting('ben');
  await addTask(second.api, { id: 'wait-own', executor: 'uid_ben' });
  expect((await own.answer).task.id).toBe('wait-own');
});

test('S4.3 a waiting user hears that he became a member, and of a task that was moved to him', async () => {
  await addTask(api, { id: 'joined', executor: 'gid_join' });
  await putGroup(api, 'join', []);
  const { answer } = await waiting('cat');
  await api.post('/v1/groups/join/members', { add: ['cat'] });
  expect((await answer).task.id).toBe('joined');
  await addTask(api, { id: 'moved', executor: 'uid_nobody' });
  const other = await waiting('dan');
  await patchTask(api, 'moved', { executor: 'uid_dan' });
  expect((await other.answer).task.id).toBe('moved');
});

test('S4.4 of 20 who wait, 6 are called and get it; the others go on waiting, and hear of the next one', async () => {
  const users = numbered(20, 'line-');
  await putGroup(api, 'line', users);
  const calls = await Promise.all(users.map((uid) => waiting(uid, api, 6)));
  const answers = calls.map((c) => c.answer);
  await addTask(api, { id: 'line-1', executor: 'gid_line', dispatchTimes: 6, startTime: inMs(300) });
  await addTask(api, { id: 'line-2', executor: 'gid_line', dispatchTimes: 4, startTime: inMs(900) });
  const got = (await Promise.all(answers)).map((a) => a.task?.id ?? null);
  expect(got.filter((id) => id === 'line-1')).toHaveLength(6);
  expect(got.filter((id) => id === 'line-2')).toHaveLength(4);
  expect(got.filter((id) => id === null)).toHaveLength(10);
});

test('S4.5 a wait that nothing comes of says when there will be something; one whose caller went away dispatches nothing', async () => {
  const startTime = inMs(3600_000);
  await addTask(api, { id: 'far', executor: 'uid_eve', startTime });
  expect(await next(api, 'eve', { waitSeconds: 0.5 })).toMatchObject({
    task: null,
    nextAt: startTime,
    reasons: { notYet: 1 },
  });
  const gone = new AbortController();
  const left = fetch(`${api.url}/v1/clients/flo/next`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ waitSeconds: 30 }),
    signal: gone.signal,
  }).catch(() => null);
  await sleep(300);
  gone.abort();
  await left;
  await sleep(200);
  await addTask(api, { id: 'flo', executor: 'uid_flo' });
  await sleep(300);
  expect(await handed(api, 'flo')).toMatchObject({ redo: false, task: { id: 'flo' } });
});

test('S4.4 what a late completion finds overdue, before any clock does, is for those who wait', async () => {
  const alone = await startTestSystem({ DOCKET_PACEMAKER: 'off' });
  await addTemplate(alone.api, 'plain');
  await putGroup(alone.api, 'late', ['gil', 'hal']);
  await addTask(alone.api, { id: 'late', executor: 'gid_late', answerSeconds: 0.4 });
  // the durable timer is kept from being first: its workflow is over
  const { task, logId } = await handed(alone.api, 'gil');
  const workflow = alone.running.runtime.client.workflow.getHandle(`task/late/${task.occurrence}`);
  await eventually(() => workflow.describe());
  await workflow.terminate();
  // nor is the slow poll to be
  alone.running.runtime.waiters.pollSome = () => {};
  let given: Json;
  const waits = next(alone.api, 'hal', { waitSeconds: 60 }).then((answer) => {
    given = answer;
  });
  await sleep(600);
  expect((await complete(alone.api, 'gil', logId)).body).toMatchObject({ code: 'stale_log_id', current: null });
  await eventually(async () => given?.task.id === 'late', 15_000);
  await waits;
});
