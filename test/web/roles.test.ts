import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import type { Role } from '../../contract/keys.ts';
import { useBrowser } from '../support/browser.ts';
import { judge, openCourt } from '../support/cases.ts';
import { claimOne, eventually } from '../support/client.ts';
import { createKey } from '../support/keys.ts';
import { startReceiver } from '../support/receiver.ts';
import { put } from '../support/reviews.ts';
import { startTestSystem } from '../support/system.ts';
import { add, configure, decide, ticket } from '../support/tickets.ts';
import { region } from './numbers.ts';
import { fill, press, sees, submit } from './page.ts';

const system = await startTestSystem({ DOCKET_AUTH: 'keys' });
const { db } = system.running.runtime;
const keyOf = async (role: Role, queues?: string[]) => {
  const subject = role === 'reviewer' ? 'rita' : null;
  return (await createKey(db, { name: `${subject ?? role}-key`, role, subject, queues: queues ?? null })).key;
};
const admin = system.api.as(await keyOf('admin'));
const { url } = system.api;

const goesTo = async (page: Page, path: string, heading: string | RegExp) => {
  await page.goto(url + path);
  await page.getByRole('heading', { level: 1, name: heading }).waitFor();
};
const linksOf = (page: Page) =>
  page.getByRole('navigation', { name: 'Main' }).first().getByRole('link').allTextContents();

const browser = useBrowser();

test.each<[Role, string[]]>([
  ['admin', ['Reprioritize', 'Release', 'Transfer', 'Keep for …', 'Decide', 'Invalidate', 'Erase', 'Add note']],
  ['supervisor', ['Reprioritize', 'Release', 'Transfer', 'Keep for …', 'Decide', 'Invalidate', 'Add note']],
  ['producer', ['Reprioritize', 'Keep for …', 'Decide', 'Invalidate', 'Add note']],
  ['agent', ['Add note']],
])('S4.9 of a held ticket, a key of role %s is offered what the API lets it do: %s', async (role, expected) => {
  const id = `held-${role}`;
  await add(admin, `held-${role}`, { id });
  await claimOne(admin, `held-${role}`, 'anna');
  const page = await browser.open(`${url}/items/ticket/${id}`, { key: await keyOf(role) });
  await sees(page, 'anna holds it until');
  const offered = await page.getByRole('main').getByRole('button').allTextContents();
  expect(offered.filter((label) => label !== 'Ask')).toEqual(expected);
  if (role !== 'producer') return;
  await press(page, 'Invalidate');
  await submit(page.getByRole('dialog'), { Reason: 'by a producer' }, 'Invalidate');
  await sees(page, 'It has been invalidated.');
  expect((await ticket(admin, id)).invalidation.by).toBe('producer-key');
});

test.each<[Role, string[]]>([
  ['admin', ['Erase', 'Ask for an appeal']],
  ['supervisor', ['Ask for an appeal']],
  ['producer', ['Ask for an appeal']],
  ['agent', []],
])('S4.9 of a decided case, a key of role %s is offered what the API lets it do: %s', async (role, expected) => {
  const id = `judged-${role}`;
  await openCourt(admin, id, { votesToWin: 1 }, ['j0'], [id]);
  await judge(admin, id, 'j0', 'buyer');
  const page = await browser.open(`${url}/items/case/${id}`, { key: await keyOf(role) });
  await sees(page, 'Nobody has looked at this decision again.');
  expect(await page.getByRole('main').getByRole('button').allTextContents()).toEqual(expected);
});

test('S4.9 a consumer sees jobs and what they may do with them, and no ticket, review or delivery', async () => {
  await admin.post('/v1/jobs', { command: 'add', topic: 'shop', id: 'job-1', body: 1, delay: 600 });
  await add(admin, 'secret', { id: 'secret-1', body: { text: 'not for consumers' } });
  const page = await browser.open(`${url}/items/job/job-1`, { key: await keyOf('consumer') });
  await page.getByRole('button', { name: 'Kick' }).waitFor();
  await page.goto(`${url}/search`);
  await sees(page, 'Name a topic: jobs are listed by topic.');
  expect(await page.getByLabel('Kind', { exact: true }).count()).toBe(0);
  await submit(page, { Id: 'secret-1' });
  await sees(page, 'There is nothing with the id secret-1.');
  await submit(page, { Id: 'job-1' });
  await sees(page, 'Job job-1');
});

test('S0.11 S4.9 a supervisor pauses a queue on its page, and kicks and buries jobs but does not finish them', async () => {
  await configure(admin, 'halted', {});
  const page = await browser.open(`${url}/queues/ticket/halted`, { key: await keyOf('supervisor') });
  await press(page, 'Pause');
  await submit(page.getByRole('dialog'), {}, 'Pause');
  await sees(page, 'halted is paused');
  expect((await admin.get('/v1/queues/halted')).body.paused).toBe(true);
  await press(page, 'Resume');
  await eventually(async () => !(await admin.get('/v1/queues/halted')).body.paused);
  await admin.post('/v1/jobs', { command: 'add', topic: 'shop', id: 'job-2', body: 1, delay: 600 });
  await page.goto(`${url}/items/job/job-2`);
  await page.getByRole('button', { name: 'Kick' }).waitFor();
  const offered = await page.getByRole('main').getByRole('button').allTextContents();
  expect(offered.filter((label) => label !== 'Ask')).toEqual(['Kick', 'Bury', 'Delete']);
});

