import { connect } from 'node:net';
import { describe, expect, test } from 'vitest';
import { readConfig } from '../../runtime/config.ts';
import { startChild } from '../support/child.ts';
import { repeat } from '../support/client.ts';
import { startTestSystem } from '../support/system.ts';
import { DONE, delayQueueClient, failed } from './client.ts';

const { running, databaseUrl } = await startTestSystem({ DELAY_QUEUE_PORT: '0', DOCKET_AUTH: 'keys' }, { role: 'api' });
const port = running.delayQueue?.port ?? 0;
const { post, get } = delayQueueClient(port);

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
