import type { Locator, Page } from 'playwright-core';
import type { TestBrowser } from '../support/browser.ts';
import { type Client, repeat } from '../support/client.ts';
import { addMany, configure } from '../support/tickets.ts';

export const ticketHeading = (page: Page, id: string): Locator =>
  page.getByRole('heading', { name: `Ticket ${id}`, exact: true });

/** Waits until a ticket has been there for as long as it takes to be seen: keys and clicks before that decide nothing. */
export async function seen(page: Page, id: string): Promise<void> {
  await ticketHeading(page, id).waitFor();
  // by the page's own clock, behind what it does once it has drawn the ticket: a busy machine draws late
  await page.evaluate(() => new Promise((seen) => requestAnimationFrame(() => setTimeout(seen, 350))));
}

/** Opens anna's review desk of a queue with so many tickets, `<queue>-0` and on, and waits until the first one is seen. */
export const deskOn =
  ({ open }: TestBrowser, api: Client) =>
  async (queue: string, tickets = 1, settings: object = {}): Promise<Page> => {
    await configure(api, queue, settings);
    const sent = repeat(tickets, (n) => ({ id: `${queue}-${n}`, body: { n } }));
    await addMany(api, queue, sent);
    const page = await open(`${api.url}/desk/${queue}`, { person: 'anna' });
    await seen(page, `${queue}-0`);
    return page;
  };
