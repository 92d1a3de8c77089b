import { expect, test } from 'vitest';
import { seriousFindings, useBrowser } from '../support/browser.ts';
import { addCase, court } from '../support/cases.ts';
import { claimOne, eventually } from '../support/client.ts';
import { startReceiver } from '../support/receiver.ts';
import { startTestSystem } from '../support/system.ts';
import { addTask, addTemplate, putGroup } from '../support/tasks.ts';
import { add } from '../support/tickets.ts';
import { callsOf, press, sees, tableRows } from './page.ts';

const system = await startTestSystem();
const { api } = system;
await add(api, 'always', { id: 'always-1' });

const browser = useBrowser();

test('S4.9 counts change within a second of a claim that is made elsewhere', async () => {
  const claims = 5;
  for (let n = 0; n < claims; n++) await add(api, 'live', { id: `live-${n}` });
  const page = await browser.open(api.url);
  const row = tableRows(page, 'live');
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
  await court(api, 'appeals', { options: ['keep', 'remove'], votesToWin: 2 });
  await addCase(api, 'appeals', { id: 'case-1' });
  await putGroup(api, 'raters', ['u1', 'u2', 'u3']);
  await addTemplate(api, 'plain');
  await addTask(api, { id: 'task-1', executor: 'gid_raters', startTime: '2999-01-02T03:04:05.678Z' });
  const page = await browser.open(api.url);
  const row = (name: string) => tableRows(page, name);
  for (const name of ['mails', 'appeals']) {
    await row(name).waitFor();
    expect((await row(name).getByRole('cell').allTextContents()).slice(0, 2)).toEqual(['1', '0']);
  }
  await row('raters').getByRole('cell').nth(1).getByText('1', { exact: true }).waitFor();
  for (const [name, path] of Object.entries({ mails: '/queues/job/mails', raters: '/tasks/groups/raters' }))
    expect(await row(name).getByRole('link').getAttribute('href')).toBe(path);
});

test('what needs someone stands on top, each with a link to it, and leaves when it is over', async () => {
  const receiver = await startReceiver(() => 410);
  await add(api, 'refused', { id: 'refused-1', callback: receiver.callback });
  await api.post('/v1/tickets/refused-1/resolve', { decision: 'keep', reason: 'seen' });
  await eventually(async () => (await api.get('/v1/deliveries?state=failed')).body.items.length === 1);
  await add(api, 'stopped', { id: 'stopped-1' });
  await api.post('/v1/queues/stopped/pause');
  await api.put('/v1/queues/slow', { escalations: [{ afterSeconds: 60, priority: 5 }] });
  await add(api, 'slow', { id: 'slow-1', createdAt: new Date(Date.now() - 7_300_000).toISOString() });
  await system.sql(
    `insert into parked values ('ticket', 'always-1', clock_timestamp() + interval '1 minute', 'broken')`,
  );
  await add(api, 'ruled', { id: 'ruled-1' });
  await system.sql(`update item set rules_due_at = clock_timestamp() + interval '5 minutes' where id = 'ruled-1'`);
  const page = await browser.open(api.url);
  const attention = page.getByRole('region', { name: 'Needs attention' });
  const line = (text: string) => attention.getByRole('listitem').filter({ hasText: text });
  await line('1 item is parked').getByRole('link', { name: 'always-1' }).waitFor();
  await line('slow: the oldest item has been waiting for 2 h 1 min, the target is 1 min').waitFor();
  await line("ruled: 1 ticket is held back: the queue's rules").getByRole('link', { name: 'ruled' }).waitFor();
  // PostgreSQL of the tests syncs nothing
  await line('PostgreSQL has settings that lose data').waitFor();
  expect(await attention.getByRole('listitem').count()).toBe(6);
  await line('stopped: paused while 1 item waits').getByRole('link', { name: 'stopped' }).click();
  await page.getByRole('heading', { level: 1, name: 'Queue stopped' }).waitFor();
  await api.post('/v1/queues/stopped/resume');
  await system.sql('delete from parked; update item set rules_due_at = null');
  await api.post('/v1/tickets/slow-1/resolve', { decision: 'keep', reason: 'seen' });
  await page.goBack();
  await line('1 delivery has failed for good').getByRole('link', { name: 'refused' }).click();
  await page.getByRole('rowheader', { name: 'refused-1' }).waitFor();
  await press(page, 'Redeliver');
  await page.goBack();
  await line('1 delivery has failed').waitFor();
  expect(await attention.getByRole('listitem').count()).toBe(2);
});

