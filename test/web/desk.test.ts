import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { seriousFindings, useBrowser } from '../support/browser.ts';
import { claimOne, eventTypes, eventually, numbered } from '../support/client.ts';
import { startTestSystem } from '../support/system.ts';
import { add, addMany, configure, ticket } from '../support/tickets.ts';
import { deskOn, seen, ticketHeading } from './desk.ts';
import { keys, press, sees, submit } from './page.ts';

const { api } = await startTestSystem();

const ready = (page: Page) => page.getByText('Next one ready').locator('..').getByText('Yes');
const isDecided = (id: string) => eventually(async () => (await ticket(api, id)).state === 'decided');

const browser = useBrowser();
const desk = deskOn(browser, api);
const open = (queue: string, person: string) => browser.open(`${api.url}/desk/${queue}`, { person });

test('S0.8 a reviewer chooses a name and a queue, claims, decides and gets the next by keys only', async () => {
  await addMany(api, 'keys', numbered(3, 'keys-'));
  const page = await browser.open(`${api.url}/desk`);
  await page.getByLabel('Name').press('a');
  await page.keyboard.type('nna');
  await keys(page, 'Enter');
  await page.getByRole('link', { name: 'keys', exact: true }).press('Enter');
  await seen(page, 'keys-0');
  await keys(page, '1');
  await sees(page, 'Decided, not sent yet');
  await keys(page, 'n');
  await seen(page, 'keys-1');
  await keys(page, '2');
  await page.getByRole('button', { name: /Send now, next ticket/ }).press('Enter');
  await ticketHeading(page, 'keys-2').waitFor();
  expect(await ticket(api, 'keys-0')).toMatchObject({ decision: { verdict: 'approve' }, decidedBy: 'anna' });
  expect(await ticket(api, 'keys-1')).toMatchObject({ decision: { verdict: 'reject' }, decidedBy: 'anna' });
  // remembered: the next visit asks for no name
  await page.goto(`${api.url}/desk`);
  await sees(page, 'Working as');
  await page.getByRole('link', { name: 'keys', exact: true }).waitFor();
});

test('S0.8 where more may be held the next ticket is there before it is asked for: one or two frames, no network', async () => {
  const page = await desk('ahead', 3, { maxHeld: 3 });
  await ready(page).waitFor();
  const asked = `performance.getEntriesByType('resource').some((e) => e.name.includes('/ahead-1/notes'))`;
  await eventually(() => page.evaluate(asked));
  await page.context().setOffline(true);
  await page.evaluate(`{
      const shown = () => document.querySelector('#desk-ticket')?.textContent;
      const before = shown();
      document.addEventListener('keydown', () => {
        let n = 0;
        const look = () => {
          n++;
          if (shown() === before) requestAnimationFrame(look);
          else window.waited = n;
        };
        requestAnimationFrame(look);
      }, { once: true });
    }`);
  await keys(page, '1');
  await ticketHeading(page, 'ahead-1').waitFor();
  expect(await eventually(() => page.evaluate('window.waited'))).toBeLessThanOrEqual(2);
  await page.context().setOffline(false);
  await isDecided('ahead-0');
});

test('a decision is undone before it is sent, and decided anew', async () => {
  const page = await desk('undo', 2, { maxHeld: 2 });
  await ready(page).waitFor();
  await keys(page, '1');
  await ticketHeading(page, 'undo-1').waitFor();
  await keys(page, 'u');
  await seen(page, 'undo-0');
  await keys(page, '2', 'n');
  await isDecided('undo-0');
  expect((await ticket(api, 'undo-0')).decision).toEqual({ verdict: 'reject' });
  expect((await ticket(api, 'undo-1')).state).toBe('held');
});

test('a decision is sent by itself when it can no longer be undone', async () => {
  const page = await desk('late');
  await keys(page, '3');
  const pending = page.getByRole('region', { name: 'Decided, not sent yet' });
  await sees(pending, 'Unsure', 'late-0', /Sent in \d s/);
  await page.getByTitle('If you close this tab before, it is sent at once').waitFor();
  expect((await ticket(api, 'late-0')).state).toBe('held');
  await isDecided('late-0');
  await sees(page, 'The queue is empty.');
});

test('S0.7 a tab that is closed sends a decision that waits and gives back what was not seen; without a network it decides nothing', async () => {
  const page = await desk('closed', 3, { maxHeld: 3, leaseSeconds: 60 });
  await ready(page).waitFor();
  await keys(page, '1');
  await ticketHeading(page, 'closed-1').waitFor();
  await ready(page).waitFor();
  await page.close({ runBeforeUnload: true });
  await isDecided('closed-0');
  await eventually(async () => (await ticket(api, 'closed-2')).state === 'waiting');
  expect(await ticket(api, 'closed-1')).toMatchObject({ state: 'held', lease: { reviewer: 'anna' } });
  const cutOff = await desk('cut-off', 1, { leaseSeconds: 8 });
  await keys(cutOff, '1');
  await sees(cutOff, 'Decided, not sent yet');
  await cutOff.context().setOffline(true);
  await cutOff.close();
  const other = await open('cut-off', 'ben');
  await ticketHeading(other, 'cut-off-0').waitFor();
  expect(await eventTypes(api, 'cut-off-0')).toEqual(['created', 'claimed', 'reclaimed', 'claimed']);
});

