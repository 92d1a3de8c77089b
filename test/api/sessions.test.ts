import { describe, expect, test } from 'vitest';
import { endpoints } from '../../api/endpoints.ts';
import { needsSubject, type Role } from '../../contract/keys.ts';
import { ROLES } from '../../contract/kinds.ts';
import { nameOf, pathOf, sampleBody } from '../support/calls.ts';
import { settingsFor, startChild } from '../support/child.ts';
import { type Client, eventually, type Reply, repeat } from '../support/client.ts';
import { storedText } from '../support/database.ts';
import { createKey, endsWithinASecond, revokeKey } from '../support/keys.ts';
import { expectProblem } from '../support/problems.ts';
import { startTestSystem, testStores } from '../support/system.ts';

const stores = await testStores();
const system = await startTestSystem({ DOCKET_AUTH: 'keys' }, { stores, role: 'api' });
const { api, sql } = system;
const { db } = system.running.runtime;
/** Another process with the same stores. */
const another = async (env: Record<string, string> = {}) =>
  (await startTestSystem({ DOCKET_AUTH: 'keys', ...env }, { stores, role: 'api' })).api;
const other = await another();

const keyOf = (role: Role, subject: string | null = null, more: object = {}) =>
  createKey(db, { name: `${subject ?? role}-key`, role, subject, ...more });

const signIn = (client: Client, key: string, headers: Record<string, string> = {}) =>
  client.post('/v1/session', { key }, headers);

/** What a browser keeps of an answer's cookie. */
const cookieOf = ({ headers }: Reply) => (headers.get('set-cookie') ?? '').split(';')[0] ?? '';

