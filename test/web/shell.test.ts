import type { Page, Request } from 'playwright-core';
import { expect, test } from 'vitest';
import { useBrowser } from '../support/browser.ts';
import { eventually } from '../support/client.ts';
import { startTestSystem } from '../support/system.ts';
import { fill, keys, press, sees } from './page.ts';

const { api } = await startTestSystem();
const { url } = api;
await api.post('/v1/queues/q/tickets', { id: 'one', body: {} });

const focused = (page: Page) => page.evaluate<string>('document.activeElement.outerHTML.slice(0, 200)');
const background = (page: Page) => page.evaluate<string>('getComputedStyle(document.body).backgroundColor');
const browser = useBrowser();

test.each([
  ['/', 'the first page weighs', 150, (page: Page) => page.getByRole('rowheader', { name: 'q' })],
  ['/desk/q', 'the desk weighs beside what each page has', 60, (page: Page) => page.getByText('Ticket one')],
] as const)('S4.9 at %s %s %d KB at most', async (path, _, most, shown) => {
  const page = await browser.prepare(url, { person: 'anna' });
  const finished: Request[] = [];
  page.on('requestfinished', (request) => {
    const { pathname } = new URL(request.url());
    if (!/^\/v1\/(feed|stream)/.test(pathname)) finished.push(request);
  });
  await page.goto(url + path);
  await shown(page).first().waitFor();
  const isEachPages = (request: Request) => /\/(index|connection|router|format)-|\/v1\//.test(request.url());
  const counted = path === '/' ? finished : finished.filter((request) => !isEachPages(request));
  const sizes = await Promise.all(counted.map((request) => request.sizes()));
  const bytes = sizes.reduce((sum, s) => sum + s.responseBodySize + s.responseHeadersSize, 0);
  expect(bytes).toBeGreaterThan(10_000);
  expect(bytes).toBeLessThan(most * 1024);
});

test('everything works in Chinese, by the browser’s language or by choice, which lasts', async () => {
  const page = await browser.open(url, { locale: 'zh-CN' });
  await page.getByRole('heading', { name: '概览' }).waitFor();
  await page.getByRole('heading', { name: '审核队列' }).waitFor();
  expect(await page.evaluate('document.documentElement.lang')).toBe('zh-Hans');
  await press(page, '语言与外观');
  await fill(page, { 语言: 'English' });
  await page.getByRole('heading', { name: 'Review queues' }).waitFor();
  await page.reload();
  await page.getByRole('heading', { name: 'Review queues' }).waitFor();
  expect(await page.title()).toBe('Overview · Docket');
});

test('colours follow the system, or a choice, which lasts', async () => {
  const page = await browser.open(url, { colorScheme: 'dark' });
  const dark = await background(page);
  await page.emulateMedia({ colorScheme: 'light' });
  const light = await background(page);
  expect(light).not.toBe(dark);
  await press(page, 'Language and appearance');
  await fill(page, { Appearance: 'Dark' });
  expect(await background(page)).toBe(dark);
  await page.reload();
  await page.getByRole('heading', { level: 1 }).waitFor();
  expect(await background(page)).toBe(dark);
});

test('all of it is reached by keys: skip link, navigation, help, and back to where one was', async () => {
  const page = await browser.open(url);
  await page.getByRole('rowheader', { name: 'q' }).waitFor();
  await keys(page, 'Tab');
  expect(await focused(page)).toContain('Skip to content');
  await keys(page, 'Enter');
  expect(await focused(page)).toContain('<main');
  await keys(page, 'Tab');
  await eventually(async () => (await focused(page)).includes('Refresh'));
  await keys(page, '?');
  const help = page.getByRole('dialog', { name: 'Keyboard' });
  await sees(help, 'Refresh');
  await keys(page, 'Escape');
  await help.waitFor({ state: 'detached' });
  await eventually(async () => (await focused(page)).includes('Refresh'));
  await keys(page, 'Shift+Tab');
  expect(await focused(page)).toContain('API documentation');
});

