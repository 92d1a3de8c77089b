import { describe, expect, test } from 'vitest';
import { useBrowser } from '../support/browser.ts';
import { eventually } from '../support/client.ts';
import { startTestSystem } from '../support/system.ts';

const { api } = await startTestSystem({}, { role: 'api' });

// A part of the story that test/api/story.test.ts plays whole, as a reader of the documentation clicks it.
const CALLS = [
  ['Queues', 'putQueue', '200'],
  ['Tickets', 'addTicket', '201'],
  ['Tickets', 'claimTickets', '200'],
] as const;

/** Swagger UI draws the whole document before anything can be clicked, and again after each answer. */
const PATIENCE = 180_000;

describe('the documentation', () => {
  const browser = useBrowser();

  test(
    'S0.9 "Execute" works as it is filled in',
    async () => {
      const page = await browser.open(`${api.url}/docs`);
      page.setDefaultTimeout(PATIENCE / 2);
      for (const [tag, operation, status] of CALLS) {
        const section = page.locator(`#operations-${tag}-${operation}`);
        await section.locator('.opblock-summary').click();
        await section.getByRole('button', { name: 'Execute' }).click();
        const answered = section.locator('.live-responses-table .response .response-col_status').first();
        await answered.waitFor();
        expect((await answered.textContent())?.trim().slice(0, 3), operation).toBe(status);
      }
      await eventually(async () => (await api.get('/v1/tickets/report-17')).body.state === 'held');
    },
    PATIENCE,
  );
});
