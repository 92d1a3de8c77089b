import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { seriousFindings, useBrowser } from '../support/browser.ts';
import { claimOne, eventTypes, eventually, repeat } from '../support/client.ts';
import { startTestSystem } from '../support/system.ts';
import { add, addMany, configure, ticket } from '../support/tickets.ts';

const { api } = await startTestSystem();

const heading = (page: Page, id: string) => page.getByRole('heading', { name: `Ticket ${id}`, exact: true });
const ready = (page: Page) => page.getByText('Next one ready').locator('..').getByText('Yes');
const numbered = (queue: string, n: number) => repeat(n, (k) => ({ id: `${queue}-${k}`, body: { k } }));

const isDecided = (id: string) => eventually(async () => (await ticket(api, id)).state === 'decided');

describe('the review desk', () => {
  const browser = useBrowser();
  const open = (queue: string, person: string, options: object = {}) =>
    browser.open(`${api.url}/desk/${queue}`, { person, ...options });

  test('S0.8 a reviewer chooses a name and a queue, claims, decides and gets the next by keys only', async () => {
    await addMany(api, 'keys', numbered('keys', 3));
    const page = await browser.open(`${api.url}/desk`);
    await page.getByLabel('Name').press('a');
    await page.keyboard.type('nna');
    await page.keyboard.press('Enter');
    await page.getByRole('link', { name: 'keys', exact: true }).press('Enter');
    await heading(page, 'keys-0').waitFor();
    await page.keyboard.press('1');
    await page.getByText('Decided, not sent yet').waitFor();
    await page.keyboard.press('n');
    await heading(page, 'keys-1').waitFor();
    await page.keyboard.press('2');
    await page.getByRole('button', { name: /Send now, next ticket/ }).press('Enter');
    await heading(page, 'keys-2').waitFor();
    expect(await ticket(api, 'keys-0')).toMatchObject({ decision: { verdict: 'approve' }, decidedBy: 'anna' });
    expect(await ticket(api, 'keys-1')).toMatchObject({ decision: { verdict: 'reject' }, decidedBy: 'anna' });
    // remembered: the next visit asks for no name
    await page.goto(`${api.url}/desk`);
    await page.getByText('Working as').waitFor();
    await page.getByRole('link', { name: 'keys', exact: true }).waitFor();
  });

  test('S0.8 where more may be held the next ticket is there before it is asked for: one or two frames, no network', async () => {
    await configure(api, 'ahead', { maxHeld: 3 });
    await addMany(api, 'ahead', numbered('ahead', 3));
    const page = await open('ahead', 'anna');
    await heading(page, 'ahead-0').waitFor();
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
    await page.keyboard.press('1');
    await heading(page, 'ahead-1').waitFor();
    expect(await eventually(() => page.evaluate('window.waited'))).toBeLessThanOrEqual(2);
    await page.context().setOffline(false);
    await isDecided('ahead-0');
  });

  test('a decision is undone before it is sent, and decided anew', async () => {
    await configure(api, 'undo', { maxHeld: 2 });
    await addMany(api, 'undo', numbered('undo', 2));
    const page = await open('undo', 'anna');
    await ready(page).waitFor();
    await page.keyboard.press('1');
    await heading(page, 'undo-1').waitFor();
    await page.keyboard.press('u');
    await heading(page, 'undo-0').waitFor();
    await page.keyboard.press('2');
    await page.keyboard.press('n');
    await isDecided('undo-0');
    expect((await ticket(api, 'undo-0')).decision).toEqual({ verdict: 'reject' });
    expect((await ticket(api, 'undo-1')).state).toBe('held');
  });

  test('a decision is sent by itself when it can no longer be undone', async () => {
    await add(api, 'late', { id: 'late-0' });
    const page = await open('late', 'anna');
    await heading(page, 'late-0').waitFor();
    await page.keyboard.press('3');
    await page.getByText('If you close this tab before, nothing is sent').waitFor();
    expect((await ticket(api, 'late-0')).state).toBe('held');
    await isDecided('late-0');
    await page.getByText('The queue is empty.').waitFor();
  });

  test('S0.7 a tab that is closed before has decided nothing: the lease runs out, and another reviewer gets the ticket', async () => {
    await configure(api, 'closed', { leaseSeconds: 8 });
    await add(api, 'closed', { id: 'closed-0' });
    const page = await open('closed', 'anna');
    await heading(page, 'closed-0').waitFor();
    await page.keyboard.press('1');
    await page.getByText('Decided, not sent yet').waitFor();
    await page.close();
    const other = await open('closed', 'ben');
    await heading(other, 'closed-0').waitFor();
    expect(await eventTypes(api, 'closed-0')).toEqual(['created', 'claimed', 'reclaimed', 'claimed']);
  });

  test('S0.7 who stops working with a decision that waits has decided, and holds nothing more', async () => {
    await addMany(api, 'stopping', numbered('stopping', 2));
    const page = await open('stopping', 'anna');
    await heading(page, 'stopping-0').waitFor();
    await page.keyboard.press('1');
    await page.getByText('Decided, not sent yet').waitFor();
    await page.getByRole('button', { name: 'Stop working' }).click();
    await isDecided('stopping-0');
    await page.getByText('Working as').waitFor();
    expect(await eventTypes(api, 'stopping-1')).toEqual(['created']);
  });

  test('S0.8 a key that is held down, and a double click, decide one ticket', async () => {
    await configure(api, 'twice', { maxHeld: 3 });
    await addMany(api, 'twice', numbered('twice', 3));
    const page = await open('twice', 'anna');
    await ready(page).waitFor();
    for (let n = 0; n < 3; n++) await page.keyboard.down('1');
    await page.keyboard.up('1');
    await heading(page, 'twice-1').waitFor();
    await ready(page).waitFor();
    await page.getByRole('button', { name: /Approve/ }).dblclick();
    await heading(page, 'twice-2').waitFor();
    await isDecided('twice-1');
    expect((await ticket(api, 'twice-2')).state).toBe('held');
  });

  test('S0.6 two browsers at one queue never show the same ticket', async () => {
    await configure(api, 'two', { maxHeld: 2 });
    await addMany(api, 'two', numbered('two', 20));
    const work = async (person: string) => {
      const page = await open('two', person);
      const shown: string[] = [];
      const empty = page.getByRole('heading', { name: 'Nothing for you right now' });
      for (;;) {
        await page
          .getByRole('heading', { name: /^Ticket two-/ })
          .or(empty)
          .waitFor();
        if (await empty.isVisible()) return shown;
        const id = (await page.locator('#desk-ticket').textContent())?.replace('Ticket ', '') ?? '';
        shown.push(id);
        await page.keyboard.press('1');
        await page.keyboard.press('n');
        await heading(page, id).waitFor({ state: 'detached' });
      }
    };
    const [anna, ben] = await Promise.all([work('anna'), work('ben')]);
    const all = [...anna, ...ben];
    expect(new Set(all).size).toBe(20);
    expect(all).toHaveLength(20);
    expect(Math.min(anna.length, ben.length)).toBeGreaterThan(0);
    for (const id of all) expect((await ticket(api, id)).decidedBy).toBe(anna.includes(id) ? 'anna' : 'ben');
  });

  test('a ticket is skipped with a reason, and another moved to the queue that it belongs to', async () => {
    await addMany(api, 'leave', numbered('leave', 3));
    const page = await open('leave', 'anna');
    await heading(page, 'leave-0').waitFor();
    await page.keyboard.press('s');
    await page.getByLabel('Reason').fill('I know the author');
    await page.keyboard.press('Enter');
    await heading(page, 'leave-1').waitFor();
    await page.keyboard.press('t');
    await page.getByRole('textbox', { name: 'Queue' }).fill('elsewhere');
    await page.getByLabel('Reason').fill('not ours');
    await page.keyboard.press('Enter');
    await heading(page, 'leave-2').waitFor();
    expect(await eventTypes(api, 'leave-0')).toContain('skipped');
    expect(await ticket(api, 'leave-1')).toMatchObject({ queue: 'elsewhere', state: 'waiting' });
    await page.getByRole('button', { name: 'Stop working' }).click();
    await page.getByRole('heading', { name: 'Choose a queue' }).waitFor();
    await eventually(async () => (await ticket(api, 'leave-2')).state === 'waiting');
  });

  test('S0.5 an empty desk says why, explains a certain ticket, and shows one that comes at once', async () => {
    await add(api, 'empty', { id: 'empty-0', requires: ['french'] });
    await add(api, 'empty', { id: 'empty-1', exclude: ['anna'] });
    const page = await open('empty', 'anna');
    await page.getByText('1 needs skills that you have not said you have.').waitFor();
    await page.getByText('1 must not go to you.').waitFor();
    await page.getByText('Why not a certain ticket?').click();
    await page.getByLabel('Ticket').fill('empty-0');
    await page.getByRole('button', { name: 'Ask' }).click();
    await page.getByText('It needs skills that you have not said you have.').waitFor();
    await page.getByLabel('Ticket').blur();
    await add(api, 'empty', { id: 'empty-2' });
    await heading(page, 'empty-2').waitFor();
  });

  test('S0.2 why a reviewer got this one: skills, order, priority, and that it was handed out before', async () => {
    await configure(api, 'why', { ageing: { secondsPerLevel: 60 }, maxHeld: 2 });
    await add(api, 'why', { id: 'why-1', requires: ['french'], priority: 7 });
    const { lease } = await claimOne(api, 'why', 'ben', { skills: ['french'] });
    await api.post('/v1/tickets/why-1/release', { token: lease.token });
    const page = await browser.open(`${api.url}/desk`, { person: 'anna' });
    await page.getByRole('textbox', { name: 'My skills' }).fill('french');
    await page.keyboard.press('Enter');
    await page.getByText('Saved in this browser.').waitFor();
    await page.goto(`${api.url}/desk/why`);
    await heading(page, 'why-1').waitFor();
    await page.getByText('Why did I get this one?').click();
    const lines = page.locator('.desk-why li');
    await lines.getByText('It requires skills that you have: french.').waitFor();
    await lines.getByText('It was handed out before (1×) and came back undecided.').waitFor();
    await lines.getByText('1 min of waiting count as one level.').waitFor();
    await lines.getByText('priority 7').waitFor();
    expect(await seriousFindings(page)).toEqual([]);
  });

  test.each([
    ['light', 'en'],
    ['dark', 'zh'],
  ] as const)('axe finds nothing serious at the desk and before it, %s, %s', async (theme, language) => {
    const queue = `axe-${theme}`;
    await configure(api, queue, { maxHeld: 2 });
    await addMany(api, queue, numbered(queue, 2));
    const chooser = await browser.open(`${api.url}/desk`, { theme, language });
    await chooser.getByRole('button', { name: language === 'en' ? 'Go to work' : '开始工作' }).waitFor();
    expect(await seriousFindings(chooser)).toEqual([]);
    const page = await open(queue, 'anna', { theme, language, viewport: { width: 390, height: 844 } });
    await page.getByRole('heading', { name: language === 'en' ? `Ticket ${queue}-0` : `工单 ${queue}-0` }).waitFor();
    expect(await seriousFindings(page)).toEqual([]);
    await page.keyboard.press('1');
    await page.getByText(language === 'en' ? 'Decided, not sent yet' : '已裁定，尚未提交').waitFor();
    expect(await seriousFindings(page)).toEqual([]);
    expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true);
    await page.goto(`${api.url}/desk`);
    await page.getByRole('link', { name: queue }).waitFor();
    expect(await seriousFindings(page)).toEqual([]);
  });
});
