import { expect, test } from 'vitest';
import type { Role } from '../../contract/keys.ts';
import { useBrowser } from '../support/browser.ts';
import { eventually, insist } from '../support/client.ts';
import { createKey } from '../support/keys.ts';
import { startTestSystem } from '../support/system.ts';
import { add, configure, ticket } from '../support/tickets.ts';
import { inMs } from '../support/times.ts';
import { seen } from './desk.ts';
import { fill, keys, press, sees, submit, tableRows } from './page.ts';

const system = await startTestSystem({ DOCKET_AUTH: 'keys' });
const { db } = system.running.runtime;
const keyOf = async (role: Role, subject: string | null = null) =>
  (await createKey(db, { name: `${subject ?? role}-key`, role, subject, queues: null })).key;
const admin = system.api.as(await keyOf('admin'));
const { url } = system.api;

const browser = useBrowser();

test('B.4 a supervisor registers a reviewer, changes what the register says, and removes them', async () => {
  const page = await browser.open(`${url}/reviewers`, { key: await keyOf('supervisor') });
  await sees(page, 'Nobody is registered.');
  await press(page, 'Register a reviewer');
  const dialog = page.getByRole('dialog');
  await fill(dialog, {
    Name: '张伟',
    'Shown as': 'Zhang Wei',
    Person: 'zw',
    Skills: 'zh\nvideo',
    'Tickets a day': '50',
  });
  await press(dialog, 'Add a category');
  await submit(dialog.getByRole('group', { name: 'Category 1' }), { Category: 'violence', 'Tickets a day': '5' });
  await sees(page, 'violence 5');
  const register = async () => (await admin.get('/v1/reviewers/张伟')).body;
  expect(await register()).toMatchObject({
    ...{ displayName: 'Zhang Wei', person: 'zw', skills: ['zh', 'video'], perDay: 50 },
    ...{ exposure: { violence: 5 }, awayUntil: null, timezone: 'UTC' },
  });
  await press(page, 'Register a reviewer');
  await submit(dialog, { Name: '张伟', 'Shown as': 'Someone else' }, 'Save');
  await sees(dialog.locator('.field', { hasText: 'As they claim' }), 'is registered already: change it in the list');
  expect((await register()).displayName).toBe('Zhang Wei');
  await press(dialog, 'Cancel');
  await press(page, 'Discard');
  await press(page, 'Change: 张伟');
  await submit(dialog, { 'Away until': '2999-01-01T00:00', 'Time zone': 'Mars/Olympus' }, 'Save');
  await eventually(async () => (await dialog.getByLabel('Time zone').getAttribute('aria-invalid')) === 'true');
  await submit(dialog, { 'Time zone': 'Asia/Shanghai' }, 'Save');
  await dialog.waitFor({ state: 'hidden' });
  expect(await register()).toMatchObject({ perDay: 50, exposure: { violence: 5 }, timezone: 'Asia/Shanghai' });
  expect((await register()).awayUntil).toMatch(/^(2998|2999)-/);
  // another lead saves first: neither overwrites the other
  await press(page, 'Change: 张伟');
  await dialog.getByLabel('Tickets a day').first().fill('60');
  insist(await admin.put('/v1/reviewers/张伟', { perDay: 70 }), 'meanwhile', 200);
  await press(dialog, 'Save');
  await sees(dialog, 'Someone else has changed the same setting meanwhile.');
  expect((await register()).perDay).toBe(70);
  await press(dialog, 'Cancel');
  await press(page, 'Discard');
  await sees(page.getByRole('table'), '70');
  await press(page, 'Change: 张伟');
  expect(await dialog.getByLabel('Tickets a day').first().inputValue()).toBe('70');
  await press(dialog, 'Cancel');
  await press(page, 'Delete: 张伟');
  await press(dialog, 'Delete');
  await sees(page, 'Nobody is registered.');
  expect((await admin.get('/v1/reviewers/张伟')).status).toBe(404);
});

const form = {
  type: 'object',
  required: ['verdict'],
  properties: {
    verdict: { enum: ['keep', 'remove'] },
    note: { type: 'string', maxLength: 40 },
    seen: { type: 'string', maxLength: 40 },
  },
};

