import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { seriousFindings, useBrowser } from '../support/browser.ts';
import { eventTypes, eventually } from '../support/client.ts';
import { startReceiver } from '../support/receiver.ts';
import { put, tell } from '../support/reviews.ts';
import { startTestSystem } from '../support/system.ts';
import { add, configure } from '../support/tickets.ts';

const system = await startTestSystem();
const { api, sql } = system;

describe('notes on a ticket', () => {
  const browser = useBrowser();
  const written = async (id: string) =>
    (await api.get(`/v1/tickets/${id}/notes`)).body.items.map(({ by, text }: { by: string; text: string }) => [
      by,
      text,
    ]);

  test('a reviewer writes a note by keys, and whoever gets the ticket next sees it', async () => {
    await add(api, 'handed', { id: 'h-1' });
    const anna = await browser.open(`${api.url}/desk/handed`, { person: 'anna' });
    await anna.getByRole('heading', { name: 'Ticket h-1' }).waitFor();
    await anna.keyboard.press('m');
    await anna.keyboard.type('1 <b>look</b> at the photo');
    await anna.keyboard.press('Tab');
    await anna.keyboard.press('Enter');
    await anna.getByRole('listitem').getByText('1 <b>look</b> at the photo').waitFor();
    expect(await anna.getByLabel('New note').inputValue()).toBe('');
    expect(await written('h-1')).toEqual([['anna', '1 <b>look</b> at the photo']]);
    expect(await seriousFindings(anna)).toEqual([]);
    await anna.getByRole('button', { name: 'Stop working' }).click();
    await anna.getByText('Choose a queue').waitFor();
    const ben = await browser.open(`${api.url}/desk/handed`, { person: 'ben' });
    await ben.getByRole('listitem').filter({ hasText: 'anna' }).getByText('1 <b>look</b> at the photo').waitFor();
  });

  test('what is written about one ticket stays with it when the next one comes', async () => {
    await configure(api, 'several', { maxHeld: 2 });
    await add(api, 'several', { id: 's-1' });
    await add(api, 'several', { id: 's-2' });
    const page = await browser.open(`${api.url}/desk/several`, { person: 'anna' });
    await page.getByRole('heading', { name: 'Ticket s-1' }).waitFor();
    await page.getByLabel('New note').filter({ visible: true }).fill('half a thought');
    await page.getByRole('heading', { name: 'Ticket s-1' }).focus();
    await page.keyboard.press('1');
    await page.getByRole('heading', { name: 'Ticket s-2' }).waitFor();
    expect(await page.getByLabel('New note').filter({ visible: true }).inputValue()).toBe('');
    await page.getByLabel('New note').filter({ visible: true }).fill('of the second');
    const ofTicket = page.getByRole('region', { name: 'Notes', exact: true }).filter({ visible: true });
    await ofTicket.getByRole('button', { name: 'Add note' }).click();
    await eventually(async () => (await written('s-2')).length === 1);
    expect(await written('s-1')).toEqual([]);
  });

  test('a half-written note outlives its ticket: decided, undone or lost, it can still be added or discarded', async () => {
    await configure(api, 'halves', { maxHeld: 2 });
    for (const id of ['v-1', 'v-2', 'v-3']) await add(api, 'halves', { id });
    const page = await browser.open(`${api.url}/desk/halves`, { person: 'anna' });
    const field = page.getByLabel('New note').filter({ visible: true });
    const decide = async (id: string) => {
      await page.getByRole('heading', { name: `Ticket ${id}` }).focus();
      await page.keyboard.press('1');
    };
    await page.getByRole('heading', { name: 'Ticket v-1' }).waitFor();
    await field.fill('half a thought');
    await decide('v-1');
    await page.getByRole('heading', { name: 'Ticket v-2' }).waitFor();
    expect(await page.getByLabel('Note on ticket v-1').inputValue()).toBe('half a thought');
    expect(await seriousFindings(page)).toEqual([]);
    await page.getByRole('heading', { name: 'Ticket v-2' }).focus();
    await page.keyboard.press('u');
    await page.getByRole('heading', { name: 'Ticket v-1' }).waitFor();
    expect(await field.inputValue()).toBe('half a thought');
    await decide('v-1');
    await page.getByLabel('Note on ticket v-1').fill('a whole one');
    await page.getByRole('region', { name: 'Notes that you have not added yet' }).getByText('Add note').click();
    await eventually(async () => (await written('v-1')).length === 1);
    expect(await written('v-1')).toEqual([['anna', 'a whole one']]);
    await field.fill('on what gets lost');
    await api.post('/v1/tickets/v-2/invalidate', { reason: 'spam' });
    await page.getByRole('heading', { name: 'You have lost this ticket' }).waitFor();
    expect(await field.inputValue()).toBe('on what gets lost');
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: 'Next ticket' }).click();
    await page.getByRole('heading', { name: 'Ticket v-3' }).waitFor();
    await page.getByLabel('Note on ticket v-2').waitFor();
    await page.getByRole('button', { name: 'Discard note' }).click();
    await page.getByLabel('Note on ticket v-2').waitFor({ state: 'hidden' });
    expect(await written('v-2')).toEqual([]);
  });

  test('whoever stops, or changes to another person, with a half-written note is asked first', async () => {
    await add(api, 'leaving', { id: 'l-1' });
    const page = await browser.open(`${api.url}/desk/leaving`, { person: 'anna' });
    const question = page.getByRole('dialog', { name: 'Leave without saving?' });
    const note = page.getByLabel('New note');
    await note.fill('half a thought');
    for (const name of ['Stop working', 'Change']) {
      await page.getByRole('button', { name, exact: true }).click();
      await question.getByRole('button', { name: 'Keep editing' }).click();
      await question.waitFor({ state: 'detached' });
      expect(await note.inputValue()).toBe('half a thought');
    }
    expect(await eventTypes(api, 'l-1')).toEqual(['created', 'claimed']);
    await page.getByRole('button', { name: 'Stop working' }).click();
    await question.getByRole('button', { name: 'Discard' }).click();
    await page.getByText('Choose a queue').waitFor();
    expect(await eventTypes(api, 'l-1')).toEqual(['created', 'claimed', 'released']);
    await page.getByRole('button', { name: 'Change', exact: true }).click();
    await page.getByText('Who works here?').waitFor();
  });

  test('an operator sees notes on the page of a ticket as they come, and adds one', async () => {
    await add(api, 'watched', { id: 'w-1' });
    const page = await browser.open(`${api.url}/items/ticket/w-1`, { theme: 'dark', language: 'zh' });
    await page.getByRole('heading', { name: '备注' }).waitFor();
    await api.post('/v1/tickets/w-1/notes', { text: 'from elsewhere', reviewer: 'ben' });
    await page.getByRole('region', { name: '备注' }).getByText('from elsewhere').waitFor();
    await page.getByLabel('新备注').fill('seen');
    await page.getByRole('button', { name: '添加备注' }).click();
    await page.getByRole('region', { name: '备注' }).getByText('seen').waitFor();
    expect(await written('w-1')).toEqual([
      ['ben', 'from elsewhere'],
      ['anonymous', 'seen'],
    ]);
    expect(await seriousFindings(page)).toEqual([]);
  });
});