test.each(['key', 'click'])('S0.8 a verdict’s %s a second time decides no ticket that no one has seen', async (by) => {
  const page = await desk(`hasty-${by}`, 2, { maxHeld: 2 });
  await ready(page).waitFor();
  // the second comes as soon as the next ticket stands there, however busy the machine is
  await page.evaluate(`{
      const verdict = () => document.querySelector('.verdicts button');
      const press = ${by === 'key'}
        ? () => document.dispatchEvent(new KeyboardEvent('keydown', { key: '1', bubbles: true, cancelable: true }))
        : () => verdict().dispatchEvent(new MouseEvent('click', { detail: 1, bubbles: true }));
      const heading = () => document.querySelector('#desk-ticket')?.textContent;
      const first = heading();
      new MutationObserver((_, observer) => {
        if (heading() === first) return;
        observer.disconnect();
        press();
      }).observe(document.body, { subtree: true, childList: true, characterData: true });
      press();
    }`);
  await ticketHeading(page, `hasty-${by}-1`).waitFor();
  await isDecided(`hasty-${by}-0`);
  expect((await ticket(api, `hasty-${by}-1`)).state).toBe('held');
  expect(await page.locator('.verdicts [aria-pressed=true]').count()).toBe(0);
  await keys(page, '2', 'n');
  await isDecided(`hasty-${by}-1`);
});

test('S0.7 who stops working with a decision that waits has decided, and holds nothing more', async () => {
  const page = await desk('stopping', 2);
  await keys(page, '1');
  await sees(page, 'Decided, not sent yet');
  await press(page, 'Stop working');
  await isDecided('stopping-0');
  await sees(page, 'Working as');
  expect(await eventTypes(api, 'stopping-1')).toEqual(['created']);
});

test('S0.8 a key that is held down, and a double click, decide one ticket', async () => {
  const page = await desk('twice', 3, { maxHeld: 3 });
  await ready(page).waitFor();
  for (let n = 0; n < 3; n++) await page.keyboard.down('1');
  await page.keyboard.up('1');
  await ticketHeading(page, 'twice-1').waitFor();
  await ready(page).waitFor();
  await seen(page, 'twice-1');
  await page.getByRole('button', { name: /Approve/ }).dblclick();
  await ticketHeading(page, 'twice-2').waitFor();
  await isDecided('twice-1');
  expect((await ticket(api, 'twice-2')).state).toBe('held');
});

test('S0.6 two browsers at one queue never show the same ticket', async () => {
  await configure(api, 'two', { maxHeld: 2 });
  await addMany(api, 'two', numbered(20, 'two-'));
  const work = async (person: string) => {
    const page = await open('two', person);
    const shown = new Set<string>();
    const empty = page.getByRole('heading', { name: 'Nothing for you right now' });
    for (;;) {
      await page
        .getByRole('heading', { name: /^Ticket two-/ })
        .or(empty)
        .waitFor();
      if (await empty.isVisible()) return shown;
      const id = (await page.locator('#desk-ticket').textContent())?.replace('Ticket ', '') ?? '';
      shown.add(id);
      await seen(page, id);
      await keys(page, '1', 'n');
      await ticketHeading(page, id).waitFor({ state: 'detached' });
    }
  };
  const [anna, ben] = await Promise.all([work('anna'), work('ben')]);
  const all = [...anna, ...ben];
  expect(new Set(all).size).toBe(20);
  expect(all).toHaveLength(20);
  expect(Math.min(anna.size, ben.size)).toBeGreaterThan(0);
  for (const id of all) expect((await ticket(api, id)).decidedBy).toBe(anna.has(id) ? 'anna' : 'ben');
});

