import { expect, test } from 'vitest';
import { clear } from '../../services/upkeep/retention.ts';
import { eventually, numbered, repeat, walk } from '../support/client.ts';
import { byHand } from '../support/retention.ts';
import { startTestSystem } from '../support/system.ts';
import { HOUR_MS, inMs } from '../support/times.ts';

// to wait for what is published by asking without a pause would hold it up: callers come first
const system = await startTestSystem({}, { limits: { publishBusyPerSecond: 10 } });
const { api, sql, running } = system;
const { ctx } = running;
const { addRotation, addTask, addTemplate, completed, deleteTask, dispatchLog, handed, occurrences } = api.tasks;
const { pullAll, putGroup, work } = api.tasks;
await byHand(system);
await addTemplate('plain', { n: { type: 'number', required: false } });

test('S4.8 the dispatch log: who was given what, who completed it with what result; by user, task and time, in pages', async () => {
  await putGroup('log', ['ann', 'ben']);
  for (let n = 0; n < 5; n++) await addTask({ id: `log-${n}`, executor: 'gid_log', dispatchTimes: 2, params: { n } });
  for (const uid of ['ann', 'ben']) {
    for (let n = 0; n < 5; n++) {
      const { logId, task } = await handed(uid);
      await completed(uid, logId, { of: task.params.n });
    }
  }
  const all = await walk(api, '/v1/dispatch-log', 7);
  expect(all).toHaveLength(20);
  expect(all.map((l) => l.at)).toEqual(all.map((l) => l.at).sort());
  const anns = await walk(api, '/v1/dispatch-log?uid=ann', 3);
  expect(anns).toEqual(all.filter((l) => l.uid === 'ann'));
  expect(anns.map((l) => l.type)).toEqual(repeat(10, (n) => (n % 2 ? 'completed' : 'dispatched')));
  const third = await walk(api, '/v1/dispatch-log?taskId=log-3', 3);
  expect(third).toEqual(all.filter((l) => l.taskId === 'log-3'));
  expect(third).toMatchObject(
    ['ann', 'ben'].flatMap((uid) => [
      { uid, type: 'dispatched', params: { n: 3 }, result: null },
      { uid, type: 'completed', params: { n: 3 }, result: { of: 3 } },
    ]),
  );
  const from = all[10]?.at ?? '';
  expect(await walk(api, `/v1/dispatch-log?from=${from}`, 50)).toEqual(all.filter((l) => l.at >= from));
  expect(await dispatchLog('uid=ann&taskId=log-4')).toHaveLength(2);
  expect(await dispatchLog('uid=nobody')).toEqual([]);
});

test('S4.9 lists: from seven days ago on, by group and by user, the oldest start first; rotations as occurrences', async () => {
  const day = 24 * HOUR_MS;
  const lookbackSeconds = 30 * 86_400;
  await addTask({ id: 'list-old', executor: 'uid_lil', startTime: inMs(-8 * day), lookbackSeconds });
  await addTask({ id: 'list-new', executor: 'uid_lil', startTime: inMs(-6 * day), lookbackSeconds });
  await addTask({ id: 'list-soon', executor: 'gid_lists', startTime: inMs(day) });
  const startTime = inMs(-20 * day);
  const daily = { everyMinutes: 1440, executor: 'uid_lil', startTime, lookbackSeconds };
  await addRotation({ id: 'list-rot', ...daily });
  await addRotation({ id: 'list-past', ...daily, endTime: inMs(-9 * day) });
  const ids = async (query: string) =>
    (await api.get(`/v1/tasks?${query}`)).body.items.map((t: { id: string }) => t.id);
  expect(await ids('executor=uid_lil')).toEqual(['list-rot', 'list-new']);
  const all = ['list-rot', 'list-past', 'list-old', 'list-new'];
  expect(await ids(`executor=uid_lil&from=${inMs(-10 * day)}`)).toEqual(all);
  expect(await ids(`executor=uid_lil&to=${inMs(-6.5 * day)}`)).toEqual(['list-rot']);
  expect(await ids('executor=gid_lists')).toEqual(['list-soon']);
  const paged = await walk(api, `/v1/tasks?executor=uid_lil&from=${inMs(-10 * day)}`, 2);
  expect(paged.map((t) => t.id)).toEqual(all);

  const { task } = await work('lil');
  const second = await handed('lil');
  const seen = await occurrences('list-rot', startTime, inMs(2 * day));
  expect(seen).toHaveLength(23);
  expect(seen.find((o) => o.occurrence === startTime)).toMatchObject(
    task.id === 'list-rot'
      ? { state: 'completed', completed: 1 }
      : { state: 'due', stock: second.task.id === 'list-rot' ? 0 : 1 },
  );
  expect(seen.slice(-2).map((o) => o.state)).toEqual(['planned', 'planned']);
  const { items } = (await api.get('/v1/tasks?executor=uid_lil&expand=occurrences')).body;
  const rot = items.find((t: { id: string }) => t.id === 'list-rot');
  // seven days back and seven ahead
  expect(rot.occurrences).toHaveLength(14);
  expect(rot.moreFrom).toBeNull();
  expect((await api.get('/v1/tasks?executor=lil')).body).toMatchObject({ status: 422, errors: [{ path: 'executor' }] });
});

