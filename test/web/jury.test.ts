import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { seriousFindings, useBrowser } from '../support/browser.ts';
import { addCase, claimed, court, invitations, jurors, oneCase, stats, voted, votes } from '../support/cases.ts';
import { eventually } from '../support/client.ts';
import { createKey } from '../support/keys.ts';
import { startTestSystem, testStores } from '../support/system.ts';
import { add } from '../support/tickets.ts';

const stores = await testStores();
const system = await startTestSystem({}, { stores });
const { api } = system;

const heading = (page: Page, id: string) => page.getByRole('heading', { name: `Case ${id}` });
const body = { order: 'A-1', buyer: 'It came broken.', seller: { text: 'It was whole when it left.' } };

describe('the jury desk', () => {
  const browser = useBrowser();
  const open = (name: string, person: string, options: object = {}) =>
    browser.open(`${api.url}/jury/${name}`, { person, ...options });

  test('S2.2 a juror sees both sides side by side, votes with a comment by keys only, and gets the next case', async () => {
    await court(api, 'keys', { votesToWin: 1, window: { cases: 5, seconds: 3600 }, votesPerDay: 3 });
    await jurors(api, 'keys', ['rita']);
    await addCase(api, 'keys', { id: 'keys-0', body });
    await addCase(api, 'keys', { id: 'keys-1', body });
    const page = await open('keys', 'rita');
    await page.getByRole('heading', { name: /^Case keys-/ }).waitFor();
    const [left, right] = await Promise.all(
      ['buyer', 'seller'].map((side) => page.getByRole('region', { name: `Statement: ${side}` }).boundingBox()),
    );
    expect(left?.y).toBe(right?.y);
    expect(left!.x + left!.width).toBeLessThanOrEqual(right!.x + 1);
    await page.getByText('4 of 5 cases left in the window.').waitFor();
    await page.getByText('3 of 3 votes left today.').waitFor();
    await page.getByLabel('Comment (optional)').fill('The photo shows it');
    await page.keyboard.press('Escape');
    await page.keyboard.press('2');
    await page.getByRole('button', { name: 'Vote for seller' }).and(page.locator(':focus')).waitFor();
    await page.keyboard.press('Enter');
    await page.getByText(/^Your vote has decided keys-/).waitFor();
    await page.getByText('2 of 3 votes left today.').waitFor();
    const [first, second] = await Promise.all(['keys-0', 'keys-1'].map((id) => oneCase(api, id)));
    const done = first.state === 'decided' ? first : second;
    expect(done.winner).toBe('seller');
    expect(await votes(api, done.id)).toMatchObject([
      { juror: 'rita', option: 'seller', comment: 'The photo shows it' },
    ]);
    await heading(page, done.id === 'keys-0' ? 'keys-1' : 'keys-0').waitFor();
  });

  test('S2.6 a vote that decides while another juror reads tells them so, keeps their comment, and wastes nothing', async () => {
    await court(api, 'read', { votesToWin: 1, overbook: 1 });
    await jurors(api, 'read', ['rita', 'ben']);
    await addCase(api, 'read', { id: 'read-0', body });
    const page = await open('read', 'rita');
    await heading(page, 'read-0').waitFor();
    await page.getByText('Live', { exact: true }).waitFor();
    await page.getByLabel('Comment (optional)').fill('Not sure yet');
    const { id, token } = await claimed(api, 'read', 'ben');
    await voted(api, id, token, 'buyer');
    await page.getByRole('heading', { name: 'Decided while you read' }).waitFor();
    await page.getByText('Not sure yet').waitFor();
    await page.keyboard.press('n');
    await page.getByText('There is no open case for you.').waitFor();
    expect((await stats(api, 'read')).votes).toBe(1);
  });

  test('S2.1 an invitation appears by itself; one is declined, another accepted and voted on', async () => {
    for (const name of ['asks', 'begs']) {
      await court(api, name, { mode: 'assign', votesToWin: 1, assign: { jurors: 1, answerSeconds: 600 } });
      await jurors(api, name, ['mia']);
    }
    const page = await browser.open(`${api.url}/jury`, { person: 'mia' });
    await page.getByText('No open invitation.').waitFor();
    await addCase(api, 'asks', { id: 'asks-0', body });
    await page.getByText('case asks-0').waitFor();
    await page.getByRole('button', { name: 'Decline' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Decline' }).click();
    await page.getByText('No open invitation.').waitFor();
    await addCase(api, 'begs', { id: 'begs-0', body });
    await page.getByRole('button', { name: 'Accept' }).click();
    await heading(page, 'begs-0').waitFor();
    await page.getByText('You are invited', { exact: true }).waitFor();
    await page.keyboard.press('1');
    await page.getByRole('button', { name: 'Vote for buyer' }).and(page.locator(':focus')).waitFor();
    await page.keyboard.press('Enter');
    await page.getByText('Your vote has decided begs-0.').waitFor();
    expect(await invitations(api, 'mia')).toEqual([]);
    expect((await oneCase(api, 'asks-0')).state).toBe('open');
  });

  test('S2.4 S2.10 an empty desk says why: the window, the day, the list', async () => {
    await court(api, 'full', { window: { cases: 1, seconds: 3600 } });
    await court(api, 'tired', { votesPerDay: 1 });
    for (const name of ['full', 'tired']) {
      await jurors(api, name, ['rita']);
      for (const n of [0, 1]) await addCase(api, name, { id: `${name}-${n}`, body });
      const { id, token } = await claimed(api, name, 'rita');
      await voted(api, id, token, 'buyer');
    }
    const page = await open('full', 'rita');
    await page.getByText('You have seen as many cases as the window allows.').waitFor();
    await page.getByText('0 of 1 cases left in the window.').waitFor();
    await page.goto(`${api.url}/jury/tired`);
    await page.getByText('You have cast as many votes as a day allows.').waitFor();
    await page.getByText('0 of 1 votes left today.').waitFor();
    const stranger = await open('full', 'nobody');
    await stranger.getByText('You are not on the list of this court.').first().waitFor();
  });

  test.each([
    ['light', 'en'],
    ['dark', 'zh'],
  ] as const)(
    'axe finds nothing serious, and nothing is wider than a narrow screen, %s, %s',
    async (theme, language) => {
      const name = `axe-${theme}`;
      await court(api, name, { window: { cases: 5, seconds: 3600 } });
      await jurors(api, name, ['rita']);
      await addCase(api, name, { id: name, body });
      const page = await open(name, 'rita', { theme, language, viewport: { width: 390, height: 844 } });
      await page.getByRole('heading', { name: language === 'en' ? `Case ${name}` : `案件 ${name}` }).waitFor();
      await page.keyboard.press('1');
      await page.getByRole('button', { name: language === 'en' ? 'Vote for buyer' : '投给 buyer' }).waitFor();
      expect(await seriousFindings(page)).toEqual([]);
      expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true);
      await page.goto(`${api.url}/jury`);
      await page.getByRole('link', { name, exact: true }).waitFor();
      expect(await seriousFindings(page)).toEqual([]);
    },
  );

  test('a key that is bound to a person signs in to their desks, and to nothing else', async () => {
    const { api: keyed } = await startTestSystem({ DOCKET_AUTH: 'keys' }, { stores, role: 'api' });
    await eventually(async () => (await keyed.get('/')).status === 200, 60_000);
    await add(api, 'bound', { id: 'bound-0' });
    await court(api, 'bound', { votesToWin: 1 });
    await jurors(api, 'bound', ['rita']);
    await addCase(api, 'bound', { id: 'bound-case', body });
    const wanted = { name: 'rita', role: 'reviewer', subject: 'rita', queues: null } as const;
    const { key } = await createKey(system.running.runtime.db, wanted);
    const page = await browser.open(keyed.url);
    await page.getByRole('textbox', { name: 'Key' }).fill(key);
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Choose a queue' }).waitFor();
    expect(await page.getByRole('navigation').getByRole('link').allTextContents()).toEqual([
      ...['Review desk', 'Jury desk', 'API documentation'],
    ]);
    await page.getByRole('link', { name: 'bound', exact: true }).click();
    await page.getByRole('heading', { name: 'Ticket bound-0' }).waitFor();
    expect(await page.getByRole('button', { name: 'Change' }).count()).toBe(0);
    await page.keyboard.press('1');
    await page.keyboard.press('n');
    await eventually(async () => (await api.get('/v1/tickets/bound-0')).body.decidedBy === 'rita');
    await page.getByRole('link', { name: 'Jury desk' }).click();
    await page.getByRole('link', { name: 'bound', exact: true }).click();
    await heading(page, 'bound-case').waitFor();
    await page.keyboard.press('1');
    await page.getByRole('button', { name: 'Vote for buyer' }).and(page.locator(':focus')).waitFor();
    await page.keyboard.press('Enter');
    await eventually(async () => (await oneCase(api, 'bound-case')).winner === 'buyer');
  });
});