test('a ticket is skipped with a reason, and another moved to the queue that it belongs to', async () => {
  await configure(api, 'elsewhere', {});
  const page = await desk('leave', 4);
  await keys(page, 's');
  await submit(page, { Reason: 'I know the author' });
  await ticketHeading(page, 'leave-1').waitFor();
  await keys(page, 't');
  await submit(page, { Queue: 'elsewere', Reason: 'not ours' });
  await sees(page, 'there is no queue elsewere');
  expect(await page.getByRole('dialog').getByLabel('Queue').getAttribute('aria-invalid')).toBe('true');
  expect(await ticket(api, 'leave-1')).toMatchObject({ queue: 'leave', state: 'held' });
  await submit(page, { Queue: 'elsewhere' });
  await ticketHeading(page, 'leave-2').waitFor();
  await keys(page, 's');
  await press(page.getByRole('dialog'), 'Skip');
  await ticketHeading(page, 'leave-3').waitFor();
  const skipped = (await api.get('/v1/tickets/leave-2/events')).body.items.at(-1);
  expect([skipped.type, skipped.data]).toEqual(['skipped', { reviewer: expect.any(String) }]);
  expect(await eventTypes(api, 'leave-0')).toContain('skipped');
  expect(await ticket(api, 'leave-1')).toMatchObject({ queue: 'elsewhere', state: 'waiting' });
  await press(page, 'Stop working');
  await page.getByRole('heading', { name: 'Choose a queue' }).waitFor();
  await eventually(async () => (await ticket(api, 'leave-3')).state === 'waiting');

  // whoever goes elsewhere while the ticket is given back stays there
  await page.getByRole('link', { name: 'leave', exact: true }).click();
  await ticketHeading(page, 'leave-3').waitFor();
  let giveBack = () => {};
  const asked = new Promise<void>((resolve) => {
    giveBack = resolve;
  });
  await page.route('**/release', (route) => asked.then(() => route.continue()));
  await press(page, 'Stop working');
  await page.getByRole('link', { name: 'My decisions' }).click();
  const answered = page.waitForResponse('**/release');
  giveBack();
  await (await answered).finished();
  await page.evaluate('new Promise((resolve) => setTimeout(resolve, 100))');
  expect(new URL(page.url()).pathname).toBe('/mine');
});

test('S0.5 an empty desk says why, explains a certain ticket, and shows one that comes at once', async () => {
  await add(api, 'empty', { id: 'empty-0', requires: ['french'] });
  await add(api, 'empty', { id: 'empty-1', exclude: ['anna'] });
  const page = await open('empty', 'anna');
  await sees(page, '1 needs skills that you have not said you have.', '1 must not go to you.');
  await page.getByText('Why not a certain ticket?').click();
  await submit(page, { Ticket: 'empty-0' }, 'Ask');
  await sees(page, 'A skill that it requires is missing.');
  await page.getByLabel('Ticket').blur();
  await add(api, 'empty', { id: 'empty-2' });
  await ticketHeading(page, 'empty-2').waitFor();
});

test('S0.5 at a full quota, and while one is away, more than can be counted are not said to be so many, and nothing is said to be shown at once', async () => {
  await configure(api, 'full', {});
  await addMany(api, 'full', numbered(1_001, 'full-'));
  await api.put('/v1/reviewers/quinn', { perDay: 0 });
  const page = await open('full', 'quinn');
  await sees(page, 'You have had as many as you may today; 1,000 or more wait.');
  expect(await page.getByText('The desk waits').count()).toBe(0);
  await api.put('/v1/reviewers/quinn', { awayUntil: '2999-01-01T00:00:00Z' });
  await page.reload();
  await sees(page, 'You are away; 1,000 or more wait.');
  expect(await page.getByText('The desk waits').count()).toBe(0);
});

test('B.2 a second look says so beside its heading, with its cause; other tickets do not', async () => {
  const page = await desk('again', 1);
  const badge = page.locator('.desk-ticket').getByText('Second look: Appeal', { exact: true });
  expect(await badge.count()).toBe(0);
  await keys(page, '1', 'n');
  await isDecided('again-0');
  const look = await api.post('/v1/tickets/again-0/looks', { cause: 'appeal', by: 'author' });
  const other = await open('again', 'ben');
  await ticketHeading(other, look.body.id).waitFor();
  await sees(other.locator('.desk-ticket'), 'Second look: Appeal');
  expect(await seriousFindings(other)).toEqual([]);
});

test('S0.2 why a reviewer got this one: skills, order, priority, and that it was handed out before', async () => {
  await configure(api, 'why', { ageing: { secondsPerLevel: 60 }, maxHeld: 2 });
  await add(api, 'why', { id: 'why-1', requires: ['french'], priority: 7 });
  const { lease } = await claimOne(api, 'why', 'ben', { skills: ['french'] });
  await api.post('/v1/tickets/why-1/release', { token: lease.token });
  const page = await browser.open(`${api.url}/desk`, { person: 'anna' });
  await submit(page, { 'My skills': 'french' });
  await sees(page, 'Saved in this browser.');
  await page.goto(`${api.url}/desk/why`);
  await ticketHeading(page, 'why-1').waitFor();
  await page.getByText('Why did I get this one?').click();
  const lines = page.locator('.desk-why li');
  await sees(lines, 'It requires skills that you have: french.');
  await sees(lines, 'It was handed out before (1×) and came back undecided.', '1 min of waiting count as one level.');
  await sees(lines, 'priority 7');
  expect(await seriousFindings(page)).toEqual([]);
});