test('an item that begins to wait too long is shown without a refresh, after the next event', async () => {
  await api.put('/v1/queues/soon', { escalations: [{ afterSeconds: 60, priority: 5 }] });
  const page = await browser.open(api.url);
  await page.getByText('Live', { exact: true }).waitFor();
  await add(api, 'soon', { id: 'soon-1', createdAt: new Date(Date.now() - 120_000).toISOString() });
  const attention = page.getByRole('region', { name: 'Needs attention' });
  await attention.getByRole('link', { name: 'soon' }).waitFor();
  await api.post('/v1/tickets/soon-1/resolve', { decision: 'keep', reason: 'seen' });
  await attention.getByRole('link', { name: 'soon' }).waitFor({ state: 'detached' });
});

test('while nothing happens, nothing is asked for', async () => {
  const page = await browser.prepare(api.url);
  await page.clock.install();
  await page.goto(api.url);
  await page.getByText('Live', { exact: true }).waitFor();
  await page.getByRole('rowheader', { name: 'always' }).waitFor();
  const asked = callsOf(page);
  const pass = async (seconds: number) => {
    for (let s = 0; s < seconds; s += 2) {
      await page.clock.runFor(2_000);
      // calls need time of the real clock
      await page.evaluate(() => fetch('/livez').then((answer) => answer.text()));
    }
  };
  // what events before have asked for comes later, if it is dear to answer
  await pass(12);
  asked.length = 0;
  // for longer, the page would miss the signs of life of its feed, which go by another clock
  await pass(10);
  expect(asked.filter((path) => path !== '/livez')).toEqual([]);
});

test('S4.9 without a worker that publishes, this stands on top, and after half a minute how much publishing is behind', async () => {
  const lonely = await startTestSystem({}, { role: 'api' });
  await lonely.api.tickets.addMany('left', ['left-1', 'left-2']);
  const page = await browser.open(lonely.api.url);
  await sees(page, 'No worker publishes');
  expect(await page.getByText('Publishing is behind').count()).toBe(0);
  await lonely.sql(`update event set at = at - interval '41 seconds'`);
  await page.reload();
  await sees(page, /Publishing is behind by \d+ s.*Temporal has yet to receive \d changes/);
});

test('S4.9 a thousand queues cost a handful of calls, and the one that waits the longest stands on top', async () => {
  const many = await startTestSystem({}, { role: 'api' });
  await many.api.put('/v1/queues/forgotten', { deadlineSeconds: 4 * 3_600 });
  await many.api.post('/v1/queues/forgotten/tickets', {
    ...{ id: 'forgotten', body: {} },
    createdAt: new Date(Date.now() - 3.5 * 3_600_000).toISOString(),
  });
  await many.sql(`insert into queue (kind, name) select 'ticket', 'queue-' || n from generate_series(1, 1000) n`);
  const page = await browser.prepare(many.api.url);
  const asked = callsOf(page);
  await page.goto(many.api.url);
  await sees(page, 'the oldest item has been waiting for 3 h 30 min');
  await page.getByRole('rowheader', { name: 'queue-1000' }).waitFor();
  expect(asked.filter((path) => path.startsWith('/v1/')).length).toBeLessThan(15);
  const before = await page.getByRole('rowheader').count();
  await press(page, 'Show more: Review queues');
  await page.getByRole('rowheader', { name: 'queue-940' }).waitFor();
  expect(await page.getByRole('rowheader').count()).toBe(2 * before);
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
