import type { Locator, Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { seriousFindings, useBrowser } from '../support/browser.ts';
import { claimOne, eventually } from '../support/client.ts';
import { startReceiver } from '../support/receiver.ts';
import { startTestSystem } from '../support/system.ts';
import { add, configure, decide } from '../support/tickets.ts';

const system = await startTestSystem();
const { api } = system;

/** Decides a ticket whose receiver answers so, and waits for what becomes of its delivery. */
async function delivered(queue: string, id: string, state: string): Promise<void> {
  await add(api, queue, { id });
  await decide(api, await claimOne(api, queue, `who-${id}`));
  await eventually(async () => {
    const { body } = await api.get(`/v1/tickets/${id}/deliveries`);
    return body.items[0]?.state === state && (state !== 'pending' || body.items[0].attempts > 0);
  });
}

const table = (page: Page, name: string) =>
  page.getByRole('table').and(page.getByLabel(name)).or(page.getByLabel(name));
const row = (page: Page, id: string) => page.getByRole('row').filter({ has: page.getByRole('link', { name: id }) });

describe('deliveries of all items', () => {
  const browser = useBrowser();

  test('S0.10 all that is undelivered, with its cause; one and then several are sent again once the receiver is back', async () => {
    let isBack = false;
    const receiver = await startReceiver(() => (isBack ? 204 : 410));
    await configure(api, 'hooks', { callback: receiver.callback });
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
    await failed.getByLabel('Choose all that are shown').check();
    await failed.getByRole('button', { name: 'Redeliver 2' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Redeliver 2' }).click();
    await page.getByText('2 deliveries are being sent again.').waitFor();
    await eventually(async () => {
      const { body } = await api.get('/v1/deliveries?queue=hooks&state=delivered');
      return body.items.length === 3;
    });
    // a delivery may stand in both tables for a moment, because each is asked for by itself
    await eventually(async () => (await row(page, 'h-2').count()) + (await row(page, 'h-3').count()) === 0);
    expect(receiver.received.length).toBe(6);
    const ids = receiver.received.map(({ headers }) => headers['webhook-id']);
    expect(new Set(ids).size).toBe(3);
  });

  test('all cells of a row begin on one line, however long the cause is', async () => {
    const callback = { url: 'http://receiver.invalid/decisions', secret: `whsec_${'QUJD'.repeat(8)}` };
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
    const down = await startReceiver(() => 503);
    await configure(api, 'down', { callback: down.callback });
    await delivered('down', 'd-1', 'pending');
    const up = await startReceiver();
    await configure(api, 'up', { callback: up.callback });
    await delivered('up', 'u-1', 'delivered');
    const page = await browser.open(`${api.url}/deliveries`);
    await row(page, 'd-1').getByText('HTTP 503').waitFor();
    await page.getByRole('columnheader', { name: 'Next attempt' }).waitFor();
    expect(await row(page, 'u-1').count()).toBe(0);
    await page.getByLabel('State', { exact: true }).selectOption('Delivered');
    await page.getByLabel('Kind', { exact: true }).selectOption('Tickets');
    await page.getByLabel('Queue, topic or court').fill('up');
    await page.getByRole('button', { name: 'Show' }).click();
    await row(page, 'u-1').waitFor();
    expect(new URL(page.url()).search).toBe('?state=delivered&kind=ticket&queue=up');
    await page.getByLabel('Host of the receiver').fill(new URL(down.url).host);
    await page.getByRole('button', { name: 'Show' }).click();
    await page.getByText('Nothing.').waitFor();
    await page.goBack();
    await row(page, 'u-1').getByRole('link').click();
    await page.getByRole('heading', { level: 1, name: 'Ticket u-1' }).waitFor();
  });

  test('S4.9 a new failure shows by itself, also in Chinese', async () => {
    const page = await browser.open(`${api.url}/deliveries?queue=late`, { language: 'zh' });
    await page.getByRole('heading', { level: 1, name: '投递' }).waitFor();
    const gone = await startReceiver(() => 410);
    await configure(api, 'late', { callback: gone.callback });
    await delivered('late', 'l-1', 'failed');
    await eventually(async () => (await table(page, '最终失败').first().textContent())?.includes('l-1'));
    await row(page, 'l-1').getByRole('button', { name: '重新投递' }).first().waitFor();
  });

  test.each([
    ['light', 1280],
    ['dark', 390],
  ] as const)('axe finds nothing serious, %s at %i px, and nothing is wider than the window', async (theme, width) => {
    const gone = await startReceiver(() => 410);
    await configure(api, 'axe', { callback: gone.callback });
    await delivered('axe', `axe-${theme}`, 'failed');
    const page = await browser.open(`${api.url}/deliveries`, { theme, viewport: { width, height: 800 } });
    await row(page, `axe-${theme}`).waitFor();
    expect(await seriousFindings(page)).toEqual([]);
    expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true);
  });
});
