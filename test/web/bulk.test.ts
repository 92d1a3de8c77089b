import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { useBrowser } from '../support/browser.ts';
import { claimOne, type Json, repeat } from '../support/client.ts';
import { startTestSystem } from '../support/system.ts';
import { add, addMany, ticket } from '../support/tickets.ts';
import { fill, holdBack, press, sees, submit } from './page.ts';

const { api } = await startTestSystem();

const at = (path: string) => `${api.url}${path}`;
const row = (page: Page, id: string) => page.getByRole('rowheader', { name: id, exact: true });

const browser = useBrowser();

test('S0.4 bulk invalidation: the preview is what is then invalidated, and nothing that came after it', async () => {
  const sent = repeat(40, (n) => ({ id: `b-${n}`, priority: n % 4 }));
  await addMany(api, 'bulk', sent);
  const holder = await claimOne(api, 'bulk', 'anna');
  const page = await browser.open(at('/queues/ticket/bulk'));
  await press(page, 'Invalidate several');
  const dialog = page.getByRole('dialog', { name: 'Invalidate tickets of bulk' });
  await submit(dialog, { State: 'Waiting', 'Priority below': '2', Reason: 'campaign is over' }, 'Preview');
  await sees(dialog, 'It hits 20 tickets.');
  const sample = await dialog.getByRole('link').allTextContents();
  expect(sample.length).toBe(8);
  expect((await ticket(api, 'b-0')).state).toBe('waiting');
  await add(api, 'bulk', { id: 'late', priority: 0 });
  await press(dialog, 'Invalidate 20');
  await sees(page, '20 tickets have been invalidated.');
  const { body } = await api.get('/v1/tickets?queue=bulk&state=invalidated&limit=500');
  expect(body.items.length).toBe(20);
  for (const { invalidation, priority } of body.items)
    expect([invalidation.reason, priority < 2]).toEqual(['campaign is over', true]);
  const hit = body.items.map((one: Json) => one.id);
  for (const link of sample) expect(hit).toContain(link.split(' ')[0]);
  expect([(await ticket(api, 'late')).state, (await ticket(api, holder.id)).state]).toEqual(['waiting', 'held']);
});

test('S0.4 a preview that comes when the filter is another one by then is not shown', async () => {
  await addMany(api, 'slow', [{ id: 's-0' }, { id: 's-1', priority: 5 }]);
  const page = await browser.open(at('/queues/ticket/slow'));
  const letGo = await holdBack(page, '**/v1/queues/slow/invalidate');
  await press(page, 'Invalidate several');
  const dialog = page.getByRole('dialog');
  const answered = page.waitForResponse('**/v1/queues/slow/invalidate');
  await press(dialog, 'Preview');
  await fill(dialog, { 'Priority below': '5' });
  letGo();
  await answered;
  await dialog.getByText('Loading').waitFor({ state: 'detached' });
  expect(await dialog.getByText(/It hits/).count()).toBe(0);
  await press(dialog, 'Preview');
  await sees(dialog, 'It hits 1 ticket.');
});

test('a changed filter asks for another preview, and a bulk invalidation without a reason does nothing', async () => {
  await addMany(api, 'again', [{ id: 'g-0' }, { id: 'g-1', priority: 5 }]);
  const page = await browser.open(at('/queues/ticket/again'));
  await press(page, 'Invalidate several');
  const dialog = page.getByRole('dialog');
  await press(dialog, 'Preview', 'Invalidate 2');
  await dialog.getByRole('alert').waitFor();
  expect((await ticket(api, 'g-0')).state).toBe('waiting');
  await fill(dialog, { 'Priority below': '5' });
  await dialog.getByRole('button', { name: 'Invalidate 2' }).waitFor({ state: 'detached' });
  await press(dialog, 'Preview');
  await sees(dialog, 'It hits 1 ticket.');
});

