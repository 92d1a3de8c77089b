import { describe, expect, test } from 'vitest';
import { seriousFindings, useBrowser } from '../support/browser.ts';
import { eventTypes, eventually } from '../support/client.ts';
import { startTestSystem } from '../support/system.ts';
import { add, configure } from '../support/tickets.ts';

const { api } = await startTestSystem();

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
