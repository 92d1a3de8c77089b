import { expect, test } from 'vitest';
import { lastingPort } from '../../cli/servers/ports.ts';
import type { Role } from '../../contract/keys.ts';
import { seriousFindings, useBrowser } from '../support/browser.ts';
import { eventually } from '../support/client.ts';
import { createKey, revokeKey } from '../support/keys.ts';
import { CLIENT, startProvider } from '../support/open-id.ts';
import { startTestSystem } from '../support/system.ts';
import { add, addMany, configure, ticket } from '../support/tickets.ts';
import { seen, ticketHeading } from './desk.ts';
import { callsOf, keys, press, sees, submit } from './page.ts';

const system = await startTestSystem({ DOCKET_AUTH: 'keys' });
const { url } = system.api;
const { db } = system.running.runtime;
const keyOf = (role: Role, subject: string | null = null) =>
  createKey(db, { name: `${subject ?? role}-key`, role, subject });

const browser = useBrowser();

test('at a provider: there and back to the page that was asked for, without a key', async () => {
  const port = await lastingPort();
  const home = `http://127.0.0.1:${port}`;
  const people = { anna: { preferred_username: 'anna', docket_role: 'admin' } };
  const { issuer } = await startProvider(people, `${home}/sign-in/openid/callback`);
  const provider = { DOCKET_PUBLIC_URL: home, DOCKET_OIDC_ISSUER: issuer, ...CLIENT };
  await startTestSystem({ PORT: String(port), DOCKET_AUTH: 'keys', ...provider }, { role: 'api' });
  const { host } = new URL(issuer);
  const page = await browser.prepare(home, { hosts: [host, 'fonts.googleapis.com'] });
  // the provider's own forms ask for them
  await page.route('https://fonts.googleapis.com/**', (route) => route.fulfill({ contentType: 'text/css', body: '' }));
  await page.goto(`${home}/keys`);
  const there = page.getByRole('button', { name: `Sign in at ${host}` });
  await there.waitFor();
  expect(await seriousFindings(page)).toEqual([]);
  await there.click();
  await page.getByPlaceholder('Enter any login').fill('anna');
  await page.getByPlaceholder('and password').fill('any');
  await press(page, 'Sign-in', 'Continue');
  await page.getByRole('heading', { name: 'Keys', level: 1 }).waitFor();
  expect(new URL(page.url()).pathname).toBe('/keys');
  await page.reload();
  await page.getByRole('cell', { name: 'anna' }).first().waitFor();
});

test('S4.9 a key is exchanged once: the console is there after a reload, and no script can read the cookie', async () => {
  const { key } = await keyOf('admin');
  const page = await browser.open(url);
  await submit(page, { Key: `  ${key} ` });
  await page.getByRole('heading', { name: 'Overview' }).waitFor();
  await page.getByText('Live', { exact: true }).waitFor();
  await page.reload();
  await page.getByRole('heading', { name: 'Overview' }).waitFor();
  const kept = await page.evaluate('document.cookie + JSON.stringify({ ...localStorage, ...sessionStorage })');
  expect(kept).not.toMatch(/docket_session|docket_[0-9a-f]{12}/);
  await press(page, 'Sign out');
  await page.getByRole('heading', { name: 'Sign in' }).waitFor();
  await page.reload();
  await page.getByRole('heading', { name: 'Sign in' }).waitFor();
});

test('a wrong key is said to be wrong, beside the field', async () => {
  const page = await browser.open(url);
  await submit(page, { Key: 'docket_000000000000_nobody' }, 'Sign in');
  await sees(page, 'This key is unknown, revoked, or has run out.');
  expect(await page.getByLabel('Key', { exact: true }).getAttribute('aria-invalid')).toBe('true');
  expect(await seriousFindings(page)).toEqual([]);
});

test('who signs in stays at the address they came to', async () => {
  const { key } = await keyOf('admin');
  const page = await browser.open(`${url}/?from=bookmark`);
  await submit(page, { Key: key });
  await page.getByRole('heading', { name: 'Overview' }).waitFor();
  expect(page.url()).toBe(`${url}/?from=bookmark`);
});

test('a reviewer sees nothing of the overview, and asks the API for none of it', async () => {
  const { key } = await keyOf('reviewer', 'anna');
  const page = await browser.open(url, { key });
  const asked = callsOf(page);
  await page.reload();
  await sees(page, 'anna-key reviewer');
  await page.getByRole('heading', { level: 1 }).waitFor();
  expect(await page.getByRole('link', { name: 'Overview' }).count()).toBe(0);
  expect(await page.getByRole('heading', { name: 'Overview' }).count()).toBe(0);
  expect(
    asked.filter((path) => /^\/v1\/(overview|attention|figures|courts|topics|groups|feed|nodes)/.test(path)),
  ).toEqual([]);
});

