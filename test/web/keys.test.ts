import { expect, test } from 'vitest';
import { useBrowser } from '../support/browser.ts';
import { eventually } from '../support/client.ts';
import { createKey } from '../support/keys.ts';
import { fill, keys, press, sees, submit } from '../support/page.ts';
import { startTestSystem } from '../support/system.ts';
import { inMs } from '../support/times.ts';

const system = await startTestSystem({ DOCKET_AUTH: 'keys' });
const { api } = system;
const { db } = system.running.runtime;
const admin = await createKey(db, { name: 'root', role: 'admin', subject: null });
const root = api.as(admin.key);

const browser = useBrowser();

test('a key that is made by the page works as it says, is shown once, and works no more when it is revoked', async () => {
  const page = await browser.open(`${api.url}/keys`, { key: admin.key });
  await press(page, 'New key');
  const dialog = page.getByRole('dialog');
  await press(dialog, 'Make the key');
  await sees(dialog, 'is required of a reviewer or model key');
  await fill(dialog, { Subject: 'rita', Queues: 'reports-*' });
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
  const claim = (queue: string) => api.as(key).post(`/v1/queues/${queue}/claim`, { reviewer: 'rita' });
  expect((await claim('reports-a')).status).toBe(200);
  expect((await claim('other')).status).toBe(403);
  const [line] = (await root.get('/v1/keys')).body.items;
  expect(line).toMatchObject({ name: 'rita', role: 'reviewer', subject: 'rita', queues: ['reports-*'] });

  await press(page, 'Revoke: rita');
  await press(dialog, 'Revoke');
  await page.getByRole('row', { name: /rita.*Revoked/ }).waitFor();
  await eventually(async () => (await claim('reports-a')).status === 401);
});

test('who changed a setting is on the page of the admin log, and a link of the setting leads to its own changes', async () => {
  await root.put('/v1/queues/a-queue', { leaseSeconds: 90 });
  await root.post('/v1/queues/a-queue/pause');
  await root.put('/v1/queues/other', {});
  const page = await browser.open(`${api.url}/settings/queues/a-queue`, { key: admin.key });
  await page.getByRole('link', { name: 'Changes' }).click();
  await page.getByRole('heading', { level: 1, name: 'Admin log' }).waitFor();
  const lines = page.getByRole('row').filter({ hasText: 'root' });
  await page.getByRole('row', { name: /root pauseQueue \/v1\/queues\/a-queue\/pause 200/ }).waitFor();
  expect(await lines.count()).toBe(2);
  await lines.nth(1).getByText('Show').click();
  for (const detail of ['leaseSeconds', admin.id]) await lines.nth(1).getByText(detail).waitFor();
  await submit(page, { Path: '' }, 'Show');
  await page.getByRole('row', { name: /root .*\/v1\/queues\/other 200/ }).waitFor();
});

test('a new key that is chosen with the mouse stays, however far that goes', async () => {
  const page = await browser.open(`${api.url}/keys`, { key: admin.key });
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
  const page = await browser.open(`${api.url}/keys`, { key: admin.key });
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
  await page.getByRole('row', { name: /cleanup 0 3 \* \* \* Europe\/Berlin/ }).waitFor();
  const path = '/v1/topics/nightly/schedules/cleanup';
  expect((await root.get(path)).body).toMatchObject({ cron: '0 3 * * *', body: { deep: true }, TTR: 60 });
  await press(page, 'Change: cleanup');
  await submit(dialog, { 'Cron expression': '', 'Every (seconds)': '3600' }, 'Save');
  await page.getByRole('row', { name: /cleanup every 1 h/ }).waitFor();
  expect((await root.get(path)).body).toMatchObject({ everySeconds: 3600, cron: null, body: { deep: true } });
  await press(page, 'Delete: cleanup');
  await press(dialog, 'Delete');
  await sees(page, 'This topic has no schedules.');
  expect((await root.get(path)).status).toBe(404);
});
