import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { seriousFindings, useBrowser } from '../support/browser.ts';
import { eventually } from '../support/client.ts';
import { startTestSystem } from '../support/system.ts';
import { fill, holdBack, keys, press, sees, submit } from './page.ts';

const { api } = await startTestSystem();
await api.put('/v1/queues/guarded', { leaseSeconds: 100 });
await api.post('/v1/jobs', { command: 'add', topic: 'nightly', id: 'job-1', body: 1 });
await api.post('/v1/templates', { id: 'plain', name: 'Plain', params: {} });

const question = (page: Page) => page.getByRole('dialog', { name: 'Leave without saving?' });
const answer = (page: Page, name: 'Keep editing' | 'Discard') =>
  question(page).getByRole('button', { name, exact: true }).click();
const lease = (page: Page) => page.getByRole('textbox', { name: 'Lease (seconds)' });
const link = (page: Page, name: string) =>
  page.getByRole('navigation', { name: 'Main' }).first().getByRole('link', { name }).click();
const title = (page: Page, name: string) => page.getByRole('heading', { level: 1, name }).waitFor();

const browser = useBrowser();

test('S4.9 a link away from changed settings asks first: they stay as typed, or are given up', async () => {
  const page = await browser.open(`${api.url}/settings`);
  await page.getByRole('link', { name: 'guarded' }).click();
  await lease(page).fill('200');
  await link(page, 'Overview');
  expect(await seriousFindings(page)).toEqual([]);
  await answer(page, 'Keep editing');
  await question(page).waitFor({ state: 'detached' });
  expect(page.url()).toBe(`${api.url}/settings/queues/guarded`);
  expect(await lease(page).inputValue()).toBe('200');
  await link(page, 'Overview');
  await answer(page, 'Discard');
  await title(page, 'Overview');
  await link(page, 'Keys');
  await title(page, 'Keys');
  expect((await api.get('/v1/queues/guarded')).body.leaseSeconds).toBe(100);
});

test("S4.9 so does the browser's Back", async () => {
  const page = await browser.open(`${api.url}/settings`);
  await page.getByRole('link', { name: 'guarded' }).click();
  await lease(page).fill('200');
  await page.evaluate('history.back()');
  await answer(page, 'Keep editing');
  expect(page.url()).toBe(`${api.url}/settings/queues/guarded`);
  expect(await lease(page).inputValue()).toBe('200');
  await page.evaluate('history.back()');
  await answer(page, 'Discard');
  await title(page, 'Settings');
  expect(page.url()).toBe(`${api.url}/settings`);
});

test('S4.9 no one is asked where nothing would be lost: untouched, typed back, saved', async () => {
  const page = await browser.open(`${api.url}/settings/queues/not-there-yet`);
  await lease(page).waitFor();
  await link(page, 'Settings');
  await page.getByRole('link', { name: 'guarded' }).click();
  const before = await lease(page).inputValue();
  await lease(page).fill('123');
  await lease(page).fill(before);
  await link(page, 'Settings');
  await page.getByRole('link', { name: 'guarded' }).click();
  await lease(page).fill('90');
  await press(page, 'Save settings');
  await sees(page, 'Saved.');
  await link(page, 'Keys');
  await title(page, 'Keys');
});

test('S4.9 a session that has ended keeps what was typed, which is saved when there is another one', async () => {
  const page = await browser.open(`${api.url}/settings/queues/guarded`);
  await lease(page).fill('300');
  const ended = {
    ...{ type: 'about:blank', title: 'x', status: 401, code: 'unauthenticated', detail: 'ended', requestId: 'r' },
  };
  await page.route('**/v1/queues/guarded', (route) => route.fulfill({ status: 401, json: ended }));
  await press(page, 'Save settings');
  await page.getByText('ended', { exact: true }).waitFor();
  expect(await lease(page).inputValue()).toBe('300');
  await page.unroute('**/v1/queues/guarded');
  await press(page, 'Save settings');
  await sees(page, 'Saved.');
  expect((await api.get('/v1/queues/guarded')).body.leaseSeconds).toBe(300);
});