test('a list that is filtered by what invalidation does not know names that filter, and only what is selected is hit', async () => {
  await addMany(api, 'spam', [
    { id: 'm-0', subject: 'u-1', category: 'shop' },
    { id: 'm-1', subject: 'u-2', category: 'shop' },
  ]);
  const page = await browser.open(
    at('/queues/ticket/spam?subject=u-1&category=shop&createdBefore=2999-01-01T00:00:00Z'),
  );
  await row(page, 'm-0').waitFor();
  await press(page, 'Invalidate several');
  const dialog = page.getByRole('dialog');
  await sees(dialog, /filtered by more: Subject, Category\./);
  expect(await dialog.getByRole('button', { name: 'Preview' }).count()).toBe(0);
  await press(dialog, 'Close');
  await fill(page, { 'Select all that are shown': true });
  await press(page, 'Invalidate 1 selected');
  await submit(dialog, { Reason: 'spam' }, 'Preview');
  await sees(dialog, 'It hits 1 ticket.');
  await press(dialog, 'Invalidate 1');
  await sees(page, '1 ticket has been invalidated.');
  expect([(await ticket(api, 'm-0')).state, (await ticket(api, 'm-1')).state]).toEqual(['invalidated', 'waiting']);
  await page.goto(at('/queues/ticket/spam?state=invalidated'));
  await press(page, 'Invalidate several');
  await sees(dialog, /filtered by more: State\./);
});

test('S3.2 jobs that are selected are kicked, buried and deleted, after a preview of those whose state allows it', async () => {
  const command = (body: Json) => api.post('/v1/jobs', body);
  for (const delay of [0, 600, 600])
    await command({ command: 'add', topic: 'fax', id: `fax-${delay}-${Math.random()}`, delay, body: 1 });
  const { id, token } = (await command({ command: 'pop', topic: 'fax' })).body;
  await command({ command: 'release', id, token, reason: 'out of paper' });
  const page = await browser.open(at('/queues/job/fax'));
  await row(page, id).waitFor();
  await sees(page.getByRole('row', { name: id }), 'out of paper');
  expect(await page.getByRole('button', { name: /selected/ }).count()).toBe(0);
  const act = async (label: string, n: string, said: string, fields = {}) => {
    await fill(page, { 'Select all that are shown': true });
    await press(page, `${label} 3 selected`);
    const dialog = page.getByRole('dialog', { name: `${label} jobs of fax` });
    await submit(dialog, fields, 'Preview');
    await sees(dialog, `It hits ${n}`);
    const text = await dialog.textContent();
    await press(dialog, new RegExp(`^${label} \\d$`));
    await sees(page, said);
    await page.getByRole('dialog').waitFor({ state: 'hidden' });
    return text;
  };
  const states = async () =>
    (await api.get('/v1/topics/fax/jobs')).body.items.map((job: Json) => [job.state, job.lastReason]).sort();
  expect(await act('Kick', '2 jobs.', '2 jobs have been kicked.')).toContain('left as they are: 1');
  expect(await states()).toEqual([
    ['ready', null],
    ['ready', null],
    ['ready', 'out of paper'],
  ]);
  await act('Bury', '3 jobs.', '3 jobs have been buried.', { 'Reason (may be left out)': 'the line is cut' });
  expect(await states()).toEqual(Array(3).fill(['buried', 'the line is cut']));
  await page.getByRole('cell', { name: 'the line is cut' }).first().waitFor();
  await act('Delete', '3 jobs.', '3 jobs have been deleted.');
  expect((await states()).map(([state]: string[]) => state)).toEqual(Array(3).fill('deleted'));
});

test('S4.9 a preview names what turns or hides its text, as the page of the ticket does, and keeps emoji whole', async () => {
  const family = '👨\u200d👩\u200d👧\u200d👦';
  await add(api, 'marked', {
    id: 'turned-1',
    body: { text: `see ${family} and\nuser\u202egnp\u200b\u200b exe`, more: 'of ❤️ it' },
  });
  const page = await browser.open(at('/queues/ticket/marked'));
  await row(page, 'turned-1').waitFor();
  const preview = page.locator('.list-content');
  expect(await preview.textContent()).toBe(`see ${family} and userU+202EgnpU+200B × 2 exe · of ❤️ it`);
  expect(await preview.locator('.body-mark').allTextContents()).toEqual(['U+202E', 'U+200B × 2']);
});
