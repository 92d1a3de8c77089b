import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { en } from '../../web/texts/en.ts';
import { zh } from '../../web/texts/zh.ts';
import { seriousFindings, useBrowser } from '../support/browser.ts';
import { addCase, court, jurors } from '../support/cases.ts';
import { claimOne, eventually } from '../support/client.ts';
import { SECRET, startReceiver } from '../support/receiver.ts';
import { put, tell } from '../support/reviews.ts';
import { startTestSystem } from '../support/system.ts';
import { addTask, addTemplate, next, putGroup } from '../support/tasks.ts';
import { add, configure, decide, decided } from '../support/tickets.ts';
import { region, sampled, samplingFor } from './numbers.ts';
import { keys, press, sees } from './page.ts';

const system = await startTestSystem();
const { api } = system;

type Step = (page: Page) => Promise<unknown>;

/** A page, the title of its first heading, and steps to the states in which it is looked at, one after the other. */
type Shown = [path: string, title: string, ...steps: Step[]];

const callback = { url: 'http://127.0.0.1:9/x', secret: SECRET };

/** What is edited on the pages. */
async function prepare(): Promise<void> {
  const verdict = { oneOf: [{ const: 'keep', title: 'Keep' }, { const: 'remove' }] };
  const form = { type: 'object', properties: { verdict, day: { type: 'string', format: 'date' }, other: {} } };
  const [ageing, rules] = [
    { secondsPerLevel: 60 },
    [{ when: { required: ['body'], properties: { body: { const: 1 } } }, add: 1 }],
  ];
  await configure(api, 'shown', { escalations: [{ afterSeconds: 30, priority: 500 }], ageing, rules, form, callback });
  await court(api, 'shown', { assign: { jurors: 3, answerSeconds: 60 }, mode: 'both' });
  await api.put('/v1/topics/shown', { push: { ...callback, concurrency: 2 } });
  await api.put('/v1/topics/shown/schedules/one', { everySeconds: 60_000, body: null });
  await api.put('/v1/reviewers/anna', { exposure: { violence: 5 } });
  await api.post('/v1/keys', { role: 'agent', name: 'shown' });
  await addTemplate(api, 'visit', { site: { type: 'string' }, deep: { type: 'boolean', required: false } });
  await putGroup(api, 'couriers', ['ann', 'bob']);
  const task = { templateId: 'visit', params: { site: 'a.example' } };
  await addTask(api, { id: 'once', executor: 'uid_ann', ...task });
  await addTask(api, { id: 'often', executor: 'gid_couriers', type: 'rotate', everyMinutes: 60, ...task });
  await next(api, 'ann');
  await samplingFor(system, 180);
}

/** What is worked on there. */
async function prepareWork(): Promise<void> {
  await configure(api, 'desk-seen', { maxHeld: 2 });
  for (const n of [0, 1]) await add(api, 'desk-seen', { id: `desk-seen-${n}`, body: { n } });
  await court(api, 'jury-seen', { window: { cases: 5, seconds: 3600 } });
  await jurors(api, 'jury-seen', ['anna']);
  const sides = { buyer: 'Broken.', seller: { text: 'Whole.' } };
  await addCase(api, 'jury-seen', { id: 'seen', body: { order: 'A-1', ...sides } });
  await add(api, 'held-seen', { id: 'held-seen', body: { a: [1, { b: 'two' }] } });
  await claimOne(api, 'held-seen', 'ben');
  await decided(api, 'mine', { id: 'mine-seen' });
  await add(api, 'list-seen', { id: 'list-seen' });
  const [nothing, audit] = [{ status: 0 }, { kind: 'picture', targetId: 'seen' }];
  await put(api, 'seen', { text: nothing, pictures: [{ id: 'seen', ...nothing }], replies: [{ id: 'r', ...nothing }] });
  await tell(api, 'seen', { ...audit, status: 5, auditTime: '2026-01-05T00:00:00Z' });
  await tell(api, 'seen', { ...audit, status: 4, auditTime: '2026-01-04T00:00:00Z' });
  const counts = { ready: 123_456, settled: 3, lease_expired: 1, oldest: 3_000 };
  await sampled(system, 'ticket', 'numbers-seen', 30, counts);
  await add(api, 'numbers-seen');
  await decide(api, await claimOne(api, 'numbers-seen', 'somebody.with-a-long-name@moderation.example.com'));
}

