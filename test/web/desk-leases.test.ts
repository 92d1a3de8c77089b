import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { seriousFindings, useBrowser } from '../support/browser.ts';
import { eventTypes, eventually } from '../support/client.ts';
import { startTestSystem } from '../support/system.ts';
import { addMany, configure, ticket } from '../support/tickets.ts';
import { deskOn, seen, ticketHeading } from './desk.ts';
import { fill, keys, press, sees, submit } from './page.ts';

const { api } = await startTestSystem();

const lost = (page: Page) => page.getByRole('heading', { name: 'You have lost this ticket' });

const noted = {
  type: 'object',
  required: ['verdict'],
  properties: { verdict: { enum: ['keep', 'remove'] }, note: { title: 'Note', type: 'string' } },
};

/** Decides what has just come back: not at once, when a key may have been meant for something else. */
async function decideAnew(page: Page, key: string): Promise<void> {
  await eventually(async () => {
    await keys(page, key);
    return page.getByText(/Send now, next ticket/).isVisible();
  });
  await press(page, /Send now, next ticket/);
}

const browser = useBrowser();
const desk = deskOn(browser, api);

test('S0.4 S0.7 a lease that is lost while someone types keeps what they have typed, and says why', async () => {
  const page = await desk('typing', 1, { form: noted });
  await page.getByLabel(/^Note\b/).pressSequentially('three strikes');
  expect((await api.post('/v1/tickets/typing-0/release', {})).status).toBe(200);
  await lost(page).waitFor();
  await sees(page, 'An operator has taken it from you.', 'three strikes');
  await keys(page, 'n');
  // no one else has taken it: it comes back, and so does the draft
  await ticketHeading(page, 'typing-0').waitFor();
  expect(await page.getByLabel(/^Note\b/).inputValue()).toBe('three strikes');
});

test('S0.7 what is half filled in is there after a reload, elsewhere and back, in another browser and another tab', async () => {
  const page = await desk('half', 2, { form: noted });
  const note = (of: Page) => of.getByLabel(/^Note\b/);
  const has = async (of: Page, text: string) => {
    await ticketHeading(of, 'half-0').waitFor();
    expect(await note(of).inputValue()).toBe(text);
  };
  // each at once, before it would be saved by itself
  await note(page).fill('one');
  await page.reload();
  await has(page, 'one');
  await note(page).fill('two');
  await page.getByRole('link', { name: 'Search' }).first().click();
  await page.goBack();
  await has(page, 'two');
  await note(page).fill('three');
  await eventually(
    async () => (await api.get('/v1/tickets/half-0/draft?reviewer=anna')).body.draft.values.note === 'three',
  );
  const other = await browser.open(`${api.url}/desk/half`, { person: 'anna' });
  await has(other, 'three');
  await note(other).fill('four');
  await press(other, 'Stop working');
  await sees(other, 'Choose a queue');
  await other.getByRole('link', { name: 'half', exact: true }).click();
  await has(other, 'four');
  expect(await eventTypes(api, 'half-0')).toEqual(['created', 'claimed', 'released', 'claimed']);
});

test('S0.7 a decision that finds the session ended is sent when there is another one', async () => {
  const page = await desk('session', 1, { form: noted });
  const ended = {
    type: 'about:blank',
    title: 'x',
    status: 401,
    code: 'unauthenticated',
    detail: 'ended',
    requestId: 'r',
  };
  await page.route('**/decide', (route) => route.fulfill({ status: 401, json: ended }));
  await keys(page, '1');
  await press(page, 'Send now, next ticket');
  await sees(page, 'You are not signed in');
  await sees(page.getByRole('alert'), 'Your decision is kept in this tab, and is sent once you are signed in again.');
  await page.unroute('**/decide');
  expect((await ticket(api, 'session-0')).state).toBe('held');
  await page.evaluate(() => dispatchEvent(new Event('focus')));
  await eventually(async () => (await ticket(api, 'session-0')).state === 'decided');
});

test('S0.4 whoever decides in another window is not told that someone else has', async () => {
  const page = await desk('windows', 2);
  const other = await browser.open(`${api.url}/desk/windows`, { person: 'anna' });
  await seen(other, 'windows-0');
  await keys(other, '1', 'n');
  await ticketHeading(other, 'windows-1').waitFor();
  await keys(page, '2', 'n');
  await sees(page, 'Your decision on windows-0 came too late.', 'You have decided it in another window.');
  expect(await page.getByText('By anna').count()).toBe(0);
});

test('S0.4 an invalidation over the API reaches the desk at once, and the next ticket follows', async () => {
  const page = await desk('moot', 2);
  await page.getByText('Live', { exact: true }).waitFor();
  expect((await api.post('/v1/tickets/moot-0/invalidate', { reason: 'the post is gone' })).status).toBe(200);
  await sees(page, 'It has been invalidated');
  await press(page, /Next ticket/);
  await ticketHeading(page, 'moot-1').waitFor();
  await page.getByText('Lost', { exact: true }).locator('..').getByText('1', { exact: true }).waitFor();
});

