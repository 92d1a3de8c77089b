import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { useBrowser } from '../support/browser.ts';
import { addCase, claimed, court, invitations, jurors, oneCase, stats, voted, votes } from '../support/cases.ts';
import { eventually } from '../support/client.ts';
import { createKey } from '../support/keys.ts';
import { startTestSystem, testStores } from '../support/system.ts';
import { add } from '../support/tickets.ts';
import { seen } from './desk.ts';
import { confirm, fill, holdBack, keys, press, sees, submit } from './page.ts';

const stores = await testStores();
const system = await startTestSystem({}, { stores });
const { api } = system;

const heading = (page: Page, id: string) => page.getByRole('heading', { name: `Case ${id}` });
const body = { order: 'A-1', buyer: 'It came broken.', seller: { text: 'It was whole when it left.' } };

const browser = useBrowser();
const open = (name: string, person: string) => browser.open(`${api.url}/jury/${name}`, { person });

/** A court with jurors and so many cases, `<court>-0` and on. */
async function begin(name: string, settings: object, persons: string[], cases: number): Promise<void> {
  await court(api, name, settings);
  await jurors(api, name, persons);
  for (let n = 0; n < cases; n++) await addCase(api, name, { id: `${name}-${n}`, body });
}

/** Votes by keys: the side's number chooses its button, which has the focus then. */
async function votesFor(page: Page, number: string, side: string): Promise<void> {
  await keys(page, number);
  const button = page.getByRole('button', { name: `Vote for ${side}` });
  await button.and(page.locator(':focus')).waitFor();
  await keys(page, 'Enter');
}

test('S2.2 a juror sees both sides side by side, votes with a comment by keys only, and gets the next case', async () => {
  await begin('keys', { votesToWin: 1, window: { cases: 5, seconds: 3600 }, votesPerDay: 3 }, ['rita'], 2);
  const page = await open('keys', 'rita');
  await page.getByRole('heading', { name: /^Case keys-/ }).waitFor();
  const [left, right] = await Promise.all(
    ['buyer', 'seller'].map((side) => page.getByRole('region', { name: `Statement: ${side}` }).boundingBox()),
  );
  expect(left?.y).toBe(right?.y);
  expect(left!.x + left!.width).toBeLessThanOrEqual(right!.x + 1);
  await sees(page, '4 of 5 cases left for now.', '3 of 3 votes left today.');
  await fill(page, { 'Comment (optional)': 'The photo shows it' });
  await page.reload();
  await page.getByRole('heading', { name: /^Case keys-/ }).waitFor();
  expect(await page.getByLabel('Comment (optional)').inputValue()).toBe('The photo shows it');
  await page.getByLabel('Comment (optional)').focus();
  await keys(page, 'Escape');
  await votesFor(page, '2', 'seller');
  await sees(page, /^Your vote has decided keys-/, '2 of 3 votes left today.');
  const [first, second] = await Promise.all(['keys-0', 'keys-1'].map((id) => oneCase(api, id)));
  const done = first.state === 'decided' ? first : second;
  expect(done.winner).toBe('seller');
  expect(await votes(api, done.id)).toMatchObject([{ juror: 'rita', option: 'seller', comment: 'The photo shows it' }]);
  await heading(page, done.id === 'keys-0' ? 'keys-1' : 'keys-0').waitFor();
});

test('S2.6 a vote that decides while another juror reads tells them so, keeps their comment, and wastes nothing', async () => {
  await begin('read', { votesToWin: 1, overbook: 1 }, ['rita', 'ben'], 1);
  const page = await open('read', 'rita');
  await heading(page, 'read-0').waitFor();
  await page.getByText('Live', { exact: true }).waitFor();
  await fill(page, { 'Comment (optional)': 'Not sure yet' });
  const { id, token } = await claimed(api, 'read', 'ben');
  await voted(api, id, token, 'buyer');
  await page.getByRole('heading', { name: 'Decided while you read' }).waitFor();
  await sees(page, 'Not sure yet');
  await keys(page, 'n');
  await sees(page, 'There is no open case for you.');
  expect((await stats(api, 'read')).votes).toBe(1);
});

test('S2.8 what is changed while a juror reads is shown to them, the case and the options of its court', async () => {
  await begin('edits', { votesToWin: 1 }, ['rita'], 1);
  const page = await open('edits', 'rita');
  await heading(page, 'edits-0').waitFor();
  await page.getByText('Live', { exact: true }).waitFor();
  expect((await api.patch('/v1/cases/edits-0', { body: { ...body, buyer: 'It came whole.' } })).status).toBe(200);
  await page.getByText('It came whole.', { exact: true }).waitFor();
  await sees(page, 'This case has been changed');
  await court(api, 'edits', { votesToWin: 1, options: ['buyer', 'nobody'] });
  await page.getByText('nobody').first().waitFor();
  await votesFor(page, '2', 'nobody');
  await eventually(async () => (await oneCase(api, 'edits-0')).state === 'decided');
  expect((await oneCase(api, 'edits-0')).winner).toBe('nobody');
});

