import { expect, test } from 'vitest';
import { describeInBrowser, seriousFindings, useBrowser } from '../support/browser.ts';
import { claimOne, eventually } from '../support/client.ts';
import { startReceiver } from '../support/receiver.ts';
import { startTestSystem } from '../support/system.ts';

const system = await startTestSystem();
const { api } = system;
const addTicket = (queue: string, id: string, more: object = {}) =>
  api.post(`/v1/queues/${queue}/tickets`, { id, body: { text: id }, ...more });
await addTicket('always', 'always-1');

describeInBrowser('the overview', () => {
  const browser = useBrowser();

  test('S4.9 counts change within a second of a claim that is made elsewhere', async () => {
    const claims = 5;
    for (let n = 0; n < claims; n++) await addTicket('live', `live-${n}`);
    const page = await browser.open(api.url);
    const row = page.getByRole('row').filter({ has: page.getByRole('rowheader', { name: 'live' }) });
    const [waiting, held] = [row.getByRole('cell').nth(0), row.getByRole('cell').nth(1)];
    await waiting.getByText(String(claims), { exact: true }).waitFor();
    await page.getByText('Live', { exact: true }).waitFor();
    const took: number[] = [];
    for (let n = 1; n <= claims; n++) {
      const start = performance.now();
      await claimOne(api, 'live', `reviewer-${n}`);
      await held.getByText(String(n), { exact: true }).waitFor();
      took.push(performance.now() - start);
      expect(await waiting.textContent()).toBe(String(claims - n));
    }
    // the best of five: a machine that stalls says nothing about the way that the news takes
    expect(Math.min(...took)).toBeLessThan(1_000);
  });

  test('S4.9 queues, topics, courts and groups are all there, with their figures', async () => {
    await api.post('/v1/jobs', { command: 'add', id: 'job-1', topic: 'mails', body: {} });
    await api.put('/v1/courts/appeals', { options: ['keep', 'remove'], votesToWin: 2 });
    await api.post('/v1/courts/appeals/cases', { id: 'case-1', body: {} });
    await api.put('/v1/groups/raters', { members: ['u1', 'u2', 'u3'] });
    const page = await browser.open(api.url);
    const cells = async (name: string) => {
      const row = page.getByRole('row').filter({ has: page.getByRole('rowheader', { name, exact: true }) });
      await row.waitFor();
      return row.getByRole('cell').allTextContents();
    };
    expect((await cells('mails')).slice(0, 2)).toEqual(['1', '0']);
    expect((await cells('appeals')).slice(0, 2)).toEqual(['1', '0']);
    expect((await cells('raters'))[0]).toBe('3');
  });

  test('what needs someone stands on top: an outcome that a receiver refuses for good, a paused queue', async () => {
    const receiver = await startReceiver(() => 410);
    await addTicket('refused', 'refused-1', { callback: receiver.callback });
    await api.post('/v1/tickets/refused-1/resolve', { decision: 'keep', reason: 'seen' });
    await eventually(async () => (await api.get('/v1/deliveries?state=failed')).body.items.length === 1);
    await addTicket('stopped', 'stopped-1');
    await api.post('/v1/queues/stopped/pause');
    const page = await browser.open(api.url);
    const attention = page.getByRole('region', { name: 'Needs attention' });
    await attention.getByText('1 delivery has failed for good').waitFor();
    await attention.getByText('stopped is paused while 1 item waits').waitFor();
    await api.post('/v1/queues/stopped/resume');
    await page.getByRole('button', { name: 'Refresh' }).click();
    await attention.getByText('stopped is paused').waitFor({ state: 'detached' });
  });

  test('without a worker that publishes, this stands on top', async () => {
    const lonely = await startTestSystem({}, { role: 'api' });
    const page = await browser.open(lonely.api.url);
    await page.getByText('No worker publishes').waitFor();
  });

  test('S4.9 a thousand queues cost a handful of calls, and the one that waits the longest stands on top', async () => {
    const many = await startTestSystem({}, { role: 'api' });
    await many.api.post('/v1/queues/forgotten/tickets', { id: 'forgotten', body: {} });
    await many.sql(`insert into queue (kind, name) select 'ticket', 'queue-' || n from generate_series(1, 1000) n`);
    await many.sql(`update item set first_available_at = first_available_at - interval '3 hours'`);
    const page = await browser.prepare(many.api.url);
    const asked: string[] = [];
    page.on('request', (request) => asked.push(new URL(request.url()).pathname));
    await page.goto(many.api.url);
    await page.getByText('forgotten: the oldest item has been waiting for 3 h').waitFor();
    await page.getByRole('rowheader', { name: 'queue-1000' }).waitFor();
    expect(asked.filter((path) => path.startsWith('/v1/')).length).toBeLessThan(15);
    const before = await page.getByRole('rowheader').count();
    await page.getByRole('button', { name: 'Show more: Review queues' }).click();
    await page.getByRole('rowheader', { name: 'queue-940' }).waitFor();
    expect(await page.getByRole('rowheader').count()).toBe(2 * before);
  });

  test.each(['light', 'dark'] as const)('axe finds nothing serious, %s', async (theme) => {
    const page = await browser.open(api.url, { theme });
    await page.getByRole('rowheader', { name: 'always' }).waitFor();
    expect(await seriousFindings(page)).toEqual([]);
    await page.getByRole('button', { name: 'Keyboard help' }).click();
    await page.getByRole('dialog').waitFor();
    expect(await seriousFindings(page)).toEqual([]);
  });

  test('at 390 px nothing is wider than the screen, and the menu leads everywhere', async () => {
    const page = await browser.open(api.url, { viewport: { width: 390, height: 844 } });
    await page.getByRole('rowheader', { name: 'always' }).waitFor();
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(390);
    await page.locator('summary').click();
    await page.getByRole('link', { name: 'Overview' }).click();
    await page.getByRole('navigation').waitFor({ state: 'detached' });
    expect(await seriousFindings(page)).toEqual([]);
  });
});
