import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { useBrowser } from '../support/browser.ts';
import { eventually } from '../support/client.ts';
import { SECRET } from '../support/receiver.ts';
import { startTestSystem } from '../support/system.ts';
import { confirm, fill, press, sees, submit } from './page.ts';

const { api } = await startTestSystem();
const params = { site: { type: 'string' }, pages: { type: 'number' }, deep: { type: 'boolean', required: false } };
await api.post('/v1/templates', { id: 'visit', name: 'Visit a site', params });
await api.put('/v1/groups/couriers', { members: ['ann', 'bob'] });

const HOUR = 3_600_000;
const soon = (ms: number) => new Date(Date.now() + ms).toISOString();
const task = (id: string, more: object = {}) =>
  api.post('/v1/tasks', {
    ...{ id, type: 'once', executor: 'gid_couriers', startTime: soon(-HOUR), templateId: 'visit' },
    ...{ params: { site: 'a.example', pages: 1 }, ...more },
  });
const get = async (id: string) => (await api.get(`/v1/tasks/${id}`)).body;
await task('shown', { executor: 'uid_shown' });
await task('shown-again', { type: 'rotate', everyMinutes: 60, executor: 'uid_shown' });
await api.post('/v1/clients/shown/next', {});
const field = (page: Page, name: string) => page.getByRole('textbox', { name, exact: true });

const browser = useBrowser();

test('S4.3 the tasks of a group, by a link: the form says what is shown, and can be changed', async () => {
  const page = await browser.open(`${api.url}/tasks?executor=uid_shown`);
  await page.getByRole('link', { name: 'shown', exact: true }).waitFor();
  await press(page, /^Show$/);
  await page.waitForURL(/state=/);
  await page.getByRole('link', { name: 'shown', exact: true }).waitFor();
});

test("S4.1 a task is added by its template's form; what does not match is shown at its field, in the API's words", async () => {
  const page = await browser.open(`${api.url}/tasks`);
  await page.getByRole('link', { name: 'New task' }).click();
  await fill(page, { Id: 'by-form', For: 'gid_nobody', 'Starts at': '2026-01-05T09:00:00', Template: 'visit' });
  const parameters = page.getByRole('group', { name: 'Parameters' });
  await submit(page, { pages: 'many' }, 'Save');
  await sees(page, 'The parameters do not match their template.');
  await sees(parameters, 'must be of type number, is string', 'is required by the template');
  for (const name of ['site', 'pages']) expect(await field(page, name).getAttribute('aria-invalid')).toBe('true');
  expect((await api.get('/v1/tasks/by-form')).status).toBe(404);

  await submit(page, { site: 'b.example', pages: '3', deep: 'Yes' }, 'Save');
  await sees(page, 'Task by-form is added.', 'there is no group gid_nobody yet');
  expect(await get('by-form')).toMatchObject({
    ...{ params: { site: 'b.example', pages: 3, deep: true }, executor: 'gid_nobody', type: 'once' },
    startTime: await page.evaluate("new Date('2026-01-05T09:00:00').toISOString()"),
  });
});

test('S4.2 a rotating task by its form: its rhythm is asked for, and its occurrences stand in the calendar', async () => {
  const page = await browser.open(`${api.url}/tasks/new`);
  await fill(page, { Id: 'round', For: 'gid_couriers' });
  const today = await page.evaluate<string>("new Date().toLocaleDateString('sv')");
  await fill(page, { 'Starts at': `${today}T00:00:00`, Template: 'visit' });
  await submit(page, { site: 'c.example', pages: '1', Type: 'Rotating' }, 'Save');
  await sees(page, 'or dailyTime: give one of them');
  await submit(page, { 'Every (minutes)': '480' }, 'Save');
  await sees(page, 'Task round is added.');
  expect(await get('round')).toMatchObject({ type: 'rotate', everyMinutes: 480, everyDays: 1, timezone: 'UTC' });

  await page.getByRole('link', { name: 'Open it' }).click();
  await page.getByRole('link', { name: 'In the calendar' }).click();
  const listed = page.getByRole('row').filter({ has: page.getByRole('link', { name: 'round' }) });
  await eventually(async () => (await listed.count()) === 3);
  // days without anything are not drawn
  const days = page.locator('main summary').filter({ hasText: 'occurrence' });
  expect(await days.first().textContent()).toContain(String(new Date(today).getUTCDate()));
  await fill(page, { Shown: 'Week' });
  await eventually(async () => (await listed.count()) === 3);
  expect(await days.count()).toBeLessThanOrEqual(7);
});

