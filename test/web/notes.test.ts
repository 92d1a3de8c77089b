import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { seriousFindings, useBrowser } from '../support/browser.ts';
import { eventTypes, eventually, type Json } from '../support/client.ts';
import { startReceiver } from '../support/receiver.ts';
import { put, tell } from '../support/reviews.ts';
import { startTestSystem } from '../support/system.ts';
import { add } from '../support/tickets.ts';
import { deskOn, seen, ticketHeading } from './desk.ts';
import { region } from './numbers.ts';
import { fill, keys, press, sees, submit, tableRows } from './page.ts';

const { api, sql } = await startTestSystem();

const browser = useBrowser();
const desk = deskOn(browser, api);
const written = async (id: string) =>
  (await api.get(`/v1/tickets/${id}/notes`)).body.items.map(({ by, text }: Json) => [by, text]);

test('a reviewer writes a note by keys, leaves the field by one, and whoever gets the ticket next sees it', async () => {
  const anna = await desk('handed');
  await keys(anna, 'm');
  await anna.keyboard.type('1 <b>look</b> at the photo');
  await keys(anna, 'Control+Enter');
  await anna.getByRole('listitem').getByText('1 <b>look</b> at the photo').waitFor();
  expect(await anna.getByLabel('New note').inputValue()).toBe('');
  expect(await written('handed-0')).toEqual([['anna', '1 <b>look</b> at the photo']]);
  expect(await seriousFindings(anna)).toEqual([]);
  await keys(anna, 'Escape', 's');
  await anna.getByRole('dialog', { name: 'Skip this ticket' }).waitFor();
  await keys(anna, 'Escape');
  await press(anna, 'Stop working');
  await sees(anna, 'Choose a queue');
  const ben = await browser.open(`${api.url}/desk/handed`, { person: 'ben' });
  await ben.getByRole('listitem').filter({ hasText: 'anna' }).getByText('1 <b>look</b> at the photo').waitFor();
});

test('what is written about one ticket stays with it when the next one comes', async () => {
  const page = await desk('several', 2, { maxHeld: 2 });
  const field = page.getByLabel('New note').filter({ visible: true });
  await field.fill('half a thought');
  await ticketHeading(page, 'several-0').focus();
  await keys(page, '1');
  await ticketHeading(page, 'several-1').waitFor();
  expect(await field.inputValue()).toBe('');
  await field.fill('of the second');
  const ofTicket = page.getByRole('region', { name: 'Notes', exact: true }).filter({ visible: true });
  await press(ofTicket, 'Add note');
  await eventually(async () => (await written('several-1')).length === 1);
  expect(await written('several-0')).toEqual([]);
});

test('a half-written note outlives its ticket: decided, undone or lost, it can still be added or discarded', async () => {
  const page = await desk('halves', 3, { maxHeld: 2 });
  const field = page.getByLabel('New note').filter({ visible: true });
  const decide = async (id: string) => {
    await seen(page, id);
    await ticketHeading(page, id).focus();
    await keys(page, '1');
  };
  await field.fill('half a thought');
  await decide('halves-0');
  await ticketHeading(page, 'halves-1').waitFor();
  expect(await page.getByLabel('Note on ticket halves-0').inputValue()).toBe('half a thought');
  expect(await seriousFindings(page)).toEqual([]);
  await ticketHeading(page, 'halves-1').focus();
  await keys(page, 'u');
  await ticketHeading(page, 'halves-0').waitFor();
  expect(await field.inputValue()).toBe('half a thought');
  await decide('halves-0');
  await fill(page, { 'Note on ticket halves-0': 'a whole one' });
  await page.getByRole('region', { name: 'Notes that you have not added yet' }).getByText('Add note').click();
  await eventually(async () => (await written('halves-0')).length === 1);
  expect(await written('halves-0')).toEqual([['anna', 'a whole one']]);
  await field.fill('on what gets lost');
  await api.post('/v1/tickets/halves-1/invalidate', { reason: 'spam' });
  await page.getByRole('heading', { name: 'You have lost this ticket' }).waitFor();
  expect(await field.inputValue()).toBe('on what gets lost');
  await keys(page, 'Escape');
  await press(page, 'Next ticket');
  await ticketHeading(page, 'halves-2').waitFor();
  await page.getByLabel('Note on ticket halves-1').waitFor();
  await press(page, 'Discard note');
  await page.getByLabel('Note on ticket halves-1').waitFor({ state: 'hidden' });
  expect(await written('halves-1')).toEqual([]);
});

test('whoever stops, or changes to another person, with a half-written note is asked first', async () => {
  const page = await desk('leaving');
  const question = page.getByRole('dialog', { name: 'Leave without saving?' });
  const note = page.getByLabel('New note');
  await note.fill('half a thought');
  for (const name of ['Stop working', 'Change']) {
    await page.getByRole('button', { name, exact: true }).click();
    await press(question, 'Keep editing');
    await question.waitFor({ state: 'detached' });
    expect(await note.inputValue()).toBe('half a thought');
  }
  expect(await eventTypes(api, 'leaving-0')).toEqual(['created', 'claimed']);
  await press(page, 'Stop working');
  await press(question, 'Discard');
  await sees(page, 'Choose a queue');
  expect(await eventTypes(api, 'leaving-0')).toEqual(['created', 'claimed', 'released']);
  await press(page, /^Change$/);
  await sees(page, 'Who works here?');
});

