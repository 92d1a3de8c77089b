import { expect, test } from 'vitest';
import type { Role } from '../../contract/keys.ts';
import { useBrowser } from '../support/browser.ts';
import { eventually, insist } from '../support/client.ts';
import { seen } from '../support/desk.ts';
import { createKey } from '../support/keys.ts';
import { fill, keys, press, sees, submit, tableRows } from '../support/page.ts';
import { startTestSystem } from '../support/system.ts';
import { add, configure, ticket } from '../support/tickets.ts';

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
  await press(page, 'Change: 张伟');
  await submit(dialog, { 'Away until': '2999-01-01T00:00', 'Time zone': 'Mars/Olympus' }, 'Save');
  await eventually(async () => (await dialog.getByLabel('Time zone').getAttribute('aria-invalid')) === 'true');
  await submit(dialog, { 'Time zone': 'Asia/Shanghai' }, 'Save');
  await dialog.waitFor({ state: 'hidden' });
  expect(await register()).toMatchObject({ perDay: 50, exposure: { violence: 5 }, timezone: 'Asia/Shanghai' });
  expect((await register()).awayUntil).toMatch(/^(2998|2999)-/);
  await press(page, 'Delete: 张伟');
  await press(dialog, 'Delete');
  await sees(page, 'Nobody is registered.');
  expect((await admin.get('/v1/reviewers/张伟')).status).toBe(404);
});

const form = {
  type: 'object',
  required: ['verdict'],
  properties: { verdict: { enum: ['keep', 'remove'] }, note: { type: 'string', maxLength: 40 } },
};

test('S0.12 B.2 B.3 a reviewer takes a suggestion over, decides, and sees in their own work what was overturned', async () => {
  await configure(admin, 'assisted', { form, assist: { mode: 'suggest', minConfidence: 1, share: 0 } });
  const says = { model: 'scorer', decision: { verdict: 'remove', note: 'spam' }, confidence: 0.934, reasons: 'a link' };
  for (const id of ['m-1', 'm-2']) {
    await add(admin, 'assisted', { id, body: { text: `the text of ${id}` } });
    insist(await admin.post(`/v1/tickets/${id}/suggestions`, says), 'suggestion', 201);
  }
  const page = await browser.open(`${url}/desk/assisted`, { key: await keyOf('reviewer', 'rita') });
  await seen(page, 'm-1');
  await sees(page, 'scorer, 93.4% sure:', 'remove · note: spam', 'a link');
  await keys(page, 'a');
  await eventually(async () => (await page.getByLabel('note (optional)').inputValue()) === 'spam');
  expect(await page.getByRole('button', { name: 'remove', pressed: true }).count()).toBe(1);
  expect((await ticket(admin, 'm-1')).state).toBe('held');
  await press(page, 'Decide');
  await keys(page, 'n');
  await eventually(async () => (await ticket(admin, 'm-1')).state === 'decided');
  expect(await ticket(admin, 'm-1')).toMatchObject({ decision: says.decision, automation: 'partial' });

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
