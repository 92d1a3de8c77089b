import type { Locator, Page } from 'playwright-core';
import type { TestBrowser } from './browser.ts';
import { type Client, repeat } from './client.ts';
import { addMany, configure } from './tickets.ts';

export const ticketHeading = (page: Page, id: string): Locator =>
  page.getByRole('heading', { name: `Ticket ${id}`, exact: true });

/** Opens anna's review desk of a queue with so many tickets, `<queue>-0` and on, and waits for the first one. */
export const deskOn =
  ({ open }: TestBrowser, api: Client) =>
  async (queue: string, tickets = 1, settings: object = {}): Promise<Page> => {
    await configure(api, queue, settings);
    const sent = repeat(tickets, (n) => ({ id: `${queue}-${n}`, body: { n } }));
    await addMany(api, queue, sent);
    const page = await open(`${api.url}/desk/${queue}`, { person: 'anna' });
    await ticketHeading(page, `${queue}-0`).waitFor();
    return page;
  };
