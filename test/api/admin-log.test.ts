import { expect, test } from 'vitest';
import { settingsFor, startChild } from '../support/child.ts';
import { eventually, type Json, repeat } from '../support/client.ts';
import { onDatabase, openTestDb } from '../support/database.ts';
import { createKey } from '../support/keys.ts';
import { expectProblem } from '../support/problems.ts';
import { SECRET } from '../support/receiver.ts';
import { startTestSystem, testStores } from '../support/system.ts';
import { add } from '../support/tickets.ts';

const system = await startTestSystem({}, { role: 'api' });
const { api, sql, databaseUrl } = system;
const made = (await api.post('/v1/keys', { role: 'admin', name: 'olga' })).body;
const olga = api.as(made.key);
const lines = async (path: string): Promise<Json[]> =>
  (await api.get(`/v1/admin-log?path=${encodeURIComponent(path)}`)).body.items;

test('each change of settings and keys is on record with its key, newest first, without secrets', async () => {
  const path = '/v1/queues/reports';
  const settings = {
    leaseSeconds: 60,
    callback: { url: 'https://example.com/hook?token=1', secret: SECRET },
    form: { properties: { secret: { type: 'string' } } },
  };
  await olga.put(path, settings);
  await olga.post(`${path}/pause`, {});
  await olga.raw('DELETE', '/v1/queues/reports');
  const [deleted, paused, put, ...more] = await lines(path);
  expect(more).toEqual([]);
  expect(put).toMatchObject({
    ...{ seq: expect.any(Number), at: expect.any(String), keyId: made.id, actor: 'olga', operation: 'putQueue', path },
    body: { ...settings, callback: { url: 'https://example.com/hook', secret: '***' } },
    ...{ status: 200, requestId: expect.any(String) },
  });
  expect(deleted).toMatchObject({ operation: 'deleteQueue', status: 200, body: null });
  expect(paused).toMatchObject({ operation: 'pauseQueue', path: `${path}/pause`, status: 200 });
  await olga.raw('PUT', '/v1/topics/a%40b%3Ac', { headers: { 'content-type': 'application/json' }, body: '{}' });
  expect(await lines('/v1/topics/a@b:c')).toMatchObject([{ operation: 'putTopic' }]);
  await sql('delete from admin_log where operation = $1', ['putTopic']);
  expect(JSON.stringify(await sql('select * from admin_log'))).not.toContain(SECRET);
  const [created] = await lines('/v1/keys');
  const byAnyone = { keyId: 'open', actor: 'anonymous', status: 201 };
  expect(created).toMatchObject({ ...byAnyone, body: { role: 'admin', name: 'olga' } });
  const all = (await api.get('/v1/admin-log?limit=2')).body;
  expect(all.items.map((l: Json) => l.operation)).toEqual(['deleteQueue', 'pauseQueue']);
  const rest = (await api.get(`/v1/admin-log?limit=2&cursor=${all.nextCursor}`)).body;
  expect(rest.items.map((l: Json) => l.operation)).toEqual(['putQueue', 'addKey']);
});

test('what was refused has the status that it was refused with; bad input and reading have no line', async () => {
  await add(api, 'busy', { id: 'busy-1' });
  const refused = await olga.raw('DELETE', '/v1/queues/busy');
  expectProblem(refused, 'open tickets', 409);
  expect(await lines('/v1/queues/busy')).toMatchObject([{ operation: 'deleteQueue', status: 409, actor: 'olga' }]);
  await olga.raw('DELETE', '/v1/keys/nobody');
  expect(await lines('/v1/keys/nobody')).toMatchObject([{ status: 404 }]);
  await olga.put('/v1/queues/wrong', { leaseSeconds: 'long' });
  await olga.get('/v1/queues/busy');
  const reviewer = api.as((await api.post('/v1/keys', { role: 'reviewer', subject: 'rita' })).body.key);
  expect((await reviewer.put('/v1/queues/busy', {})).status).toBe(403);
  expect(await lines('/v1/queues/wrong')).toEqual([]);
  expect(await lines('/v1/queues/busy')).toHaveLength(1);
});