test('S0.12 B.2 B.3 a reviewer takes a suggestion over, decides, and sees in their own work what was overturned', async () => {
  await configure(admin, 'assisted', { form, assist: { mode: 'suggest', minConfidence: 1, share: 0 } });
  const says = { model: 'scorer', decision: { verdict: 'remove', note: 'spam' }, confidence: 0.934, reasons: 'a link' };
  const reasonsOf = { 'm-1': {}, 'm-2': { reasons: ['a link', { account: 'new' }] } };
  for (const [id, reasons] of Object.entries(reasonsOf)) {
    await add(admin, 'assisted', { id, body: { text: `the text of ${id}` } });
    insist(await admin.post(`/v1/tickets/${id}/suggestions`, { ...says, ...reasons }), 'suggestion', 201);
  }
  const page = await browser.open(`${url}/desk/assisted`, { key: await keyOf('reviewer', 'rita') });
  await seen(page, 'm-1');
  await sees(page, 'scorer, 93.4% sure:', 'remove · note: spam', 'a link');
  await fill(page, { 'seen (optional)': 'by me' });
  await page.getByLabel('seen (optional)').blur();
  await keys(page, 'a');
  await eventually(async () => (await page.getByLabel('note (optional)').inputValue()) === 'spam');
  expect(await page.getByLabel('seen (optional)').inputValue()).toBe('by me');
  await fill(page, { 'seen (optional)': '' });
  expect(await page.getByRole('button', { name: 'remove', pressed: true }).count()).toBe(1);
  expect((await ticket(admin, 'm-1')).state).toBe('held');
  await press(page, 'Decide');
  await keys(page, 'n');
  await eventually(async () => (await ticket(admin, 'm-1')).state === 'decided');
  expect(await ticket(admin, 'm-1')).toMatchObject({ decision: says.decision, automation: 'partial' });
  await seen(page, 'm-2');
  await sees(page, 'a link · {"account":"new"}');

  const overturn = { cause: 'overturn', by: 'lead', decision: { verdict: 'keep' }, reason: 'a joke' };
  insist(await admin.post('/v1/tickets/m-1/looks', overturn), 'overturn', 201);
  await page.getByRole('button', { name: 'Stop working' }).click();
  await page.getByRole('link', { name: 'My decisions' }).click();
  const row = tableRows(page, 'm-1');
  await sees(row, 'Overturned', 'keep', 'a joke');
  await row.getByText('Show').click();
  await sees(row, 'the text of m-1');
  expect(await page.getByRole('region', { name: 'Today' }).getByRole('definition').first().textContent()).toBe('1');
  await press(page, 'Dispute: m-1');
  await submit(page.getByRole('dialog', { name: 'm-1' }), { Reason: 'it was spam' }, 'Dispute');
  await sees(page, 'Noted in the history of the ticket.');
  const { items } = insist(await admin.get('/v1/tickets/m-1/events?limit=100'), 'events', 200);
  expect(items.at(-1)).toMatchObject({ type: 'disputed', actor: 'rita', data: { reason: 'it was spam' } });
});

test('S0.8 how a reviewer wants to see images follows them into another browser', async () => {
  await configure(admin, 'seen', {});
  await add(admin, 'seen', { id: 'v-1' });
  const key = await keyOf('reviewer', 'vera');
  const open = async () => {
    const page = await browser.open(`${url}/desk/seen`, { key });
    await seen(page, 'v-1');
    await page.getByText('View', { exact: true }).click();
    return page;
  };
  await fill(await open(), { 'Images at first': 'Blurred', Grey: true });
  const kept = async () => (await system.api.as(key).get('/v1/session/defaults')).body.defaults;
  await eventually(async () => (await kept()).grey === true);
  expect(await kept()).toMatchObject({ start: 'blurred', grey: true });
  const elsewhere = await open();
  await eventually(async () => (await elsewhere.getByLabel('Images at first').inputValue()) === 'blurred');
  expect(await elsewhere.getByLabel('Grey').isChecked()).toBe(true);
});

const { api } = system;
const rootKey = await createKey(db, { name: 'root', role: 'admin', subject: null });
const root = api.as(rootKey.key);

test('a key that is made by the page works as it says, is shown once, and works no more when it is revoked', async () => {
  const page = await browser.open(`${api.url}/keys`, { key: rootKey.key });
  await press(page, 'New key');
  const dialog = page.getByRole('dialog');
  await press(dialog, 'Make the key');
  await sees(dialog, 'is required of a reviewer or model key');
  await fill(dialog, { Subject: 'klara', Queues: 'reports-*' });
  await keys(page, 'Tab');
  await press(dialog, 'Make the key');
  await page.getByRole('heading', { name: 'Your new key' }).waitFor();
  const key = await dialog.getByLabel('Key', { exact: true }).inputValue();
  expect(key).toMatch(/^docket_[0-9a-f]{12}_[\w-]{43}$/);
  await press(dialog, 'Copy');
  await sees(page, 'Copied');
  await press(dialog, 'Close');
  expect(await page.content()).not.toContain(key);

  await root.put('/v1/queues/reports-a', {});
  const claim = (queue: string) => api.as(key).post(`/v1/queues/${queue}/claim`, { reviewer: 'klara' });
  expect((await claim('reports-a')).status).toBe(200);
  expect((await claim('other')).status).toBe(403);
  const [line] = (await root.get('/v1/keys')).body.items;
  expect(line).toMatchObject({ name: 'klara', role: 'reviewer', subject: 'klara', queues: ['reports-*'] });

  await press(page, 'Revoke: klara');
  await press(dialog, 'Revoke');
  await page.getByRole('row', { name: /klara.*Revoked/ }).waitFor();
  await eventually(async () => (await claim('reports-a')).status === 401);
});