test('S4.3 a task is changed: only what was changed is sent, and it acts on what is not yet dispatched', async () => {
  const callback = { url: 'http://127.0.0.1:9/x', secret: SECRET };
  await task('changing', { dispatchTimes: 2, answerSeconds: 50, callback, endTime: soon(24 * HOUR) });
  const before = await get('changing');
  const page = await browser.open(`${api.url}/tasks/edit/changing`);
  await field(page, 'Dispatches').waitFor();
  await api.patch('/v1/tasks/changing', { answerSeconds: 60 });
  await submit(page, { Dispatches: '5', site: 'd.example' }, 'Save');
  await sees(page, 'Saved.');
  expect(await get('changing')).toEqual({
    ...{ ...before, dispatchTimes: 5, answerSeconds: 60, params: { site: 'd.example', pages: 1 } },
    updatedAt: expect.any(String),
  });
});

test('S4.9 tasks by user with those of their groups, by time, and deleted ones', async () => {
  await api.put('/v1/groups/night', { members: ['zoe'] });
  await task('of-group', { executor: 'gid_night' });
  await task('of-zoe', { executor: 'uid_zoe' });
  await task('old', { executor: 'uid_zoe', startTime: soon(-30 * 24 * HOUR) });
  const page = await browser.open(`${api.url}/tasks`);
  const seen = (id: string) => page.getByRole('rowheader', { name: id, exact: true });
  await submit(page, { 'User or group': 'uid_zoe' });
  await seen('of-group').waitFor();
  await seen('of-zoe').waitFor();
  expect(await page.getByRole('rowheader').count()).toBe(2);
  await submit(page, { 'Own tasks only': true, From: '2020-01-01T00:00:00' }, 'Show');
  await seen('old').waitFor();
  expect(await page.getByRole('rowheader').allTextContents()).toEqual(['old', 'of-zoe']);

  await seen('of-zoe').getByRole('link').click();
  await confirm(page, 'Delete');
  await sees(page, 'of-zoe is deleted.');
  expect((await get('of-zoe')).state).toBe('deleted');
  expect((await api.post('/v1/clients/zoe/next', {})).body.task.id).toBe('of-group');
  await submit(page, { State: 'Deleted' }, 'Show');
  await seen('of-zoe').waitFor();
});

test('S4.3 groups: made, members come and go, and the next pull knows it', async () => {
  const page = await browser.open(`${api.url}/tasks/groups`);
  await press(page, 'New group');
  const dialog = page.getByRole('dialog');
  await fill(page, { Id: 'couriers' });
  await press(dialog, 'Create');
  await sees(dialog, 'There is a group couriers already.');
  await fill(page, { Id: 'drivers' });
  await submit(dialog, { Members: 'kim' }, 'Create');
  await press(page, 'Add members');
  await submit(dialog, { Members: 'lee\nmax' }, 'Add members');
  await page.getByRole('rowheader', { name: 'lee' }).waitFor();
  expect((await api.get('/v1/groups/drivers')).body.members.sort()).toEqual(['kim', 'lee', 'max']);
  expect((await api.get('/v1/groups/couriers')).body.size).toBe(2);
  await task('for-drivers', { executor: 'gid_drivers' });
  await press(page, 'Remove: max');
  await sees(page, 'max is no longer a member.');
  expect((await api.post('/v1/clients/max/next', {})).body.task).toBeNull();
  expect((await api.post('/v1/clients/lee/next', {})).body.task.id).toBe('for-drivers');
});

test('S4.1 templates: made with typed parameters, kept while a task uses one', async () => {
  const page = await browser.open(`${api.url}/tasks/templates`);
  await press(page, 'New template');
  const dialog = page.getByRole('dialog');
  await fill(dialog, { Name: 'Count', Id: 'count' });
  for (const [n, type] of Object.entries({ 1: 'Number', 2: 'Object (JSON)' })) {
    await press(dialog, 'Add a parameter');
    const row = dialog.getByRole('group', { name: `Parameter ${n}` });
    await fill(row, { Name: 'same', Type: type });
  }
  await press(dialog, 'Create');
  const second = dialog.getByRole('group', { name: 'Parameter 2' });
  await sees(second, 'Stands there twice.');
  await fill(second, { Name: 'other', Required: false });
  await press(dialog, 'Create');
  await page.getByRole('row', { name: /count Count same: Number, required; other: Object/ }).waitFor();
  const made = { same: { type: 'number', required: true }, other: { type: 'object', required: false } };
  expect((await api.get('/v1/templates/count')).body.params).toEqual(made);
  await task('uses-visit');
  await press(page, 'Delete: visit');
  await press(dialog, 'Delete');
  await sees(dialog, 'active tasks use template visit');
});

test('S4.8 the dispatch log by user and by task follows what is completed elsewhere', async () => {
  await task('logged', { executor: 'uid_una' });
  const { logId } = (await api.post('/v1/clients/una/next', {})).body;
  const page = await browser.open(`${api.url}/tasks/log?uid=una`);
  await page.getByRole('row', { name: /Dispatched una logged/ }).waitFor();
  await api.post('/v1/clients/una/complete', { logId, result: { found: 7 } });
  await page.getByRole('row', { name: /Completed una logged .*"found":7/ }).waitFor();
  await submit(page, { User: 'nobody' }, 'Show');
  await sees(page, 'Nothing was dispatched.');
});
