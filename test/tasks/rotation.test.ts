import { Temporal } from 'temporal-polyfill';
import { expect, test } from 'vitest';

import { numbered, repeat } from '../support/client.ts';
import { startTestSystem } from '../support/system.ts';
import { HOUR_MS, inMs, MINUTE_MS, msBetween } from '../support/times.ts';

const { api } = await startTestSystem({}, { role: 'api' });
const { addTask, addTemplate, completed, deleteTask, handed, next, occurrences, patchTask, pullAll } = api.tasks;
const { putGroup, sendTask } = api.tasks;
await addTemplate('plain');

const YEAR_SECONDS = 366 * 86_400;
/** Far enough back for both switches of either year, whatever today is. */
const lookbackSeconds = 3 * YEAR_SECONDS;

type Daily = Record<'startTime' | 'dailyTime' | 'timezone', string> & { everyDays: number };

/** When a daily task occurs before `to`, by the date library: an hour left out is as much later, of one that comes twice the first. */
function daysOf({ startTime, dailyTime, everyDays, timezone }: Daily, to: string): string[] {
  const found: string[] = [];
  const start = Temporal.Instant.from(startTime);
  const time = Temporal.PlainTime.from(dailyTime);
  for (let day = start.toZonedDateTimeISO(timezone).toPlainDate(); ; day = day.add({ days: everyDays })) {
    const at = day.toZonedDateTime({ timeZone: timezone, plainTime: time }).toInstant();
    if (Temporal.Instant.compare(at, Temporal.Instant.from(to)) >= 0) return found;
    if (Temporal.Instant.compare(at, start) >= 0) found.push(new Date(at.epochMilliseconds).toISOString());
  }
}

// Both switches of each, at times that are left out, that come twice, and that are neither.
const ZONES = ['America/New_York', 'Europe/Berlin', 'Australia/Lord_Howe'] as const;
const MONTHS = ['2026-03-01T00:00:00Z', '2026-03-20T11:30:00Z', '2025-10-01T00:00:00Z', '2025-10-15T22:10:00Z'];
const TIMES = ['00:00', '01:30', '02:00', '02:15', '02:30', '03:00', '09:00', '23:59'];
const MONTH_MS = 35 * 86_400_000;

test.each(ZONES)(
  'S4.2 a simulated month in %s, over both switches of summer time, as a date library has it',
  async (timezone) => {
    const rhythms = TIMES.flatMap((dailyTime) => [1, 3].map((everyDays) => ({ dailyTime, everyDays, timezone })));
    const sent = MONTHS.flatMap((startTime) => rhythms.map((rhythm) => ({ ...rhythm, startTime })));
    const tasks = sent.map((task, n) => ({ ...task, id: `${timezone.replace('/', '-')}-${n}` }));
    for (const task of tasks) {
      const to = inMs(MONTH_MS, task.startTime);
      // a user of its own, because an executor may not have so many
      const pulled = task.everyDays === 3 && task.dailyTime === '02:30';
      const catchUp = pulled ? 'all' : 'newest';
      await addTask({ ...task, type: 'rotate', executor: `uid_${task.id}`, lookbackSeconds, endTime: to, catchUp });
      const expected = daysOf(task, to);
      const listed = await occurrences(task.id, task.startTime, to);
      expect(
        listed.map((o) => o.occurrence),
        task.id,
      ).toEqual(expected);
      if (pulled)
        expect(
          (await pullAll(`uid_${task.id}`)).map((t) => t.occurrence),
          task.id,
        ).toEqual(expected);
    }
  },
);

test('S4.2 every N minutes, counted from the start, whatever the clocks on the wall do', async () => {
  const startTime = '2026-03-29T00:07:00.000Z';
  const endTime = '2026-03-29T03:00:00.000Z';
  const rhythm = { type: 'rotate', everyMinutes: 25, timezone: 'Europe/Berlin' };
  await addTask({ id: 'minutes', executor: 'uid_min', ...rhythm, startTime, endTime, lookbackSeconds });
  const times = (await pullAll('min')).map((t) => t.occurrence);
  expect(times).toEqual(repeat(7, (k) => inMs(k * 25 * MINUTE_MS, startTime)));
  expect((await next('min')).nextAt).toBeNull();
});