const MANAGING = ['/settings', '/settings/queues/q', '/keys', '/admin-log'];
const WATCHING = ['/numbers', '/items/ticket/secret-1', '/queues/ticket/secret', '/deliveries', '/reviews', '/tasks'];
const LEADING = ['/reviewers', '/queues/ticket/secret/quality'];
const SEEN = ['Overview', 'Numbers', 'Search', 'Deliveries', 'Reviews', 'Tasks'];

test.each<[Role, string[], string[]]>([
  ['reviewer', ['Review desk', 'My decisions', 'Jury desk'], [...WATCHING, '/search', '/reviews/any']],
  ['consumer', ['Search'], WATCHING],
  ['supervisor', [...SEEN, 'Schedules', 'Reviewers'], []],
  ['producer', [...SEEN, 'Schedules'], LEADING],
  ['agent', SEEN, LEADING],
])('S4.9 roles: what a %s sees of the pages that manage', async (role, links, hidden) => {
  await admin.post('/v1/queues/secret/tickets', { id: 'secret-1', body: { text: 'not for consumers' } });
  const page = await browser.open(url, { key: await keyOf(role) });
  await page.getByRole('heading', { level: 1 }).waitFor();
  expect(await linksOf(page)).toEqual([...links, 'API documentation']);
  for (const path of [...MANAGING, ...hidden]) await goesTo(page, path, /not for your role|nothing here/);
  expect(await page.getByRole('region').count()).toBe(0);
  if (links.includes('Numbers')) await goesTo(page, '/numbers', 'Numbers');
});

test("an administrator's key that is bound to queues is shown no page that the API keeps from it", async () => {
  await configure(admin, 'bound', {});
  const page = await browser.open(`${url}/settings/queues/bound`, { key: await keyOf('admin', ['bound']) });
  await page.getByRole('textbox', { name: 'Lease (seconds)' }).waitFor();
  const links = await linksOf(page);
  expect(links.filter((name) => ['Settings', 'Keys', 'Admin log'].includes(name))).toEqual(['Settings']);
  expect(await page.getByRole('link', { name: 'Changes' }).count()).toBe(0);
  for (const path of ['/keys', '/admin-log']) await goesTo(page, path, 'not for your role');
});

test('a key that is bound to queues sees these, and asks for nothing that is not its own', async () => {
  for (const queue of ['own', 'foreign']) await add(admin, queue);
  const page = await browser.prepare(url, { key: await keyOf('producer', ['own']) });
  const refused: string[] = [];
  page.on('response', (response) => response.status() >= 400 && refused.push(response.url()));
  await page.goto(url);
  await page.getByRole('rowheader', { name: 'own' }).waitFor();
  expect(await page.getByRole('rowheader').count()).toBe(1);
  expect(await page.getByRole('region', { name: 'System' }).count()).toBe(0);
  expect(refused).toEqual([]);
});

test('a key for some queues begins with its own, and another queue is refused', async () => {
  for (const queue of ['own', 'foreign']) await add(admin, queue);
  const page = await browser.open(`${url}/numbers`, { key: await keyOf('producer', ['own']) });
  await region(page, 'Lateness').waitFor();
  expect(await page.getByLabel('Queue', { exact: true }).inputValue()).toBe('own');
  expect(await page.locator('datalist option').count()).toBe(1);
  await submit(page, { Queue: 'foreign' });
  await sees(page, 'this key is for other queues than foreign');
  expect(await page.getByRole('slider').count()).toBe(0);
  await fill(page, { Kind: 'Cases' });
  await sees(page, 'Your key is for certain queues, and none of these exists.');
});

test('S4.9 S0.10 an agent reads deliveries, lists and reviews, and changes nothing there', async () => {
  const gone = await startReceiver(() => 410);
  await configure(admin, 'gone', { callback: gone.callback });
  await add(admin, 'gone', { id: 'gone-1' });
  await decide(admin, await claimOne(admin, 'gone', 'anna'));
  await eventually(async () => (await admin.get('/v1/deliveries?state=failed')).body.items.length === 1);
  await put(admin, 'rv-1', { text: { status: 1 }, pictures: [], replies: [] });
  const page = await browser.open(`${url}/deliveries`, { key: await keyOf('agent') });
  await page.getByRole('link', { name: 'gone-1' }).waitFor();
  expect(await page.getByRole('checkbox').count()).toBe(0);
  expect(await page.getByRole('button', { name: 'Redeliver' }).count()).toBe(0);
  await page.getByRole('link', { name: 'gone-1' }).click();
  await sees(page, 'HTTP 410');
  expect(await page.getByRole('button', { name: 'Redeliver' }).count()).toBe(0);
  await page.goto(`${url}/queues/ticket/gone`);
  await page.getByRole('rowheader', { name: 'gone-1' }).waitFor();
  expect(await page.getByRole('button', { name: 'Invalidate several' }).count()).toBe(0);
  await page.goto(`${url}/reviews/rv-1`);
  await sees(page, 'In step');
});
