import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { en } from '../../web/texts/en.ts';
import { zh } from '../../web/texts/zh.ts';
import { seriousFindings, useBrowser } from '../support/browser.ts';
import { eventually, repeat } from '../support/client.ts';
import { startTestSystem } from '../support/system.ts';
import { add, addMany, configure, ticket } from '../support/tickets.ts';
import { deskOn, seen, ticketHeading } from './desk.ts';
import { callsOf, keys, press, sees } from './page.ts';

// The desk as a person sees it: in windows of three sizes, in two of them at once, and while they look elsewhere.

const { api } = await startTestSystem();
const browser = useBrowser();
const desk = deskOn(browser, api);

const field = (n: number) => ({ title: `Field ${n}`, type: 'string', maxLength: 500 });
const LONG = {
  ...{ type: 'object', required: ['verdict'] },
  properties: {
    verdict: {
      oneOf: ['approve', 'reject', 'escalate'].map((value) => ({ const: value, title: `${value} this post` })),
    },
    reasons: { type: 'array', title: 'Reasons', items: { enum: ['spam', 'scam', 'abuse'] } },
    ...Object.fromEntries(repeat(8, (n) => [`f${n}`, field(n)])),
  },
};
const BODY = {
  text: 'A text. '.repeat(900),
  author: { name: 'user_7', joined: '2026-03-14' },
  reports: [{ by: 'a', reason: 'spam' }],
};

/** Whether all of these are within the window, without anything having been scrolled. */
const inSight = async (page: Page, selector: string) => {
  const { height, width } = page.viewportSize()!;
  const boxes = await Promise.all((await page.locator(selector).all()).map((one) => one.boundingBox()));
  return boxes.map((box) => box !== null && box.y >= 0 && box.y + box.height <= height && box.x + box.width <= width);
};

test.each([
  [1280, 800, 'en'],
  [390, 844, 'zh'],
  [1920, 1080, 'zh'],
] as const)(
  'S0.8 at %d × %d, in %s, all verdicts are in sight whatever the form and the ticket',
  async (width, height, language) => {
    const t = language === 'zh' ? (zh as typeof en) : en;
    const queue = `sight-${width}`;
    await configure(api, queue, { form: LONG, maxHeld: 2 });
    await addMany(
      api,
      queue,
      repeat(2, (n) => ({ id: `${queue}-${n}`, body: BODY })),
    );
    const page = await browser.open(`${api.url}/desk/${queue}`, {
      person: 'anna',
      language,
      viewport: { width, height },
    });
    await page.getByRole('heading', { name: t.desk.ticket(`${queue}-0`), exact: true }).waitFor();
    expect(await inSight(page, '.verdict')).toEqual([true, true, true]);
    expect(await page.evaluate('document.documentElement.scrollHeight <= innerHeight')).toBe(true);
    // and there is room to read
    expect((await page.locator('.desk-left').boundingBox())?.height).toBeGreaterThan(330);
    // they differ by more than their words and their colour
    expect(await page.locator('.verdict-symbol').allTextContents()).toEqual(['✓', '✕', '•']);
    const last = page.getByLabel(/Field 7/);
    await last.focus();
    expect(await inSight(page, '.verdict')).toEqual([true, true, true]);
    expect(await inSight(page, '.desk-fields :focus')).toEqual([true]);
    expect(await seriousFindings(page)).toEqual([]);
    await keys(page, 'Escape');
    await page.waitForTimeout(300);
    await keys(page, '2');
    const pending = page.getByRole('region', { name: t.desk.pending.title });
    await sees(pending, 'reject this post', `${queue}-0`);
    expect(await pending.textContent()).not.toContain('{');
    // it covers nothing: neither the next ticket nor its verdicts
    await page.getByRole('heading', { name: t.desk.ticket(`${queue}-1`), exact: true }).waitFor();
    const [toast, work] = await Promise.all([pending.boundingBox(), page.locator('.desk-work').boundingBox()]);
    expect(toast!.y + toast!.height).toBeLessThanOrEqual(work!.y + 1);
    if (width === 390) {
      expect(work!.y - toast!.y - toast!.height).toBeGreaterThan(3);
      const isWhole = (p: Element) => p.scrollWidth <= p.clientWidth;
      expect(await pending.locator('p').evaluate(isWhole)).toBe(true);
    }
    expect(await inSight(page, '.verdict, .desk-pending')).toEqual([true, true, true, true]);
    const content = await page.locator('.desk-left').boundingBox();
    if (width === 1920) expect(content!.width).toBeGreaterThan(1_000);
    await keys(page, 'u');
    await page.getByRole('heading', { name: t.desk.ticket(`${queue}-0`), exact: true }).waitFor();
  },
);

