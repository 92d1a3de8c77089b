import { expect, test } from 'vitest';
import { clear } from '../../services/upkeep/retention.ts';
import { eventually, numbered, repeat, walk } from '../support/client.ts';
import { byHand } from '../support/retention.ts';
import { startTestSystem } from '../support/system.ts';
import {
  addTask,
  addTemplate,
  completed,
  deleteTask,
  dispatchLog,
  HOUR_MS,
  handed,
  inMs,
  occurrences,
  pullAll,
  putGroup,
} from '../support/tasks.ts';

// to wait for what is published by asking without a pause would hold it up: callers come first
const system = await startTestSystem({}, { limits: { publishBusyPerSecond: 10 } });
const { api, sql, running } = system;
const { ctx } = running;
await byHand(system);
await addTemplate(api, 'plain', { n: { type: 'number', required: false } });

test('S4.8 the dispatch log: who was given what, who completed it with what result; by user, task and time, in pages', async () => {
  await putGroup(api, 'log', ['ann', 'ben']);
  for (let n = 0; n < 5; n++)
    await addTask(api, { id: `log-${n}`, executor: 'gid_log', dispatchTimes: 2, params: { n } });
  for (const uid of ['ann', 'ben']) {
    for (let n = 0; n < 5; n++) {
      const { logId, task } = await handed(api, uid);
      await completed(api, uid, logId, { of: task.params.n });
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
  expect(await dispatchLog(api, 'uid=ann&taskId=log-4')).toHaveLength(2);
  expect(await dispatchLog(api, 'uid=nobody')).toEqual([]);
});

test('S4.9 lists: from seven days ago on, by group and by user, the oldest start first; rotations as occurrences', async () => {
  const day = 24 * HOUR_MS;
  const lookbackSeconds = 30 * 86_400;
  await addTask(api, { id: 'list-old', executor: 'uid_lil', startTime: inMs(-8 * day), lookbackSeconds });
  await addTask(api, { id: 'list-new', executor: 'uid_lil', startTime: inMs(-6 * day), lookbackSeconds });
  await addTask(api, { id: 'list-soon', executor: 'gid_lists', startTime: inMs(day) });
  const startTime = inMs(-20 * day);
  await addTask(api, {
    id: 'list-rot',
    type: 'rotate',
    everyMinutes: 1440,
    executor: 'uid_lil',
    startTime,
    lookbackSeconds,
  });
  await addTask(api, {
    id: 'list-past',
    type: 'rotate',
    everyMinutes: 1440,
    executor: 'uid_lil',
    startTime,
    endTime: inMs(-9 * day),
    lookbackSeconds,
  });
  const ids = async (query: string) =>
    (await api.get(`/v1/tasks?${query}`)).body.items.map((t: { id: string }) => t.id);
  expect(await ids('executor=uid_lil')).toEqual(['list-rot', 'list-new']);
  expect(await ids(`executor=uid_lil&from=${inMs(-10 * day)}`)).toEqual([
    'list-rot',
    'list-past',
    'list-old',
    'list-new',
  ]);
  expect(await ids(`executor=uid_lil&to=${inMs(-6.5 * day)}`)).toEqual(['list-rot']);
  expect(await ids('executor=gid_lists')).toEqual(['list-soon']);
  const paged = await walk(api, `/v1/tasks?executor=uid_lil&from=${inMs(-10 * day)}`, 2);
  expect(paged.map((t) => t.id)).toEqual(['list-rot', 'list-past', 'list-old', 'list-new']);

  const taken = await handed(api, 'lil');
  await completed(api, 'lil', taken.logId);
  const second = await handed(api, 'lil');
  const seen = await occurrences(api, 'list-rot', startTime, inMs(2 * day));
  expect(seen).toHaveLength(23);
  const of = (id: string, occurrence: string) =>
    id === 'list-rot' ? seen.find((o) => o.occurrence === occurrence) : undefined;
  expect(of('list-rot', startTime)).toMatchObject(
    taken.task.id === 'list-rot'
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
  await addTask(api, { id: 'dense', type: 'rotate', everyMinutes: 1, executor: 'uid_dense', startTime });
  const { body } = await api.get(
    `/v1/tasks?executor=uid_dense&expand=occurrences&from=${startTime}&to=${inMs(24 * HOUR_MS)}`,
  );
  const [task] = body.items;
  expect(task.occurrences).toHaveLength(1000);
  expect(task.moreFrom).toBe(new Date(Date.parse(startTime) + 1000 * 60_000).toISOString());
});

test('S4.10 tasks that have been over for years are cleared, with their occurrences and logs; nothing else is', async () => {
  const lookbackSeconds = 5 * 366 * 86_400;
  const [old, recent] = ['2023-01-02T03:04:05.000Z', inMs(-HOUR_MS)];
  await addTask(api, { id: 'old-once', executor: 'uid_pat', startTime: old, lookbackSeconds });
  const endTime = '2023-12-31T00:00:00.000Z';
  await addTask(api, {
    id: 'old-gone',
    type: 'rotate',
    everyMinutes: 100_000,
    executor: 'uid_pat',
    startTime: old,
    endTime,
    lookbackSeconds,
  });
  await addTask(api, {
    id: 'old-live',
    type: 'rotate',
    everyMinutes: 100_000,
    executor: 'uid_pat',
    startTime: old,
    lookbackSeconds,
  });
  await addTask(api, { id: 'old-open', executor: 'uid_quin', startTime: old, lookbackSeconds });
  await addTask(api, { id: 'new-once', executor: 'uid_pat', startTime: recent });
  const given = await pullAll(api, 'pat');
  expect(given.length).toBeGreaterThan(20);
  await deleteTask(api, 'old-gone');
  await clear(ctx);
  expect(await dispatchLog(api, 'uid=pat')).toHaveLength(2 * given.length);

  // as if it had been a while
  const aged = "created_at = created_at - interval '3 years', ended_at = ended_at - interval '3 years'";
  await sql(
    `update item set ${aged} where ended_at is not null and available_at < now() - interval '2 years' or kind = 'rotation'`,
  );
  await sql(`update task set updated_at = updated_at - interval '3 years'`);
  const left = () =>
    Promise.all(
      ['old-once', 'old-gone', 'old-live', 'old-open', 'new-once'].map(
        async (id) => (await api.get(`/v1/tasks/${id}`)).status,
      ),
    );
  // not before all of it was published
  await eventually(async () => {
    await clear(ctx);
    return (await left()).join() === '404,404,200,200,200';
  });
  const log = await dispatchLog(api, 'uid=pat');
  expect(new Set(log.map((l) => l.taskId))).toEqual(new Set(['old-live', 'new-once']));
  expect(log.every((l) => l.occurrence > inMs(-731 * 24 * HOUR_MS))).toBe(true);
  expect((await handed(api, 'quin')).task.id).toBe('old-open');
  // what was cleared is not shown as if it were to come
  const shown = await occurrences(api, 'old-live', old, inMs(0));
  expect(shown.map((o) => o.occurrence)).toEqual(
    log.filter((l) => l.taskId === 'old-live' && l.type === 'completed').map((l) => l.occurrence),
  );
  const rests = await sql<{ n: number }>(
    `select count(*)::integer as n from lease l where not exists (select from item i where i.kind = l.kind and i.id = l.item_id)`,
  );
  expect(rests[0]?.n).toBe(0);
  // the id is free again
  await addTask(api, { id: 'old-once', executor: 'uid_pat' });
});

test('S4.3 groups: whole, by addition and removal, listed from the newest on', async () => {
  await putGroup(api, 'g', numbered(3, 'u'));
  expect(
    (await api.post('/v1/groups/g/members', { add: ['u3', 'u3', 'uid_u1'], remove: ['u0', 'nobody'] })).body.members,
  ).toEqual(['uid_u1', 'u2', 'u3']);
  const [listed] = (await api.get('/v1/groups?limit=1')).body.items;
  expect(listed).toMatchObject({ id: 'g', size: 3 });
  expect(listed).not.toHaveProperty('members');
  expect((await api.get('/v1/groups/g')).body).toMatchObject({ size: 3, members: ['uid_u1', 'u2', 'u3'] });
  expect((await api.get('/v1/groups/none')).status).toBe(404);
  expect((await api.post('/v1/groups/none/members', { add: ['x'] })).status).toBe(404);
  expect(await putGroup(api, 'g', [])).toMatchObject({ size: 0, members: [] });
});