test('a page whose files are gone says so, and is there after a reload', async () => {
  const page = await browser.open(url);
  await page.getByRole('heading', { name: 'Overview' }).waitFor();
  const gone = { contentType: 'text/javascript', body: "throw new Error('gone')" };
  await page.route('**/keys-*.js', (route) => route.fulfill(gone));
  await page.getByRole('link', { name: 'Keys' }).click();
  await page.getByRole('heading', { name: 'This page could not be loaded' }).waitFor();
  await page.unroute('**/keys-*.js');
  await press(page, 'Load it again');
  await page.getByRole('heading', { name: 'Keys', exact: true }).first().waitFor();
});

test('a page that is not there is said to be missing, with a way back that takes the focus to its heading', async () => {
  const page = await browser.open(url);
  await page.getByRole('heading', { name: 'Overview' }).waitFor();
  await page.evaluate(`history.pushState(null, '', '/nowhere'); dispatchEvent(new PopStateEvent('popstate'))`);
  await page.getByRole('heading', { name: 'There is no such page' }).waitFor();
  await page.getByRole('link', { name: 'To the start' }).click();
  await page.getByRole('heading', { name: 'Overview' }).waitFor();
  await eventually(async () => /<h1[^>]*>Overview/.test(await focused(page)));
});

test('a server that goes away is said to, in plain words, and what it has when it is back is shown', async () => {
  const page = await browser.open(url);
  await page.getByText('Live', { exact: true }).waitFor();
  await page.context().setOffline(true);
  await press(page, 'Refresh');
  await sees(page, 'The server does not answer.');
  expect(await page.getByText(/What the server says|Failed to fetch/).count()).toBe(0);
  await page.context().setOffline(false);
  await press(page, 'Refresh');
  await page.getByText('The server does not answer.').first().waitFor({ state: 'detached' });
});

// A part of the story that test/api/story.test.ts plays whole, as a reader of the documentation clicks it.
const CALLS = [
  ['Queues', 'putQueue', '200'],
  ['Tickets', 'addTicket', '201'],
  ['Tickets', 'claimTickets', '200'],
] as const;

test('S0.9 "Execute" works as it is filled in', async () => {
  for (const [tag, operation, status] of CALLS) {
    // by its link, which opens it: what is out of sight is not drawn
    const page = await browser.open(`${api.url}/docs#/${tag}/${operation}`);
    const section = page.locator(`#operations-${tag}-${operation}`);
    await press(section, 'Try it out', 'Execute');
    const answered = section.locator('.live-responses-table .response .response-col_status').first();
    await answered.waitFor();
    expect((await answered.textContent())?.trim().slice(0, 3), operation).toBe(status);
    await page.close();
  }
  await eventually(async () => (await api.get('/v1/tickets/report-17')).body.state === 'held');
});

const ROUNDS = 7;
/** How many times longer than until the same page without its scripts, which is empty, until the overview can be used. */
const MOST = 12;

/** Notes in the page itself, from the moment of navigation on, when its heading is there, and when a key has had its effect. */
const NOTE = `new MutationObserver((_, observer) => {
  if (document.querySelector('h1')?.textContent !== 'Overview') return;
  if (document.querySelector('dialog[open]')) {
    window.reactedMs ??= performance.now();
    observer.disconnect();
  } else document.dispatchEvent(new KeyboardEvent('keydown', { key: '?', bubbles: true }));
}).observe(document, { subtree: true, childList: true, attributes: true });`;

const median = (all: number[]) => all.toSorted((a, b) => a - b)[Math.floor(all.length / 2)] ?? Number.NaN;

test('S4.9 the overview reacts to a key not much later than the browser shows an empty page from the same server', async () => {
  const took = { empty: [] as number[], overview: [] as number[] };
  for (let n = 0; n < ROUNDS; n++) {
    // each with a cache of its own
    const empty = await browser.open(url, { javaScriptEnabled: false });
    took.empty.push(await empty.evaluate<number>("performance.getEntriesByType('navigation')[0].loadEventEnd"));
    const overview = await browser.prepare(url);
    await overview.addInitScript(NOTE);
    await overview.goto(url);
    await overview.getByRole('dialog').waitFor();
    took.overview.push(await overview.evaluate<number>('reactedMs'));
  }
  const [floor, overview] = [median(took.empty), median(took.overview)];
  expect(overview / floor, `${overview} ms, an empty page ${floor} ms`).toBeLessThan(MOST);
});