test('an operator sees notes on the page of a ticket as they come, and adds one', async () => {
  await add(api, 'watched', { id: 'w-1' });
  const page = await browser.open(`${api.url}/items/ticket/w-1`, { theme: 'dark', language: 'zh' });
  await page.getByRole('heading', { name: '备注' }).waitFor();
  await api.post('/v1/tickets/w-1/notes', { text: 'from elsewhere', reviewer: 'ben' });
  await page.getByRole('region', { name: '备注' }).getByText('from elsewhere').waitFor();
  await submit(page, { 新备注: 'seen' }, '添加备注');
  await page.getByRole('region', { name: '备注' }).getByText('seen').waitFor();
  expect((await written('w-1')).join()).toBe('ben,from elsewhere,anonymous,seen');
  expect(await seriousFindings(page)).toEqual([]);
});

/** Pictures' ids are unique over all reviews. */
const named = (name: string) => ({
  ...{ text: { status: 0 }, replies: [{ id: 'r', status: 0 }] },
  pictures: ['a', 'b'].map((id) => ({ id: `${name}-${id}`, status: 0 })),
});
const picture = (targetId: string, status: number, day: string) => ({
  ...{ kind: 'picture', targetId, status, auditTime: `2026-01-${day}T00:00:00Z` },
});

const cells = (page: Page, title: string, target: string) => tableRows(region(page, title), target);

test('S1.5 the three stores side by side follow a callback, and are in step', async () => {
  await put(api, 'rv-1', named('one'));
  const page = await browser.open(`${api.url}/reviews/rv-1`);
  const row = cells(page, 'Targets in the three stores', 'Picture one-a');
  await row.waitFor();
  await page.getByText('Live', { exact: true }).waitFor();
  await tell(api, 'rv-1', picture('one-a', 7, '02'));
  await row.getByText('7', { exact: true }).nth(1).waitFor();
  await tell(api, 'rv-1', { kind: 'text', status: 3 });
  const text = cells(page, 'Targets in the three stores', 'Text');
  await text.getByText('3', { exact: true }).nth(2).waitFor();
  await sees(page, 'In step');
  expect(await page.getByText('Differs').count()).toBe(0);
});

test('S1.3 S1.6 the log marks a callback that a newer one had overtaken, and one that came twice', async () => {
  await put(api, 'rv-2', named('two'));
  await tell(api, 'rv-2', { ...picture('two-a', 5, '05'), callbackId: 'first' });
  await tell(api, 'rv-2', picture('two-a', 4, '04'));
  await tell(api, 'rv-2', { ...picture('two-a', 5, '05'), callbackId: 'first' });
  const page = await browser.open(`${api.url}/reviews/rv-2`);
  const lines = cells(page, 'Callback log', 'Picture two-a');
  await lines.nth(2).waitFor();
  expect(await lines.getByRole('cell').nth(0).textContent()).toContain('Applied');
  await sees(lines.nth(1), 'Overtaken', 'A newer audit had come before', '4 was not applied');
  await sees(lines.nth(2), 'Repeated');
  expect(await lines.nth(0).textContent()).toContain('0 → 5');
  await put(api, 'rv-2', { ...named('two'), replies: [] }, 200);
  await cells(page, 'Callback log', 'Edit').getByText('Edited').waitFor();
});

test('S1.5 a store that someone has changed by hand shows as out of step, and where', async () => {
  await put(api, 'rv-3', named('three'));
  await sql("update review_index set status = 9 where review_id = 'rv-3' and target_id = 'three-b'");
  const page = await browser.open(`${api.url}/reviews/rv-3`);
  await sees(page, 'Out of step');
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
  const row = tableRows(page, 'rv-5');
  await row.getByText('2', { exact: true }).first().waitFor();
  await tell(api, 'rv-4', { kind: 'text', status: 1 });
  await submit(page, { 'Id of a review': 'rv-4' });
  await page.getByRole('heading', { level: 1, name: 'Review rv-4' }).waitFor();
  await cells(page, 'Callback deliveries', 'review.changed').getByText('Delivered').waitFor();
});

test('S4.9 in Chinese, and of one that does not exist', async () => {
  await put(api, 'rv-6', named('six'));
  const page = await browser.open(`${api.url}/reviews/rv-6`, { language: 'zh' });
  await page.getByRole('heading', { level: 1, name: '评价 rv-6' }).waitFor();
  await page.getByText('一致', { exact: true }).waitFor();
  await page.goto(`${api.url}/reviews/nowhere`);
  await sees(page.getByRole('alert'), '对象不存在或已被删除。');
});