async function failDelivery(): Promise<void> {
  const gone = await startReceiver(() => 410);
  await add(api, 'gone', { id: 'gone-seen', callback: gone.callback });
  await decide(api, await claimOne(api, 'gone', 'cora'));
  await eventually(async () => (await api.get('/v1/tickets/gone-seen/deliveries')).body.items[0].state === 'failed');
}

const link = (page: Page, name: string) => page.getByRole('link', { name, exact: true }).waitFor();
const row = (page: Page, name: string) => page.getByRole('rowheader', { name }).first().waitFor();
const dialog = (page: Page) => page.getByRole('dialog');
const opens =
  (label: string, title = label): Step =>
  async (page) => {
    await press(page, label);
    await page.getByRole('dialog', { name: title }).waitFor();
  };

const at =
  (path: string, title: string) =>
  (...steps: Step[]): Shown => [path, title, ...steps];

function checkedWork({ pages, reviewers, mine }: typeof en): Shown[] {
  return [
    ...(['quality', 'service'] as const).map((of): Shown => {
      const path = `/queues/ticket/numbers-seen/${of}`;
      return [path, `${pages[of]}: numbers-seen`, (page) => link(page, pages.queueSettings)];
    }),
    ['/reviewers', pages.reviewers, (page) => row(page, 'anna'), opens(reviewers.create)],
    ['/mine', pages.mine, (page) => row(page, 'mine-seen'), opens(`${mine.dispute}: mine-seen`, 'mine-seen')],
  ];
}

/** The pages, in the language of these texts. */
function pagesFor(t: typeof en): Shown[] {
  const { pages, common, deliveries, desk, jury, items, lists, reviews, numbers } = t;
  const { label, title } = items.actions.invalidate;
  const [list, held, backlog] = ['list-seen', 'held-seen', numbers.charts.backlog];
  return [
    ['/', pages.home, (page) => row(page, 'shown'), (page) => keys(page, '?'), (page) => dialog(page).waitFor()],
    at('/desk', pages.desk)(
      (page) => link(page, 'shown'),
      (page) => press(page, common.person.change),
      (page) => sees(page, common.person.title),
    ),
    at('/desk/desk-seen', desk.title('desk-seen'))(
      (page) => sees(page, desk.ticket('desk-seen-0')),
      (page) => keys(page, '1'),
      (page) => sees(page, desk.pending.title),
    ),
    ['/jury', pages.jury, (page) => link(page, 'jury-seen')],
    at('/jury/jury-seen', jury.title('jury-seen'))(
      (page) => sees(page, jury.case('seen')),
      (page) => keys(page, '1'),
      (page) => page.getByRole('button', { name: jury.voting.for('buyer') }).waitFor(),
    ),
    at(`/items/ticket/${held}`, items.title(items.kinds.ticket, held))(
      (page) => sees(page, items.events.claimed ?? '', 'ben'),
      opens(label, title),
    ),
    at(`/queues/ticket/${list}`, `${numbers.queueOf.ticket} ${list}`)(
      (page) => row(page, list),
      opens(lists.bulk.label, lists.bulk.title(label, deliveries.kinds.ticket, list)),
      (page) => press(dialog(page), t.queueSettings.preview),
      (page) => sees(dialog(page), lists.bulk.hits('ticket', '1')),
    ),
    ['/search', pages.search, (page) => page.getByRole('table').waitFor()],
    ['/deliveries', pages.deliveries, failDelivery, (page) => link(page, 'gone-seen')],
    at('/reviews/seen', reviews.title('seen'))(
      (page) => sees(page, reviews.outcomes.expired ?? ''),
      (page) => page.getByText(reviews.beforeAfter).first().click(),
    ),
    ['/reviews', pages.reviews, (page) => row(page, 'seen')],
    at('/numbers?queue=numbers-seen&range=hour', pages.numbers)(
      (page) => region(page, backlog).getByRole('slider').waitFor(),
      (page) => region(page, numbers.reviewers).getByRole('rowheader').waitFor(),
      (page) => region(page, backlog).getByText(numbers.asTable).click(),
      (page) => region(page, backlog).getByRole('table').waitFor(),
    ),
    ...checkedWork(t),
    ['/keys', pages.keys, (page) => page.getByRole('row').nth(1).waitFor(), opens(t.keys.create)],
    ['/schedules?topic=shown', pages.schedules, (page) => row(page, 'one'), opens(t.schedules.create)],
    ['/admin-log', pages.adminLog, (page) => page.getByRole('row').nth(1).waitFor()],
    ['/settings', pages.settings],
    ...(['ticket', 'case', 'job'] as const).map((kind, n): Shown => {
      return [`/settings/${['queues', 'courts', 'topics'][n]}/shown`, `${numbers.queueOf[kind]} shown`];
    }),
    ['/tasks', pages.tasks],
    ...['/tasks/calendar', '/tasks/calendar?view=week'].map((path): Shown => [path, pages.taskCalendar]),
    ['/tasks/new', pages.newTask],
    ['/tasks/edit/often', `${items.kinds.task} often`],
    ['/tasks/groups', pages.taskGroups],
    ['/tasks/groups/couriers', 'couriers'],
    ['/tasks/templates', pages.taskTemplates],
    ['/tasks/log', pages.dispatchLog],
  ];
}