test('S0.7 a second window of the same person says so and follows the first, and works when that is closed', async () => {
  const first = await desk('windows', 2);
  const second = await first.context().newPage();
  const calls = callsOf(second);
  await second.goto(`${api.url}/desk/windows`);
  await sees(second, en.desk.second);
  await ticketHeading(second, 'windows-0').waitFor();
  expect(await second.locator('.verdict').count()).toBe(0);
  await first.bringToFront();
  await keys(first, '1', 'n');
  await ticketHeading(second, 'windows-1').waitFor();
  expect(calls.filter((path) => path.endsWith('/claim'))).toEqual([]);
  expect(await seriousFindings(second)).toEqual([]);
  await press(second, en.desk.takeOver);
  await second.locator('.verdict').first().waitFor();
  await seen(second, 'windows-1');
  await sees(first, en.desk.second);
  await second.close();
  // no longer what it followed
  await first.locator('.verdict').first().waitFor();
  await seen(first, 'windows-1');
  await keys(first, '2', 'n');
  await eventually(async () => (await ticket(api, 'windows-1')).state === 'decided');
});

test('S0.8 every action has a key, the help names it, Esc leaves each field and no field keeps the focus', async () => {
  const page = await desk('keymap', 2, { form: LONG });
  await keys(page, '?');
  const help = page.getByRole('dialog', { name: en.common.keys.title });
  const named = await help.locator('kbd').allTextContents();
  expect(named).toEqual(expect.arrayContaining([...'123stiop/fcmun?', 'Esc', 'Ctrl + Enter']));
  await keys(page, 'Escape');
  await help.waitFor({ state: 'hidden' });
  for (const key of ['/', 'f', 'm']) {
    await keys(page, key);
    expect(await page.evaluate('document.activeElement.matches("input, textarea")'), key).toBe(true);
    await keys(page, 'Escape');
    expect(await page.evaluate('document.activeElement === document.body'), key).toBe(true);
  }
  // Tab comes by everything and out again
  const seenTags = new Set<string>();
  for (let n = 0; n < 80 && !seenTags.has('A'); n++) {
    await keys(page, 'Tab');
    seenTags.add(await page.evaluate<string>('document.activeElement.tagName'));
  }
  expect([...seenTags]).toEqual(expect.arrayContaining(['BUTTON', 'INPUT', 'TEXTAREA']));
});

test('S0.8 what someone looks for is marked, a long text says how far it is read, and so is each direction of writing', async () => {
  await add(api, 'find', {
    id: 'find-0',
    body: { text: `${'A text. '.repeat(900)}needle`, arabic: 'هذا المنتج أصلي' },
  });
  const page = await browser.open(`${api.url}/desk/find`, { person: 'anna' });
  await ticketHeading(page, 'find-0').waitFor();
  await keys(page, '/');
  await page.keyboard.type('TEXT');
  expect(await page.locator('.desk-body mark').first().textContent()).toBe('text');
  const before = await page.locator('.body-position').textContent();
  await keys(page, 'Enter', 'Escape', 'c', 'End');
  await eventually(async () => (await page.locator('.body-position').textContent()) !== before);
  const directions = `[...document.querySelectorAll('.desk-body .body-text')].map((one) => getComputedStyle(one).direction)`;
  expect(await page.evaluate(directions)).toEqual(['ltr', 'rtl']);
});

test('S0.8 the tab says when work arrives while it is hidden', async () => {
  await configure(api, 'arrivals', {});
  const page = await browser.prepare(`${api.url}/desk/arrivals`, { person: 'anna' });
  // a browser without windows hides nothing by itself
  await page.addInitScript(`{
    let hidden = false;
    Object.defineProperty(document, 'hidden', { get: () => hidden });
    window.hide = (is) => { hidden = is; document.dispatchEvent(new Event('visibilitychange')); };
  }`);
  await page.goto(`${api.url}/desk/arrivals`);
  await sees(page, en.desk.empty.queueEmpty);
  await page.evaluate('hide(true)');
  const opened = page.waitForResponse(/v1\/stream\?queue=arrivals/);
  await page.evaluate('hide(false); hide(true)');
  await opened;
  await add(api, 'arrivals', { id: 'arrivals-0' });
  await eventually(async () => (await page.title()).startsWith('●'));
  expect((await ticket(api, 'arrivals-0')).state).toBe('waiting');
  await page.evaluate('hide(false)');
  await ticketHeading(page, 'arrivals-0').waitFor();
  await eventually(async () => !(await page.title()).startsWith('●'));
});