test('S2.1 an invitation appears by itself; one is declined, another accepted and voted on', async () => {
  const assigned = { mode: 'assign', votesToWin: 1, assign: { jurors: 1, answerSeconds: 600 } };
  for (const name of ['asks', 'begs']) await begin(name, assigned, ['mia'], 0);
  const page = await browser.open(`${api.url}/jury`, { person: 'mia' });
  await sees(page, 'No open invitation.');
  await addCase(api, 'asks', { id: 'asks-0', body });
  await sees(page, 'case asks-0');
  await confirm(page, 'Decline');
  await sees(page, 'No open invitation.');
  await addCase(api, 'begs', { id: 'begs-0', body });
  await press(page, 'Accept');
  await heading(page, 'begs-0').waitFor();
  await page.getByText('You are invited', { exact: true }).waitFor();
  await votesFor(page, '1', 'buyer');
  await sees(page, 'Your vote has decided begs-0.');
  expect(await invitations(api, 'mia')).toEqual([]);
  expect((await oneCase(api, 'asks-0')).state).toBe('open');
});

test('S2.1 an invitation that ends as its case is opened is said to have ended', async () => {
  await begin('brief', { mode: 'assign', votesToWin: 1, assign: { jurors: 1, answerSeconds: 600 } }, ['zoe'], 1);
  const page = await browser.open(`${api.url}/jury`, { person: 'zoe' });
  await sees(page, 'case brief-0');
  const letGo = await holdBack(page, '**/v1/jurors/zoe/invitations*');
  await press(page, 'Accept');
  await heading(page, 'brief-0').waitFor();
  await api.post('/v1/cases/brief-0/invalidate', { reason: 'settled between them' });
  await sees(page, 'This case has been invalidated');
  letGo();
  await keys(page, 'n');
  await sees(page, 'There is no open case for you.');
});

test('S2.4 S2.10 an empty desk says why: the window, the day, the list', async () => {
  const limits = { full: { window: { cases: 1, seconds: 3600 } }, tired: { votesPerDay: 1 } };
  for (const [name, limit] of Object.entries(limits)) {
    await begin(name, limit, ['rita'], 2);
    const { id, token } = await claimed(api, name, 'rita');
    await voted(api, id, token, 'buyer');
  }
  const page = await open('full', 'rita');
  await sees(page, 'You have seen as many cases as you may for now.', '0 of 1 cases left for now.');
  await page.goto(`${api.url}/jury/tired`);
  await sees(page, 'You have cast as many votes as a day allows.', '0 of 1 votes left today.');
  const stranger = await open('full', 'nobody');
  await sees(stranger, 'You are not on the list of this court.');
});

test('a key that is bound to a person signs in to their desks, and to nothing else', async () => {
  const { api: keyed } = await startTestSystem({ DOCKET_AUTH: 'keys' }, { stores, role: 'api' });
  await add(api, 'bound', { id: 'bound-0' });
  await begin('bound', { votesToWin: 1 }, ['rita'], 1);
  const wanted = { name: 'rita', role: 'reviewer', subject: 'rita', queues: null } as const;
  const { key } = await createKey(system.running.runtime.db, wanted);
  const page = await browser.open(keyed.url);
  await submit(page, { Key: key });
  await page.getByRole('heading', { name: 'Choose a queue' }).waitFor();
  const links = await page.getByRole('navigation').getByRole('link').allTextContents();
  expect(links).toEqual(['Review desk', 'My decisions', 'Jury desk', 'API documentation']);
  await page.getByRole('link', { name: 'bound', exact: true }).click();
  await seen(page, 'bound-0');
  expect(await page.getByRole('button', { name: 'Change' }).count()).toBe(0);
  await keys(page, '1', 'n');
  await eventually(async () => (await api.get('/v1/tickets/bound-0')).body.decidedBy === 'rita');
  await page.getByRole('link', { name: 'Jury desk' }).click();
  await page.getByRole('link', { name: 'bound', exact: true }).click();
  await heading(page, 'bound-0').waitFor();
  await votesFor(page, '1', 'buyer');
  await eventually(async () => (await oneCase(api, 'bound-0')).winner === 'buyer');
});