/** A page is looked at like this in each state, the second time as it was opened. */
const LOOKS = [
  { theme: 'dark', language: 'zh', width: 390 },
  { theme: 'light', language: 'en', width: 1280 },
] as const;

/** Chooses an entry of a list, also behind a dialog, as who uses it would. */
const choose = (page: Page, id: string, value: string) =>
  page.locator(`#${id}`).evaluate((list, chosen) => {
    (list as HTMLSelectElement).value = chosen;
    list.dispatchEvent(new Event('change', { bubbles: true }));
  }, value);

async function expectFit(page: Page, titles: Record<'en' | 'zh', string>, step: string): Promise<void> {
  for (const { theme, language, width } of LOOKS) {
    await page.setViewportSize({ width, height: 800 });
    await choose(page, 'theme', theme);
    await choose(page, 'language', language);
    const heading = { level: 1, name: titles[language], exact: true, includeHidden: true };
    await page.locator(`html[data-theme=${theme}]`).getByRole('heading', heading).waitFor();
    expect(await seriousFindings(page), `${theme}: ${step}`).toEqual([]);
    const isTooWide = 'document.documentElement.scrollWidth > document.documentElement.clientWidth';
    expect(await page.evaluate(isTooWide), `${theme}: ${step}`).toBe(false);
  }
}

await prepare();
await prepareWork();
const browser = useBrowser();
const translated = pagesFor(zh as typeof en).map(([, title]) => title);
const pages = pagesFor(en).map(([path, title, ...steps], n) => [path, { en: title, zh: translated[n] ?? '' }, steps]);

test.each(pages as [string, Record<'en' | 'zh', string>, Step[]][])(
  'S4.9 axe finds nothing serious in %s, light and dark, in both languages, and nothing is wider than the window',
  async (path, titles, steps) => {
    const viewport = { width: 1280, height: 800 };
    const page = await browser.open(api.url + path, { theme: 'light', language: 'en', viewport, person: 'anna' });
    await page.getByRole('heading', { level: 1, name: titles.en, exact: true }).waitFor();
    await page.getByRole('main').getByRole('heading', { level: 2 }).first().waitFor();
    await eventually(async () => (await page.locator('.loading').count()) === 0);
    for (const step of steps.length > 0 ? steps : [async () => {}]) {
      await step(page);
      await expectFit(page, titles, String(step));
    }
  },
);
