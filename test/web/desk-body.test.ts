import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Page } from 'playwright-core';
import { afterAll, expect, test } from 'vitest';
import { seriousFindings, useBrowser } from '../support/browser.ts';
import { eventually, repeat } from '../support/client.ts';
import { startTestSystem } from '../support/system.ts';
import { add, claim, decide } from '../support/tickets.ts';
import { seen } from './desk.ts';
import { confirm, fill, keys, press, sees } from './page.ts';

const INLINE = `<svg xmlns="http://www.w3.org/2000/svg" width="40" height="20" onload="window.hacked = 1">
<script>window.hacked = 1</script></svg>`;

/** A host of images, which notes what it is asked for. */
const asked: string[] = [];
const images = createServer((request, response) => {
  asked.push(request.url ?? '');
  response.setHeader('content-type', 'image/svg+xml');
  response.end(
    '<svg xmlns="http://www.w3.org/2000/svg" width="40" height="30"><script>alert(1)</script><rect width="40" height="30"/></svg>',
  );
});
await new Promise<void>((resolve) => images.listen(0, '127.0.0.1', resolve));
const host = `localhost:${(images.address() as AddressInfo).port}`;
afterAll(() => images.close());

const { api } = await startTestSystem({ DOCKET_IMAGE_HOSTS: `http://${host}` });

const heading = (page: Page, id: string) => page.getByRole('heading', { name: `Ticket ${id}`, exact: true });

const browser = useBrowser();
const open = async (id: string, body: unknown, options: object = {}) => {
  await add(api, id, { id, body });
  const page = await browser.open(`${api.url}/desk/${id}`, { person: 'anna', ...options });
  await heading(page, id).waitFor();
  return page;
};

test('a hostile body does nothing: markup is text, addresses lead nowhere by themselves, what is hidden is shown', async () => {
  let deep: unknown = 'the bottom';
  for (let n = 0; n < 90; n++) deep = { deep };
  const page = await open(
    'hostile',
    {
      script: '<script>window.hacked = 1</script><img src=x onerror="window.hacked = 1">',
      svg: '<svg onload="window.hacked = 1"><a href="https://evil.example">x</a></svg>',
      link: 'javascript:window.hacked=1',
      data: 'data:text/html,<script>window.hacked = 1</script>',
      image: 'https://evil.example/track.png',
      picture: 'javascript:window.hacked=1',
      inline: `data:image/svg+xml,${encodeURIComponent(INLINE)}`,
      text: 'Go to https://evil.example/login?a=1. Now!',
      rtl: 'invoice\u202Egnp.exe',
      huge: 'x'.repeat(100_000),
      marks: 'a\u0301\u0301\u0301'.repeat(2_000),
      many: repeat(20_000, (n) => n),
      '<b>name</b>': null,
      __proto__x: { constructor: 1 },
      deep,
    },
    { viewport: { width: 390, height: 844 } },
  );
  const dialogs: string[] = [];
  page.on('dialog', (dialog) => dialogs.push(dialog.message()));
  const content = page.getByRole('region', { name: 'Content' });
  await sees(content, '<script>window.hacked = 1</script>', 'U+202E');
  expect(await content.getByRole('link').count()).toBe(0);
  expect(await content.locator('img, svg, script, iframe').count()).toBe(0);
  expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true);
  // the only way out names the host, and is a step of its own
  await press(content, /^https:\/\/evil\.example\/login\?a=1$/);
  const leaving = page.getByRole('dialog', { name: 'This leads out of Docket' });
  await leaving.getByText('evil.example', { exact: true }).waitFor();
  const way = leaving.getByRole('link', { name: 'Open in a new tab' });
  expect(await way.getAttribute('rel')).toBe('noopener noreferrer');
  await press(leaving, 'Cancel');
  await content.getByText('List of 20,000').click();
  await content.getByRole('button', { name: 'Show more (19,900 left)' }).waitFor();
  await keys(page, 'i');
  await sees(content, 'Not loaded: its host is not in DOCKET_IMAGE_HOSTS.');
  const inline = content.getByRole('img', { name: 'Image from this content' });
  await eventually(async () => (await inline.evaluate((img: HTMLImageElement) => img.naturalWidth)) === 40);
  expect(await seriousFindings(page)).toEqual([]);
  expect(await page.evaluate('window.hacked')).toBeUndefined();
  expect(dialogs).toEqual([]);
});

test('an image of an allowed host is loaded when someone wants to see it, and veiled when they do not', async () => {
  const body = { photos: [`http://${host}/a.png`, `http://${host}/b`], text: 'look' };
  const page = await open('images', body, { hosts: [host], theme: 'dark' });
  const content = page.getByRole('region', { name: 'Content' });
  await sees(content, 'Image, not shown yet');
  await content.getByRole('button', { name: 'Show image' }).first().waitFor();
  expect(asked).toEqual([]);
  await content.getByRole('button', { name: 'Show image' }).first().click();
  await content.getByRole('img', { name: `Image from ${host}` }).waitFor();
  await eventually(async () => asked.length > 0);
  expect(asked).toEqual(['/a.png']);
  await keys(page, 'Escape', 'i');
  await eventually(async () => (await content.getByRole('img', { name: `Image from ${host}` }).count()) === 2);
  expect(await seriousFindings(page)).toEqual([]);
  await keys(page, 'i');
  const veiled = content.getByRole('img', { name: 'Image, not shown yet' });
  await eventually(async () => (await veiled.count()) === 2);
  expect(await page.evaluate(`getComputedStyle(document.querySelector('figure img')).filter`)).toContain('blur');
});

