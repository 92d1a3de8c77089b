import { connect } from 'node:net';
import { describe, expect, test } from 'vitest';
import { readConfig } from '../../runtime/config.ts';
import { startTestSystem } from '../support/system.ts';
import { lmstfyClient } from './client.ts';

const { running } = await startTestSystem({ LMSTFY_PORT: '0' }, { role: 'api' });
const port = running.lmstfy?.port ?? 0;
const { ask, publish, size } = lmstfyClient(port);
const url = `http://127.0.0.1:${port}`;

describe('S3.8 bad input has an answer in the form of lmstfy, and never 500', () => {
  test.each([
    ['PUT', 'q', { delay: '-1' }, 'invalid delay'],
    ['PUT', 'q', { delay: '1.5' }, 'invalid delay'],
    ['PUT', 'q', { delay: '' }, 'invalid delay'],
    ['PUT', 'q', { delay: '4294967296' }, 'invalid delay'],
    ['PUT', 'q', { ttl: 'abc' }, 'invalid ttl'],
    ['PUT', 'q', { delay: 10, ttl: 9 }, 'ttl is shorter than delay'],
    ['PUT', 'q', { tries: 0 }, "tries shouldn't be zero"],
    ['PUT', 'q', { tries: 65_536 }, 'invalid tries'],
    ['PUT', 'q/bulk', { ttl: '1e3' }, 'invalid ttl'],
    ['GET', 'q', { ttr: '-5' }, 'invalid ttr'],
    ['GET', 'q', { timeout: 'x' }, 'invalid timeout'],
    ['GET', 'q', { count: 0 }, 'invalid count'],
    ['GET', 'q', { count: 101 }, 'invalid count'],
    ['GET', ',', {}, 'invalid queue name(s)'],
    ['GET', 'a,b%20c', {}, 'queue name contains forbidden characters'],
    ['GET', 'q,%ff', {}, 'queue name contains forbidden characters'],
    ['GET', '_q', {}, 'queue name contains forbidden characters'],
    ['PUT', 'a,b', {}, 'queue name contains forbidden characters'],
    ['PUT', 'q%00', {}, 'queue name contains forbidden characters'],
    ['PUT', 'q'.repeat(256), {}, 'namespace or queue name too long'],
    ['PUT', 'q'.repeat(198), {}, 'namespace or queue name too long'],
    ['PUT', 'q/deadletter', { limit: 0 }, 'invalid limit'],
    ['PUT', 'q/deadletter', { ttl: '99999999999999999' }, 'invalid ttl'],
    ['DELETE', 'q/deadletter', { limit: '-1' }, 'invalid limit'],
  ])('%s %s %j', async (method, path, query, error) => {
    const answer = await ask(method, path, {
      query: query as Record<string, string>,
      ...(method === 'PUT' && { body: '[1]' }),
    });
    expect([answer.status, answer.body]).toEqual([400, { error }]);
  });

  test.each([
    ['not JSON', '{', 'request body should be an array of objects'],
    ['not an array', '{"a": [1]}', 'request body should be an array of objects'],
    ['not UTF-8', Buffer.from([0x5b, 0x22, 0xff, 0x22, 0x5d]), 'request body should be an array of objects'],
    ['nothing', '', 'request body should be an array of objects'],
    ['no jobs', '[ ]', 'no jobs'],
    ['too many jobs', JSON.stringify(Array.from({ length: 65 }, () => 1)), 'too many jobs'],
  ])('a bulk of %s', async (_, body, error) => {
    const answer = await ask('PUT', 'bulk/bulk', { body });
    expect([answer.status, answer.body]).toEqual([400, { error }]);
    expect(await size('bulk')).toBe(0);
  });

  test('bodies that are too large, of one job and of one of several', async () => {
    const most = 'x'.repeat(256 * 1024);
    await publish('large', most);
    for (const [path, body] of [
      ['large', `${most}x`],
      ['large/bulk', `[1,"${most}"]`],
    ] as const) {
      const answer = await ask('PUT', path, { body });
      expect([answer.status, answer.body]).toEqual([413, { error: expect.stringMatching(/./) }]);
    }
    expect(await size('large')).toBe(1);
  });

  test('any bytes are a body, none at all too', async () => {
    for (const body of [Buffer.alloc(0), Buffer.from([0]), Buffer.from([0xff, 0xfe]), Buffer.from('"\u2028\\')]) {
      await publish('bytes', body);
      const { body: job } = await ask('GET', 'bytes');
      expect(job.data).toBe(body.toString('base64'));
    }
  });

  test.each([
    ['POST', '/api/ns/q'],
    ['GET', '/version'],
    ['GET', '/api/ns/q/limits'],
    ['PUT', '/api/ns'],
    ['GET', '/'],
  ])('what it does not have: %s %s', async (method, path) => {
    const response = await fetch(url + path, { method });
    expect([response.status, await response.json()]).toEqual([404, { error: 'api not found' }]);
  });

  test('a caller who hangs up in the middle of a body leaves nothing behind', async () => {
    const socket = connect({ port, host: '127.0.0.1' });
    socket.write(`PUT /api/ns/broken HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 100\r\n\r\nhalf`);
    await new Promise((resolve) => setTimeout(resolve, 100));
    socket.destroy();
    expect(await size('broken')).toBe(0);
  });
});

describe('S3.8 an open server answers to this machine only', () => {
  test.each([
    ['a page of another site', { origin: 'https://evil.example' }],
    ['a browser that says so', { 'sec-fetch-site': 'cross-site' }],
  ])('not to %s', async (_, headers) => {
    const answer = await ask('PUT', 'pages', { body: 'x', headers });
    expect([answer.status, Object.keys(answer.body)]).toEqual([403, ['error']]);
    expect(await size('pages')).toBe(0);
  });

  test('not by a name of another site', async () => {
    const socket = connect({ port, host: '127.0.0.1' });
    socket.write('PUT /api/ns/pages HTTP/1.1\r\nHost: evil.example\r\nContent-Length: 1\r\nConnection: close\r\n\r\nx');
    let back = '';
    for await (const chunk of socket) back += chunk;
    expect(back).toMatch(/^HTTP\/1\.1 403 /);
    expect(await size('pages')).toBe(0);
  });

  test('it does not start beyond loopback unless it asks for keys', () => {
    const env = { LMSTFY_PORT: '0', LMSTFY_HOST: '0.0.0.0' };
    expect(() => readConfig(env)).toThrow(/LMSTFY_HOST=0\.0\.0\.0: .* Set DOCKET_AUTH=keys/);
    expect(readConfig({ ...env, DOCKET_AUTH: 'keys' }).lmstfyHost).toBe('0.0.0.0');
    expect(readConfig({ ...env, HOST: '0.0.0.0' }).open).toBe(false);
    expect(readConfig({ LMSTFY_HOST: '0.0.0.0' }).lmstfyPort).toBeUndefined();
    expect(() => readConfig({ LMSTFY_PORT: '65536' })).toThrow(/LMSTFY_PORT/);
  });
});
