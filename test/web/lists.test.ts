import type { Locator, Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { useBrowser } from '../support/browser.ts';
import { addCase, court } from '../support/cases.ts';
import { claimOne, eventually, numbered, repeat } from '../support/client.ts';
import { byNight } from '../support/nightly.ts';
import { put } from '../support/reviews.ts';
import { startTestSystem } from '../support/system.ts';
import { addTask, addTemplate } from '../support/tasks.ts';
import { add, addMany, decide, ticket } from '../support/tickets.ts';
import { inMs, MINUTE_MS } from '../support/times.ts';
import { callsOf, fill, keys, press, sees, submit, tableRows } from './page.ts';

/** Tickets of a large queue. */
const MANY = byNight(1_000_000, 100_000);

const { api, keyed, sql } = await startTestSystem();

const at = (path: string) => `${api.url}${path}`;
const ids = (page: Page) => page.getByRole('table').getByRole('rowheader').allTextContents();
const row = (page: Page, id: string) => page.getByRole('rowheader', { name: id, exact: true });

const browser = useBrowser();

test('S0.5 a queue by pages: 50 each, older ones and back to the newest, or the oldest first, each page with an address of its own', async () => {
  await addMany(api, 'pages', numbered(70, 'p-'));
  const page = await browser.open(at('/queues/ticket/pages'));
  await row(page, 'p-69').waitFor();
  const first = await ids(page);
  await page.getByRole('link', { name: 'Next page' }).click();
  await row(page, 'p-0').waitFor();
  const second = await ids(page);
  expect([first.length, second.length]).toEqual([50, 20]);
  expect(new Set([...first, ...second]).size).toBe(70);
  await page.reload();
  await row(page, 'p-0').waitFor();
  await page.getByRole('link', { name: 'First page' }).click();
  await row(page, 'p-69').waitFor();
  const created = page.getByRole('columnheader', { name: 'Created' });
  expect(await created.getAttribute('aria-sort')).toBe('descending');
  await created.getByRole('link').click();
  await row(page, 'p-0').waitFor();
  expect([await ids(page), await created.getAttribute('aria-sort')]).toEqual([numbered(50, 'p-'), 'ascending']);
  await page.getByRole('link', { name: 'Next page' }).click();
  await row(page, 'p-69').waitFor();
  expect(await ids(page)).toEqual(numbered(70, 'p-').slice(50));
});

test('S0.6 every page of a queue, topic or court opens whose name is in another script', async () => {
  const name = '图片审核';
  const path = encodeURIComponent(name);
  await add(api, path, { id: 'named' });
  await api.put(`/v1/topics/${path}`, {});
  await court(api, path);
  const page = await browser.open(at('/'), { person: 'Анна' });
  const pages = ['ticket', 'job', 'case'].map((kind) => `/queues/${kind}/${path}`);
  const settings = ['queues', 'topics', 'courts'].map((folder) => `/settings/${folder}/${path}`);
  for (const one of [...pages, ...settings, `/desk/${path}`]) {
    await page.goto(at(one));
    await page.getByRole('heading', { level: 1, name }).waitFor();
    await eventually(async () => (await page.locator('.loading').count()) === 0);
    expect(await page.getByRole('alert').count(), one).toBe(0);
  }
  await page.getByRole('heading', { name: 'Ticket named' }).waitFor();
  await page.goto(at('/'));
  // topics and courts have the name, too, and may be there first
  await page.locator(`a[href="/queues/ticket/${path}"]`).first().click();
  await row(page, 'named').waitFor();
});

test('S0.5 filters by state, person and time; a new ticket shows by itself; the browser goes back', async () => {
  await addMany(api, 'find', [{ id: 'f-0' }, { id: 'f-1' }, { id: 'f-2' }]);
  const held = await claimOne(api, 'find', 'anna');
  await decide(api, held);
  const page = await browser.open(at('/queues/ticket/find'));
  await row(page, 'f-2').waitFor();
  await page.getByText('Live', { exact: true }).waitFor();
  await add(api, 'find', { id: 'f-3' });
  await row(page, 'f-3').waitFor();
  await submit(page, { State: 'Decided' }, /^Show$/);
  await row(page, 'f-3').waitFor({ state: 'detached' });
  await row(page, held.id).waitFor();
  expect(await ids(page)).toEqual([held.id]);
  await page.goBack();
  await row(page, 'f-3').waitFor();
  await page.goto(at('/search?kind=ticket'));
  await page.getByText('More filters').click();
  await submit(page, { Person: 'anna', 'Created from': '2020-01-01T00:00' });
  await row(page, 'f-3').waitFor({ state: 'detached' });
  await row(page, held.id).waitFor();
  expect(await ids(page)).toEqual([held.id]);
  await page.getByText('More filters').click();
  await submit(page, { 'Created before': '2020-01-02T00:00' }, /^Show$/);
  await sees(page, 'There is nothing like this.');
});

test('S3 S2 jobs by topic and cases by court, with their figures by state', async () => {
  for (const n of [0, 1, 2]) await api.post('/v1/jobs', { command: 'add', topic: 'a/b', id: `j/${n}`, body: n });
  await api.post('/v1/jobs', { command: 'delete', id: 'j/0' });
  await court(api, 'bench', {});
  await addCase(api, 'bench', { id: 'c-1' });
  const page = await browser.open(at('/queues/job/a%2Fb'));
  await row(page, 'j/2').waitFor();
  await page.getByRole('link', { name: 'Deleted 1' }).click();
  await row(page, 'j/2').waitFor({ state: 'detached' });
  await row(page, 'j/0').getByRole('link').click();
  await page.getByRole('heading', { level: 1, name: 'Job j/0' }).waitFor();
  await page.goto(at('/queues/case/bench'));
  await row(page, 'c-1').waitFor();
  await page.goto(at('/search'));
  await fill(page, { Kind: 'Jobs' });
  await sees(page, 'Name a topic: jobs are listed by topic.');
  await submit(page, { Topic: 'a/b' });
  await row(page, 'j/1').waitFor();
});

test('an id leads to its item; one that several kinds have asks which; by keys only', async () => {
  await add(api, 'ids', { id: 'same' });
  await add(api, 'ids', { id: 'once' });
  await api.post('/v1/jobs', { command: 'add', topic: 'ids', id: 'same', body: 1 });
  const page = await browser.open(at('/search'));
  await page.getByRole('heading', { level: 1, name: 'Search' }).waitFor();
  await keys(page, '/');
  await page.keyboard.type('same');
  await keys(page, 'Enter');
  await page.getByRole('link', { name: 'Ticket same' }).waitFor();
  await page.getByRole('link', { name: 'Job same' }).waitFor();
  await submit(page, { Id: 'nowhere' });
  await sees(page, 'There is nothing with the id nowhere.');
  await submit(page, { Id: 'onc' });
  await page.getByRole('heading', { level: 1, name: 'Ticket once' }).waitFor();
});

test('the beginning of ids lists all that begin so, by one call; a whole id is meant even if others begin so', async () => {
  await add(api, 'begin', { id: 'begin' });
  await addMany(api, 'begin', numbered(25, 'begin-'));
  await court(api, 'begin-court', {});
  await addCase(api, 'begin-court', { id: 'begin-0' });
  await addTemplate(api, 'plain');
  await addTask(api, { id: 'begun', executor: 'gid_begin', startTime: inMs(MINUTE_MS) });
  await put(api, 'beguiled', { text: { status: 1 }, pictures: [], replies: [] });
  const page = await browser.open(at('/search'));
  const asked = callsOf(page);
  const search = (id: string) => submit(page, { Id: id });
  await search('begin-');
  const found = page.getByRole('status').filter({ hasText: 'There are several' });
  await sees(found, 'There are more');
  expect(await found.getByRole('listitem').count()).toBe(20);
  await found.getByRole('link', { name: 'Case begin-0', exact: true }).waitFor();
  expect(asked.filter((path) => path.startsWith('/v1/items'))).toEqual(['/v1/items']);
  expect(asked.filter((path) => /^\/v1\/(tickets|jobs|cases)\//.test(path))).toEqual([]);
  const titles = { 'begun/': /^Occurrence begun\//, begin: /^Ticket begin$/, begun: /^Task begun$/ };
  for (const [id, title] of Object.entries(titles)) {
    await search(id);
    await page.getByRole('heading', { level: 1, name: title }).waitFor();
    await page.goBack();
  }
  await search('beguiled');
  await page.waitForURL('**/reviews/beguiled');
});

test('S4.9 a list is filtered by what was decided, saved, shared, downloaded; its address says all of it', async () => {
  await addMany(
    api,
    'desk-1',
    repeat(6, (n) => ({ id: `d-${n}`, body: { text: `offer ${n}\u202e` }, subject: `u${n % 2}` })),
  );
  for (const verdict of ['keep', 'remove', 'remove'])
    await decide(api, await claimOne(api, 'desk-1', 'anna'), { verdict });
  await api.post('/v1/tickets/d-2/looks', { cause: 'overturn', by: 'lead', decision: { verdict: 'keep' } });
  const page = await browser.open(at('/search?kind=ticket&queue=desk-1'));
  await row(page, 'd-5').waitFor();
  await sees(page, 'offer 5');
  await page.getByText('More filters').click();
  await submit(page, { Verdict: 'remove', 'Decided by': 'anna', 'What counts now': 'Overturned' }, /^Show$/);
  await row(page, 'd-5').waitFor({ state: 'detached' });
  await row(page, 'd-2').waitFor();
  expect(await ids(page)).toEqual(['d-2']);
  expect(await page.getByRole('row', { name: /d-2/ }).textContent()).toMatch(/remove keep.*Overturned/);
  const address = page.url();
  const asked = new URL(address).searchParams;
  expect(Object.fromEntries(asked)).toMatchObject({ verdict: 'remove', decidedBy: 'anna', overturned: 'true' });
  await page.getByRole('link', { name: 'What counts now: Overturned' }).click();
  await row(page, 'd-1').waitFor();
  const csv = await page.getByRole('link', { name: 'Download CSV' }).getAttribute('href');
  const table = (await api.get(csv ?? '')).body as string;
  expect(table.match(/^"d-\d"/gm)).toEqual(['"d-2"', '"d-1"']);
  await press(page, 'Save view');
  await sees(page, 'One of yours that has this name already is replaced.');
  await submit(page.getByRole('dialog'), { Name: 'Removed by Anna' }, 'Save');
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  await page.goto(at('/search?kind=ticket'));
  await page.getByRole('link', { name: 'Removed by Anna' }).click();
  await row(page, 'd-5').waitFor({ state: 'detached' });
  await row(page, 'd-2').waitFor();
  expect(await ids(page)).toEqual(['d-2', 'd-1']);
  await press(page, 'Delete view: Removed by Anna');
  await press(page.getByRole('dialog'), 'Delete view');
  await page.getByRole('link', { name: 'Removed by Anna' }).waitFor({ state: 'detached' });
  await page.goto(at('/search?kind=ticket&text=offer'));
  await sees(page, 'needs DOCKET_FULL_TEXT=on');

  await page.goto(at('/queues/ticket/desk-1'));
  for (const id of ['d-3', 'd-5']) await page.getByRole('checkbox', { name: `Select ${id}` }).check();
  expect(await page.getByRole('checkbox', { name: 'Select d-1' }).count()).toBe(0);
  await press(page, 'Invalidate 2 selected');
  const dialog = page.getByRole('dialog');
  await submit(dialog, { Reason: 'twice' }, 'Preview');
  await sees(dialog, 'It hits 2 tickets.');
  await press(dialog, 'Invalidate 2');
  await sees(page, '2 tickets have been invalidated.');
  const states = await Promise.all(['d-3', 'd-4', 'd-5'].map(async (id) => (await ticket(api, id)).state));
  expect(states).toEqual(['invalidated', 'waiting', 'invalidated']);
});

test('S4.9 a view that another person shares says whose it is, apart from its name', async () => {
  const other = await keyed('supervisor');
  expect((await other.put('/v1/views/found', { filter: { queue: 'desk-1' }, shared: true })).status).toBe(200);
  const page = await browser.open(at('/search?kind=ticket'));
  await page
    .getByRole('listitem')
    .filter({ hasText: /^found by \S/ })
    .waitFor();
});

test(`S0.3 a queue of ${MANY.toLocaleString('en-US')} tickets is listed by the same few calls, which take no longer than those of a small one`, async () => {
  await add(api, 'few', { id: 'few-1' });
  await add(api, 'many', { id: 'many-1' });
  await sql('alter table item disable trigger user');
  await sql(`insert into item (kind, id, queue, state, rank, body, content_hash, version, created_at, available_at,
        first_available_at, event_seq, last_event, last_actor, updated_at)
      select 'ticket', 'many-' || n, 'many', 'ready', n, '{}', '\\x00', nextval('item_version'), t.at, t.at, t.at, 1,
        'created', 'loader', now()
      from generate_series(2, ${MANY}) n cross join lateral (select now() - interval '1 day' - n * interval '1 ms' as at) t`);
  await sql('alter table item enable trigger user');
  await sql('analyze item');
  const page = await browser.open(at('/queues/ticket/few'));
  const calls = callsOf(page);
  const opened = async (queue: string, id: string) => {
    calls.length = 0;
    const begun = performance.now();
    await page.goto(at(`/queues/ticket/${queue}`));
    await row(page, id).waitFor();
    const took = performance.now() - begun;
    return { took, asked: calls.filter((path) => path.startsWith('/v1/') && path !== '/v1/feed').sort() };
  };
  await opened('few', 'few-1');
  const few = await opened('few', 'few-1');
  const many = await opened('many', 'many-1');
  const name = (path: string) => path.replace('many', 'few');
  expect(many.asked.map(name)).toEqual(few.asked);
  expect(many.took).toBeLessThan(3 * few.took + 500);
});

test('S4.9 a topic lists what its jobs say, sentences first; its list, figures and settings lead to each other', async () => {
  const body = { by: 'user_1', at: '2026-03-14', text: 'not paid by then', n: 3 };
  await api.post('/v1/jobs', { command: 'add', topic: 'bills', id: 'bill-1', body });
  const page = await browser.open(`${api.url}/queues/job/bills`);
  const cells = tableRows(page, 'bill-1').getByRole('cell');
  expect(await cells.filter({ hasText: 'paid' }).textContent()).toBe('not paid by then');
  await page.getByRole('link', { name: 'Topic settings' }).click();
  await page.getByRole('heading', { level: 1, name: 'Topic bills' }).waitFor();
  await page.getByRole('link', { name: 'Jobs', exact: true }).click();
  await tableRows(page, 'bill-1').waitFor();
});

test('S4.9 a filter and the button that shows its list stand in one line at 1280', async () => {
  const page = await browser.open(`${api.url}/search`, { viewport: { width: 1280, height: 800 } });
  const top = async (part: Locator) => Math.round((await part.boundingBox())?.y ?? 0);
  const kind = page.getByLabel('Kind');
  expect(await top(page.getByRole('button', { name: 'Show', exact: true }))).toBe(await top(kind));
});

test('S4.9 a lead adds a ticket, a job and a case by hand; what is no JSON is said before anything is sent', async () => {
  await court(api, 'by-hand');
  await api.put('/v1/queues/by-hand', {});
  await api.put('/v1/topics/by-hand', {});
  const page = await browser.open(at('/queues/ticket/by-hand'));
  await press(page, 'Add ticket');
  const dialog = page.getByRole('dialog');
  await submit(dialog, { 'Content (JSON)': '{"text": ', Id: 'hand-1', Priority: '7' }, 'Add ticket');
  await sees(dialog, 'Is not JSON.');
  await submit(dialog, { 'Content (JSON)': '{"text": "a scam?"}' }, 'Add ticket');
  await row(page, 'hand-1').waitFor();
  expect(await ticket(api, 'hand-1')).toMatchObject({ body: { text: 'a scam?' }, priority: 7, queue: 'by-hand' });
  for (const [kind, label] of [
    ['job', 'Add job'],
    ['case', 'Add case'],
  ] as const) {
    await page.goto(at(`/queues/${kind}/by-hand`));
    await press(page, label);
    await submit(dialog, { 'Content (JSON)': '{"n": 1}', Id: `hand-${kind}` }, label);
    await row(page, `hand-${kind}`).waitFor();
  }
  expect((await api.get('/v1/jobs/hand-job')).body).toMatchObject({ topic: 'by-hand', body: { n: 1 }, priority: 1024 });
});
