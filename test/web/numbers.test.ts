import { describe, expect, test } from 'vitest';
import { seriousFindings, useBrowser } from '../support/browser.ts';
import { claimOne } from '../support/client.ts';
import { ACCENT, inkOf, isInked, legend, region, sampled, samplingFor, tableOf } from '../support/numbers.ts';
import { startTestSystem } from '../support/system.ts';
import { add, decide } from '../support/tickets.ts';

const system = await startTestSystem();
const { api, sql } = system;

describe('numbers over time', () => {
  const browser = useBrowser();
  const open = (query: string, options: object = {}) => browser.open(`${api.url}/numbers${query}`, options);

  test('S4.9 backlog, age and throughput of a queue over an hour; what is not known is a gap, in the chart and in its table', async () => {
    await samplingFor(system, 55);
    await sampled(system, 'ticket', 'gaps', 50, {
      ready: 8,
      held: 1,
      delayed: 3,
      settled: 10,
      granted: 11,
      oldest: 52,
    });
    await sampled(system, 'ticket', 'gaps', 35, { delayed: 3, settled: 19, granted: 19 });
    await sampled(system, 'ticket', 'gaps', 15, {
      ready: 4,
      held: 2,
      delayed: 3,
      settled: 20,
      granted: 22,
      lease_expired: 2,
      oldest: 18,
    });
    const page = await open('?queue=gaps&range=hour');
    await region(page, 'Backlog').getByRole('slider').waitFor();
    expect(await legend(page, 'Backlog')).toEqual(['Waiting 4', 'Held 2', 'Delayed 3']);
    expect((await legend(page, 'Age of the oldest waiting item'))[0]).toMatch(/^Oldest 1[78] min$/);

    const waiting = await inkOf(page, 'Backlog', ACCENT.light);
    expect(isInked(waiting, -0.1, 0.06), 'before sampling began').toBe(false);
    expect(isInked(waiting, 0.5, 0.65), 'when nothing was waiting').toBe(true);
    const age = await inkOf(page, 'Age of the oldest waiting item', ACCENT.light);
    expect([isInked(age, 0.2, 0.38), isInked(age, 0.45, 0.7), isInked(age, 0.8, 0.95)]).toEqual([true, false, true]);

    const ages = (await tableOf(page, 'Age of the oldest waiting item')).flat();
    expect(ages.length).toBe(60);
    expect([ages[30], ages.at(-1)]).toEqual(['–', '–']);
    expect(ages.filter((text) => text !== '–').every((text) => /min$/.test(text))).toBe(true);
    const backlog = await tableOf(page, 'Backlog');
    expect([backlog[0], backlog[30], backlog.at(-1)]).toEqual([
      ['4', '2', '3'],
      ['0', '0', '3'],
      ['–', '–', '–'],
    ]);
    const throughput = await tableOf(page, 'Throughput');
    const total = (column: number) => throughput.reduce((sum, row) => sum + Number(row[column]?.replace('–', '0')), 0);
    expect([total(0), total(1), total(2)], 'added, handed out, decided').toEqual([29, 22, 20]);
    expect((await tableOf(page, 'Expired leases')).flat().filter((text) => text === '2').length).toBe(1);
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
    await page.keyboard.press('End');
    const ready = region(page, 'Backlog').getByRole('button', { name: 'Ready 7' });
    expect(isInked(await inkOf(page, 'Backlog', ACCENT.light), 0, 1)).toBe(true);
    await ready.focus();
    await page.keyboard.press('Enter');
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
    await page.getByRole('button', { name: 'Language and colours' }).click();
    await page.getByLabel('Colours', { exact: true }).selectOption('Dark');
    await expect.poll(() => has('dark')).toBe(true);
    expect(await has('light')).toBe(false);
    await page.getByLabel('Colours', { exact: true }).selectOption('As the system');
    await expect.poll(() => has('light')).toBe(true);
    await page.emulateMedia({ colorScheme: 'dark' });
    await expect.poll(() => has('dark')).toBe(true);
  });

  test('what is chosen stands in the address: it survives a reload, a wrong one is the usual one, Back goes back', async () => {
    await api.post('/v1/jobs', { command: 'add', id: 'addressed', topic: 'addressed', body: 1 });
    const page = await open('?kind=nothing&range=toString');
    await region(page, 'Reviewers').waitFor();
    expect(await page.getByLabel('Time', { exact: true }).inputValue()).toBe('day');
    await page.getByLabel('Kind', { exact: true }).selectOption('Jobs');
    await page.getByLabel('Time', { exact: true }).selectOption('Last week');
    await page.getByLabel('Topic', { exact: true }).fill('addressed');
    await page.locator('datalist option[value=addressed]').waitFor({ state: 'attached' });
    await page.getByRole('button', { name: 'Show', exact: true }).click();
    const search = () => new URL(page.url()).search;
    await expect.poll(search).toBe('?kind=job&queue=addressed&range=week');
    await page.reload();
    await region(page, 'Lateness').waitFor();
    const values = ['Kind', 'Time', 'Topic'].map((label) => page.getByLabel(label, { exact: true }).inputValue());
    expect(await Promise.all(values)).toEqual(['job', 'week', 'addressed']);
    await page.goBack();
    await expect.poll(search).toBe('?kind=job&range=week');
    await expect.poll(() => page.getByLabel('Topic', { exact: true }).inputValue()).toBe('');
  });

  test.each([
    [
      'ticket',
      [
        'Backlog',
        'Age of the oldest waiting item',
        'Throughput',
        'Expired leases',
        'Deliveries that failed for good',
        'Lateness',
        'Reviewers',
      ],
      ['Waiting', 'Held', 'Delayed'],
      ['Added', 'Handed out', 'Decided'],
    ],
    [
      'job',
      ['Backlog', 'Age of the oldest waiting item', 'Throughput', 'Expired leases', 'Lateness'],
      ['Ready', 'Reserved', 'Delayed', 'Buried'],
      ['Added', 'Handed out', 'Finished'],
    ],
    [
      'case',
      ['Backlog', 'Age of the oldest waiting item', 'Throughput', 'Votes', 'Deliveries that failed for good', 'Jurors'],
      ['Open'],
      ['Added', 'Decided'],
    ],
    [
      'task',
      ['Backlog', 'Age of the oldest waiting item', 'Throughput', 'Deliveries that failed for good'],
      ['Due', 'Planned'],
      ['Added', 'Completed'],
    ],
  ])('S4.9 kind %s has its own figures, in its own words', async (kind, regions, backlog, throughput) => {
    await samplingFor(system, 180);
    const queue = kind === 'task' ? 'gid_words' : 'words';
    const counts = { ready: 3, settled: 5, granted: 8, lease_expired: 2, votes: 9, wasted: 4, failed: 1, oldest: 40 };
    await sampled(system, kind, queue, 30, counts);
    const page = await open(`?kind=${kind}&queue=${queue}`);
    await region(page, 'Backlog').getByRole('slider').waitFor();
    const shown = await page.getByRole('region').getByRole('heading').allTextContents();
    expect(shown.toSorted()).toEqual(regions.toSorted());
    const words = async (chart: string) => (await legend(page, chart)).map((text) => text.replace(/ [\d,]+$/, ''));
    expect([await words('Backlog'), await words('Throughput')]).toEqual([backlog, throughput]);
    if (kind === 'case') {
      const cells = (await tableOf(page, 'Votes')).map((row) => row.join(' '));
      expect(cells).toContain('9 4');
    }
  });

  test('where there is nothing to draw, it says why', async () => {
    await sql(`update sample_state set began_at = 'infinity'`);
    const early = await open('?queue=early');
    await region(early, 'Backlog').getByText('Not known yet: counts are taken once a minute').waitFor();
    await samplingFor(system, 180);
    await sampled(system, 'ticket', '', 30, { ready: 2 });
    await sampled(system, 'ticket', 'drained', 170, { settled: 1 });
    const all = await open('?range=hour');
    await region(all, 'Age of the oldest waiting item').getByText('Choose a queue:').waitFor();
    expect(await legend(all, 'Backlog')).toEqual(['Waiting 2', 'Held 0', 'Delayed 0']);
    const page = await open('?queue=drained&range=hour');
    await region(page, 'Backlog').getByText('Nothing in this time.').waitFor();
    await region(page, 'Age of the oldest waiting item').getByText('Nothing was waiting in this time.').waitFor();
    await region(page, 'Lateness').getByText('Nothing was handed out for the first time in this time.').waitFor();
    expect(await page.getByRole('slider').count()).toBe(0);
  });

  test.each([
    ['light', 1280, 'en'],
    ['dark', 390, 'en'],
    ['dark', 1280, 'zh'],
    ['light', 390, 'zh'],
  ] as const)(
    'axe finds nothing serious, %s at %i px in %s, and nothing is wider than the window',
    async (theme, width, language) => {
      await samplingFor(system, 180);
      await sampled(system, 'ticket', `axe-${theme}-${width}`, 30, {
        ready: 123_456,
        settled: 3,
        lease_expired: 1,
        oldest: 3_000,
      });
      await add(api, `axe-${theme}-${width}`, { id: `axe-${theme}-${width}` });
      await decide(
        api,
        await claimOne(api, `axe-${theme}-${width}`, 'somebody.with-a-long-name@moderation.example.com'),
      );
      const viewport = { width, height: 800 };
      const page = await open(`?queue=axe-${theme}-${width}&range=hour`, { theme, language, viewport });
      const [backlog, reviewers, asTable] =
        language === 'zh' ? ['积压', '审核员', '以表格显示'] : ['Backlog', 'Reviewers', 'As a table'];
      await region(page, backlog).getByRole('slider').waitFor();
      await region(page, reviewers).getByRole('rowheader').waitFor();
      await region(page, backlog).getByText(asTable).click();
      await region(page, backlog).getByRole('table').waitFor();
      expect(await seriousFindings(page)).toEqual([]);
      expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true);
    },
  );
});