test('who changed a setting is on the page of the admin log, and a link of the setting leads to its own changes', async () => {
  await root.put('/v1/queues/a-queue', { leaseSeconds: 90 });
  await root.post('/v1/queues/a-queue/pause');
  await root.put('/v1/queues/other', {});
  const page = await browser.open(`${api.url}/settings/queues/a-queue`, { key: rootKey.key });
  await page.getByRole('link', { name: 'Changes' }).click();
  await page.getByRole('heading', { level: 1, name: 'Admin log' }).waitFor();
  const lines = page.getByRole('row').filter({ hasText: 'root' });
  await page.getByRole('row', { name: /root pauseQueue \/v1\/queues\/a-queue\/pause 200/ }).waitFor();
  expect(await lines.count()).toBe(2);
  await lines.nth(1).getByText('Show').click();
  for (const detail of ['leaseSeconds', rootKey.id]) await lines.nth(1).getByText(detail).waitFor();
  await submit(page, { Path: '' }, 'Show');
  await page.getByRole('row', { name: /root .*\/v1\/queues\/other 200/ }).waitFor();
});

test('a new key that is chosen with the mouse stays, however far that goes', async () => {
  const page = await browser.open(`${api.url}/keys`, { key: rootKey.key });
  await press(page, 'New key');
  const dialog = page.getByRole('dialog');
  await submit(dialog, { Role: 'producer' }, 'Make the key');
  const shown = dialog.getByLabel('Key', { exact: true });
  const { x = 0, y = 0, height = 0 } = (await shown.boundingBox()) ?? {};
  await page.mouse.move(x + 20, y + height / 2);
  await page.mouse.down();
  await page.mouse.move(5, y + height / 2);
  await page.mouse.up();
  expect(await shown.inputValue()).toMatch(/^docket_/);
  await page.mouse.click(5, y);
  await dialog.waitFor({ state: 'detached' });
});

test('a key that has ended is said to have ended', async () => {
  const expiresAt = inMs(1_000);
  await root.post('/v1/keys', { role: 'agent', name: 'old-app', expiresAt });
  await eventually(async () => Date.parse(expiresAt) < Date.now());
  const page = await browser.open(`${api.url}/keys`, { key: rootKey.key });
  await page.getByRole('row', { name: /old-app agent Ended/ }).waitFor();
});

test('S3.7 a producer makes a schedule, changes it and deletes it', async () => {
  const { key } = await createKey(db, { name: 'shop', role: 'producer', subject: null });
  const page = await browser.open(`${api.url}/schedules`, { key });
  await submit(page, { Topic: 'nightly' }, 'Show');
  await press(page, 'New schedule');
  const dialog = page.getByRole('dialog');
  await submit(dialog, { Name: 'cleanup' }, 'Save');
  await sees(dialog, 'give either everySeconds or cron');
  await fill(dialog, { 'Cron expression': '0 3 * * *', 'Time zone': 'Europe/Berlin' });
  await submit(dialog, { 'Body (JSON)': '{"deep": true}' }, 'Save');
  await page
    .getByRole('row', { name: /cleanup 0 3 \* \* \* Europe\/Berlin 1,024 \d+ \w+ \d{4}, \d\d:00:00/ })
    .waitFor();
  const path = '/v1/topics/nightly/schedules/cleanup';
  expect((await root.get(path)).body).toMatchObject({ cron: '0 3 * * *', body: { deep: true }, TTR: 60 });
  await press(page, 'Change: cleanup');
  await submit(dialog, { 'Cron expression': '', 'Every (seconds)': '3600' }, 'Save');
  await page.getByRole('row', { name: /cleanup Every 1 h/ }).waitFor();
  expect((await root.get(path)).body).toMatchObject({ everySeconds: 3600, cron: null, body: { deep: true } });
  await press(page, 'Delete: cleanup');
  await press(dialog, 'Delete');
  await sees(page, 'This topic has no schedules.');
  expect((await root.get(path)).status).toBe(404);
});
