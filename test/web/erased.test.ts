import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { useBrowser } from '../support/browser.ts';
import { addCase, court } from '../support/cases.ts';
import { eventually } from '../support/client.ts';
import { erased } from '../support/erasures.ts';
import { startTestSystem } from '../support/system.ts';
import { add, decided, ticket } from '../support/tickets.ts';
import { region } from './numbers.ts';
import { confirm, sees } from './page.ts';

const { api } = await startTestSystem();
const browser = useBrowser();

const at = (kind: string, id: string) => `${api.url}/items/${kind}/${id}`;
const buttons = (page: Page) => page.getByRole('main').getByRole('button').allTextContents();

test('an administrator erases a ticket from its page, with a reason: the content is gone, the history says so', async () => {
  await add(api, 'erased', { id: 'erased-1', body: { text: 'private' } });
  const page = await browser.open(at('ticket', 'erased-1'));
  await sees(page, 'private');
  await page.getByText('JSON', { exact: true }).first().click();
  await sees(page, '"text": "private"');
  await confirm(page, 'Erase', 'Erase', { Reason: 'asked for' });
  await eventually(async () => (await ticket(api, 'erased-1')).erased === true);
  await sees(region(page, 'State'), 'Invalidated');
  await sees(region(page, 'Content'), 'It was erased.');
  await page.reload();
  await sees(region(page, 'What happened'), 'Erased');
  await sees(region(page, 'Content'), 'It was erased.');
  expect(await page.getByText('private').count()).toBe(0);
  expect(await page.getByText('null').count()).toBe(0);
  expect(await buttons(page)).toEqual([]);
  expect(await page.getByRole('textbox').count()).toBe(0);
});

test('S0.10 the page of what was erased says so and offers nothing: a decided ticket, a case, a job', async () => {
  await decided(api, 'erased', { id: 'erased-2' });
  await court(api, 'erased');
  await addCase(api, 'erased', { id: 'case-1' });
  await api.post('/v1/jobs', { command: 'add', topic: 'erased', id: 'job-1', body: 1 });
  for (const [kind, id] of Object.entries({ ticket: 'erased-2', case: 'case-1', job: 'job-1' })) {
    await erased(api, { item: { kind, id } });
    const page = await browser.open(at(kind, id));
    await sees(region(page, 'Content'), 'It was erased.');
    expect(await buttons(page), kind).toEqual([]);
  }
  const page = await browser.open(at('ticket', 'erased-2'));
  await sees(region(page, 'Decision'), 'It was erased.');
});