test('S0.8 images are leafed through by keys, enlarged and turned; one that no one has revealed stays veiled', async () => {
  const body = { photos: ['a', 'b', 'c'].map((name) => `http://${host}/${name}.png`) };
  const page = await open('gallery', body, { hosts: [host] });
  await keys(page, 'i');
  await eventually(async () => (await page.getByRole('img', { name: `Image from ${host}` }).count()) === 3);
  await keys(page, 'o');
  const viewer = page.getByRole('dialog', { name: 'Images' });
  const image = viewer.getByRole('img');
  await sees(viewer, '1 / 3 · 100%');
  expect(await seriousFindings(page)).toEqual([]);
  await keys(page, '+', 'r');
  await eventually(async () => (await image.getAttribute('style'))?.includes('rotate(90deg) scale(1.25)'));
  await keys(page, 'ArrowRight');
  await sees(viewer, '2 / 3 · 100%');
  expect(await image.getAttribute('src')).toContain('/b.png');
  await keys(page, 'ArrowLeft', 'ArrowLeft');
  await sees(viewer, '3 / 3 · 100%');
  await keys(page, 'Escape');
  await viewer.waitFor({ state: 'detached' });
  await heading(page, 'gallery').waitFor();
  await page.getByRole('button', { name: 'Hide image' }).nth(1).click();
  await keys(page, 'o', 'ArrowRight');
  await viewer.getByRole('img', { name: 'Image, not shown yet' }).waitFor();
  await keys(page, 'i');
  await viewer.getByRole('img', { name: `Image from ${host}` }).waitFor();
});

test('S0.8 how someone wants to see images is remembered for them, in two languages', async () => {
  const body = { photo: `http://${host}/mine.png` };
  const page = await open('mine', body, { hosts: [host] });
  await page.getByText('View', { exact: true }).click();
  await fill(page, { 'Images at first': 'Blurred', Size: 'Large', Grey: true });
  await page.reload();
  const photo = page.locator('figure img');
  await photo.waitFor();
  const filter = () => page.evaluate<string>(`getComputedStyle(document.querySelector('figure img')).filter`);
  expect(await filter()).toContain('blur');
  await keys(page, 'i');
  await eventually(async () => (await filter()) === 'grayscale(1)');
  // another person of this browser has a view of their own
  await page.evaluate(`localStorage.setItem('docket.person', 'ben'); localStorage.setItem('docket.language', 'zh')`);
  await add(api, 'mine', { id: 'mine-2', body });
  await page.reload();
  await page.getByRole('heading', { name: '工单 mine-2' }).waitFor();
  await sees(page, '图片，尚未显示');
});

test('S0.8 a video is muted, and played, sought and slowed by keys', async () => {
  const page = await open('video', { clip: `http://${host}/clip.mp4` }, { hosts: [host] });
  await page.getByText('Video, not shown yet').waitFor();
  // no film, but a player that would play one
  await page.route('**/clip.mp4', () => {});
  await keys(page, 'i');
  const video = page.locator('video');
  await video.waitFor();
  const state = (what: string) => page.evaluate(`document.querySelector('video').${what}`);
  expect([await state('muted'), await state('paused'), await state('autoplay')]).toEqual([true, true, false]);
  await keys(page, 'p');
  await eventually(async () => !(await state('paused')));
  await keys(page, '>', '>');
  expect(await state('playbackRate')).toBe(2);
  await keys(page, 'p');
  expect(await state('paused')).toBe(true);
  // keys of the player decide nothing
  expect((await api.get('/v1/tickets/video')).body.state).toBe('held');
});

