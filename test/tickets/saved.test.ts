import { expect, test } from 'vitest';
import { numbered, repeat, walk } from '../support/client.ts';
import { expectProblem } from '../support/problems.ts';
import { startTestSystem } from '../support/system.ts';

const { api, keyed } = await startTestSystem({}, { role: 'api' });
const { configure } = api.tickets;

test('S4.9 saved views: one has own ones and reads those that are shared, which their makers and administrators change', async () => {
  const [anna, ben, admin] = [await keyed('supervisor', 'anna'), await keyed('producer', 'ben'), await keyed('admin')];
  const names = async (client: typeof api) =>
    (await walk(client, '/v1/views', 1)).map(({ name, by }) => `${name} by ${by}`);
  const filter = { queue: 'f-1', verdict: '保留', overturned: 'true' };
  const put = (client: typeof api, name: string, more: object = {}, by = '') =>
    client.put(`/v1/views/${encodeURIComponent(name)}${by && `?by=${by}`}`, { filter, ...more });
  expect((await put(anna, 'Mine')).body).toMatchObject({ name: 'Mine', by: 'anna', shared: false, filter });
  await put(ben, 'Mine');
  expect((await put(anna, '全部', { shared: true })).status).toBe(200);
  expect(await names(anna)).toEqual(['全部 by anna', 'Mine by anna']);
  expect(await names(ben)).toEqual(['全部 by anna', 'Mine by ben']);
  const found = (await api.get(`/v1/tickets?${new URLSearchParams(filter)}`)).status;
  expect(found).toBe(200);
  const all = encodeURIComponent('全部');
  expect((await put(ben, '全部', {}, 'anna')).status).toBe(403);
  expect((await ben.raw('DELETE', `/v1/views/${all}?by=anna`)).status).toBe(403);
  expect((await ben.raw('DELETE', `/v1/views/${all}`)).status).toBe(404);
  expect((await put(admin, '全部', { shared: false }, 'anna')).body).toMatchObject({ by: 'anna', shared: false });
  expect(await names(ben)).toEqual(['Mine by ben']);
  expect((await admin.raw('DELETE', `/v1/views/${all}?by=anna`)).body).toEqual({ deleted: true });
  expect(await names(anna)).toEqual(['Mine by anna']);
  const { body: own } = await api.post('/v1/keys', { name: 'of-f-2', role: 'producer', queues: ['f-2'] });
  await put(anna, 'theirs', { shared: true });
  await put(anna, 'ours', { filter: { queue: 'f-2' }, shared: true });
  expect(await names(api.as(own.key))).toEqual(['ours by anna']);
  for (const wrong of [{ limit: 5 }, { person: 'x' }, { state: 'gone' }])
    expect((await anna.put('/v1/views/x', { filter: wrong })).status).toBe(422);
});

test('S4.9 macros: answers of a queue that one keeps, and those that supervisors share; how one wants things shown', async () => {
  const [anna, ben, lead] = [
    await keyed('reviewer', 'anna'),
    await keyed('reviewer', 'ben'),
    await keyed('supervisor'),
  ];
  for (const queue of ['f-1', 'f-2']) await configure(queue, {});
  const spam = { verdict: 'remove', reason: '广告' };
  const path = (name = '', queue = 'f-1') => `/v1/queues/${queue}/macros${name && `/${encodeURIComponent(name)}`}`;
  const names = async (client: typeof api, queue = 'f-1') =>
    (await walk(client, path('', queue), 1)).map(({ name, by }) => `${name} by ${by}`);
  expect((await anna.put(path('广告'), { decision: 'keep' })).status).toBe(200);
  expect((await anna.put(path('广告'), { decision: spam })).body).toMatchObject({
    by: 'anna',
    shared: false,
    decision: spam,
  });
  expectProblem(await anna.put(path('all'), { decision: 1, shared: true }), 'forbidden', 'forbidden');
  expect((await lead.put(path('all'), { decision: null, shared: true })).body).toMatchObject({ decision: null });
  expect(await names(anna)).toEqual(['all by supervisor', '广告 by anna']);
  expect(await names(ben)).toEqual(['all by supervisor']);
  expect(await names(anna, 'f-2')).toEqual([]);
  expect((await api.get(`${path()}?by=anna`)).body.items[1].decision).toEqual(spam);
  for (const call of [ben.get(`${path()}?by=anna`), ben.raw('DELETE', `${path('all')}?by=supervisor`)])
    expectProblem(await call, 'forbidden', 'forbidden');
  expectProblem(await anna.put(path('x', 'nowhere'), { decision: 1 }), 'not_found', 'not_found');
  expectProblem(await ben.raw('DELETE', path('all')), 'not_found', 'not_found');
  expect((await lead.raw('DELETE', path('all'))).body).toEqual({ deleted: true });
  expect((await anna.put(path('x'), {})).status).toBe(422);
  await configure('f-gone', {});
  await lead.put(path('y', 'f-gone'), { decision: 1, shared: true });
  expect((await api.raw('DELETE', '/v1/queues/f-gone')).status).toBe(200);
  await configure('f-gone', {});
  expect(await names(lead, 'f-gone')).toEqual([]);

  const own = '/v1/session/defaults';
  expect((await anna.get(own)).body).toEqual({ defaults: {} });
  const defaults = { images: 'blurred', grey: true, size: 0.5 };
  await Promise.all(repeat(50, (n) => anna.put(own, { defaults: { images: `${n}` } })));
  expect((await anna.put(own, { defaults })).body).toEqual({ defaults });
  expect((await anna.get(own)).body).toEqual({ defaults });
  expect((await ben.get(own)).body).toEqual({ defaults: {} });
  const many = Object.fromEntries(numbered(51, 'd-').map((name) => [name, 1]));
  for (const wrong of [many, { x: {} }, { x: null }, [], { x: 'y'.repeat(201) }])
    expect((await anna.put(own, { defaults: wrong })).status).toBe(422);
});