/** A page of the server itself, in a browser that has signed in. */
function pageOf({ url, raw }: Client, cookie: string, headers: Record<string, string> = {}) {
  const call = (method: string, path: string, body?: unknown) =>
    raw(method, path, {
      headers: { cookie, origin: url, 'content-type': 'application/json', ...headers },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
  return {
    get: (path: string) => call('GET', path),
    post: (path: string, body?: unknown) => call('POST', path, body ?? {}),
    delete: (path: string) => call('DELETE', path),
  };
}

async function open(role: Role, subject: string | null = null, more: object = {}) {
  const made = await keyOf(role, subject, more);
  const cookie = cookieOf(await signIn(api, made.key));
  return { ...made, cookie, page: pageOf(api, cookie) };
}

describe('signing in with a key', () => {
  test('one that is bound to queues signs out like any other', async () => {
    const { page } = await open('agent', null, { queues: ['q-*'] });
    expect((await page.get('/v1/session')).status).toBe(200);
    expect((await page.delete('/v1/session')).status).toBe(204);
    expect((await page.get('/v1/session')).status).toBe(401);
  });

  test.each(ROLES)('a %s is known by the cookie, and may do what the key may do', async (role) => {
    const subject = needsSubject(role) ? 'rita' : null;
    const queues = role === 'agent' ? ['q-*'] : null;
    const { key, id } = await keyOf(role, subject, { queues });
    const made = await signIn(api, key);
    const whoIAm = { open: false, role, subject, queues, name: `${subject ?? role}-key` };
    expect(made).toMatchObject({ status: 201, body: { ...whoIAm, expiresAt: expect.any(String) } });
    expect(made.headers.get('cache-control')).toBe('no-store');
    const page = pageOf(api, cookieOf(made));
    expect((await page.get('/v1/session')).body).toEqual(made.body);
    expect((await api.as(key).get('/v1/session')).body).toEqual({ ...made.body, expiresAt: null });

    const turnedAway = ({ status, body }: Reply) => status === 403 && body.detail === `a ${role} key may not do this`;
    const gets = endpoints.filter((e) => e.method === 'get' && e.roles && !/stream$|feed$/.test(e.path));
    expect(gets.length).toBeGreaterThan(30);
    for (const e of gets) {
      const allowed = role === 'admin' || e.roles?.includes(role);
      expect(turnedAway(await page.get(pathOf(e))), nameOf(e)).toBe(!allowed);
    }
    const mayAdd = ['admin', 'supervisor', 'producer'].includes(role);
    const added = await page.post('/v1/queues/q-1/tickets', { id: `by-${role}`, body: 1 });
    expect(added.status).toBe(mayAdd ? 201 : 403);
    const [{ n } = {}] = await sql(`select count(*)::integer as n from session where key_id = $1`, [id]);
    expect(n).toBe(1);
  });

  test('the cookie is for this server, not for scripts, and ends after 12 hours or with its key', async () => {
    const attributesOf = async (client: Client, key: string, headers = {}) =>
      (await signIn(client, key, headers)).headers.get('set-cookie')?.split('; ').slice(1) ?? [];
    const { key } = await keyOf('admin');
    const attributes = await attributesOf(api, key);
    expect(attributes.slice(0, 3)).toEqual(['HttpOnly', 'SameSite=Strict', 'Path=/']);
    const [age = ''] = attributes.slice(3);
    expect(age).toMatch(/^Max-Age=431(99|[89]\d)|43200$/);
    expect(attributes).toHaveLength(4);
    await api.as(key).put('/v1/queues/p', {});
    const behindProxy = await another({ DOCKET_PUBLIC_URL: 'https://docket.example' });
    expect(await attributesOf(behindProxy, key)).toContain('Secure');
    const cookie = cookieOf(await signIn(behindProxy, key));
    for (const [origin, status] of Object.entries({ 'https://docket.example': 200, 'https://evil.example': 403 }))
      expect((await pageOf(behindProxy, cookie, { origin }).post('/v1/queues/p/pause')).status, origin).toBe(status);

    const soon = new Date(Date.now() + 600_000).toISOString();
    const short = await keyOf('admin', null, { expiresAt: soon });
    const made = await signIn(api, short.key);
    expect(made.body.expiresAt).toBe(soon);
    expect(Number(/Max-Age=(\d+)/.exec(made.headers.get('set-cookie') ?? '')?.[1])).toBeLessThanOrEqual(601);
  });

  test('a page that came by https gets a cookie for https, whatever the proxy speaks to this server', async () => {
    const { key } = await keyOf('admin');
    const host = new URL(api.url).host;
    const made = await signIn(api, key, { origin: `https://${host}`, 'sec-fetch-site': 'same-origin' });
    expect(made.headers.get('set-cookie')).toMatch(/; Secure$/);
  });

  test('a wrong key is 401, and after twenty within a minute nobody of that address is looked at', async () => {
    const { key, id } = await keyOf('producer');
    const { key: right } = await keyOf('producer');
    const { key: revoked, id: revokedId } = await keyOf('producer');
    await revokeKey(db, revokedId);
    const own = await another();
    const wrong = [revoked, `${key}x`, key.slice(0, -1), `docket_${id}_${'x'.repeat(43)}`, 'nonsense', 'Bearer', ' '];
    for (const given of wrong) {
      const reply = await signIn(own, given);
      expectProblem(reply, given, 'unauthenticated');
      expect(reply.headers.get('set-cookie')).toBeNull();
      expect(JSON.stringify(reply.body)).not.toContain(given.slice(8, 40).trim() || '\n');
    }
    for (const body of [{}, { key: 5 }, { key: null }, { key: '' }, { key: 'x'.repeat(201) }, { key, more: 1 }])
      expectProblem(await own.post('/v1/session', body), JSON.stringify(body), 422);
    expect((await signIn(own, right)).status).toBe(201);
    await Promise.all(repeat(20 - wrong.length, (n) => signIn(own, `guess-${n}`)));
    const limited = await signIn(own, right);
    expectProblem(limited, 'the twenty-first', 'rate_limited');
    expect(Number(limited.headers.get('retry-after'))).toBeGreaterThan(1);
    expect((await own.as(right).get('/v1/queues')).status).toBe(200);
  });

  test('of 500 guesses at once most are not looked at', async () => {
    const own = await another();
    const replies = await Promise.all(repeat(500, (n) => signIn(own, `guess-${n}`)));
    const statuses = replies.map((r) => r.status);
    expect(new Set(statuses)).toEqual(new Set([401, 429]));
    expect(statuses.filter((s) => s === 401).length).toBeLessThanOrEqual(220);
  });

  test('an open server needs no session and makes none; a cookie there is of no use and no harm', async () => {
    const own = (await startTestSystem({}, { stores, role: 'api' })).api;
    const expected = { open: true, role: 'admin', subject: null, queues: null, name: null, expiresAt: null };
    expect(await own.get('/v1/session')).toMatchObject({ status: 200, body: expected });
    const { key, cookie } = await open('reviewer', 'otto');
    expect((await pageOf(own, cookie).get('/v1/session')).body).toEqual(expected);
    expectProblem(await signIn(own, key), 'sign-in', 'forbidden');
  });
});

describe('a session ends', () => {
  test('with its key, on all processes', async () => {
    const { id, cookie, page } = await open('admin');
    const there = pageOf(other, cookie);
    for (const p of [page, there]) expect((await p.get('/v1/queues')).status).toBe(200);
    await revokeKey(db, id);
    await Promise.all([page, there].map((p) => endsWithinASecond(() => p.get('/v1/queues'))));
    expectProblem(await page.post('/v1/queues/q-1/pause'), 'pause', 'unauthenticated');
  });

  test('when it is ended, here at once and elsewhere within a second; its cookie is cleared', async () => {
    const { cookie, page, key } = await open('admin');
    expect((await pageOf(other, cookie).get('/v1/session')).status).toBe(200);
    const ended = await page.delete('/v1/session');
    expect(ended.status).toBe(204);
    expect(ended.headers.get('set-cookie')).toMatch(/^docket_session=; HttpOnly; SameSite=Strict; Path=\/; Max-Age=0/);
    expectProblem(await page.get('/v1/session'), 'here', 'unauthenticated');
    await endsWithinASecond(() => pageOf(other, cookie).get('/v1/session'));
    expect((await api.as(key).raw('DELETE', '/v1/session')).status).toBe(204);
  });

  test('when its time is over, and its row goes by itself', async () => {
    const { id, page } = await open('admin');
    await sql(`update session set expires_at = clock_timestamp() where key_id = $1`, [id]);
    await endsWithinASecond(() => page.get('/v1/session'));
    await eventually(async () => (await sql(`select from session where key_id = $1`, [id])).length === 0);
  });

  test('and with it its streams and the stream tickets that it asked for', async () => {
    const { cookie, page } = await open('reviewer', 'dora');
    const { ticket } = (await page.post('/v1/stream-tickets')).body;
    const byCookie = await fetch(`${api.url}/v1/stream?reviewer=dora`, { headers: { cookie } });
    const byTicket = await fetch(`${api.url}/v1/stream?reviewer=dora&ticket=${ticket}`);
    expect([byCookie.status, byTicket.status]).toEqual([200, 200]);
    const texts = [byCookie.text(), byTicket.text()];
    expect((await page.delete('/v1/session')).status).toBe(204);
    for (const text of await Promise.all(texts)) expect(text).toContain('retry: 1000');
    expectProblem(await api.get(`/v1/stream?reviewer=dora&ticket=${ticket}`), 'ticket', 401);
  }, 30_000);

  test('but not when the server starts again', async () => {
    const { key } = await keyOf('agent');
    const own = await startTestSystem({ DOCKET_AUTH: 'keys' }, { stores, role: 'api' });
    const cookie = cookieOf(await signIn(own.api, key));
    await own.stop();
    expect((await pageOf(await another(), cookie).get('/v1/session')).body.role).toBe('agent');
  });
});

describe('what is kept of it', () => {
  test('neither the key nor the token is in the database or in the log', async () => {
    const child = await startChild('api', settingsFor(stores, { DOCKET_AUTH: 'keys', LOG_LEVEL: 'debug' }));
    const { key } = await keyOf('admin');
    const cookie = cookieOf(await signIn(child.api, key));
    const [, token = ''] = cookie.split('=');
    expect(token).toHaveLength(43);
    const { key: wrong } = await keyOf('admin');
    const guess = `${wrong.slice(0, -4)}AAAA`;
    expect((await signIn(child.api, guess)).status).toBe(401);
    expect((await pageOf(child.api, cookie).get('/v1/session')).status).toBe(200);
    await eventually(async () => /"route":"\/v1\/session","status":200/.test(child.output()));
    await child.end('SIGTERM');
    const all = child.output() + (await storedText(stores.databaseUrl));
    expect(all).toContain('/v1/session');
    for (const secret of [token, key.split('_').slice(2).join('_'), guess.split('_').slice(2).join('_')])
      expect(all.includes(secret)).toBe(false);
  }, 60_000);
});

describe('a cookie is for pages of this server only', () => {
  const signedIn = async (role: Role, subject: string | null = null) => (await open(role, subject)).cookie;
  const evil = 'http://evil.example';
  const pause = (headers: Record<string, string>, method = 'POST') =>
    api.raw(method, '/v1/queues/csrf/pause', { headers });

  test('what changes something says that it comes from here', async () => {
    await api.as((await keyOf('admin')).key).put('/v1/queues/csrf', {});
    const cookie = await signedIn('admin');
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
    const cookie = await signedIn('admin');
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
    const cookie = await signedIn('admin');
    const get = async (headers: Record<string, string>) =>
      (await api.raw('GET', '/v1/queues', { headers: { cookie, ...headers } })).status;
    for (const site of ['cross-site', 'same-site']) expect(await get({ 'sec-fetch-site': site }), site).toBe(403);
    expect(await get({ origin: evil })).toBe(403);
    for (const site of ['same-origin', 'none']) expect(await get({ 'sec-fetch-site': site }), site).toBe(200);
    expect(await get({})).toBe(200);
  });

  test('a key goes before the cookie, and needs no origin', async () => {
    const cookie = await signedIn('reviewer', 'rosa');
    const { key } = await keyOf('admin');
    const headers = { cookie, authorization: `Bearer ${key}` };
    expect((await api.raw('GET', '/v1/session', { headers })).body.role).toBe('admin');
    expect((await pause({ ...headers, origin: evil })).status).toBe(200);
    const wrong = await api.raw('GET', '/v1/session', { headers: { cookie, authorization: 'Bearer x' } });
    expectProblem(wrong, 'wrong key', 401);
  });

  test('other cookies, and what is no session', async () => {
    const cookie = await signedIn('admin');
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