test('a sign-out that fails keeps what is not saved, and it is asked for again', async () => {
  const { key } = await keyOf('admin');
  await system.api.as(key).put('/v1/queues/typed', {});
  const page = await browser.open(`${url}/settings/queues/typed`, { key });
  const lease = page.getByRole('textbox', { name: 'Lease (seconds)' });
  const discard = page.getByRole('button', { name: 'Discard', exact: true });
  const signOut = async () => {
    await press(page, 'Sign out');
    await discard.click();
  };
  await lease.fill('200');
  await page.route('**/v1/session', (route) => route.fulfill({ status: 503, body: 'away' }));
  await signOut();
  await sees(page, '503');
  expect(await lease.inputValue()).toBe('200');
  await page.getByRole('link', { name: 'Overview' }).click();
  await press(page, 'Keep editing');
  await page.unroute('**/v1/session');
  // a session that has ended meanwhile needs no sign-out
  await page.context().clearCookies();
  await signOut();
  await page.getByRole('heading', { name: 'Sign in' }).waitFor();
  await page.close({ runBeforeUnload: true });
  await eventually(async () => page.isClosed());
});

test('S0.7 what a reviewer had filled in when their key was revoked is there under the next one', async () => {
  const { id, key } = await keyOf('reviewer', 'rita');
  const admin = system.api.as((await keyOf('admin')).key);
  const form = { type: 'object', required: ['ok'], properties: { ok: { type: 'boolean' }, why: { type: 'string' } } };
  await configure(admin, 'half', { form });
  await add(admin, 'half', { id: 'half-1' });
  const page = await browser.open(`${url}/desk/half`, { key });
  const why = page.getByLabel('why (optional)');
  await why.fill('three strikes');
  await eventually(async () => (await system.api.as(key).get('/v1/tickets/half-1')).body.lease.draft);
  await revokeKey(db, id);
  await submit(page, { Key: (await keyOf('reviewer', 'rita')).key });
  await eventually(async () => (await why.inputValue()) === 'three strikes');
});

const noted = {
  type: 'object',
  required: ['ok'],
  properties: { ok: { enum: ['keep', 'drop'] }, why: { title: 'Why', type: 'string' } },
};

test('S0.7 a decision of a session that has ended is sent after a sign-in in another tab', async () => {
  const admin = system.api.as((await keyOf('admin')).key);
  const { key } = await keyOf('reviewer', 'rita');
  await configure(admin, 'ended', { form: noted });
  await add(admin, 'ended', { id: 'ended-1' });
  const page = await browser.open(`${url}/desk/ended`, { key });
  await seen(page, 'ended-1');
  await page.getByLabel('Why (optional)').fill('three strikes');
  expect(await page.evaluate(async () => (await fetch('/v1/session', { method: 'DELETE' })).ok)).toBe(true);
  const refused = page.waitForResponse((answer) => answer.url().endsWith('/decide') && answer.status() === 401);
  await keys(page, 'Escape', '1');
  await refused;
  const other = await page.context().newPage();
  await other.goto(`${url}/desk`);
  await submit(other, { Key: key });
  await sees(other, 'Choose a queue');
  // a browser without windows raises none
  await page.evaluate(() => dispatchEvent(new Event('focus')));
  await eventually(async () => (await ticket(admin, 'ended-1')).state === 'decided');
  expect((await ticket(admin, 'ended-1')).decision).toEqual({ ok: 'keep', why: 'three strikes' });
});

test('S0.7 who signs out has decided what waits, keeps what they had filled in, and holds nothing', async () => {
  const admin = system.api.as((await keyOf('admin')).key);
  await configure(admin, 'leaving', { form: noted, maxHeld: 2 });
  await addMany(admin, 'leaving', ['leaving-0', 'leaving-1']);
  const { key } = await keyOf('reviewer', 'ruth');
  const page = await browser.open(`${url}/desk/leaving`, { key });
  await seen(page, 'leaving-0');
  await keys(page, '1');
  await seen(page, 'leaving-1');
  await page.getByLabel(/^Why/).fill('half a thought');
  await press(page, 'Sign out');
  await eventually(async () => (await ticket(admin, 'leaving-0')).state === 'decided');
  await eventually(async () => (await ticket(admin, 'leaving-1')).state === 'waiting');
  const again = await browser.open(`${url}/desk/leaving`, { key });
  await ticketHeading(again, 'leaving-1').waitFor();
  expect(await again.getByLabel(/^Why/).inputValue()).toBe('half a thought');
});

test('a key that is revoked ends what is open', async () => {
  const { id, key } = await keyOf('producer');
  const page = await browser.open(url, { key });
  await page.getByText('Live', { exact: true }).waitFor();
  await revokeKey(db, id);
  await page.getByRole('heading', { name: 'Sign in' }).waitFor();
});
