import { expect, test } from 'vitest';
import { useBrowser } from '../support/browser.ts';
import { addCase, claimed, court, jurors, vote, voted } from '../support/cases.ts';
import { claimOne, type Json } from '../support/client.ts';
import { startTestSystem } from '../support/system.ts';
import { add, configure, decide, withToken } from '../support/tickets.ts';
import { ACCENT, inkOf, isInked, legend, region, sampled, samplingFor, tableOf } from './numbers.ts';
import { callsOf, fill, keys, press, sees, submit, tableRows } from './page.ts';

const system = await startTestSystem();
const { api, sql } = system;

const AGE = 'Age of the oldest waiting item';

const browser = useBrowser();
const open = (query: string, options: object = {}) => browser.open(`${api.url}/numbers${query}`, options);

test('S4.9 backlog, age and throughput of a queue over an hour; what is not known is a gap, in the chart and in its table', async () => {
  await samplingFor(system, 55);
  await sampled(system, 'ticket', 'gaps', 50, { ready: 8, held: 1, delayed: 3, settled: 10, granted: 11, oldest: 52 });
  await sampled(system, 'ticket', 'gaps', 35, { delayed: 3, settled: 19, granted: 19 });
  const last = { ready: 4, held: 2, delayed: 3, settled: 20, granted: 22, lease_expired: 2, oldest: 18 };
  await sampled(system, 'ticket', 'gaps', 15, last);
  const page = await open('?queue=gaps&range=hour');
  await region(page, 'Backlog').getByRole('slider').waitFor();
  expect(await legend(page, 'Backlog')).toEqual(['Waiting 4', 'Held 2', 'Delayed 3']);
  expect((await legend(page, AGE))[0]).toMatch(/^Oldest 1[78] min$/);

  const waiting = await inkOf(page, 'Backlog', ACCENT.light);
  expect(isInked(waiting, -0.1, 0.06), 'before sampling began').toBe(false);
  expect(isInked(waiting, 0.5, 0.65), 'when nothing was waiting').toBe(true);
  const age = await inkOf(page, AGE, ACCENT.light);
  expect([isInked(age, 0.2, 0.38), isInked(age, 0.45, 0.7), isInked(age, 0.8, 0.95)]).toEqual([true, false, true]);

  const ages = (await tableOf(page, AGE)).flat();
  expect(ages.length).toBe(60);
  expect([ages[30], ages.at(-1)]).toEqual(['–', '–']);
  expect(ages.filter((text) => text !== '–').every((text) => /min$/.test(text))).toBe(true);
  const backlog = await tableOf(page, 'Backlog');
  expect([backlog[0], backlog[30], backlog.at(-1)].map((row) => row?.join(' '))).toEqual(['4 2 3', '0 0 3', '– – –']);
  const throughput = await tableOf(page, 'Throughput');
  const total = (column: number) => throughput.reduce((sum, row) => sum + Number(row[column]?.replace('–', '0')), 0);
  expect([total(0), total(1), total(2), total(3)], 'added, handed out, decided, expired').toEqual([29, 22, 20, 2]);
});

test('by keys the cursor goes from step to step and its values are said; a line can be hidden', async () => {
  await samplingFor(system, 180);
  await sampled(system, 'job', 'keyed', 90, { ready: 12 });
  await sampled(system, 'job', 'keyed', 2.5, { ready: 7 });
  const page = await open('?kind=job&queue=keyed&range=hour');
  const slider = page.getByRole('slider', { name: 'Backlog: values over time' });
  await slider.focus();
  expect(await slider.getAttribute('aria-valuetext')).toBe('Ready 7, Reserved 0, Delayed 0, Buried 0');
  for (let n = 0; n < 5; n++) await page.keyboard.press('ArrowLeft');
  await region(page, 'Backlog').getByRole('button', { name: 'Ready 12' }).waitFor();
  expect(await slider.getAttribute('aria-valuetext')).toMatch(/^Ready 12,/);
  await keys(page, 'End');
  const ready = region(page, 'Backlog').getByRole('button', { name: 'Ready 7' });
  expect(isInked(await inkOf(page, 'Backlog', ACCENT.light), 0, 1)).toBe(true);
  await ready.focus();
  await keys(page, 'Enter');
  await region(page, 'Backlog').getByRole('button', { name: 'Ready 7', pressed: false }).waitFor();
  await expect.poll(() => inkOf(page, 'Backlog', ACCENT.light)).toEqual([]);
});

