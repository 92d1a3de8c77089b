import { expect, test } from 'vitest';
import { lastingPort } from '../../cli/servers/ports.ts';
import { readConfig } from '../../runtime/config.ts';
import { type Json, repeat } from '../support/client.ts';
import { createKey, endsWithinASecond } from '../support/keys.ts';
import { CLIENT, startProvider, Walker } from '../support/open-id.ts';
import { startTestSystem } from '../support/system.ts';
import { add } from '../support/tickets.ts';

const port = await lastingPort();
const home = `http://127.0.0.1:${port}`;
const callback = `${home}/sign-in/openid/callback`;
const people: Record<string, Json> = {
  anna: { preferred_username: 'anna', docket_role: 'reviewer' },
  bea: { preferred_username: 'bea', docket_role: 'reviewer' },
  olga: { preferred_username: 'olga', docket_role: ['reviewer', 'admin', 'something-else'] },
  nobody: { preferred_username: 'nobody' },
  odd: { preferred_username: 'a name\u200b', docket_role: 'agent' },
};
const { issuer } = await startProvider(people, callback);
const env = { PORT: String(port), DOCKET_AUTH: 'keys', DOCKET_PUBLIC_URL: home, DOCKET_OIDC_ISSUER: issuer, ...CLIENT };
const { api, running, sql } = await startTestSystem(env);

async function signedIn(login: string, to = '/desk'): Promise<{ browser: Walker; end: Response; html: string }> {
  const browser = new Walker();
  const end = await browser.call(await walk(browser, login, `?to=${encodeURIComponent(to)}`));
  return { browser, end, html: await end.text() };
}
/** Where somebody who begins to sign in is sent, and comes back from. */
const walk = async (browser: Walker, login: string, query = '') => {
  const start = await browser.call(`${home}/sign-in/openid${query}`);
  return browser.signIn(start.headers.get('location') ?? '', login, callback);
};
const root = async () =>
  api.as((await createKey(running.runtime.db, { name: 'root', role: 'admin', subject: null })).key);
const sessionOf = async (browser: Walker) => {
  const response = await browser.call(`${home}/v1/session`);
  return { status: response.status, body: (await response.json()) as Json };
};

test('people sign in at a provider, with the role and name that it claims, and come back to where they were', async () => {
  expect((await api.get('/v1/sign-in')).body).toEqual({ openId: { issuer } });
  const { browser, end, html } = await signedIn('anna', '/desk?queue=a&b="><script>');
  expect(end.status).toBe(200);
  expect(html).toContain('content="0; url=/desk?queue=a&amp;b=&quot;&gt;&lt;script&gt;"');
  expect(end.headers.getSetCookie().find((line) => line.startsWith('docket_session='))).toMatch(
    /HttpOnly; SameSite=Strict/,
  );
  const anna = { open: false, role: 'reviewer', subject: 'anna', name: 'anna' };
  expect((await sessionOf(browser)).body).toMatchObject(anna);
  expect((await sessionOf((await signedIn('olga')).browser)).body).toMatchObject({ role: 'admin', name: 'olga' });

  const admin = await root();
  await add(admin, 'reports', { id: 'r1' });
  const cookie = `docket_session=${browser.cookieOf(home, 'docket_session')}`;
  const claim = await api.post('/v1/queues/reports/claim', { reviewer: 'anna' }, { cookie, origin: home });
  expect(claim.body.tickets[0].lease.reviewer).toBe('anna');
  const listed = (await admin.get('/v1/keys')).body.items.filter((k: Json) => k.issuer === issuer);
  expect(listed.map((k: Json) => [k.name, k.role, k.subject])).toEqual([
    ['olga', 'admin', null],
    ['anna', 'reviewer', 'anna'],
  ]);
});

test('one without a role, or whose name cannot be one, does not come in, and sees why', async () => {
  const before = await sql('select from api_key');
  for (const [login, why] of [
    ['nobody', 'its claim docket_role names none'],
    ['odd', 'its claim preferred_username must be 1 to 200 Unicode characters'],
  ] as const) {
    const { browser, end, html } = await signedIn(login);
    expect(end.status).toBe(403);
    expect(html).toContain(why);
    expect((await sessionOf(browser)).status).toBe(401);
  }
  expect(await sql('select from api_key')).toEqual(before);
});

