import { connect } from 'node:net';
import { describe, expect, test } from 'vitest';
import { readConfig } from '../../runtime/config.ts';
import { startChild } from '../support/child.ts';
import { eventually, type Json, repeat } from '../support/client.ts';
import { startTestSystem } from '../support/system.ts';

const settings = { DELAY_QUEUE_PORT: '0', DOCKET_AUTH: 'keys' };
const { databaseUrl, keyed, running } = await startTestSystem(settings, { role: 'api' });
const api = await keyed('admin');
const port = running.delayQueue?.port ?? 0;

interface Answered {
  status: number;
  body: Json;
}

/** Posts what the Go delay-queue's clients post. */
function delayQueueClient(port: number) {
  const url = `http://127.0.0.1:${port}`;
  const post = async (path: string, sent: unknown, init: RequestInit = {}): Promise<Answered> => {
    const body = typeof sent === 'string' || sent instanceof Buffer ? sent : JSON.stringify(sent);
    const response = await fetch(url + path, { method: 'POST', body, ...init });
    return { status: response.status, body: await response.json() };
  };
  const job = { topic: 'order', delay: 1, ttr: 60, body: '{"uid": 10829378}' };
  return {
    post,
    push: async (sent: Json) => (await post('/push', { ...job, ...sent })).body,
    pop: async (topic: string, init: RequestInit = {}) => (await post('/pop', { topic }, init)).body,
    finish: async (id: string) => (await post('/finish', { id })).body,
    remove: async (id: string) => (await post('/delete', { id })).body,
    get: async (id: string) => (await post('/get', { id })).body,
  };
}

const DONE = { code: 0, message: '操作成功', data: null };
const ADDED = { code: 0, message: '添加成功', data: null };
const failed = (message: string) => ({ code: 1, message, data: null });

const { post, push, pop, finish, remove, get } = delayQueueClient(port);

const command = async (name: string, fields: object): Promise<Json> =>
  (await api.post('/v1/jobs', { command: name, ...fields })).body;
const stateOf = async (id: string) => (await api.get(`/v1/jobs/${encodeURIComponent(id)}`)).body.state;

test('S3.8 pushed, popped when its delay is over, finished', async () => {
  expect(await push({ id: '15702398321' })).toEqual(ADDED);
  expect(await stateOf('15702398321')).toBe('delayed');
  const popped = await pop('order');
  expect(popped).toEqual({ ...DONE, data: { id: '15702398321', body: '{"uid": 10829378}' } });
  expect(await finish('15702398321')).toEqual(DONE);
  expect(await stateOf('15702398321')).toBe('finished');
  for (const repeated of ['15702398321', 'unknown']) expect(await finish(repeated)).toEqual(DONE);
});

test('S3.8 get shows an open job, with the second at which it is due', async () => {
  expect(await push({ id: 'shown', topic: 'get', delay: 3600, ttr: 120, body: 'b' })).toEqual(ADDED);
  const { availableAt } = (await api.get('/v1/jobs/shown')).body;
  const delay = Math.floor(Date.parse(availableAt) / 1000);
  expect(await get('shown')).toEqual({ ...DONE, data: { topic: 'get', id: 'shown', delay, ttr: 120, body: 'b' } });
  expect(await remove('shown')).toEqual(DONE);
  for (const id of ['shown', 'never pushed']) expect(await get(id)).toEqual(DONE);
});

test('S3.8 a deleted job is not handed out, in whatever state it was', async () => {
  await push({ id: 'delayed', topic: 'deleted', delay: 3600 });
  await push({ id: 'held', topic: 'deleted' });
  expect((await pop('deleted')).data.id).toBe('held');
  for (const id of ['delayed', 'held', 'unknown', 'delayed']) expect(await remove(id)).toEqual(DONE);
  for (const id of ['delayed', 'held']) expect(await stateOf(id)).toBe('deleted');
});

test('S3.8 a job that is not finished within its TTR is popped again', async () => {
  await push({ id: 'again', topic: 'ttr', ttr: 1 });
  expect((await pop('ttr')).data.id).toBe('again');
  expect((await pop('ttr')).data.id).toBe('again');
  expect((await api.get('/v1/jobs/again')).body).toMatchObject({ state: 'reserved', attempts: 2, TTR: 1 });
});

test('S3.8 of several topics the first goes first', async () => {
  for (const topic of ['low', 'high']) await command('add', { topic, id: topic, delay: 0, TTR: 60, body: topic });
  expect((await pop('none, high,low')).data).toEqual({ id: 'high', body: 'high' });
  expect((await pop('high,low')).data.id).toBe('low');
});

