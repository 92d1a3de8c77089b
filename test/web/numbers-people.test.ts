import { expect, test } from 'vitest';
import { useBrowser } from '../support/browser.ts';
import { addCase, claimed, court, jurors, vote, voted } from '../support/cases.ts';
import { claimOne, type Json } from '../support/client.ts';
import { region, sampled, samplingFor } from '../support/numbers.ts';
import { callsOf, submit, tableRows } from '../support/page.ts';
import { startTestSystem } from '../support/system.ts';
import { add, configure, decide, withToken } from '../support/tickets.ts';

const system = await startTestSystem();
const { api, sql } = system;

const browser = useBrowser();
const open = (query: string, options: object = {}) => browser.open(`${api.url}/numbers${query}`, options);

test('S4.9 what each reviewer did, with a link to their tickets; how late the tickets were handed out', async () => {
  await configure(api, 'people', { leaseSeconds: 600 });
  for (const id of ['p-1', 'p-2', 'p-3', 'p-4']) await add(api, 'people', { id });
  await decide(api, await claimOne(api, 'people', 'anna'));
  await decide(api, await claimOne(api, 'people', 'anna'));
  await withToken(api, await claimOne(api, 'people', 'ben'), 'release', { skip: true });
  const page = await open('?queue=people');
  const row = (name: string) =>
    region(page, 'Reviewers')
      .getByRole('row')
      .filter({ has: page.getByRole('link', { name }) });
  await row('anna').waitFor();
  const [decisions, median, ...others] = await row('anna').getByRole('cell').allTextContents();
  expect([decisions, ...others]).toEqual(['2', '0', '0', '0']);
  expect(median).toMatch(/ (ms|s)$/);
  expect(await row('ben').getByRole('cell').allTextContents()).toEqual(['0', '–', '1', '0', '0']);
  const { body } = await api.get('/v1/figures/lateness?kind=ticket&queue=people');
  const lateness = region(page, 'Lateness');
  const counts = lateness.getByRole('row').filter({ has: page.getByRole('rowheader') });
  const shown = await Promise.all((await counts.all()).map((one) => one.getByRole('cell').first().textContent()));
  const known: number[] = body.buckets.map((bucket: Json) => bucket.count);
  expect(shown.map(Number)).toEqual(known.slice(0, known.findLastIndex((n) => n > 0) + 1));
  expect(await lateness.getByRole('definition').first().textContent()).toBe('3');
  expect(await page.getByRole('link', { name: 'Tickets' }).getAttribute('href')).toBe('/queues/ticket/people');
  await row('anna').getByRole('link').click();
  await page.getByRole('link', { name: 'p-1' }).waitFor();
  expect(await page.getByRole('link', { name: 'p-3' }).count()).toBe(0);
  expect(new URL(page.url()).search).toBe('?kind=ticket&queue=people&reviewer=anna');
});

test('S2.6 what each juror of a court did, with votes that were wasted; without a court it says that one is to be chosen', async () => {
  await court(api, 'judges', { votesToWin: 1, overbook: 2, lateVotes: 'refuse' });
  await jurors(api, 'judges', ['rita', 'ben']);
  await addCase(api, 'judges', { id: 'judged' });
  const [first, late] = [await claimed(api, 'judges', 'rita'), await claimed(api, 'judges', 'ben')];
  await voted(api, 'judged', first.token, 'buyer');
  expect((await vote(api, 'judged', late.token, 'buyer')).status).toBe(409);
  const page = await open('?kind=case');
  await region(page, 'Jurors').getByText('Choose a court to see its jurors.').waitFor();
  await submit(page, { Court: 'judges' });
  const cells = async (name: string) => {
    const row = tableRows(page, name);
    return (await row.getByRole('cell').allTextContents()).slice(0, 5);
  };
  await page.getByRole('rowheader', { name: 'rita' }).waitFor();
  expect(await cells('rita')).toEqual(['1', '0', '100%', '1 of 1', '–']);
  expect(await cells('ben')).toEqual(['0', '1', '–', '–', '–']);
});

test('figures that have not counted everything say since when, or of how many', async () => {
  await court(api, 'crowded', {});
  await addCase(api, 'crowded', { id: 'crowded' });
  const votes = (name: string, n: number) =>
    sql(
      `insert into vote (token, case_id, court, juror, person, option, at, counted, gold)
         select $1 || n, 'crowded', $1, 'p' || n, $1 || n, 'buyer', now() - make_interval(secs => n / 25), true, false
           from generate_series(1, $2::integer) n`,
      [name, n],
    );
  await votes('many', 201);
  const many = await open('?kind=case&queue=many');
  await region(many, 'Jurors').getByText('The 200 who did most are shown.').waitFor();
  expect(await region(many, 'Jurors').getByRole('rowheader').count()).toBe(200);
  await votes('flood', 50_001);
  const flood = await open('?kind=case&queue=flood');
  await region(flood, 'Jurors')
    .getByText(/^This counts only what happened since /)
    .waitFor();
  await sql(`delete from vote where case_id = 'crowded'`);
});

test('S4.9 it asks once a minute, not while the tab is hidden, and for persons only when something has happened', async () => {
  await samplingFor(system, 180);
  await sampled(system, 'ticket', 'asked', 30, { ready: 5 });
  const page = await browser.prepare(`${api.url}/numbers`);
  await page.clock.install();
  await page.addInitScript(`Object.defineProperty(document, 'hidden', { get: () => window.isAway === true })`);
  const asked = callsOf(page);
  const count = (path: string) => asked.filter((one) => one === path).length;
  await page.goto(`${api.url}/numbers?queue=asked&range=hour`);
  await region(page, 'Reviewers').getByText('No one').waitFor();
  await page.getByRole('slider').first().waitFor();
  expect([count('/v1/figures'), count('/v1/figures/people')]).toEqual([1, 1]);
  await page.clock.fastForward(61_000);
  await expect.poll(() => count('/v1/figures')).toBe(2);
  await page.evaluate('window.isAway = true');
  for (let n = 0; n < 5; n++) await page.clock.fastForward(61_000);
  expect(count('/v1/figures')).toBe(2);
  await page.evaluate(`window.isAway = false; document.dispatchEvent(new Event('visibilitychange'))`);
  await expect.poll(() => count('/v1/figures')).toBe(3);
  expect([count('/v1/figures/people'), count('/v1/figures/lateness')]).toEqual([1, 1]);
  await sampled(system, 'ticket', 'asked', 1.5, { ready: 5, settled: 2 });
  await page.clock.fastForward(61_000);
  await expect.poll(() => count('/v1/figures/people')).toBe(2);
  expect(asked.filter((path) => path === '/v1/feed')).toEqual([]);
});