test('two tabs that sign in beside each other both come in', async () => {
  const browser = new Walker();
  const starts = [await browser.call(`${home}/sign-in/openid`), await browser.call(`${home}/sign-in/openid?to=/b`)];
  for (const start of starts) {
    const back = await browser.signIn(start.headers.get('location') ?? '', 'anna', callback);
    expect((await browser.call(back)).status).toBe(200);
  }
});

test('fifty sign-ins of one person at once have one key; one that comes back twenty times at once counts once', async () => {
  const come = async () => {
    const browser = new Walker();
    return { browser, back: await walk(browser, 'bea') };
  };
  const all = await Promise.all(Array.from({ length: 50 }, come));
  const ends = await Promise.all(all.map(({ browser, back }) => browser.call(back)));
  expect(ends.filter(({ status }) => status === 200)).toHaveLength(50);
  expect(await sql('select from api_key where name = $1', ['bea'])).toHaveLength(1);
  for (const { browser } of all) expect((await sessionOf(browser)).body).toMatchObject({ subject: 'bea' });

  const { browser, back } = await come();
  const again = await Promise.all(repeat(20, () => browser.call(back)));
  expect(again.map(({ status }) => status).sort()).toEqual([200, ...Array<number>(19).fill(401)]);
});

test('a sign-in counts once, in the browser in which it was begun, and goes nowhere else', async () => {
  const browser = new Walker();
  const back = await walk(browser, 'anna', '?to=//evil.example/');
  expect((await new Walker().call(back)).status).toBe(401);
  const forged = new URL(back);
  forged.searchParams.set('state', 'another');
  const other = new Walker();
  await other.call(`${home}/sign-in/openid`);
  expect((await other.call(forged.href)).status).toBe(401);
  const end = await browser.call(back);
  expect([end.status, await end.text()]).toEqual([200, expect.stringContaining('url=/"')]);
  expect((await browser.call(back)).status).toBe(401);
  expect((await new Walker().call(`${callback}?error=access_denied&state=x`)).status).toBe(401);
});

test('an ended key ends all sessions of a person, whose next sign-in has the role of that day', async () => {
  const { browser } = await signedIn('olga');
  const admin = await root();
  const { id } = (await admin.get('/v1/keys')).body.items.find((k: Json) => k.name === 'olga');
  await admin.raw('DELETE', `/v1/keys/${id}`);
  await endsWithinASecond(() => sessionOf(browser));
  people.olga = { preferred_username: 'olga', docket_role: ['consumer', 'supervisor'] };
  expect((await sessionOf((await signedIn('olga')).browser)).body.role).toBe('supervisor');
  // what was ended does not begin again with it
  expect((await sessionOf(browser)).status).toBe(401);
  const signIns = (await admin.get('/v1/admin-log?path=/sign-in/openid')).body.items;
  const signedInAs = { operation: 'signInAtProvider', body: { role: 'supervisor' }, status: 201 };
  expect(signIns[0]).toMatchObject({ actor: 'olga', ...signedInAs });
});

test('S0.9 a provider that is away says so, keys still open the server, and it is asked again', async () => {
  const gone = { ...env, PORT: '0', DOCKET_OIDC_ISSUER: 'http://127.0.0.1:9' };
  const own = await startTestSystem(gone, { role: 'api' });
  const start = await new Walker().call(`${own.api.url}/sign-in/openid`);
  expect([start.status, await start.text()]).toEqual([503, expect.stringContaining('cannot be reached')]);
  const { key } = await createKey(own.running.runtime.db, { name: 'root', role: 'admin', subject: null });
  expect((await own.api.as(key).get('/v1/session')).status).toBe(200);
});

test('settings of a provider that cannot work are refused at the start', () => {
  expect(() => readConfig({ DOCKET_OIDC_ISSUER: 'http://login.example.com' })).toThrow('must begin with https://');
  expect(() => readConfig({ DOCKET_OIDC_ISSUER: 'login.example.com' })).toThrow('DOCKET_OIDC_ISSUER must be a URL');
  expect(() => readConfig({ DOCKET_OIDC_ISSUER: issuer })).toThrow(
    'needs DOCKET_OIDC_CLIENT_ID, and DOCKET_PUBLIC_URL',
  );
  expect(() => readConfig({ DOCKET_OIDC_CLIENT_SECRET: '' })).not.toThrow();
});