test('S3.8 50 callers who pop at once get 50 different jobs', async () => {
  const ids = repeat(50, (n) => `crowd-${n}`);
  const popping = ids.map(() => pop('crowd'));
  for (const id of ids) expect(await push({ id, topic: 'crowd' })).toEqual(ADDED);
  expect((await Promise.all(popping)).map(({ data }) => data.id).sort()).toEqual(ids.sort());
});

test('S3.8 a pop waits for a job, and one who hangs up takes none with them', async () => {
  const gone = new AbortController();
  const call = pop('waiting', { signal: gone.signal });
  await eventually(async () => running.runtime.waiters.size === 1);
  gone.abort();
  await expect(call).rejects.toThrow();
  await eventually(async () => running.runtime.waiters.size === 0);
  await push({ id: 'kept', topic: 'waiting' });
  expect((await pop('waiting')).data.id).toBe('kept');
});

test('S3.8 jobs of both APIs are the same: JSON is its text, bytes keep their form', async () => {
  await push({ id: 'over-v1', topic: 'mixed', body: 'Grüße \u0000' });
  const popped = await command('pop', { topic: 'mixed', wait: 20 });
  expect([popped.id, popped.value]).toEqual(['over-v1', { $base64: Buffer.from('Grüße \0').toString('base64') }]);
  expect(await command('release', { id: 'over-v1', token: popped.token })).toMatchObject({ success: true });
  expect((await pop('mixed')).data.body).toBe('Grüße \0');
  for (const [id, body, text] of [
    ['json', { order: 1 }, '{"order":1}'],
    ['bytes', { $base64: '/w==' }, '{"$base64":"/w=="}'],
  ] as const) {
    await command('add', { topic: id, id, delay: 0, TTR: 60, body });
    expect((await pop(id)).data).toEqual({ id, body: text });
    expect((await get(id)).data.body).toBe(text);
  }
});

test('S3.8 finish ends the job whoever has it, and a token that is no longer live does nothing', async () => {
  await push({ id: 'fence', topic: 'fence', ttr: 1 });
  await pop('fence');
  const current = await eventually(async () => {
    const popped = await command('pop', { topic: 'fence', wait: 5 });
    return popped.id ? popped : undefined;
  });
  expect(await finish('fence')).toEqual(DONE);
  const late = await command('finish', { id: 'fence', token: current.token });
  expect(late).toMatchObject({ success: false, code: 'not_open' });
});

test('S3.8 a push that is repeated is fine while the job is open; one that is over begins anew', async () => {
  const once = { id: 'once', topic: 'once' };
  for (let n = 0; n < 2; n++) expect(await push(once)).toEqual(ADDED);
  expect(await push({ ...once, body: 'other' })).toEqual(failed('job once exists with other content'));
  await pop('once');
  await finish('once');
  expect(await push(once)).toEqual(ADDED);
  expect((await pop('once')).data.id).toBe('once');
  await finish('once');
  await api.put('/v1/topics/once', { ids: 'once' });
  expect(await push(once)).toMatchObject({ code: 1, message: expect.stringMatching(/^job once finished at /) });
});

const good = { topic: 't', id: 'i', delay: 1, ttr: 60, body: 'b' };
const NOT_JSON = failed('解析json失败');

