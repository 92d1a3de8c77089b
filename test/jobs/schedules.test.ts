import { describe, expect, test } from 'vitest';
import { eventually, type Json } from '../support/client.ts';
import { startTestSystem } from '../support/system.ts';

const { api, running } = await startTestSystem();

const jobsOf = async (topic: string): Promise<Json[]> =>
  (await api.get(`/v1/topics/${topic}/jobs?limit=500`)).body.items;

describe('periodic jobs', () => {
  test('S3.7 every second one job, named after schedule and instant, each once', async () => {
    const schedule = { everySeconds: 1, body: { report: 'daily' }, TTR: 30, priority: 7 };
    const { status, body } = await api.put('/v1/topics/ticks/schedules/each-second', schedule);
    expect(status).toBe(200);
    expect(body).toMatchObject({ topic: 'ticks', name: 'each-second', timezone: 'UTC', cron: null, ...schedule });
    await eventually(async () => (await jobsOf('ticks')).length >= 3);
    const ids = (await jobsOf('ticks')).map((j) => j.id);
    expect(new Set(ids).size).toBe(ids.length);
    expect(ids[0]).toMatch(/^ticks:each-second@\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d/);
    expect((await jobsOf('ticks'))[0]).toMatchObject({ TTR: 30, priority: 7, body: { report: 'daily' } });

    expect((await api.raw('DELETE', '/v1/topics/ticks/schedules/each-second')).body).toEqual({ deleted: true });
    await new Promise((resolve) => setTimeout(resolve, 1_500));
    const after = (await jobsOf('ticks')).length;
    await new Promise((resolve) => setTimeout(resolve, 2_500));
    expect((await jobsOf('ticks')).length).toBe(after);
    expect((await api.get('/v1/topics/ticks/schedules')).body.items).toEqual([]);
  });

  test('S3.7 cron in a time zone, changed by a second PUT; the same firing twice adds one job', async () => {
    const path = '/v1/topics/crons/schedules/nine';
    await api.put(path, { cron: '0 9 * * *', timezone: 'Europe/Berlin', body: 1 });
    const handle = running.engine.client.schedule.getHandle('schedule/crons/nine');
    const [next] = (await handle.describe()).info.nextActionTimes;
    const hour = new Intl.DateTimeFormat('en', { timeZone: 'Europe/Berlin', hour: 'numeric', hourCycle: 'h23' }).format(
      next,
    );
    expect(Number(hour)).toBe(9);
    await api.put(path, { everySeconds: 86_400, body: 2 });
    expect((await api.get(path)).body).toMatchObject({ everySeconds: 86_400, cron: null, body: 2 });
    await handle.trigger();
    await eventually(async () => (await jobsOf('crons')).length === 1);
    expect((await jobsOf('crons'))[0].body).toBe(2);
  });

  test('S3.7 what makes no sense is refused and changes nothing', async () => {
    const path = '/v1/topics/bad/schedules/x';
    for (const body of [
      { body: 1 },
      { everySeconds: 1, cron: '* * * * *', body: 1 },
      { everySeconds: 0.5, body: 1 },
      { everySeconds: 1.5, body: 1 },
      { cron: 'every day', body: 1 },
      { cron: '0 9 * * *', timezone: 'Mars/Olympus', body: 1 },
      { everySeconds: 60 },
    ])
      expect((await api.put(path, body)).status, JSON.stringify(body)).toBe(422);
    expect((await api.get(path)).status).toBe(404);
  });

  test('S3.7 listed newest first, page by page', async () => {
    for (const name of ['b', 'c', 'a'])
      await api.put(`/v1/topics/many/schedules/${name}`, { everySeconds: 3600, body: 1 });
    const first = (await api.get('/v1/topics/many/schedules?limit=2')).body;
    expect(first.items.map((s: Json) => s.name)).toEqual(['a', 'c']);
    const rest = (await api.get(`/v1/topics/many/schedules?limit=2&cursor=${first.nextCursor}`)).body;
    expect(rest).toMatchObject({ items: [{ name: 'b' }], nextCursor: null });
    const topics = (await api.get('/v1/topics?limit=500')).body.items.map((t: Json) => t.name);
    expect(topics.indexOf('many')).toBeLessThan(topics.indexOf('crons'));
  });
});
