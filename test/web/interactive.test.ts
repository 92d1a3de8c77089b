import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { useBrowser } from '../support/browser.ts';
import { eventually } from '../support/client.ts';
import { startTestSystem } from '../support/system.ts';

const { api } = await startTestSystem({}, { role: 'api' });
await eventually(async () => (await api.get('/')).status === 200, 60_000);
await api.post('/v1/queues/always/tickets', { id: 'always-1', body: {} });

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

/** ms until the browser has loaded it. */
async function loaded(page: Page): Promise<number> {
  await page.goto(api.url);
  return page.evaluate<number>("performance.getEntriesByType('navigation')[0].loadEventEnd");
}

/** ms until the overview has reacted to a key. */
async function reacted(page: Page): Promise<number> {
  await page.addInitScript(NOTE);
  await page.goto(api.url);
  await page.getByRole('dialog').waitFor();
  return page.evaluate<number>('reactedMs');
}

describe('the first visit', () => {
  const browser = useBrowser();

  test('S4.9 the overview reacts to a key not much later than the browser shows an empty page from the same server', async () => {
    const took = { empty: [] as number[], overview: [] as number[] };
    for (let n = 0; n < ROUNDS; n++) {
      // each with a cache of its own
      took.empty.push(await loaded(await browser.prepare(api.url, { javaScriptEnabled: false })));
      took.overview.push(await reacted(await browser.prepare(api.url)));
    }
    const [floor, overview] = [median(took.empty), median(took.overview)];
    expect(overview / floor, `${overview} ms, an empty page ${floor} ms`).toBeLessThan(MOST);
  });
});
