import type { Locator, Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { seriousFindings, useBrowser } from '../support/browser.ts';
import { claimOne, eventually, insist } from '../support/client.ts';
import { type Receiver, SECRET, startReceiver } from '../support/receiver.ts';
import { startTestSystem } from '../support/system.ts';
import { add, configure, decide, ticket } from '../support/tickets.ts';
import { region } from './numbers.ts';
import { fill, press, sees, submit, tableRows } from './page.ts';

const { api } = await startTestSystem();

/** A receiver of the queue's callbacks. */
async function receiving(queue: string, answer: () => number): Promise<Receiver> {
  const receiver = await startReceiver(answer);
  await configure(api, queue, { callback: receiver.callback });
  return receiver;
}

/** Decides a ticket whose receiver answers so, and waits for what becomes of its delivery. */
async function delivered(queue: string, id: string, state: string): Promise<void> {
  await add(api, queue, { id });
  await decide(api, await claimOne(api, queue, `who-${id}`));
  await eventually(async () => {
    const [first] = (await api.get(`/v1/tickets/${id}/deliveries`)).body.items;
    return first?.state === state && (state !== 'pending' || first.attempts > 0);
  });
}

const row = (page: Page, id: string) => page.getByRole('row').filter({ has: page.getByRole('link', { name: id }) });

const browser = useBrowser();

test('S0.10 all that is undelivered, with its cause; one and then several are sent again once the receiver is back', async () => {
  let isBack = false;
  const receiver = await receiving('hooks', () => (isBack ? 204 : 410));
  for (const id of ['h-1', 'h-2', 'h-3']) await delivered('hooks', id, 'failed');
  const page = await browser.open(`${api.url}/deliveries`);
  await row(page, 'h-3').waitFor();
  expect(await row(page, 'h-1').textContent()).toContain('HTTP 410');
  isBack = true;
  await row(page, 'h-1').getByRole('button', { name: 'Redeliver' }).click();
  await page.getByRole('dialog', { name: 'Send it again' }).getByRole('button', { name: 'Redeliver' }).click();
  // on its way it may be shown as pending, with boxes of its own
  await eventually(async () => (await row(page, 'h-1').count()) === 0);
  const failed = page.getByRole('region', { name: 'Failed for good' });
  await submit(failed, { 'Select all that are shown': true }, 'Redeliver 2');
  await press(page.getByRole('dialog'), 'Redeliver 2');
  await sees(page, '2 deliveries are being sent again.');
  await eventually(async () => (await api.get('/v1/deliveries?queue=hooks&state=delivered')).body.items.length === 3);
  // a delivery may stand in both tables for a moment, because each is asked for by itself
  await eventually(async () => (await row(page, 'h-2').count()) + (await row(page, 'h-3').count()) === 0);
  expect(receiver.received.length).toBe(6);
  const ids = receiver.received.map(({ headers }) => headers['webhook-id']);
  expect(new Set(ids).size).toBe(3);
});

test('all cells of a row begin on one line, however long the cause is', async () => {
  const callback = { url: 'http://receiver.invalid/decisions', secret: SECRET };
  await configure(api, 'nowhere', { callback });
  await delivered('nowhere', 'n-1', 'pending');
  const page = await browser.open(`${api.url}/deliveries?queue=nowhere`);
  const cause = row(page, 'n-1').getByText('receiver.invalid', { exact: false }).first();
  await cause.waitFor();
  const top = async (of: Locator) => (await of.boundingBox())?.y ?? Number.NaN;
  const lines = [cause, row(page, 'n-1').getByRole('link'), row(page, 'n-1').getByText('nowhere', { exact: true })];
  const tops = await Promise.all(lines.map(top));
  // a cell's text begins below its padding
  expect(Math.max(...tops) - Math.min(...tops)).toBeLessThan(20);
  expect((await cause.boundingBox())?.height).toBeGreaterThan(40);
  // an address has room, and yet all columns are in sight
  expect((await row(page, 'n-1').locator('code').boundingBox())?.width).toBeGreaterThan(150);
  const overflow = (frame: Element) => frame.scrollWidth - frame.clientWidth;
  expect(await page.locator('.table-frame').last().evaluate(overflow)).toBeLessThanOrEqual(0);
});

test('S0.10 what is pending says when it is tried next; filters by state, kind, queue and host stand in the address', async () => {
  const down = await receiving('down', () => 503);
  await delivered('down', 'd-1', 'pending');
  await receiving('up', () => 204);
  await delivered('up', 'u-1', 'delivered');
  const page = await browser.open(`${api.url}/deliveries`);
  await row(page, 'd-1').getByText('HTTP 503').waitFor();
  await page.getByRole('columnheader', { name: 'Next attempt' }).waitFor();
  expect(await row(page, 'u-1').count()).toBe(0);
  await submit(page, { State: 'Delivered', Kind: 'Tickets', 'Queue, topic or court': 'up' }, 'Show');
  await row(page, 'u-1').waitFor();
  expect(new URL(page.url()).search).toBe('?state=delivered&kind=ticket&queue=up');
  await submit(page, { 'Host of the receiver': new URL(down.url).host }, 'Show');
  await sees(page, 'Nothing.');
  await page.goBack();
  await row(page, 'u-1').getByRole('link').click();
  await page.getByRole('heading', { level: 1, name: 'Ticket u-1' }).waitFor();
});

test('S4.9 a new failure shows by itself, also in Chinese', async () => {
  const page = await browser.open(`${api.url}/deliveries?queue=late`, { language: 'zh' });
  await page.getByRole('heading', { level: 1, name: '投递' }).waitFor();
  await receiving('late', () => 410);
  await delivered('late', 'l-1', 'failed');
  await page.getByRole('region', { name: '最终失败' }).getByText('l-1').waitFor();
  await row(page, 'l-1').getByRole('button', { name: '重新投递' }).first().waitFor();
});

const form = { type: 'object', required: ['verdict'], properties: { verdict: { enum: ['keep', 'remove'] } } };
const remove = { verdict: 'remove' };

/** Decides the next ticket. */
const works = async (queue: string, who: string, decision: unknown = remove) =>
  insist(await decide(api, await claimOne(api, queue, who), decision), 'decision', 200).ticket;

test('B.2 a decision is overturned and looked at again on its page, and quality says what came of whose', async () => {
  await configure(api, 'checked', { form, second: { share: 0, compare: ['/verdict'] }, serviceSeconds: 3_600 });
  await api.put('/v1/reviewers/zoe', {});
  await api.put('/v1/reviewers/cleo', { awayUntil: '2999-01-01T00:00:00Z' });
  for (const id of ['c-1', 'c-2', 'c-3']) await add(api, 'checked', { id });
  for (const who of ['anna', 'anna', 'ben']) await works('checked', who);

  const page = await browser.open(`${api.url}/queues/ticket/checked/quality`);
  await sees(page, 'No second look at these decisions has ended yet', '0% of the decisions by people');
  await page.goto(`${api.url}/items/ticket/c-1`);
  await sees(page, 'Nobody has looked at this decision again.');
  await press(page, 'Overturn');
  const dialog = page.getByRole('dialog');
  await press(dialog, 'Overturn');
  await sees(dialog, 'Is required.');
  await dialog.getByLabel('keep').check();
  await submit(dialog, { Reason: 'a joke' }, 'Overturn');
  const looks = region(page, 'Second looks');
  await sees(looks, 'Overturned directly', 'overturned the decision', 'What counts now');
  expect(await looks.getByRole('listitem').last().getByRole('strong').textContent()).toBe('keep');
  expect((await ticket(api, 'c-1')).standing).toMatchObject({ decision: { verdict: 'keep' } });

  await page.goto(`${api.url}/items/ticket/c-2`);
  await press(page, 'Second look');
  await submit(dialog, { Why: 'Appeal' }, 'Second look');
  await sees(looks, 'Waiting');
  await looks.getByRole('link').click();
  await sees(page, 'This is a second look (Appeal) at');
  expect(await region(page, 'Second looks').getByRole('button').count()).toBe(0);
  const why = region(page, 'Why has no one got this?');
  await sees(why, 'Could take it now', 'Away.');
  expect(await why.getByRole('definition').allTextContents()).toEqual(['zoe', 'cleo']);
  await works('checked', 'zoe');

  await page.goto(`${api.url}/queues/ticket/checked/quality`);
  await sees(page, 'compare bars, not shares');
  const cells = async (who: string) => (await tableRows(page, who).getByRole('cell').allTextContents()).slice(0, 6);
  expect(await cells('anna')).toEqual(['2', '2', '1', '1', '50% (9.5% – 90.5%)', '0 (n = 2)']);
  expect(await cells('ben')).toEqual(['1', '0', '0', '0', '–', '–']);
  expect(await cells('zoe')).toEqual(['1', '0', '0', '0', '–', '–']);
  expect(await page.getByRole('columnheader', { name: 'Gold' }).count()).toBe(0);
  await page.getByRole('link', { name: 'anna' }).click();
  await page.getByRole('link', { name: 'c-1' }).waitFor();
  expect(new URL(page.url()).search).toBe('?kind=ticket&queue=checked&reviewer=anna');
});

test('B.3 quality names gold that is in doubt, is downloaded, and leads to where checks are set', async () => {
  await configure(api, 'gilded', { form, gold: { share: 0.5 }, leaseSeconds: 77 });
  const gold = { id: 'known', body: {}, answer: { verdict: 'keep' } };
  insist(await api.put('/v1/queues/gilded/gold', { tickets: [gold] }), 'gold', 200);
  const { id } = await works('gilded', 'anna');
  insist(await api.post(`/v1/tickets/${id}/dispute`, { reason: 'unclear', reviewer: 'anna' }), 'dispute', 200);
  await add(api, 'gilded', { id: 'g-1' });
  await works('gilded', 'anna');
  const page = await browser.open(`${api.url}/queues/ticket/gilded`);
  await page.getByRole('link', { name: 'Quality' }).click();
  await sees(page, 'known: right 0 of 1, disputed 1');
  const cells = await tableRows(page, 'anna').getByRole('cell').allTextContents();
  expect(cells.slice(5, 7)).toEqual(['0 of 1', '0']);
  const [file] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('link', { name: 'Download CSV' }).click(),
  ]);
  expect(file.suggestedFilename()).toMatch(/csv$/);
  await page.getByRole('link', { name: 'Last 30 days' }).click();
  await page.getByRole('rowheader', { name: 'anna' }).waitFor();
  await page.getByRole('link', { name: 'Queue settings' }).click();
  const second = page.getByRole('group', { name: 'Second looks' });
  await fill(second, { Share: '0.25', Compare: '/verdict' });
  await press(page, 'Save settings');
  await sees(page, 'Saved.');
  const { second: saved, leaseSeconds } = (await api.get('/v1/queues/gilded')).body;
  expect({ ...saved, leaseSeconds }).toMatchObject({
    share: 0.25,
    compare: ['/verdict'],
    blind: true,
    leaseSeconds: 77,
  });
});