test('S4.9 what is too much for one answer says from when on there is more', async () => {
  const startTime = inMs(-HOUR_MS);
  await addTask({ id: 'dense', type: 'rotate', everyMinutes: 1, executor: 'uid_dense', startTime });
  const { body } = await api.get(
    `/v1/tasks?executor=uid_dense&expand=occurrences&from=${startTime}&to=${inMs(24 * HOUR_MS)}`,
  );
  const [task] = body.items;
  expect(task.occurrences).toHaveLength(1000);
  expect(task.moreFrom).toBe(inMs(1000 * 60_000, startTime));
});

test('S4.10 tasks that have been over for years are cleared, with their occurrences and logs; nothing else is', async () => {
  const lookbackSeconds = 5 * 366 * 86_400;
  const [old, recent] = ['2023-01-02T03:04:05.000Z', inMs(-HOUR_MS)];
  await addTask({ id: 'old-once', executor: 'uid_pat', startTime: old, lookbackSeconds });
  const endTime = '2023-12-31T00:00:00.000Z';
  const rarely = { everyMinutes: 100_000, executor: 'uid_pat', startTime: old, lookbackSeconds };
  await addRotation({ id: 'old-gone', ...rarely, endTime });
  await addRotation({ id: 'old-live', ...rarely });
  await addTask({ id: 'old-open', executor: 'uid_quin', startTime: old, lookbackSeconds });
  await addTask({ id: 'new-once', executor: 'uid_pat', startTime: recent });
  const given = await pullAll('pat');
  expect(given.length).toBeGreaterThan(20);
  await deleteTask('old-gone');
  await clear(ctx);
  expect(await dispatchLog('uid=pat')).toHaveLength(2 * given.length);

  // as if it had been a while
  const aged = "created_at = created_at - interval '3 years', ended_at = ended_at - interval '3 years'";
  await sql(
    `update item set ${aged} where ended_at is not null and available_at < now() - interval '2 years' or kind = 'rotation'`,
  );
  await sql(`update task set updated_at = updated_at - interval '3 years'`);
  const all = ['old-once', 'old-gone', 'old-live', 'old-open', 'new-once'];
  const left = () => Promise.all(all.map(async (id) => (await api.get(`/v1/tasks/${id}`)).status));
  // not before all of it was published
  await eventually(async () => {
    await clear(ctx);
    return (await left()).join() === '404,404,200,200,200';
  });
  const log = await dispatchLog('uid=pat');
  expect(new Set(log.map((l) => l.taskId))).toEqual(new Set(['old-live', 'new-once']));
  expect(log.every((l) => l.occurrence > inMs(-731 * 24 * HOUR_MS))).toBe(true);
  expect((await handed('quin')).task.id).toBe('old-open');
  // what was cleared is not shown as if it were to come
  const shown = await occurrences('old-live', old, inMs(0));
  expect(shown.map((o) => o.occurrence)).toEqual(
    log.filter((l) => l.taskId === 'old-live' && l.type === 'completed').map((l) => l.occurrence),
  );
  const rests = await sql<{ n: number }>(
    `select count(*)::integer as n from lease l where not exists (select from item i where i.kind = l.kind and i.id = l.item_id)`,
  );
  expect(rests[0]?.n).toBe(0);
  // the id is free again
  await addTask({ id: 'old-once', executor: 'uid_pat' });
});

test('S4.3 groups: whole, by addition and removal, listed from the newest on', async () => {
  await putGroup('g', numbered(3, 'u'));
  const changed = await api.post('/v1/groups/g/members', { add: ['u3', 'u3', 'uid_u1'], remove: ['u0', 'nobody'] });
  expect(changed.body.members).toEqual(['uid_u1', 'u2', 'u3']);
  const [listed] = (await api.get('/v1/groups?limit=1')).body.items;
  expect(listed).toMatchObject({ id: 'g', size: 3 });
  expect(listed).not.toHaveProperty('members');
  expect((await api.get('/v1/groups/g')).body).toMatchObject({ size: 3, members: ['uid_u1', 'u2', 'u3'] });
  expect((await api.get('/v1/groups/none')).status).toBe(404);
  expect((await api.post('/v1/groups/none/members', { add: ['x'] })).status).toBe(404);
  expect(await putGroup('g', [])).toMatchObject({ size: 0, members: [] });
});