test('S0.4 a decision on a ticket that was decided elsewhere says that it came too late, also without a stream', async () => {
  await configure(api, 'late', { maxHeld: 2 });
  await addMany(api, 'late', ['late-0', 'late-1']);
  const page = await browser.open(`${api.url}/desk`, { person: 'anna' });
  await page.route('**/v1/stream?**', (route) => route.abort());
  await page.goto(`${api.url}/desk/late`);
  await seen(page, 'late-0');
  await api.post('/v1/tickets/late-0/resolve', { decision: 'removed', reason: 'by the model' });
  await keys(page, '1', 'n');
  await sees(page, 'Your decision on late-0 came too late.', 'It has been decided by someone else.');
  await ticketHeading(page, 'late-1').waitFor();
  expect((await ticket(api, 'late-0')).decision).toBe('removed');
});

test('S0.7 a lease is renewed while someone types, and runs out when they have gone', async () => {
  const page = await desk('renewed', 1, { leaseSeconds: 3, form: noted });
  const first = Date.parse((await ticket(api, 'renewed-0')).lease.expiresAt);
  await page.getByLabel(/^Note\b/).focus();
  // typed on until a lease has begun that ends long after the first
  await eventually(async () => {
    await page.keyboard.type('x');
    return Date.parse((await ticket(api, 'renewed-0')).lease.expiresAt) > first + 5_000;
  });
  expect(await eventTypes(api, 'renewed-0')).toEqual(['created', 'claimed']);
  await lost(page).waitFor();
  await sees(page, 'Time has run out');
  expect(await eventTypes(api, 'renewed-0')).toContain('reclaimed');
});

test('S0.4 a change over the API is shown to the holder, and their draft stays', async () => {
  const page = await desk('changed', 1, { form: noted });
  await page.getByText('Live', { exact: true }).waitFor();
  await page.getByLabel(/^Note\b/).fill('half done');
  expect((await api.patch('/v1/tickets/changed-0', { body: { text: 'after' } })).status).toBe(200);
  await page.getByText('after', { exact: true }).waitFor();
  await sees(page, 'This ticket has been changed');
  expect(await page.getByLabel(/^Note\b/).inputValue()).toBe('half done');
});

test('S0.7 a decision on what is changed before it is sent is not taken: the ticket comes back as it is now', async () => {
  const page = await desk('unseen', 1, { form: noted });
  await page.getByText('Live', { exact: true }).waitFor();
  await keys(page, '1');
  await page.getByText(/Send now, next ticket/).waitFor();
  expect((await api.patch('/v1/tickets/unseen-0', { body: { text: 'another' } })).status).toBe(200);
  await press(page, /Send now, next ticket/);
  await ticketHeading(page, 'unseen-0').waitFor();
  await page.getByText('another', { exact: true }).waitFor();
  await sees(page, 'This ticket has been changed');
  expect((await ticket(api, 'unseen-0')).state).toBe('held');
  await decideAnew(page, '2');
  await eventually(async () => (await ticket(api, 'unseen-0')).state === 'decided');
  expect(await ticket(api, 'unseen-0')).toMatchObject({ decision: { verdict: 'remove' }, body: { text: 'another' } });
});

test("S0.3 a queue's new form is at the desk as soon as the old one is refused", async () => {
  const page = await desk('newer', 1, { form: noted });
  await configure(api, 'newer', {
    form: { ...noted, properties: { verdict: { enum: ['allow', 'block'] } } },
  });
  await keys(page, '1');
  await press(page, /Send now, next ticket/);
  await page.getByRole('button', { name: /\ballow\b/ }).waitFor();
  await decideAnew(page, '1');
  await eventually(async () => (await ticket(api, 'newer-0')).state === 'decided');
  expect((await ticket(api, 'newer-0')).decision).toEqual({ verdict: 'allow' });
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
  const page = await desk('form', 1, { form });
  await keys(page, '2');
  await sees(page, 'Is required.');
  await keys(page, 'Space');
  await fill(page, { 'Severity (optional)': '9' });
  await keys(page, 'Control+Enter');
  await sees(page, 'Is out of range.');
  await fill(page, {
    'Severity (optional)': '3',
    Yes: true,
    'Days (optional)': '1.5',
    'Extra (optional)': '{"only": 1}',
  });
  await keys(page, 'Control+Enter');
  await press(page, /Send now, next ticket/);
  await page.locator('.field', { hasText: 'Extra' }).getByText('must NOT have fewer than 2 properties').waitFor();
  expect(await page.getByLabel('Extra (optional)').getAttribute('aria-invalid')).toBe('true');
  expect(await seriousFindings(page)).toEqual([]);
  await fill(page, { 'Extra (optional)': '{"a": 1, "b": 2}' });
  await keys(page, 'Control+Enter');
  await press(page, /Send now, next ticket/);
  await sees(page, 'The queue is empty.');
  expect((await ticket(api, 'form-0')).decision).toEqual({
    ...{ outcome: 'remove', labels: ['spam'], severity: 3, repeat: true, ban: { days: 1.5 }, extra: { a: 1, b: 2 } },
  });
});

test('a queue without a form takes any JSON', async () => {
  const page = await desk('free');
  await page.getByText('Another decision, as JSON').click();
  await submit(page, { Decision: '{status: 1}' }, /^Decide$/);
  await sees(page, 'Is not JSON.');
  await submit(page, { Decision: '{"status": 1}' }, /^Decide$/);
  await press(page, /Send now, next ticket/);
  await sees(page, 'The queue is empty.');
  expect((await ticket(api, 'free-0')).decision).toEqual({ status: 1 });
});
