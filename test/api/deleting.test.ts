import { expect, test } from 'vitest';
import { repeat } from '../support/client.ts';
import { startTestSystem } from '../support/system.ts';
import { addTask, addTemplate, deleteTask, sendTask } from '../support/tasks.ts';
import { add, claim, configure } from '../support/tickets.ts';

const { api, running, sql } = await startTestSystem();
const remove = (path: string) => api.raw('DELETE', path);
const names = async (path: string) => (await api.get(path)).body.items.map((q: { name: string }) => q.name);

test('S0.5 a queue without tickets can be deleted, with its settings; its next ticket makes it again', async () => {
  await configure(api, 'empty', { maxHeld: 7, leaseSeconds: 9 });
  expect((await remove('/v1/queues/empty')).body).toEqual({ deleted: true });
  for (const path of ['', '/stats']) expect((await api.get(`/v1/queues/empty${path}`)).status).toBe(404);
  expect(await names('/v1/queues')).not.toContain('empty');
  expect(await remove('/v1/queues/empty')).toMatchObject({ status: 404, body: { code: 'not_found' } });
  expect(await remove('/v1/queues/never')).toMatchObject({ status: 404, body: { code: 'not_found' } });

  await add(api, 'empty', { id: 'back' });
  expect((await api.get('/v1/queues/empty')).body).toMatchObject({ maxHeld: 1, leaseSeconds: 300 });
  expect(await names('/v1/queues')).toContain('empty');
  const held = await claim(api, 'empty', 'rita');
  expect(held.tickets).toMatchObject([{ id: 'back' }]);
  const refused = { status: 409, body: { code: 'in_use', detail: expect.stringContaining('has tickets') } };
  expect(await remove('/v1/queues/empty')).toMatchObject(refused);
  await api.post('/v1/tickets/back/invalidate', { reason: 'r' });
  expect(await remove('/v1/queues/empty')).toMatchObject(refused);
});

test('S0.5 a queue comes into being by its settings and by its first ticket only, also again', async () => {
  await add(api, 'elsewhere', { id: 'moving' });
  for (const act of [() => configure(api, 'again', {}), () => add(api, 'again', { id: 'again' })]) {
    await configure(api, 'again', {});
    expect((await remove('/v1/queues/again')).status).toBe(200);
    for (const path of ['queues/again/pause', 'tickets/moving/transfer'])
      expect((await api.post(`/v1/${path}`, path.endsWith('transfer') ? { queue: 'again' } : {})).status).toBe(404);
    // an administrator may wait for its first ticket
    expect((await claim(api, 'again', 'rita')).tickets).toEqual([]);
    expect((await api.get('/v1/queues/again')).status).toBe(404);
    await act();
    expect((await api.get('/v1/queues/again')).status).toBe(200);
  }
});

test('S0.6 tickets that are added while their queue is being deleted are all there, and handed out', async () => {
  for (let round = 0; round < 10; round++) {
    const queue = `race-${round}`;
    await configure(api, queue, { maxHeld: 100 });
    const added = repeat(10, (n) => add(api, queue, { id: `${queue}-${n}` }));
    await Promise.all([...added, remove(`/v1/queues/${queue}`)]);
    await configure(api, queue, { maxHeld: 100 });
    expect((await claim(api, queue, 'rita', { count: 100 })).tickets).toHaveLength(10);
  }
  expect(await sql(`select 1 from item i where not exists (select from queue q where q.name = i.queue)`)).toEqual([]);
  expect(running.url).not.toBeNull();
});

test('S3.2 a topic without jobs and schedules can be deleted', async () => {
  await api.put('/v1/topics/news', { maxAttempts: 3 });
  expect((await api.get('/v1/topics/news')).body).toMatchObject({ name: 'news', maxAttempts: 3, paused: false });
  await api.put('/v1/topics/news/schedules/daily', { cron: '0 0 1 1 *', body: 1 });
  expect(await remove('/v1/topics/news')).toMatchObject({ status: 409, body: { code: 'in_use' } });
  await remove('/v1/topics/news/schedules/daily');
  expect((await remove('/v1/topics/news')).body).toEqual({ deleted: true });
  expect(await names('/v1/topics')).not.toContain('news');
  expect((await remove('/v1/topics/news')).status).toBe(404);
  expect(await api.get('/v1/topics/news')).toMatchObject({ status: 404, body: { code: 'not_found' } });
  await api.post('/v1/jobs', { command: 'add', topic: 'news', id: 'news-1', body: 1 });
  expect((await api.post('/v1/jobs', { command: 'pop', topic: 'news' })).body).toMatchObject({ id: 'news-1' });
  expect(await remove('/v1/topics/news')).toMatchObject({ status: 409, body: { code: 'in_use' } });
});

test('S4.1 a template that no active task uses can be deleted', async () => {
  await addTemplate(api, 'used');
  await addTask(api, { id: 'uses', executor: 'uid_rita', templateId: 'used' });
  expect(await remove('/v1/templates/used')).toMatchObject({ status: 409, body: { code: 'in_use' } });
  await deleteTask(api, 'uses');
  expect((await remove('/v1/templates/used')).body).toEqual({ deleted: true });
  expect((await api.get('/v1/templates/used')).status).toBe(404);
  expect((await remove('/v1/templates/used')).status).toBe(404);
  // its id is free again
  await addTemplate(api, 'used', { a: { type: 'string' } });
});

test('S4.1 no task is left without a template, whoever adds one while it is deleted', async () => {
  for (let round = 0; round < 20; round++) {
    await addTemplate(api, `gone-${round}`);
    const task = { id: `gone-${round}`, executor: 'uid_otto', templateId: `gone-${round}` };
    const [added, removed] = await Promise.all([sendTask(api, task), remove(`/v1/templates/gone-${round}`)]);
    const ends = `${added.status} ${removed.status}`;
    expect(['201 409', '422 200'], JSON.stringify([added.body, removed.body])).toContain(ends);
  }
});