test('nothing is changed without a line, and what was changed stays so where its status cannot be noted', async () => {
  const fail = (when: string) =>
    sql(`create or replace function fail() returns trigger language plpgsql as $$ begin raise 'no room' using errcode = '53100'; end $$;
         create trigger fail before ${when} on admin_log for each row execute function fail()`);
  await fail('insert');
  expect((await olga.put('/v1/queues/unsaid', { leaseSeconds: 7 })).status).toBe(503);
  await sql('drop trigger fail on admin_log');
  expect((await api.get('/v1/queues/unsaid')).status).toBe(404);
  await fail('update');
  expect((await olga.put('/v1/queues/unsaid', { leaseSeconds: 7 })).status).toBe(200);
  await sql('drop trigger fail on admin_log');
  expect((await api.get('/v1/queues/unsaid')).body.leaseSeconds).toBe(7);
  expect((await lines('/v1/queues/unsaid')).map((l) => l.status)).toEqual([null]);
});

test('an API that is killed between the line and the change leaves the line, without a status', async () => {
  await olga.put('/v1/queues/cut-short', { leaseSeconds: 7 });
  const child = await startChild('api', settingsFor(system, { LOG_LEVEL: 'error' }));
  const lost = await onDatabase(databaseUrl, async (client) => {
    await client.query('begin');
    await client.query(`select from queue where name = 'cut-short' for update`);
    const call = child.api.put('/v1/queues/cut-short', { leaseSeconds: 8 }).catch(() => 'lost');
    await eventually(async () => (await lines('/v1/queues/cut-short')).length === 2);
    await child.end('SIGKILL');
    await client.query('rollback');
    return call;
  });
  expect(lost).toBe('lost');
  const [cut] = await lines('/v1/queues/cut-short');
  expect(cut).toMatchObject({ operation: 'putQueue', body: { leaseSeconds: 8 }, status: null });
});

test('50 changes at once have a line each; a large body has none of it', async () => {
  const puts = repeat(50, (n) => olga.put('/v1/topics/many', { maxAttempts: n + 1 }));
  for (const reply of await Promise.all(puts)) expect(reply.status).toBe(200);
  const seen = new Set((await lines('/v1/topics/many')).map((l) => l.body.maxAttempts));
  expect(seen.size).toBe(50);
  const form = { type: 'object', description: 'x'.repeat(20_000) };
  expect((await olga.put('/v1/queues/large', { form })).status).toBe(200);
  expect(await lines('/v1/queues/large')).toMatchObject([{ body: null, status: 200 }]);
});

test("the log's line of a request says who called, from where and about what; probes are not logged at info", async () => {
  const stores = await testStores();
  const child = await startChild('api', settingsFor(stores, { LOG_LEVEL: 'info' }));
  const { id, key } = await createKey(openTestDb(stores.databaseUrl), {
    ...{ name: 'desk', role: 'reviewer', subject: 'anna' },
  });
  const lines = (): Json[] =>
    child
      .output()
      .split('\n')
      .filter((line) => line.includes('"msg":"request"'))
      .map((line) => JSON.parse(line));
  for (const path of ['/livez', '/readyz', '/metrics']) await child.api.get(path);
  await child.api.as(key).get('/v1/tickets/no%20one');
  // what a role may not do is logged with the key, too
  await child.api.as(key).get('/v1/keys');
  await eventually(async () => lines().length >= 2);
  const known = { key: id, subject: 'anna', address: expect.stringMatching(/127\.0\.0\.1$|^::1$/) };
  expect(lines()).toEqual([
    expect.objectContaining({ ...known, route: '/v1/tickets/:id', item: 'no one' }),
    expect.objectContaining({ ...known, route: '/v1/keys', status: 403 }),
  ]);
}, 120_000);
