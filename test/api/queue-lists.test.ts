import { expect, test } from 'vitest';
import { claimOne, type Json, walk } from '../support/client.ts';
import { expectProblem } from '../support/problems.ts';
import { startTestSystem } from '../support/system.ts';

const { api, sql } = await startTestSystem();
const names = (items: Json[]) => items.map((q) => q.name);

for (const queue of ['first', 'second', 'third', 'empty']) await api.put(`/v1/queues/${queue}`, {});
for (const queue of ['third', 'first', 'second'])
  await api.post(`/v1/queues/${queue}/tickets`, { id: `${queue}-1`, body: { text: queue } });
await claimOne(api, 'second', 'anna');
await api.post('/v1/queues/second/tickets', { id: 'second-2', body: {} });
for (const topic of ['mails', 'faxes']) await api.post('/v1/jobs', { command: 'add', id: topic, topic, body: {} });

test('S4.9 a list of queues or topics has the figures of each, as each has them by itself', async () => {
  for (const [path, age] of [
    ['/v1/queues', 'oldestWaitingSeconds'],
    ['/v1/topics', 'oldestReadySeconds'],
  ] as const) {
    const listed = await walk(api, `${path}?stats=true`, 1);
    expect(listed.length).toBeGreaterThan(1);
    for (const { name, stats } of listed) {
      const own = (await api.get(`${path}/${name}/stats`)).body;
      expect({ ...stats, [age]: null }, name).toEqual({ ...own, [age]: null });
      expect(stats[age] === null, name).toBe(own[age] === null);
    }
  }
  for (const path of ['/v1/queues', '/v1/queues?stats=false', '/v1/topics'])
    expect((await api.get(path)).body.items[0]).not.toHaveProperty('stats');
});

test('S4.9 those that wait the longest come first, in one page, without those where nothing waits', async () => {
  await sql(`update item set first_available_at = first_available_at - interval '1 hour' where id = 'first-1'`);
  const { body } = await api.get('/v1/queues?order=oldest-waiting&stats=true');
  expect(names(body.items)).toEqual(['first', 'third', 'second']);
  expect(body.items[0].stats.oldestWaitingSeconds).toBeGreaterThan(3_600);
  const short = (await api.get('/v1/queues?order=oldest-waiting&limit=2')).body;
  expect(names(short.items)).toEqual(['first', 'third']);
  expect(short.nextCursor).toBeNull();
  expect(names((await api.get('/v1/topics?order=oldest-waiting')).body.items)).toEqual(['mails', 'faxes']);
});

test('an order, a cursor and a wish that do not go together are refused', async () => {
  for (const query of ['order=oldest-waiting&cursor=5', 'order=newest-first', 'stats=1', 'stats='])
    for (const path of ['/v1/queues', '/v1/topics'])
      expectProblem(await api.get(`${path}?${query}`), query, { status: 422, code: 'invalid_request' });
});

test('a key for some queues sees the figures of those only', async () => {
  const { key } = (await api.post('/v1/keys', { role: 'agent', queues: ['first', 'e*'] })).body;
  expect(names((await api.as(key).get('/v1/queues?stats=true')).body.items)).toEqual(['empty', 'first']);
  expect(names((await api.as(key).get('/v1/queues?order=oldest-waiting')).body.items)).toEqual(['first']);
});
