import type { Locator, Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { useBrowser } from '../support/browser.ts';
import { claimOne, eventually } from '../support/client.ts';
import { press, sees, submit } from '../support/page.ts';
import { type Receiver, SECRET, startReceiver } from '../support/receiver.ts';
import { startTestSystem } from '../support/system.ts';
import { add, configure, decide } from '../support/tickets.ts';

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
  await submit(failed, { 'Choose all that are shown': true }, 'Redeliver 2');
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
  expect(Math.max(...tops) - Math.min(...tops)).toBeLessThan(15);
  expect((await cause.boundingBox())?.height).toBeGreaterThan(40);
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