test('S4.6 what was missed inside the look-back is caught up, all of it or only the newest', async () => {
  const startTime = inMs(-10 * HOUR_MS - MINUTE_MS);
  const rotating = { type: 'rotate', everyMinutes: 60, startTime, lookbackSeconds: 4 * 3600 };
  await addTask({ ...rotating, id: 'all', executor: 'uid_all' });
  await addTask({ ...rotating, id: 'newest', executor: 'uid_new', catchUp: 'newest' });
  const times = (await pullAll('all')).map((t) => t.occurrence);
  expect(times).toEqual([7, 8, 9, 10].map((k) => inMs(k * HOUR_MS, startTime)));
  expect((await pullAll('new')).map((t) => t.occurrence)).toEqual(times.slice(-1));
  const upcoming = inMs(11 * HOUR_MS, startTime);
  expect(await next('all')).toMatchObject({ task: null, nextAt: upcoming, reasons: { notYet: 1 } });
});

test('S4.6 a newer occurrence takes the place of what is left of older ones, not of what is being done', async () => {
  const startTime = inMs(-MINUTE_MS + 3_000);
  await putGroup('super', ['sue', 'sam']);
  const rhythm = { type: 'rotate', everyMinutes: 1, catchUp: 'newest' };
  await addTask({ id: 'super', executor: 'gid_super', dispatchTimes: 2, ...rhythm, startTime });
  const sue = await handed('sue');
  expect(sue.task.occurrence).toBe(startTime);
  const { nextAt } = await next('sam', { exclude: ['super'] });
  expect(nextAt).toBeNull();
  let sam = await next('sam', { exclude: [`super/${startTime}`], waitSeconds: 20 });
  expect(msBetween(startTime, sam.task.occurrence)).toBe(MINUTE_MS);
  // one was left of the older occurrence; now there is none
  await completed('sam', sam.logId);
  sam = await next('sam');
  expect(sam).toMatchObject({ task: null, reasons: { done: 1, taken: 1 } });
  await completed('sue', sue.logId);
});

test('S4.9 100 rotating tasks an executor, whoever adds at once; others may have as many of their own', async () => {
  const rhythm = { type: 'rotate', everyMinutes: 60, startTime: inMs(HOUR_MS) };
  const rotating = (id: string, executor = 'gid_limit') => ({ id, executor, ...rhythm });
  const answers = await Promise.all(numbered(130, 'limit-').map((id) => sendTask(rotating(id))));
  expect(answers.filter((a) => a.status === 201)).toHaveLength(100);
  for (const { status, body } of answers.filter((a) => a.status !== 201))
    expect([status, body.code]).toEqual([422, 'limit_reached']);
  await addTask(rotating('limit-other', 'gid_limit-2'));
  expect((await api.patch('/v1/tasks/limit-other', { executor: 'gid_limit' })).body.code).toBe('limit_reached');
  // once tasks are not counted; one that is deleted or over makes room
  await addTask({ id: 'limit-once', executor: 'gid_limit' });
  const taken = answers.findIndex((a) => a.status === 201);
  await deleteTask(`limit-${taken}`);
  expect(await patchTask('limit-other', { executor: 'gid_limit' })).toMatchObject({ executor: 'gid_limit' });
  expect((await sendTask(rotating('limit-more'))).body.code).toBe('limit_reached');
});

test('S4.2 a task that goes wrong in its own terms is refused with the field', async () => {
  const wrong: [object, string][] = [
    [{ type: 'once', everyMinutes: 5 }, 'everyMinutes'],
    [{ type: 'once', dailyTime: '09:00' }, 'dailyTime'],
    [{ type: 'rotate' }, 'everyMinutes'],
    [{ type: 'rotate', everyMinutes: 5, dailyTime: '09:00' }, 'everyMinutes'],
    [{ type: 'rotate', everyMinutes: 5, everyDays: 2 }, 'everyDays'],
    [{ type: 'rotate', dailyTime: '24:00' }, 'dailyTime'],
    [{ type: 'rotate', dailyTime: '09:00', timezone: 'Mars/Base' }, 'timezone'],
    [{ type: 'rotate', dailyTime: '09:00', timezone: '+02:00' }, 'timezone'],
    [{ endTime: inMs(-HOUR_MS) }, 'endTime'],
    [{ executor: 'ann' }, 'executor'],
    [{ dispatchTimes: 0 }, 'dispatchTimes'],
    [{ callback: { url: 'ftp://x', secret: 'whsec_' } }, 'callback.secret'],
  ];
  for (const [fields, path] of wrong) {
    const { status, body } = await sendTask({ executor: 'uid_wrong', ...fields });
    expect([status, body.code, body.errors?.[0].path], JSON.stringify(fields)).toEqual([422, 'invalid_request', path]);
  }
  expect((await next('wrong')).task).toBeNull();
});
