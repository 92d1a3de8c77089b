import { describe, expect, test } from 'vitest';
import { seriousFindings, useBrowser } from '../support/browser.ts';
import { eventually } from '../support/client.ts';
import { createKey } from '../support/keys.ts';
import { startTestSystem } from '../support/system.ts';

const system = await startTestSystem({ DOCKET_AUTH: 'keys' });
const { api } = system;
const { db } = system.running.runtime;
const admin = await createKey(db, { name: 'root', role: 'admin', subject: null });
const root = api.as(admin.key);
await eventually(async () => (await api.get('/')).status === 200, 60_000);

describe('keys', () => {
  const browser = useBrowser();

  test('a key that is made by the page works as it says, is shown once, and works no more when it is revoked', async () => {
    const page = await browser.open(`${api.url}/keys`, { key: admin.key });
    await page.getByRole('button', { name: 'New key' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('button', { name: 'Make the key' }).click();
    await dialog.getByText('is required of a reviewer key').first().waitFor();
    await dialog.getByRole('textbox', { name: 'Subject' }).fill('rita');
    await dialog.getByRole('textbox', { name: 'Queues' }).fill('reports-*');
    await page.keyboard.press('Tab');
    await dialog.getByRole('button', { name: 'Make the key' }).click();
    await page.getByRole('heading', { name: 'Your new key' }).waitFor();
    const key = await dialog.getByLabel('Key', { exact: true }).inputValue();
    expect(key).toMatch(/^docket_[0-9a-f]{12}_[\w-]{43}$/);
    await dialog.getByRole('button', { name: 'Copy' }).click();
    await page.getByText('Copied').waitFor();
    await dialog.getByRole('button', { name: 'Close' }).click();
    expect(await page.content()).not.toContain(key);

    const claim = (queue: string) => api.as(key).post(`/v1/queues/${queue}/claim`, { reviewer: 'rita' });
    expect((await claim('reports-a')).status).toBe(200);
    expect((await claim('other')).status).toBe(403);
    const [line] = (await root.get('/v1/keys')).body.items;
    expect(line).toMatchObject({ name: 'rita', role: 'reviewer', subject: 'rita', queues: ['reports-*'] });

    await page.getByRole('button', { name: 'Revoke: rita' }).click();
    await dialog.getByRole('button', { name: 'Revoke' }).click();
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
    await page.getByRole('textbox', { name: 'Path' }).fill('');
    await page.getByRole('button', { name: 'Show' }).click();
    await page.getByRole('row', { name: /root .*\/v1\/queues\/other 200/ }).waitFor();
  });

  test('a new key that is chosen with the mouse stays, however far that goes', async () => {
    const page = await browser.open(`${api.url}/keys`, { key: admin.key });
    await page.getByRole('button', { name: 'New key' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('combobox', { name: 'Role' }).selectOption('producer');
    await dialog.getByRole('button', { name: 'Make the key' }).click();
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
    await root.post('/v1/keys', { role: 'agent', name: 'old-app', expiresAt: '2020-01-01T00:00:00.000Z' });
    const page = await browser.open(`${api.url}/keys`, { key: admin.key });
    await page.getByRole('row', { name: /old-app agent Ended/ }).waitFor();
  });

  test.each([
    ['reviewer', 'anna', []],
    ['consumer', null, []],
    ['producer', null, ['Tasks', 'Schedules']],
    ['agent', null, ['Tasks']],
  ] as const)('S4.9 roles: what a %s sees of the pages that manage', async (role, subject, seen) => {
    const { key } = await createKey(db, { name: `a-${role}`, role, subject });
    const page = await browser.open(api.url, { key });
    const links = page.getByRole('navigation', { name: 'Main' }).getByRole('link');
    await page.getByRole('heading', { level: 1 }).waitFor();
    const names = await links.allTextContents();
    const managing = names.filter((name) => ['Settings', 'Schedules', 'Keys', 'Admin log', 'Tasks'].includes(name));
    expect(managing).toEqual(seen);
    const [hidden, forbidden] = [
      ['/settings', '/settings/queues/q', '/keys', '/admin-log'],
      /not for your role|nothing here/,
    ];
    for (const path of hidden) {
      await page.goto(api.url + path);
      await page.getByRole('heading', { level: 1, name: forbidden }).waitFor();
    }
    if (seen.length === 0) {
      await page.goto(`${api.url}/tasks`);
      await page.getByRole('heading', { level: 1, name: forbidden }).waitFor();
    }
  });

  test("an administrator's key that is bound to queues is shown no page that the API keeps from it", async () => {
    await root.put('/v1/queues/bound', {});
    const { key } = (await root.post('/v1/keys', { role: 'admin', queues: ['bound'] })).body;
    const page = await browser.open(`${api.url}/settings/queues/bound`, { key });
    await page.getByRole('textbox', { name: 'Lease (seconds)' }).waitFor();
    const links = await page.getByRole('navigation', { name: 'Main' }).getByRole('link').allTextContents();
    expect(links.filter((name) => ['Settings', 'Keys', 'Admin log'].includes(name))).toEqual(['Settings']);
    expect(await page.getByRole('link', { name: 'Changes' }).count()).toBe(0);
    for (const path of ['/keys', '/admin-log']) {
      await page.goto(api.url + path);
      await page.getByRole('heading', { level: 1, name: 'not for your role' }).waitFor();
    }
  });

  test('S3.7 a producer makes a schedule, changes it and deletes it', async () => {
    const { key } = await createKey(db, { name: 'shop', role: 'producer', subject: null });
    const page = await browser.open(`${api.url}/schedules`, { key });
    await page.getByRole('combobox', { name: 'Topic' }).fill('nightly');
    await page.getByRole('button', { name: 'Show' }).click();
    await page.getByRole('button', { name: 'New schedule' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('textbox', { name: 'Name' }).fill('cleanup');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await dialog.getByText('give either everySeconds or cron').first().waitFor();
    await dialog.getByRole('textbox', { name: 'Cron expression' }).fill('0 3 * * *');
    await dialog.getByRole('combobox', { name: 'Time zone' }).fill('Europe/Berlin');
    await dialog.getByRole('textbox', { name: 'Body (JSON)' }).fill('{"deep": true}');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('row', { name: /cleanup 0 3 \* \* \* Europe\/Berlin/ }).waitFor();
    const path = '/v1/topics/nightly/schedules/cleanup';
    expect((await root.get(path)).body).toMatchObject({ cron: '0 3 * * *', body: { deep: true }, TTR: 60 });
    await page.getByRole('button', { name: 'Change: cleanup' }).click();
    await dialog.getByRole('textbox', { name: 'Cron expression' }).fill('');
    await dialog.getByRole('textbox', { name: 'Every (seconds)' }).fill('3600');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('row', { name: /cleanup every 1 h/ }).waitFor();
    expect((await root.get(path)).body).toMatchObject({ everySeconds: 3600, cron: null, body: { deep: true } });
    await page.getByRole('button', { name: 'Delete: cleanup' }).click();
    await dialog.getByRole('button', { name: 'Delete' }).click();
    await page.getByText('This topic has no schedules.').waitFor();
    expect((await root.get(path)).status).toBe(404);
  });

  test.each([
    ['light', 1280],
    ['dark', 390],
  ] as const)('axe finds nothing serious in keys, schedules and the admin log, %s, %d px', async (theme, width) => {
    await root.put('/v1/topics/shown/schedules/one', { everySeconds: 60, body: null });
    const page = await browser.open(`${api.url}/keys`, { theme, viewport: { width, height: 800 }, key: admin.key });
    for (const [path, button] of [
      ['/keys', 'New key'],
      ['/schedules?topic=shown', 'New schedule'],
    ] as const) {
      await page.goto(api.url + path);
      await page.getByRole('row').nth(1).waitFor();
      expect(await seriousFindings(page), path).toEqual([]);
      await page.getByRole('button', { name: button }).click();
      await page.getByRole('dialog').waitFor();
      expect(await seriousFindings(page), `${path}: ${button}`).toEqual([]);
      const tooWide = 'document.documentElement.scrollWidth > document.documentElement.clientWidth';
      expect(await page.evaluate(tooWide), `${path} scrolls sideways`).toBe(false);
    }
    await page.goto(`${api.url}/admin-log`);
    await page.getByRole('row').nth(1).waitFor();
    expect(await seriousFindings(page), 'admin log').toEqual([]);
  });
});
