import { expect, test } from 'vitest';
import { describeInBrowser, seriousFindings, useBrowser } from '../support/browser.ts';
import { eventually } from '../support/client.ts';
import { startTestSystem } from '../support/system.ts';
import { add, configure } from '../support/tickets.ts';

const { api } = await startTestSystem();

describeInBrowser('notes on a ticket', () => {
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
    await page.getByRole('button', { name: 'Add note' }).filter({ visible: true }).click();
    await eventually(async () => (await written('s-2')).length === 1);
    expect(await written('s-1')).toEqual([]);
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