test('S4.9 words of the queue are marked, guidelines stand beside the form, and the subject has its line', async () => {
  const verdict = { oneOf: [{ const: 'keep' }, { const: 'hate', title: 'Hate speech', 'x-guideline': 'hate' }] };
  const hate = '# Hate\n\nNever **quote** it, <b>ever</b>: [policy](https://policy.example/) [bad](javascript:1)';
  await api.put('/v1/queues/guided', {
    ...{ highlight: ['knife', '武器'], guidelines: { hate, unused: 'x' } },
    form: { type: 'object', required: ['verdict'], properties: { verdict } },
  });
  await add(api, 'guided', { id: 'g0', subject: 'account-7' });
  const [first] = (await claim(api, 'guided', 'bert')).tickets;
  await decide(api, first, { verdict: 'hate' });
  for (const id of ['g1', 'g2'])
    await add(api, 'guided', { id, subject: 'account-7', body: 'A Knife, knives; 一把武器' });
  const page = await browser.open(`${api.url}/desk/guided`, { person: 'anna' });
  await heading(page, 'g1').waitFor();
  await sees(page, 'others: 1 open, 1 decided · latest: Hate speech');
  expect(await page.getByText('also decides').count()).toBe(0);
  expect(await page.locator('.desk-body mark').allTextContents()).toEqual(['Knife', '武器']);
  await fill(page, { 'Find in the content': 'knives' });
  expect(await page.locator('.desk-body mark:not(.highlight)').allTextContents()).toEqual(['knives']);
  await page.getByRole('heading', { name: 'Ticket g1' }).focus();
  await keys(page, 'g', 'Enter');
  const guidelines = page.getByRole('region', { name: 'Guidelines' });
  await guidelines.locator('strong').waitFor();
  await sees(guidelines, 'Guideline: Hate speech', /<b>ever/);
  expect(await guidelines.locator('strong').allTextContents()).toEqual(['quote']);
  const links = await guidelines.getByRole('link').evaluateAll((all) => all.map((a) => a.getAttribute('href')));
  expect(links).toEqual(['https://policy.example/']);
  expect(await seriousFindings(page)).toEqual([]);
});

test('S0.4 where a decision decides the others of its subject, the desk says so beside the ticket and until it is sent, and then how many', async () => {
  await api.put('/v1/queues/synced', { sync: 'subject', maxHeld: 2 });
  await add(api, 'synced', { id: 's0' });
  for (const id of ['s1', 's2']) await add(api, 'synced', { id, subject: 'account-8' });
  const page = await browser.open(`${api.url}/desk/synced`, { person: 'anna' });
  const pending = page.getByRole('region', { name: 'Decided, not sent yet' });
  await seen(page, 's0');
  await keys(page, '1');
  await sees(pending, 's0');
  expect(await pending.getByText('of its subject').count()).toBe(0);
  await seen(page, 's1');
  await sees(page, 'your decision also decides its other open tickets in this queue');
  await keys(page, '1');
  await sees(pending, 'and the other open tickets of its subject');
  await keys(page, 'n');
  await sees(page.locator('.desk-tally'), 'Decided with another of its subject1');
});

test('S4.9 saved answers fill in the form by keys and decide nothing; what is filled in is saved for the next time', async () => {
  const text = (title: string) => ({ type: 'string', title });
  const where = { type: 'object', title: 'Where', properties: { page: text('Page'), line: text('Line') } };
  const properties = { verdict: { enum: ['keep', 'remove'] }, reason: text('Reason'), note: text('Note'), where };
  await api.put('/v1/queues/answered', { form: { type: 'object', required: ['verdict'], properties } });
  const spam = { verdict: 'remove', reason: 'Advertising', where: { page: '1' } };
  await api.put('/v1/queues/answered/macros/广告?by=lead', { decision: spam, shared: true });
  for (const id of ['a1', 'a2']) await add(api, 'answered', { id });
  const page = await browser.open(`${api.url}/desk/answered`, { person: 'anna' });
  await heading(page, 'a1').waitFor();
  const answers = page.getByRole('region', { name: 'Saved answers' });
  await answers.getByRole('button', { name: '广告' }).waitFor();
  const typed = { 'Note (optional)': 'in my own words', 'Line (optional)': '7' };
  await fill(page, typed);
  await page.getByLabel('Line').blur();
  await keys(page, 'e', 'Enter');
  await eventually(async () => (await page.getByLabel('Reason').inputValue()) === 'Advertising');
  expect(await page.getByLabel('Page').inputValue()).toBe('1');
  for (const [label, text] of Object.entries(typed)) expect(await page.getByLabel(label).inputValue()).toBe(text);
  expect((await api.get('/v1/tickets/a1')).body.state).toBe('held');
  expect(await seriousFindings(page)).toEqual([]);
  await page.getByLabel('Reason').fill('Advertising, again');
  await confirm(page, 'Save this answer', /Save this answer/, { Name: 'again' });
  await answers.getByRole('button', { name: 'again', exact: true }).waitFor();
  const where7 = { page: '1', line: '7' };
  const own = { ...spam, reason: 'Advertising, again', note: 'in my own words', where: where7 };
  expect((await api.get('/v1/queues/answered/macros?by=anna')).body.items).toMatchObject([
    { name: 'again', by: 'anna', shared: false, decision: own },
    { name: '广告', by: 'lead' },
  ]);
  await page.getByLabel('Reason').press('Control+Enter');
  await heading(page, 'a2').waitFor();
  await eventually(async () => (await api.get('/v1/tickets/a1')).body.decision?.reason === own.reason);
  await press(answers, 'again');
  await press(answers, 'Delete saved answer: again');
  await press(page.getByRole('dialog'), 'Delete saved answer');
  await eventually(async () => (await api.get('/v1/queues/answered/macros?by=anna')).body.items.length === 1);
});
