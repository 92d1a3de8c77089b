import { expect, test } from 'vitest';
import { eventTypes, eventually, type Json } from '../support/client.ts';
import { wholeFeed } from '../support/feed.ts';
import { startTestSystem } from '../support/system.ts';
import { addTask, addTemplate, patchTask } from '../support/tasks.ts';
import { add, claim, configure, events } from '../support/tickets.ts';
import { inMs } from '../support/times.ts';

const { api } = await startTestSystem();
const DAY = /\d{4}-\d\d-\d\d/;
const SHOWN = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

/** Every text in a value that holds a day, by its path. */
function timesIn(value: Json, path: string): [string, string][] {
  if (typeof value === 'string') return DAY.test(value) ? [[path, value]] : [];
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, one]) => timesIn(one, `${path}.${name}`));
}

test('S4.8 every time in an event is ISO 8601 in UTC with milliseconds, whoever wrote it', async () => {
  await configure(api, 'times', { leaseSeconds: 0.2 });
  await add(api, 'times', { id: 'reclaimed' });
  await claim(api, 'times', 'rita');
  await add(api, 'times', { id: 'expired', deadlineSeconds: 0.2 });
  await add(api, 'times', { id: 'changed' });
  await api.patch('/v1/tickets/changed', { deadlineAt: '2099-01-02T03:04:05.123456+02:00' });
  await addTemplate(api, 'plain');
  await addTask(api, { id: 'once', executor: 'uid_rita', startTime: inMs(3_600_000) });
  await patchTask(api, 'once', { startTime: '2098-01-02T03:04:05+02:00', endTime: '2099-01-01T00:00:00Z' });
  const daily = { type: 'rotate', dailyTime: '09:00', executor: 'uid_rita', startTime: inMs(-86_400_000) };
  await addTask(api, { id: 'daily', ...daily });
  await patchTask(api, 'daily', { dailyTime: '10:00', endTime: inMs(86_400_000), startTime: inMs(-3 * 86_400_000) });
  await api.put('/v1/reviews/times', { text: { status: 1 } });
  const callback = { kind: 'text', status: 2, auditTime: '2024-01-02T03:04:05+02:00', waitSeconds: 30 };
  expect((await api.post('/v1/reviews/times/callbacks', callback)).body.outcome).toBe('applied');
  for (const id of ['reclaimed', 'expired']) await eventually(async () => (await eventTypes(api, id)).includes(id));

  const [change] = (await events(api, 'changed')).filter((e) => e.type === 'changed');
  expect(change?.data.changed).toEqual({ deadlineAt: '2099-01-02T01:04:05.123Z' });
  expect((await api.get('/v1/tickets/changed')).body.deadlineAt).toBe('2099-01-02T01:04:05.123Z');
  const found = (await wholeFeed(api)).flatMap((e) => timesIn(e.data, `${e.kind} ${e.type}`));
  const paths = found.map(([path]) => path);
  expect(paths).toEqual(
    expect.arrayContaining([
      ...['ticket reclaimed.expiredAt', 'ticket expired.deadlineAt', 'ticket changed.changed.deadlineAt'],
      ...['rotation changed.changed.startTime', 'rotation changed.changed.endTime', 'review applied.auditTime'],
    ]),
  );
  expect(found.filter(([, time]) => !SHOWN.test(time))).toEqual([]);
});
