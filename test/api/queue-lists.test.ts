import { expect, test } from 'vitest';
import { claimOne, type Json, walk } from '../support/client.ts';
import { expectProblem } from '../support/problems.ts';
import { startTestSystem } from '../support/system.ts';

const { api } = await startTestSystem({}, { role: 'api' });

for (const queue of ['first', 'second', 'third', 'empty']) await api.put(`/v1/queues/${queue}`, {});
for (const queue of ['third', 'first', 'second'])
  await api.post(`/v1/queues/${queue}/tickets`, { id: `${queue}-1`, body: { text: queue } });
await claimOne(api, 'second', 'anna');
await api.post('/v1/queues/second/tickets', { id: 'second-2', body: {} });

test('S4.9 a list of queues has the figures of each, as each has them by itself', async () => {
  const listed = await walk(api, '/v1/queues?stats=true', 1);
  expect(listed.length).toBe(4);
  for (const { name, stats } of listed) {
    const own = (await api.get(`/v1/queues/${name}/stats`)).body;
    expect({ ...stats, oldestWaitingSeconds: null }, name).toEqual({ ...own, oldestWaitingSeconds: null });
    expect(stats.oldestWaitingSeconds === null, name).toBe(own.oldestWaitingSeconds === null);
  }
  for (const path of ['/v1/queues', '/v1/queues?stats=false'])
    expect((await api.get(path)).body.items[0]).not.toHaveProperty('stats');
  for (const query of ['stats=1', 'stats=', 'cursor=x'])
    expectProblem(await api.get(`/v1/queues?${query}`), query, { status: 422, code: 'invalid_request' });
});

test('a key for some queues sees the figures of those only', async () => {
  const { key } = (await api.post('/v1/keys', { role: 'agent', queues: ['first', 'e*'] })).body;
  const { items } = (await api.as(key).get('/v1/queues?stats=true')).body;
  expect(items.map((q: Json) => q.name)).toEqual(['empty', 'first']);
});
