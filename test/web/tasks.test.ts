import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { seriousFindings, useBrowser } from '../support/browser.ts';
import { eventually } from '../support/client.ts';
import { startTestSystem } from '../support/system.ts';

const system = await startTestSystem();
const { api } = system;
await eventually(async () => (await api.get('/')).status === 200, 60_000);
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

describe('tasks', () => {
  const browser = useBrowser();

  test('S4.3 the tasks of a group, by a link: the form says what is shown, and can be changed', async () => {
    const page = await browser.open(`${api.url}/tasks?executor=uid_shown`);
    await page.getByRole('link', { name: 'shown', exact: true }).waitFor();
    await page.getByRole('button', { name: 'Show', exact: true }).click();
    await page.waitForURL(/state=/);
    await page.getByRole('link', { name: 'shown', exact: true }).waitFor();
  });

  test("S4.1 a task is added by its template's form; what does not match is shown at its field, in the API's words", async () => {
    const page = await browser.open(`${api.url}/tasks`);
    await page.getByRole('link', { name: 'New task' }).click();
    await field(page, 'Id').fill('by-form');
    await page.getByRole('combobox', { name: 'For', exact: true }).fill('gid_nobody');
    await page.getByLabel('Start', { exact: true }).fill('2026-01-05T09:00:00');
    await page.getByRole('combobox', { name: 'Template', exact: true }).selectOption('visit');
    const parameters = page.getByRole('group', { name: 'Parameters' });
    await field(page, 'pages').fill('many');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('The parameters do not match their template.').waitFor();
    await parameters.getByText('must be of type number, is string').waitFor();
    await parameters.getByText('is required by the template').waitFor();
    for (const name of ['site', 'pages']) expect(await field(page, name).getAttribute('aria-invalid')).toBe('true');
    expect((await api.get('/v1/tasks/by-form')).status).toBe(404);

    await field(page, 'site').fill('b.example');
    await field(page, 'pages').fill('3');
    await page.getByRole('combobox', { name: 'deep' }).selectOption('Yes');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Task by-form is added.').waitFor();
    await page.getByText('there is no group gid_nobody yet').waitFor();
    expect(await get('by-form')).toMatchObject({
      ...{ params: { site: 'b.example', pages: 3, deep: true }, executor: 'gid_nobody', type: 'once' },
      startTime: await page.evaluate("new Date('2026-01-05T09:00:00').toISOString()"),
    });
  });

  test('S4.2 a rotating task by its form: its rhythm is asked for, and its occurrences stand in the calendar', async () => {
    const page = await browser.open(`${api.url}/tasks/new`);
    await field(page, 'Id').fill('round');
    await page.getByRole('combobox', { name: 'For', exact: true }).fill('gid_couriers');
    const today = await page.evaluate<string>("new Date().toLocaleDateString('sv')");
    await page.getByLabel('Start', { exact: true }).fill(`${today}T00:00:00`);
    await page.getByRole('combobox', { name: 'Template', exact: true }).selectOption('visit');
    await field(page, 'site').fill('c.example');
    await field(page, 'pages').fill('1');
    await page.getByRole('combobox', { name: 'Type' }).selectOption('Rotating');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('or dailyTime: give one of them').first().waitFor();
    await field(page, 'Every (minutes)').fill('480');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Task round is added.').waitFor();
    expect(await get('round')).toMatchObject({ type: 'rotate', everyMinutes: 480, everyDays: 1, timezone: 'UTC' });

    await page.getByRole('link', { name: 'Open it' }).click();
    await page.getByRole('link', { name: 'In the calendar' }).click();
    const day = page.getByRole('table').getByRole('button', { pressed: true });
    await day.waitFor();
    const listed = page.getByRole('row').filter({ has: page.getByRole('link', { name: 'round' }) });
    await eventually(async () => (await listed.count()) === 3);
    await page.getByRole('combobox', { name: 'Shown' }).selectOption('Week');
    await eventually(async () => (await page.getByRole('table').first().getByRole('button').count()) === 7);
    await eventually(async () => (await listed.count()) === 3);
  });

  test('S4.3 a task is changed: only what was changed is sent, and it acts on what is not yet dispatched', async () => {
    const callback = { url: 'http://127.0.0.1:9/x', secret: `whsec_${'QUJD'.repeat(8)}` };
    await task('changing', { dispatchTimes: 2, answerSeconds: 50, callback, endTime: soon(24 * HOUR) });
    const before = await get('changing');
    const page = await browser.open(`${api.url}/tasks/edit/changing`);
    await field(page, 'Dispatches').waitFor();
    await api.patch('/v1/tasks/changing', { answerSeconds: 60 });
    await field(page, 'Dispatches').fill('5');
    await field(page, 'site').fill('d.example');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Saved.').first().waitFor();
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
    await page.getByLabel('User or group').fill('uid_zoe');
    await page.keyboard.press('Enter');
    await seen('of-group').waitFor();
    await seen('of-zoe').waitFor();
    expect(await page.getByRole('rowheader').count()).toBe(2);
    await page.getByRole('checkbox', { name: 'Without the tasks of their groups' }).check();
    await page.getByLabel('From').fill('2020-01-01T00:00:00');
    await page.getByRole('button', { name: 'Show' }).click();
    await seen('old').waitFor();
    expect(await page.getByRole('rowheader').allTextContents()).toEqual(['old', 'of-zoe']);

    await seen('of-zoe').getByRole('link').click();
    await page.getByRole('button', { name: 'Delete' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
    await page.getByText('Task of-zoe is deleted.').waitFor();
    expect((await get('of-zoe')).state).toBe('deleted');
    expect((await api.post('/v1/clients/zoe/next', {})).body.task.id).toBe('of-group');
    await page.getByRole('combobox', { name: 'State' }).selectOption('Deleted');
    await page.getByRole('button', { name: 'Show' }).click();
    await seen('of-zoe').waitFor();
  });

  test('S4.3 groups: made, members come and go, and the next pull knows it', async () => {
    const page = await browser.open(`${api.url}/tasks/groups`);
    await page.getByRole('button', { name: 'New group' }).click();
    const dialog = page.getByRole('dialog');
    await field(page, 'Id').fill('couriers');
    await dialog.getByRole('button', { name: 'Create' }).click();
    await dialog.getByText('There is a group couriers already.').first().waitFor();
    await field(page, 'Id').fill('drivers');
    await dialog.getByRole('textbox', { name: 'Members' }).fill('kim');
    await dialog.getByRole('button', { name: 'Create' }).click();
    await page.getByRole('button', { name: 'Add members' }).click();
    await dialog.getByRole('textbox', { name: 'Members' }).fill('lee\nmax');
    await dialog.getByRole('button', { name: 'Add members' }).click();
    await page.getByRole('rowheader', { name: 'lee' }).waitFor();
    expect((await api.get('/v1/groups/drivers')).body.members.sort()).toEqual(['kim', 'lee', 'max']);
    expect((await api.get('/v1/groups/couriers')).body.size).toBe(2);
    await task('for-drivers', { executor: 'gid_drivers' });
    await page.getByRole('button', { name: 'Remove: max' }).click();
    await page.getByText('max is no longer a member.').waitFor();
    expect((await api.post('/v1/clients/max/next', {})).body.task).toBeNull();
    expect((await api.post('/v1/clients/lee/next', {})).body.task.id).toBe('for-drivers');
  });

  test('S4.1 templates: made with typed parameters, kept while a task uses one', async () => {
    const page = await browser.open(`${api.url}/tasks/templates`);
    await page.getByRole('button', { name: 'New template' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('textbox', { name: 'Name' }).fill('Count');
    await dialog.getByRole('textbox', { name: 'Id' }).fill('count');
    for (const [n, type] of [
      [1, 'Number'],
      [2, 'Object (JSON)'],
    ] as const) {
      await dialog.getByRole('button', { name: 'Add a parameter' }).click();
      const row = dialog.getByRole('group', { name: `Parameter ${n}` });
      await row.getByRole('textbox', { name: 'Name' }).fill('same');
      await row.getByRole('combobox', { name: 'Type' }).selectOption(type);
    }
    await dialog.getByRole('button', { name: 'Create' }).click();
    const second = dialog.getByRole('group', { name: 'Parameter 2' });
    await second.getByText('stands twice').waitFor();
    await second.getByRole('textbox', { name: 'Name' }).fill('other');
    await second.getByRole('checkbox', { name: 'Required' }).uncheck();
    await dialog.getByRole('button', { name: 'Create' }).click();
    await page.getByRole('row', { name: /count Count same: Number, required; other: Object/ }).waitFor();
    const made = { same: { type: 'number', required: true }, other: { type: 'object', required: false } };
    expect((await api.get('/v1/templates/count')).body.params).toEqual(made);
    await task('uses-visit');
    await page.getByRole('button', { name: 'Delete: visit' }).click();
    await dialog.getByRole('button', { name: 'Delete' }).click();
    await dialog.getByText('active tasks use template visit').waitFor();
  });

  test('S4.8 the dispatch log by user and by task follows what is completed elsewhere', async () => {
    await task('logged', { executor: 'uid_una' });
    const { logId } = (await api.post('/v1/clients/una/next', {})).body;
    const page = await browser.open(`${api.url}/tasks/log?uid=una`);
    await page.getByRole('row', { name: /Dispatched una logged/ }).waitFor();
    await api.post('/v1/clients/una/complete', { logId, result: { found: 7 } });
    await page.getByRole('row', { name: /Completed una logged .*"found":7/ }).waitFor();
    await page.getByRole('textbox', { name: 'User' }).fill('nobody');
    await page.getByRole('button', { name: 'Show' }).click();
    await page.getByText('Nothing was dispatched.').waitFor();
  });

  const titles: Record<string, string> = { '': 'Tasks 任务', '/calendar': 'Calendar 日历', '/groups': 'Groups 用户组' };

  test.each([
    ...['', '/calendar', '/calendar?view=week', '/new', '/edit/shown-again', '/groups', '/groups/couriers'],
    ...['/templates', '/log'],
  ])('axe finds nothing serious in /tasks%s, light and dark, and nothing is cut off at 390 px', async (path) => {
    for (const [theme, language, width] of [
      ['light', 'en', 1280],
      ['dark', 'zh', 390],
    ] as const) {
      const viewport = { width, height: 800 };
      const page = await browser.open(`${api.url}/tasks${path}`, { theme, language, viewport });
      await page.getByRole('main').getByRole('heading', { level: 2 }).first().waitFor();
      await eventually(async () => (await page.locator('.loading').count()) === 0);
      expect(await seriousFindings(page), theme).toEqual([]);
      const tooWide = 'document.documentElement.scrollWidth > document.documentElement.clientWidth';
      expect(await page.evaluate(tooWide), 'it scrolls sideways').toBe(false);
      const title = await page.getByRole('heading', { level: 1 }).textContent();
      if (titles[path]) expect(title).toBe(titles[path].split(' ')[language === 'zh' ? 1 : 0]);
      await page.context().close();
    }
  });
});
