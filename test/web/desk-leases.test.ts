import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { seriousFindings, useBrowser } from '../support/browser.ts';
import { eventTypes, eventually } from '../support/client.ts';
import { startTestSystem } from '../support/system.ts';
import { add, addMany, configure, ticket } from '../support/tickets.ts';

const { api } = await startTestSystem();

const heading = (page: Page, id: string) => page.getByRole('heading', { name: `Ticket ${id}`, exact: true });
const lost = (page: Page) => page.getByRole('heading', { name: 'You have lost this ticket' });

const noted = {
  type: 'object',
  required: ['verdict'],
  properties: { verdict: { enum: ['keep', 'remove'] }, note: { title: 'Note', type: 'string' } },
};

describe('what a reviewer holds', () => {
  const browser = useBrowser();
  const open = (queue: string, person = 'anna') => browser.open(`${api.url}/desk/${queue}`, { person });

  test('S0.4 S0.7 a lease that is lost while someone types keeps what they have typed, and says why', async () => {
    await configure(api, 'typing', { form: noted });
    await add(api, 'typing', { id: 'typing-0' });
    const page = await open('typing');
    await heading(page, 'typing-0').waitFor();
    await page.getByLabel(/^Note\b/).pressSequentially('three strikes');
    expect((await api.post('/v1/tickets/typing-0/release', {})).status).toBe(200);
    await lost(page).waitFor();
    await page.getByText('An operator has taken it from you.').waitFor();
    await page.getByText('three strikes').waitFor();
    await page.keyboard.press('n');
    // no one else has taken it: it comes back, and so does the draft
    await heading(page, 'typing-0').waitFor();
    expect(await page.getByLabel(/^Note\b/).inputValue()).toBe('three strikes');
  });

  test('S0.4 an invalidation over the API reaches the desk at once, and the next ticket follows', async () => {
    await addMany(api, 'moot', [{ id: 'moot-0' }, { id: 'moot-1' }]);
    const page = await open('moot');
    await heading(page, 'moot-0').waitFor();
    await page.getByText('Live', { exact: true }).waitFor();
    expect((await api.post('/v1/tickets/moot-0/invalidate', { reason: 'the post is gone' })).status).toBe(200);
    await page.getByText('It has been invalidated').waitFor();
    await page.getByRole('button', { name: /Next ticket/ }).click();
    await heading(page, 'moot-1').waitFor();
    await page.getByText('Lost', { exact: true }).locator('..').getByText('1', { exact: true }).waitFor();
  });

  test('S0.4 a decision on a ticket that was decided elsewhere says that it came too late, also without a stream', async () => {
    await configure(api, 'late', { maxHeld: 2 });
    await addMany(api, 'late', [{ id: 'late-0' }, { id: 'late-1' }]);
    const page = await browser.open(`${api.url}/desk`, { person: 'anna' });
    await page.route('**/v1/stream?**', (route) => route.abort());
    await page.goto(`${api.url}/desk/late`);
    await heading(page, 'late-0').waitFor();
    await api.post('/v1/tickets/late-0/resolve', { decision: 'removed', reason: 'by the model' });
    await page.keyboard.press('1');
    await page.keyboard.press('n');
    await page.getByText('Your decision on late-0 came too late.').waitFor();
    await page.getByText('It has been decided by someone else.').waitFor();
    await heading(page, 'late-1').waitFor();
    expect((await ticket(api, 'late-0')).decision).toBe('removed');
  });

  test('S0.7 a lease is renewed while someone types, and runs out when they have gone', async () => {
    await configure(api, 'renewed', { leaseSeconds: 3, form: noted });
    await add(api, 'renewed', { id: 'renewed-0' });
    const page = await open('renewed');
    await heading(page, 'renewed-0').waitFor();
    const first = Date.parse((await ticket(api, 'renewed-0')).lease.expiresAt);
    await page.getByLabel(/^Note\b/).focus();
    // typed on until a lease has begun that ends long after the first
    await eventually(async () => {
      await page.keyboard.type('x');
      return Date.parse((await ticket(api, 'renewed-0')).lease.expiresAt) > first + 5_000;
    });
    expect(await eventTypes(api, 'renewed-0')).toEqual(['created', 'claimed']);
    await lost(page).waitFor();
    await page.getByText('Time has run out').waitFor();
    expect(await eventTypes(api, 'renewed-0')).toContain('reclaimed');
  });

  test('S0.4 a change over the API is shown to the holder, and their draft stays', async () => {
    await configure(api, 'changed', { form: noted });
    await add(api, 'changed', { id: 'changed-0', body: { text: 'before' } });
    const page = await open('changed');
    await heading(page, 'changed-0').waitFor();
    await page.getByText('Live', { exact: true }).waitFor();
    await page.getByLabel(/^Note\b/).fill('half done');
    expect((await api.patch('/v1/tickets/changed-0', { body: { text: 'after' } })).status).toBe(200);
    await page.getByText('after', { exact: true }).waitFor();
    await page.getByText('This ticket has been changed').waitFor();
    expect(await page.getByLabel(/^Note\b/).inputValue()).toBe('half done');
  });

  test("a queue's form becomes fields: what is missing is asked for, what the API refuses comes back", async () => {
    const form = {
      type: 'object',
      required: ['labels', 'outcome'],
      properties: {
        outcome: { title: 'Outcome', enum: ['keep', 'remove', 'escalate'] },
        labels: { title: 'Labels', type: 'array', minItems: 1, items: { enum: ['spam', 'abuse'] } },
        severity: { title: 'Severity', type: 'integer', minimum: 1, maximum: 5 },
        repeat: { title: 'Repeated', type: 'boolean' },
        ban: { title: 'Ban', type: 'object', properties: { days: { title: 'Days', type: 'number' } } },
        extra: { title: 'Extra', minProperties: 2 },
      },
    };
    await configure(api, 'form', { form });
    await add(api, 'form', { id: 'form-0' });
    const page = await open('form');
    await heading(page, 'form-0').waitFor();
    await page.keyboard.press('2');
    await page.getByText('Is required.').waitFor();
    await page.keyboard.press('Space');
    await page.getByLabel('Severity (optional)').fill('9');
    await page.keyboard.press('Control+Enter');
    await page.getByText('Is out of range.').waitFor();
    await page.getByLabel('Severity (optional)').fill('3');
    await page.getByLabel('Yes').check();
    await page.getByLabel('Days (optional)').fill('1.5');
    await page.getByLabel('Extra (optional)').fill('{"only": 1}');
    await page.keyboard.press('Control+Enter');
    await page.getByRole('button', { name: /Send now, next ticket/ }).click();
    await page.locator('.field', { hasText: 'Extra' }).getByText('must NOT have fewer than 2 properties').waitFor();
    expect(await page.getByLabel('Extra (optional)').getAttribute('aria-invalid')).toBe('true');
    expect(await seriousFindings(page)).toEqual([]);
    await page.getByLabel('Extra (optional)').fill('{"a": 1, "b": 2}');
    await page.keyboard.press('Control+Enter');
    await page.getByRole('button', { name: /Send now, next ticket/ }).click();
    await page.getByText('The queue is empty.').waitFor();
    expect((await ticket(api, 'form-0')).decision).toEqual({
      ...{ outcome: 'remove', labels: ['spam'], severity: 3, repeat: true, ban: { days: 1.5 }, extra: { a: 1, b: 2 } },
    });
  });

  test('a queue without a form takes any JSON', async () => {
    await add(api, 'free', { id: 'free-0' });
    const page = await open('free');
    await heading(page, 'free-0').waitFor();
    await page.getByText('Another decision, as JSON').click();
    await page.getByRole('textbox', { name: 'Decision' }).fill('{status: 1}');
    await page.getByRole('button', { name: 'Decide', exact: true }).click();
    await page.getByText('Is not JSON.').waitFor();
    await page.getByRole('textbox', { name: 'Decision' }).fill('{"status": 1}');
    await page.getByRole('button', { name: 'Decide', exact: true }).click();
    await page.getByRole('button', { name: /Send now, next ticket/ }).click();
    await page.getByText('The queue is empty.').waitFor();
    expect((await ticket(api, 'free-0')).decision).toEqual({ status: 1 });
  });
});