describe('S3.8 bad input has an answer in the form of delay-queue, and never 500', () => {
  test.each([
    ['/push', { ...good, id: ' ' }, failed('job id不能为空')],
    ['/push', { ...good, id: null }, failed('job id不能为空')],
    ['/push', { ...good, topic: '' }, failed('topic 不能为空')],
    ['/push', { ...good, delay: 0 }, failed('delay 取值范围1 - (2^31 - 1)')],
    ['/push', { ...good, delay: -1 }, failed('delay 取值范围1 - (2^31 - 1)')],
    ['/push', { ...good, delay: 2 ** 31 + 1 }, failed('delay 取值范围1 - (2^31 - 1)')],
    ['/push', { ...good, ttr: 0 }, failed('ttr 取值范围1 - 86400')],
    ['/push', { ...good, ttr: 86_401 }, failed('ttr 取值范围1 - 86400')],
    ['/push', { ...good, delay: '60' }, NOT_JSON],
    ['/push', { ...good, delay: 1.5 }, NOT_JSON],
    ['/push', { ...good, delay: 1e300 }, NOT_JSON],
    ['/push', { ...good, id: 15_702_398_321 }, NOT_JSON],
    ['/push', { ...good, body: { uid: 1 } }, NOT_JSON],
    ['/push', {}, failed('job id不能为空')],
    ['/push', 'null', failed('job id不能为空')],
    ['/push', '[]', NOT_JSON],
    ['/push', '"text"', NOT_JSON],
    ['/push', '', NOT_JSON],
    ['/push', '{', NOT_JSON],
    ['/push', Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x7d]), NOT_JSON],
    ['/pop', { topic: '' }, failed('topic不能为空')],
    ['/pop', { topic: ' , ' }, failed('topic不能为空')],
    ['/pop', { topic: 7 }, NOT_JSON],
    ['/finish', {}, failed('job id不能为空')],
    ['/delete', { id: '' }, failed('job id不能为空')],
    ['/get', '{}', failed('job id不能为空')],
    ['/finish', { id: 'x'.repeat(1000) }, DONE],
    ['/delete', { id: 'a\u0000b' }, DONE],
    ['/get', { id: '\ud800' }, DONE],
  ])('%s %j', async (path, sent, answer) => {
    expect(await post(path, sent)).toEqual({ status: 200, body: answer });
  });

  test.each([
    ['an id that is too long', { ...good, id: 'x'.repeat(201) }],
    ['an id with a control character', { ...good, id: 'a\u0000b' }],
    ['a topic that is too long', { ...good, topic: 'x'.repeat(201) }],
    ['a delay beyond ten years', { ...good, delay: 2 ** 31 - 1 }],
  ])("what Docket's jobs cannot be: %s", async (_, sent) => {
    const { status, body } = await post('/push', sent);
    expect([status, body]).toEqual([200, failed(expect.stringMatching(/^job: /))]);
  });

  test('topics that cannot be', async () => {
    for (const topic of ['a\u0000b', 'x'.repeat(201), repeat(101, (n) => n).join()])
      expect(await post('/pop', { topic })).toEqual({ status: 200, body: failed(expect.stringMatching(/^topic: /)) });
  });

  test('names of fields in any case, whatever the content type', async () => {
    const sent = JSON.stringify({ Topic: 't', ID: 'any-case', Delay: 3600, TTR: 60, Body: 'b', more: 1 });
    expect((await post('/push', sent, { headers: { 'content-type': 'text/plain' } })).body.code).toBe(0);
    expect((await get('any-case')).data).toMatchObject({ topic: 't', ttr: 60, body: 'b' });
  });

  test('too large a body, another method, another path', async () => {
    expect((await post('/push', { ...good, body: 'x'.repeat(256 * 1024) })).status).toBe(413);
    for (const [method, path] of [
      ['GET', '/push'],
      ['POST', '/'],
      ['POST', '/push/x'],
    ] as const) {
      const response = await fetch(`http://127.0.0.1:${port}${path}`, { method });
      const known = 'there is POST /push, /pop, /finish, /delete and /get';
      expect([response.status, await response.json()]).toEqual([404, failed(known)]);
    }
  });
});

describe('S3.8 it has no keys, so it answers to this machine only', () => {
  test.each([
    ['a page of another site', { origin: 'https://evil.example' }],
    ['a browser that says so', { 'sec-fetch-site': 'cross-site' }],
  ])('not to %s', async (_, headers) => {
    expect((await post('/push', { ...good, id: 'page' }, { headers })).status).toBe(403);
    expect(await get('page')).toEqual(DONE);
  });

  test('not by a name of another site', async () => {
    const socket = connect({ port, host: '127.0.0.1' });
    const body = JSON.stringify({ ...good, id: 'rebound' });
    socket.write(
      `POST /push HTTP/1.1\r\nHost: evil.example\r\nContent-Length: ${body.length}\r\nConnection: close\r\n\r\n${body}`,
    );
    let back = '';
    for await (const chunk of socket) back += chunk;
    expect(back).toMatch(/^HTTP\/1\.1 403 /);
    expect(await get('rebound')).toEqual(DONE);
  });

  test('beyond loopback the port is opened only with DELAY_QUEUE_OPEN=1, and not to pages of other sites', async () => {
    const env = { DATABASE_URL: databaseUrl, TEMPORAL_ADDRESS: '127.0.0.1:9', DELAY_QUEUE_PORT: '0' };
    const beyond = { ...env, DELAY_QUEUE_HOST: '0.0.0.0' };
    await expect(startChild('api', beyond)).rejects.toThrow(/DELAY_QUEUE_HOST=0\.0\.0\.0: .* Set DELAY_QUEUE_OPEN=1/);
    const open = await startChild('api', { ...beyond, DELAY_QUEUE_OPEN: '1' });
    const printed = /, delay-queue 0\.0\.0\.0:(\d+)/.exec(open.output());
    const { post: send } = delayQueueClient(Number(printed?.[1]));
    expect((await send('/get', { id: 'x' })).body).toEqual(DONE);
    expect((await send('/get', { id: 'x' }, { headers: { origin: 'https://evil.example' } })).status).toBe(403);
    expect(await open.end('SIGTERM')).toBe(0);
    expect(readConfig({ DELAY_QUEUE_PORT: '0', DELAY_QUEUE_HOST: '::1' }).delayQueueHost).toBe('::1');
  });
});