const targets = {
  text: { status: 0 },
  pictures: [
    { id: 'a', status: 0 },
    { id: 'b', status: 0 },
  ],
  replies: [{ id: 'r', status: 0 }],
};
/** Pictures' ids are unique over all reviews. */
const named = (name: string) => ({
  ...targets,
  pictures: targets.pictures.map(({ id, status }) => ({ id: `${name}-${id}`, status })),
});
const picture = (targetId: string, status: number, auditTime: string) => ({
  ...{ kind: 'picture', targetId, status, auditTime },
});

const within = (page: Page, title: string) =>
  page.locator('section.panel').filter({ has: page.getByRole('heading', { level: 2, name: title }) });
const cells = (page: Page, title: string, target: string) =>
  within(page, title)
    .getByRole('row')
    .filter({ has: page.getByRole('rowheader', { name: target }) });

describe('reviews', () => {
  const browser = useBrowser();

  test('S1.5 the three stores side by side follow a callback, and are in step', async () => {
    await put(api, 'rv-1', named('one'));
    const page = await browser.open(`${api.url}/reviews/rv-1`);
    const row = cells(page, 'Targets in the three stores', 'Picture one-a');
    await row.waitFor();
    await page.getByText('Live', { exact: true }).waitFor();
    await tell(api, 'rv-1', picture('one-a', 7, '2026-01-02T00:00:00Z'));
    await row.getByText('7', { exact: true }).nth(1).waitFor();
    await tell(api, 'rv-1', { kind: 'text', status: 3 });
    const text = cells(page, 'Targets in the three stores', 'Text');
    await text.getByText('3', { exact: true }).nth(2).waitFor();
    await page.getByText('In step').waitFor();
    expect(await page.getByText('Differs').count()).toBe(0);
  });

  test('S1.3 S1.6 the log marks a callback that a newer one had overtaken, and one that came twice', async () => {
    await put(api, 'rv-2', named('two'));
    await tell(api, 'rv-2', { ...picture('two-a', 5, '2026-01-05T00:00:00Z'), callbackId: 'first' });
    await tell(api, 'rv-2', picture('two-a', 4, '2026-01-04T00:00:00Z'));
    await tell(api, 'rv-2', { ...picture('two-a', 5, '2026-01-05T00:00:00Z'), callbackId: 'first' });
    const page = await browser.open(`${api.url}/reviews/rv-2`);
    const lines = cells(page, 'Callback log', 'Picture two-a');
    await lines.nth(2).waitFor();
    const said = await lines.getByRole('cell').nth(0).textContent();
    expect(said).toContain('Applied');
    await lines.nth(1).getByText('Overtaken').waitFor();
    await lines.nth(1).getByText('A newer audit had come before').waitFor();
    await lines.nth(1).getByText('4 was not applied').waitFor();
    await lines.nth(2).getByText('Repeated').waitFor();
    expect(await lines.nth(0).textContent()).toContain('0 → 5');
    await put(api, 'rv-2', { ...named('two'), replies: [] }, 200);
    await cells(page, 'Callback log', 'Edit').getByText('Edited').waitFor();
  });

  test('S1.5 a store that someone has changed by hand shows as out of step, and where', async () => {
    await put(api, 'rv-3', named('three'));
    await sql("update review_index set status = 9 where review_id = 'rv-3' and target_id = 'three-b'");
    const page = await browser.open(`${api.url}/reviews/rv-3`);
    await page.getByText('Out of step').waitFor();
    await cells(page, 'Targets in the three stores', 'Picture three-b').getByText('Differs').waitFor();
    expect(await page.getByText('Differs').count()).toBe(1);
  });

  test('S0.10 deliveries of its changes, and the list of all reviews as it grows', async () => {
    const receiver = await startReceiver();
    await put(api, 'rv-4', { ...named('four'), callback: receiver.callback });
    const page = await browser.open(`${api.url}/reviews`);
    await page.getByRole('rowheader', { name: 'rv-4' }).waitFor();
    await put(api, 'rv-5', named('five'));
    await tell(api, 'rv-5', { kind: 'text', status: 2 });
    const row = page.getByRole('row').filter({ has: page.getByRole('rowheader', { name: 'rv-5' }) });
    await row.getByText('2', { exact: true }).first().waitFor();
    await tell(api, 'rv-4', { kind: 'text', status: 1 });
    await page.getByLabel('Id of a review').fill('rv-4');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { level: 1, name: 'Review rv-4' }).waitFor();
    await cells(page, 'Callback deliveries', 'review.changed').getByText('Delivered').waitFor({ timeout: 20_000 });
  });

  test('S4.9 in Chinese, and of one that does not exist', async () => {
    await put(api, 'rv-6', named('six'));
    const page = await browser.open(`${api.url}/reviews/rv-6`, { language: 'zh' });
    await page.getByRole('heading', { level: 1, name: '评价 rv-6' }).waitFor();
    await page.getByText('一致', { exact: true }).waitFor();
    await page.goto(`${api.url}/reviews/nowhere`);
    await page.getByRole('alert').getByText('对象不存在或已被删除。').first().waitFor();
  });

  test.each([
    ['light', 1280],
    ['dark', 390],
  ] as const)('axe finds nothing serious, %s at %i px, and nothing is wider than the window', async (theme, width) => {
    await put(api, `rv-${theme}`, named(theme));
    await tell(api, `rv-${theme}`, picture(`${theme}-a`, 5, '2026-01-05T00:00:00Z'));
    await tell(api, `rv-${theme}`, picture(`${theme}-a`, 4, '2026-01-04T00:00:00Z'));
    const page = await browser.open(`${api.url}/reviews/rv-${theme}`, { theme, viewport: { width, height: 800 } });
    await page.getByText('Overtaken').waitFor();
    await page.getByText('Before and after').first().click();
    expect(await seriousFindings(page)).toEqual([]);
    expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true);
    await page.goto(`${api.url}/reviews`);
    await page.getByRole('rowheader', { name: `rv-${theme}` }).waitFor();
    expect(await seriousFindings(page)).toEqual([]);
  });
});