test('S4.9 what is typed while it is being saved stays, and is not saved yet', async () => {
  const page = await browser.open(`${api.url}/settings/queues/guarded`);
  await lease(page).fill('310');
  const before = (await api.get('/v1/queues/guarded')).body;
  await api.put('/v1/queues/guarded', { leaseSeconds: before.leaseSeconds, maxHeld: 7 });
  const letGo = await holdBack(page, '**/v1/queues/guarded');
  await press(page, 'Save settings');
  await lease(page).fill('320');
  letGo();
  await sees(page, 'Saved.');
  expect(await lease(page).inputValue()).toBe('320');
  expect((await api.get('/v1/queues/guarded')).body.leaseSeconds).toBe(310);
  await press(page, 'Save settings');
  await eventually(async () => (await api.get('/v1/queues/guarded')).body.leaseSeconds === 320);
  expect((await api.get('/v1/queues/guarded')).body.maxHeld).toBe(7);
});

test('S4.9 the browser asks before a tab with changed settings is closed, and not of another', async () => {
  const page = await browser.open(`${api.url}/settings/queues/guarded`);
  await sees(page, 'Nothing has changed');
  await lease(page).fill('200');
  const asked: string[] = [];
  page.on('dialog', (dialog) => {
    asked.push(dialog.type());
    void dialog.dismiss();
  });
  await page.close({ runBeforeUnload: true });
  await eventually(async () => asked.length === 1);
  expect(asked).toEqual(['beforeunload']);
  await press(page, 'Discard changes');
  await sees(page, 'Nothing has changed');
  await page.close({ runBeforeUnload: true });
  await eventually(async () => page.isClosed());
  expect(asked).toEqual(['beforeunload']);
});

test('S3.7 S4.1 a schedule and a task that are half typed are not lost by Escape, a click beside or a link', async () => {
  const page = await browser.open(`${api.url}/schedules?topic=nightly`);
  await press(page, 'New schedule');
  const dialog = page.getByRole('dialog', { name: 'New schedule' });
  const name = dialog.getByRole('textbox', { name: 'Name', exact: true });
  await name.fill('clean');
  for (const attempt of ['keyboard', 'keyboard', 'mouse'] as const) {
    await (attempt === 'keyboard' ? keys(page, 'Escape') : page.mouse.click(3, 3));
    await question(page).waitFor();
    await keys(page, 'Escape');
    await question(page).waitFor({ state: 'detached' });
    expect(await name.inputValue()).toBe('clean');
  }
  await press(dialog, 'Cancel');
  await answer(page, 'Discard');
  await dialog.waitFor({ state: 'detached' });
  await press(page, 'New schedule');
  expect(await name.inputValue()).toBe('');
  await keys(page, 'Escape');
  await dialog.waitFor({ state: 'detached' });

  await page.goto(`${api.url}/tasks/new`);
  await fill(page, { Id: 'half' });
  await link(page, 'Overview');
  await answer(page, 'Keep editing');
  await submit(page, { For: 'uid_ann', 'Starts at': '2030-01-05T09:00:00', Template: 'plain' }, 'Save');
  await sees(page, 'Task half is added.');
  await link(page, 'Overview');
  await title(page, 'Overview');
});

test('S4.9 in Chinese', async () => {
  const page = await browser.open(`${api.url}/settings/queues/guarded`, { language: 'zh' });
  await page.getByRole('textbox', { name: /租约/ }).first().fill('200');
  await page.getByRole('navigation').first().getByRole('link', { name: '概览' }).click();
  await page.getByRole('dialog', { name: '不保存就离开？' }).getByRole('button', { name: '继续编辑' }).click();
  expect(page.url()).toBe(`${api.url}/settings/queues/guarded`);
});
