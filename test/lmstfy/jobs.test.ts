import { expect, test } from 'vitest';
import { Wire } from '../beanstalkd/wire.ts';
import { eventually, type Json } from '../support/client.ts';
import { startTestSystem } from '../support/system.ts';
import { dataOf, lmstfyClient } from './client.ts';

const { api, running } = await startTestSystem({ LMSTFY_PORT: '0', BEANSTALKD_PORT: '0' }, { role: 'api' });
const { ask, publish, consume, take, ack, size, dead } = lmstfyClient(running.lmstfy?.port ?? 0);

const job = async (command: string, fields: object): Promise<Json> =>
  (await api.post('/v1/jobs', { command, ...fields })).body;
const jobs = async (queue: string): Promise<Json[]> =>
  (await api.get(`/v1/topics/${encodeURIComponent(`ns/${queue}`)}/jobs`)).body.items;
const path = (id: string) => `/v1/jobs/${encodeURIComponent(id)}`;
const stateOf = async (id: string) => (await api.get(path(id))).body.state;
const eventsOf = async (id: string): Promise<Json[]> => (await api.get(`${path(id)}/events`)).body.items;

test('S3.8 a queue is the topic namespace/queue: published over lmstfy, popped over /v1 and TCP', async () => {
  const id = await publish('mixed', 'Grüße', { ttl: 0 });
  const [listed] = await jobs('mixed');
  const known = { topic: 'ns/mixed', number: Number(id), body: 'Grüße', TTR: 120, priority: 1024, state: 'ready' };
  expect(listed).toMatchObject({ id: `ns/mixed:${id}`, ...known });
  const popped = await job('pop', { topic: 'ns/mixed' });
  expect(popped).toMatchObject({ id: `ns/mixed:${id}`, value: 'Grüße' });
  expect(await job('finish', { id: popped.id, token: popped.token })).toMatchObject({ success: true });
  const bytes = Buffer.from([0, 255, 1]);
  const number = await publish('mixed', bytes, { ttl: 0 });
  const wire = await Wire.open(running.beanstalkd?.port ?? 0);
  await wire.ask('watch ns/mixed');
  expect(await wire.ask('reserve')).toBe(`RESERVED ${number} 3\r\n${bytes.toString('latin1')}\r\n`);
  expect(await wire.ask(`delete ${number}`)).toBe('DELETED\r\n');
  wire.close();
});

test('S3.8 added over /v1 with any id, consumed and acknowledged over lmstfy', async () => {
  const add = { topic: 'ns/v1', id: 'order/2024#1', delay: 0, TTR: 60, body: { order: 1 } };
  expect(await job('add', add)).toMatchObject({ success: true });
  const { body } = await consume('v1', { ttr: 10 });
  expect([dataOf(body), body.ttl, body.remain_tries]).toEqual(['{"order":1}', 0, 65_535]);
  expect(await ack('v1', body.job_id)).toBe(204);
  expect(await stateOf('order/2024#1')).toBe('finished');
});

test('S3.8 50 callers who consume at once get 50 different jobs, and each is acknowledged once', async () => {
  const ids = await Promise.all(Array.from({ length: 50 }, (_, n) => publish('crowd', String(n))));
  const got = await Promise.all(ids.map(() => consume('crowd', { ttr: 60, timeout: 10 })));
  expect(got.map(({ body }) => body.job_id).sort()).toEqual(ids.sort());
  expect((await consume('crowd')).status).toBe(404);
  await Promise.all(ids.map((id) => ack('crowd', id)));
  for (const { state } of await jobs('crowd')) expect(state).toBe('finished');
});

test('S3.8 consumers who wait are served with those of /v1 in turn, and none is forgotten', async () => {
  const waiting = Array.from({ length: 10 }, (_, n) =>
    n % 2 === 0
      ? consume('turns', { ttr: 60, timeout: 60 }).then(({ body }) => body.job_id)
      : job('pop', { topic: 'ns/turns', wait: 60 }).then(({ id }) => String(id).split(':')[1]),
  );
  await eventually(async () => running.runtime.waiters.size >= 10);
  const ids: string[] = [];
  for (let n = 0; n < 10; n++) ids.push(await publish('turns', String(n)));
  expect((await Promise.all(waiting)).sort()).toEqual(ids.sort());
});

test('S3.8 one who hangs up while waiting takes no job with them', async () => {
  const gone = new AbortController();
  const call = consume('hung-up', { timeout: 60 }, gone.signal);
  await eventually(async () => running.runtime.waiters.size === 1);
  gone.abort();
  await expect(call).rejects.toThrow();
  await eventually(async () => running.runtime.waiters.size === 0);
  const id = await publish('hung-up');
  expect((await consume('hung-up')).body.job_id).toBe(id);
});

test('S3.8 a job is handed out as often as its tries say, then it is dead', async () => {
  const id = await publish('tries', 'x', { tries: 2, ttl: 0 });
  for (const left of [1, 0])
    expect((await consume('tries', { ttr: 1, timeout: 20 })).body).toMatchObject({ job_id: id, remain_tries: left });
  await eventually(async () => (await dead('tries'))[0] === 1);
  expect(await dead('tries')).toEqual([1, id]);
  expect(await stateOf(`ns/tries:${id}`)).toBe('buried');
  expect((await consume('tries')).status).toBe(404);
});