test('the lines have the colours of the scheme, also after a change of it', async () => {
  await samplingFor(system, 180);
  await sampled(system, 'ticket', 'colours', 30, { ready: 5 });
  const page = await open('?queue=colours&range=hour', { theme: 'light' });
  await region(page, 'Backlog').getByRole('slider').waitFor();
  const has = async (theme: 'light' | 'dark') => isInked(await inkOf(page, 'Backlog', ACCENT[theme]), 0, 1);
  await expect.poll(() => has('light')).toBe(true);
  await press(page, 'Language and appearance');
  await fill(page, { Appearance: 'Dark' });
  await expect.poll(() => has('dark')).toBe(true);
  expect(await has('light')).toBe(false);
  await fill(page, { Appearance: 'As the system' });
  await expect.poll(() => has('light')).toBe(true);
  await page.emulateMedia({ colorScheme: 'dark' });
  await expect.poll(() => has('dark')).toBe(true);
});

test('what is chosen stands in the address: it survives a reload, a wrong one is the usual one, Back goes back', async () => {
  await api.post('/v1/jobs', { command: 'add', id: 'addressed', topic: 'addressed', body: 1 });
  const page = await open('?kind=nothing&range=toString');
  await region(page, 'Reviewers').waitFor();
  expect(await page.getByLabel('Time', { exact: true }).inputValue()).toBe('day');
  await fill(page, { Kind: 'Jobs', Time: 'Last week', Topic: 'addressed' });
  await page.locator('datalist option[value=addressed]').waitFor({ state: 'attached' });
  await press(page, /^Show$/);
  const search = () => new URL(page.url()).search;
  await expect.poll(search).toBe('?kind=job&range=week&queue=addressed');
  await page.reload();
  await region(page, 'Lateness').waitFor();
  const values = ['Kind', 'Time', 'Topic'].map((label) => page.getByLabel(label, { exact: true }).inputValue());
  expect(await Promise.all(values)).toEqual(['job', 'week', 'addressed']);
  await page.goBack();
  await expect.poll(search).toBe('?kind=job&range=week');
  await expect.poll(() => page.getByLabel('Topic', { exact: true }).inputValue()).toBe('');
});

const FAILED = 'Failed deliveries';
test.each([
  ['ticket', ['Lateness', 'Reviewers'], `Waiting Held Delayed ${FAILED}`, 'Added, Handed out, Decided, Expired leases'],
  ['job', ['Lateness'], 'Ready Reserved Delayed Buried', 'Added, Handed out, Finished, Expired leases'],
  ['case', ['Votes', 'Jurors'], `Open ${FAILED}`, 'Added, Decided'],
  ['task', [], `Due Planned ${FAILED}`, 'Added, Completed'],
])('S4.9 kind %s has its own figures, in its own words', async (kind, regions, backlog, throughput) => {
  await samplingFor(system, 180);
  const queue = kind === 'task' ? 'gid_words' : 'words';
  const counts = { ready: 3, settled: 5, granted: 8, lease_expired: 2, votes: 9, wasted: 4, failed: 1, oldest: 40 };
  await sampled(system, kind, queue, 30, counts);
  const page = await open(`?kind=${kind}&queue=${queue}`);
  await region(page, 'Backlog').getByRole('slider').waitFor();
  const shown = await page.getByRole('region').getByRole('heading').allTextContents();
  expect(shown.toSorted()).toEqual(['Backlog', AGE, 'Throughput', ...regions].toSorted());
  const words = async (chart: string) => (await legend(page, chart)).map((text) => text.replace(/ [\d,]+$/, ''));
  expect((await words('Backlog')).join(' ')).toBe(backlog);
  expect((await words('Throughput')).join(', ')).toBe(throughput);
  if (kind === 'case') expect(await tableOf(page, 'Votes')).toContainEqual(['9', '4']);
});

test('where there is nothing to draw, it says why', async () => {
  await sql(`update sample_state set began_at = 'infinity'`);
  const early = await open('?queue=early');
  await sees(region(early, 'Without figures'), 'Backlog', 'Not known yet: counts are taken once a minute');
  await samplingFor(system, 180);
  await sampled(system, 'ticket', '', 30, { ready: 2 });
  await sampled(system, 'ticket', 'drained', 170, { settled: 1 });
  const all = await open('?range=hour');
  await sees(region(all, 'Without figures'), AGE, 'Choose a queue:');
  expect(await legend(all, 'Backlog')).toEqual(['Waiting 2', 'Held 0', 'Delayed 0']);
  const page = await open('?queue=drained&range=hour');
  await sees(
    region(page, 'Without figures'),
    'Nothing in this time, by counts',
    'Nothing was waiting in this time, by counts',
  );
  await sees(region(page, 'Lateness'), 'Nothing was handed out for the first time in this time.');
  expect(await page.getByRole('slider').count()).toBe(0);
});

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
  expect(shown.map(Number)).toEqual(known.filter((n) => n > 0));
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