test('B.5 service: what kept its target and what did not, by the hour; a queue without a target says so', async () => {
  await configure(api, 'prompt', { form, serviceSeconds: 3_600 });
  const createdAt = new Date(Date.now() - 2 * 3_600_000).toISOString();
  for (const ticket of [{ id: 's-1' }, { id: 's-2', createdAt }]) await add(api, 'prompt', ticket);
  for (const who of ['anna', 'ben']) await works('prompt', who);
  const page = await browser.open(`${api.url}/numbers?queue=prompt`);
  await page.getByRole('link', { name: 'Service' }).click();
  const { kept, missed } = (await api.get('/v1/queues/prompt/service')).body;
  expect(kept + missed).toBe(2);
  const figures = await region(page, 'Service').getByRole('definition').allTextContents();
  expect(figures.slice(0, 4)).toEqual(['1 h', `${kept} (${(kept / 2) * 100}%)`, String(missed), '0']);
  expect(figures[4]).toMatch(/^median .*, p95 .*, p99 /);
  const chart = region(page, 'Decided by the hour').getByRole('slider');
  await eventually(async () =>
    (await chart.getAttribute('aria-valuetext'))?.includes(`Within the target ${kept}, Later ${missed}`),
  );
  await sees(region(page, 'At work now'), 'Nobody holds a ticket of this queue.');
  for (const id of ['s-3', 's-4']) await add(api, 'prompt', { id });
  await claimOne(api, 'prompt', '陈 明');
  await configure(api, 'prompt', { form });
  await page.reload();
  await sees(page, 'The queue has no target.');
  const now = region(page, 'At work now');
  await sees(tableRows(now, '陈 明'), 's-3', /\(\d+ s ago\)/);
  await sees(now, 'Last hour', /added, \d+ ended/);
  expect(await now.getByRole('definition').first().textContent()).toBe('1');
  expect(await seriousFindings(page)).toEqual([]);
  const held = (await api.get('/v1/tickets?queue=prompt&state=held')).body.items[0].id;
  const act = async (label: string, fields: Record<string, string> = {}) => {
    await now.getByRole('button', { name: `${label}: ${held}` }).click();
    const dialog = page.getByRole('dialog', { name: held });
    await fill(dialog, fields);
    await press(dialog, label);
    await dialog.waitFor({ state: 'hidden' });
  };
  await act('Keep for …', { Person: 'olga', 'For how long (seconds)': '3600' });
  expect((await api.get(`/v1/tickets/${held}`)).body.for).toBe('olga');
  await act('Release');
  await sees(now, 'Nobody holds a ticket of this queue.');
  const claim = async (reviewer: string) => (await api.post('/v1/queues/prompt/claim', { reviewer })).body;
  expect([await claim('lee'), await claim('kim'), await claim('olga')]).toMatchObject([
    { tickets: [{ for: null }] },
    { tickets: [], reasons: { forAnother: 1 } },
    { tickets: [{ id: held }] },
  ]);
  await configure(api, 'elsewhere', {});
  await tableRows(now, 'olga').waitFor();
  await act('Transfer', { 'To the queue': 'elsewhere' });
  expect((await api.get(`/v1/tickets/${held}`)).body.queue).toBe('elsewhere');
  await press(now, 'Pause');
  await page.getByRole('dialog').getByRole('button', { name: 'Pause' }).click();
  await now.getByRole('button', { name: 'Resume' }).waitFor();
  await page.getByRole('link', { name: 'Queue settings' }).click();
  await page.getByRole('textbox', { name: 'Target (seconds)' }).waitFor();
});