test("S3.8 a job's own tries go before its topic's attempts", async () => {
  await api.put(`/v1/topics/${encodeURIComponent('ns/own')}`, { maxAttempts: 1 });
  const id = await publish('own', 'x', { tries: 2, ttl: 0 });
  for (let attempt = 1; attempt <= 2; attempt++)
    expect((await consume('own', { ttr: 1, timeout: 20 })).body.job_id).toBe(id);
  await eventually(async () => (await dead('own'))[0] === 1);
});

test('S3.8 the TTR is that of the consume, and the job keeps its own for other transports', async () => {
  const id = await publish('ttr', 'x', { tries: 3, ttl: 0 });
  await consume('ttr', { ttr: 1 });
  expect((await consume('ttr', { ttr: 300, timeout: 20 })).body.job_id).toBe(id);
  const { TTR, reservedUntil } = (await jobs('ttr'))[0];
  const { type, at } = (await eventsOf(`ns/ttr:${id}`)).at(-1);
  expect([TTR, type, Date.parse(reservedUntil) - Date.parse(at)]).toEqual([120, 'reserved', 300_000]);
});

test('S3.8 a job whose time to live is over is deleted, whether it is ready, delayed or reserved', async () => {
  const ready = await publish('ttl', 'ready', { ttl: 1 });
  const held = await publish('ttl-held', 'held', { ttl: 4, tries: 5 });
  expect((await consume('ttl-held', { ttr: 60 })).body.job_id).toBe(held);
  await eventually(async () => (await stateOf(`ns/ttl:${ready}`)) === 'deleted');
  await eventually(async () => (await stateOf(`ns/ttl-held:${held}`)) === 'deleted');
  expect((await ask('GET', `ttl/job/${ready}`)).status).toBe(404);
  expect(await size('ttl')).toBe(0);
  expect((await consume('ttl')).status).toBe(404);
  // a worker that is late is told what lmstfy tells it
  expect(await ack('ttl-held', held)).toBe(204);
  const { type, actor, data } = (await eventsOf(`ns/ttl:${ready}`)).at(-1);
  expect([type, actor, data.reason]).toEqual(['deleted', 'system', 'deadline']);
});

test('S3.8 what is dead does not end with its time to live', async () => {
  const id = await publish('dead-ttl', 'x', { ttl: 4 });
  await consume('dead-ttl', { ttr: 1 });
  await eventually(async () => (await dead('dead-ttl'))[0] === 1);
  const later = await publish('dead-ttl-clock', 'x', { ttl: 4 });
  await eventually(async () => (await stateOf(`ns/dead-ttl-clock:${later}`)) === 'deleted');
  expect(await dead('dead-ttl')).toEqual([1, id]);
  expect((await ask('PUT', 'dead-ttl/deadletter', { query: { ttl: 0 } })).body.count).toBe(1);
  expect((await consume('dead-ttl')).body).toMatchObject({ job_id: id, ttl: 0 });
});

test('S3.8 a delayed job that is kicked keeps its time to live', async () => {
  const id = await publish('kicked', 'x', { delay: 60, ttl: 61 });
  expect(await job('kick', { id: `ns/kicked:${id}` })).toMatchObject({ value: 1 });
  const { body } = await ask('GET', 'kicked/peek');
  expect(body).toMatchObject({ job_id: id });
  expect(body.ttl).toBeGreaterThan(50);
});

test('S3.8 an acknowledgement ends the job whoever has it; one with a token that is no longer live does not', async () => {
  const id = await publish('fence', 'x', { tries: 5, ttl: 0 });
  const late = await consume('fence', { ttr: 1 });
  const current = await eventually(async () => {
    const popped = await job('pop', { topic: 'ns/fence', wait: 5 });
    return popped.id ? popped : undefined;
  });
  expect(late.body.job_id).toBe(id);
  expect(await stateOf(current.id)).toBe('reserved');
  expect(await ack('fence', id)).toBe(204);
  expect(await stateOf(current.id)).toBe('finished');
  expect(await job('finish', { id: current.id, token: current.token })).toMatchObject({
    success: false,
    code: 'not_open',
  });
});

test('S3.8 what is acknowledged while nobody has it is called off, not finished', async () => {
  const id = await publish('called-off');
  expect(await ack('called-off', id)).toBe(204);
  expect(await stateOf(`ns/called-off:${id}`)).toBe('deleted');
  expect((await eventsOf(`ns/called-off:${id}`)).at(-1).actor).toMatch(/^lmstfy .*127\.0\.0\.1$/);
});

test('S3.8 a republished job is there before the old one is gone, and one that is refused changes nothing', async () => {
  const id = await publish('again', 'x', { ttl: 0 });
  expect((await ask('PUT', `again/job/${id}`, { query: { tries: 0 }, body: 'y' })).status).toBe(400);
  expect(await take('again', { ttr: 60 })).toBe('x');
  const { body } = await ask('PUT', `again/job/${id}`, { query: { delay: 60, ttl: 0 }, body: 'y' });
  expect([await stateOf(`ns/again:${id}`), await stateOf(`ns/again:${body.job_id}`)]).toEqual(['finished', 'delayed']);
  // as in lmstfy, of an id that is unknown only the new job is made
  expect((await ask('PUT', 'again/job/none', { body: 'z' })).status).toBe(201);
});
