import { describe, expect, test } from 'vitest';
import { endpoints } from '../../api/endpoints.ts';
import type { Role } from '../../contract/keys.ts';
import { nameOf, pathOf, sampleBody } from '../support/calls.ts';
import { docket } from '../support/cli.ts';
import { type Client, eventually } from '../support/client.ts';
import { createKey } from '../support/keys.ts';
import { expectProblem } from '../support/problems.ts';
import { startTestSystem } from '../support/system.ts';

const { api, running, databaseUrl } = await startTestSystem({ DOCKET_AUTH: 'keys' });

const keyOf = (role: Role, subject: string | null = null) =>
  createKey(running.runtime.db, { name: subject ?? role, role, subject });

const signIn = (client: Client, key: string, headers: Record<string, string> = {}) =>
  client.post('/v1/session', { key }, headers);

/** The cookie of somebody who has signed in. */
async function cookieOf(role: Role, subject: string | null = null): Promise<string> {
  const { headers } = await signIn(api, (await keyOf(role, subject)).key);
  return (headers.get('set-cookie') ?? '').split(';')[0] ?? '';
}

describe('a cookie is for pages of this server only', () => {
  const evil = 'http://evil.example';
  const pause = (headers: Record<string, string>, method = 'POST') =>
    api.raw(method, '/v1/queues/csrf/pause', { headers });

  test('what changes something says that it comes from here', async () => {
    await api.as((await keyOf('admin')).key).put('/v1/queues/csrf', {});
    const cookie = await cookieOf('admin');
    const { origin, host } = new URL(api.url);
    const foreign = [evil, 'null', `${origin}.evil.example`, 'http://127.0.0.1:1', 'http://localhost'];
    const refused: Record<string, string>[] = [
      ...[{}, ...foreign.map((other) => ({ origin: other })), { referer: `${origin}/`, 'x-forwarded-host': host }],
      ...['cross-site', 'none'].map((site) => ({ 'sec-fetch-site': site })),
      ...['cross-site', 'same-site'].map((site) => ({ 'sec-fetch-site': site, origin })),
    ];
    for (const headers of refused)
      expectProblem(await pause({ cookie, ...headers }), JSON.stringify(headers), 'forbidden');
    const { body } = await api.as((await keyOf('admin')).key).get('/v1/queues/csrf');
    expect(body.paused, 'nothing was done').toBe(false);
    const same = { 'sec-fetch-site': 'same-origin' };
    for (const headers of [{ origin }, same, { ...same, origin }])
      expect((await pause({ cookie, ...headers })).status, JSON.stringify(headers)).toBe(200);
  });

  test('every endpoint that changes something asks for it, with any body', async () => {
    const cookie = await cookieOf('admin');
    for (const e of endpoints.filter((one) => one.method !== 'get' && one.roles !== null)) {
      const body = sampleBody(e);
      const reply = await api.unchecked().raw(e.method.toUpperCase(), pathOf(e), {
        headers: { cookie, origin: evil, 'content-type': 'application/json' },
        ...(body && { body: JSON.stringify(body) }),
      });
      expect(reply.status, nameOf(e)).toBe(403);
    }
  });

  test('a GET must not come from another site; one that a user types may', async () => {
    const cookie = await cookieOf('admin');
    const get = async (headers: Record<string, string>) =>
      (await api.raw('GET', '/v1/queues', { headers: { cookie, ...headers } })).status;
    for (const site of ['cross-site', 'same-site']) expect(await get({ 'sec-fetch-site': site }), site).toBe(403);
    expect(await get({ origin: evil })).toBe(403);
    for (const site of ['same-origin', 'none']) expect(await get({ 'sec-fetch-site': site }), site).toBe(200);
    expect(await get({})).toBe(200);
  });

  test('a key goes before the cookie, and needs no origin', async () => {
    const cookie = await cookieOf('reviewer', 'rosa');
    const { key } = await keyOf('admin');
    const headers = { cookie, authorization: `Bearer ${key}` };
    expect((await api.raw('GET', '/v1/session', { headers })).body.role).toBe('admin');
    expect((await pause({ ...headers, origin: evil })).status).toBe(200);
    const wrong = await api.raw('GET', '/v1/session', { headers: { cookie, authorization: 'Bearer x' } });
    expectProblem(wrong, 'wrong key', 401);
  });

  test('other cookies, and what is no session', async () => {
    const cookie = await cookieOf('admin');
    const get = async (sent: string) => (await api.raw('GET', '/v1/session', { headers: { cookie: sent } })).status;
    expect(await get(`theme=dark; ${cookie}; lang=zh`)).toBe(200);
    const wrong = [`x${cookie}`, `${cookie}x`, cookie.slice(0, -1), `docket_session=${'x'.repeat(43)}`];
    for (const sent of [...wrong, '', ';;=;']) expect(await get(sent), sent).toBe(401);
  });

  test('pages of other sites do not sign a user in', async () => {
    const { key } = await keyOf('admin');
    for (const headers of [{ origin: evil }, { 'sec-fetch-site': 'cross-site' }] as Record<string, string>[])
      expectProblem(await signIn(api, key, headers), JSON.stringify(headers), 'forbidden');
  });
});

const settings = { DATABASE_URL: databaseUrl };

test('docket key create, list and revoke', async () => {
  await api.as((await keyOf('admin')).key).put('/v1/queues/q', {});
  const made = await docket(['key', 'create', '--role', 'reviewer', '--subject', 'rita', '--name', 'desk-1'], settings);
  expect(made.code).toBe(0);
  const key = /^docket_[0-9a-f]{12}_[\w-]{43}$/m.exec(made.stdout)?.[0] ?? '';
  const id = key.split('_')[1] ?? '';
  expect(made.stdout).toContain(`Its id is ${id}.`);
  const claimed = await api.as(key).post('/v1/queues/q/claim', { reviewer: 'rita' });
  expect(claimed.status).toBe(200);

  const listed = await docket(['key', 'list'], settings);
  expect(listed.stdout).toMatch(new RegExp(`^${id}  reviewer  rita  desk-1  \\S+$`, 'm'));
  expect(listed.stdout).not.toContain(key);

  expect(await docket(['key', 'revoke', id], settings)).toMatchObject({ code: 0, stdout: `${id} is revoked\n` });
  await eventually(async () => (await api.as(key).get('/v1/queues')).status === 401, 1_500);
  expect((await docket(['key', 'list'], settings)).stdout).toMatch(new RegExp(`^${id} .* revoked \\S+$`, 'm'));
});

test('docket key revoke says that there is no such key', async () => {
  const ended = await docket(['key', 'revoke', '000000000000'], settings);
  expect(ended).toMatchObject({ code: 1, stderr: expect.stringContaining('no live key 000000000000') });
});

test('a server for others does not start without keys', async () => {
  const open = await docket(['api'], { ...settings, HOST: '0.0.0.0', DOCKET_AUTH: 'open', PORT: '0' });
  expect(open).toMatchObject({ code: 1, stderr: expect.stringContaining('asks for keys') });
});
