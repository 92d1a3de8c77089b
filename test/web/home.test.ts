import { expect, test } from 'vitest';
import { describeInBrowser, seriousFindings, useBrowser } from '../support/browser.ts';
import { claimOne } from '../support/client.ts';
import { startTestSystem } from '../support/system.ts';

const system = await startTestSystem();
const { api } = system;

describeInBrowser('the overview', () => {
  const browser = useBrowser();

  test('S4.9 counts change within a second of a claim that is made elsewhere', async () => {
    for (let n = 0; n < 3; n++) await api.post('/v1/queues/live/tickets', { id: `live-${n}`, body: { n } });
    const page = await browser.open(api.url);
    const row = page.getByRole('row').filter({ has: page.getByRole('rowheader', { name: 'live' }) });
    await row.getByRole('cell').nth(0).getByText('3', { exact: true }).waitFor();
    await page.getByText('Live', { exact: true }).waitFor();
    await claimOne(api, 'live', 'anna');
    await row.getByRole('cell').nth(0).getByText('2', { exact: true }).waitFor({ timeout: 1_000 });
    expect(await row.getByRole('cell').nth(1).textContent()).toBe('1');
  });

  test.each(['light', 'dark'] as const)('axe finds nothing serious, %s', async (theme) => {
    const page = await browser.open(api.url, { theme });
    await page.getByRole('heading', { name: 'Review queues' }).waitFor();
    expect(await seriousFindings(page)).toEqual([]);
  });
});
