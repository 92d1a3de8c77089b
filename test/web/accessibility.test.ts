import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
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

/** What the pages show on all visits. */
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

/** What they show on one visit, which changes some of it. */
async function prepareFor(name: string): Promise<void> {
  await configure(api, `desk-${name}`, { maxHeld: 2 });
  for (const n of [0, 1]) await add(api, `desk-${name}`, { id: `desk-${name}-${n}`, body: { n } });
  await court(api, `jury-${name}`, { window: { cases: 5, seconds: 3600 } });
  await jurors(api, `jury-${name}`, ['anna']);
  const sides = { buyer: 'Broken.', seller: { text: 'Whole.' } };
  await addCase(api, `jury-${name}`, { id: name, body: { order: 'A-1', ...sides } });
  await add(api, `held-${name}`, { id: `held-${name}`, body: { a: [1, { b: 'two' }] } });
  await claimOne(api, `held-${name}`, 'ben');
  await decided(api, 'mine', { id: `mine-${name}` });
  await add(api, `list-${name}`, { id: `list-${name}` });
  const [nothing, audit] = [{ status: 0 }, { kind: 'picture', targetId: name }];
  await put(api, name, { text: nothing, pictures: [{ id: name, ...nothing }], replies: [{ id: 'r', ...nothing }] });
  await tell(api, name, { ...audit, status: 5, auditTime: '2026-01-05T00:00:00Z' });
  await tell(api, name, { ...audit, status: 4, auditTime: '2026-01-04T00:00:00Z' });
  const counts = { ready: 123_456, settled: 3, lease_expired: 1, oldest: 3_000 };
  await sampled(system, 'ticket', `numbers-${name}`, 30, counts);
  await add(api, `numbers-${name}`);
  await decide(api, await claimOne(api, `numbers-${name}`, 'somebody.with-a-long-name@moderation.example.com'));
}

async function failDelivery(name: string): Promise<void> {
  const gone = await startReceiver(() => 410);
  await add(api, 'gone', { id: `gone-${name}`, callback: gone.callback });
  await decide(api, await claimOne(api, 'gone', name));
  await eventually(async () => (await api.get(`/v1/tickets/gone-${name}/deliveries`)).body.items[0].state === 'failed');
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

function checkedWork({ pages, reviewers, mine }: typeof en, name: string): Shown[] {
  return [
    ...(['quality', 'service'] as const).map((of): Shown => {
      const path = `/queues/ticket/numbers-${name}/${of}`;
      return [path, `${pages[of]}: numbers-${name}`, (page) => link(page, pages.queueSettings)];
    }),
    ['/reviewers', pages.reviewers, (page) => row(page, 'anna'), opens(reviewers.create)],
    ['/mine', pages.mine, (page) => row(page, `mine-${name}`), opens(`${mine.dispute}: mine-${name}`, `mine-${name}`)],
  ];
}

/** The pages, in the language of these texts. */
function pagesFor(t: typeof en, name: string): Shown[] {
  const { pages, common, deliveries, desk, jury, items, lists, reviews, numbers } = t;
  const { label, title } = items.actions.invalidate;
  const [list, held, backlog] = [`list-${name}`, `held-${name}`, numbers.charts.backlog];
  return [
    ['/', pages.home, (page) => row(page, 'shown'), (page) => keys(page, '?'), (page) => dialog(page).waitFor()],
    at('/desk', pages.desk)(
      (page) => link(page, 'shown'),
      (page) => press(page, common.person.change),
      (page) => sees(page, common.person.title),
    ),
    at(`/desk/desk-${name}`, desk.title(`desk-${name}`))(
      (page) => sees(page, desk.ticket(`desk-${name}-0`)),
      (page) => keys(page, '1'),
      (page) => sees(page, desk.pending.title),
    ),
    ['/jury', pages.jury, (page) => link(page, `jury-${name}`)],
    at(`/jury/jury-${name}`, jury.title(`jury-${name}`))(
      (page) => sees(page, jury.case(name)),
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
    ['/deliveries', pages.deliveries, () => failDelivery(name), (page) => link(page, `gone-${name}`)],
    at(`/reviews/${name}`, reviews.title(name))(
      (page) => sees(page, reviews.outcomes.expired ?? ''),
      (page) => page.getByText(reviews.beforeAfter).first().click(),
    ),
    ['/reviews', pages.reviews, (page) => row(page, name)],
    at(`/numbers?queue=numbers-${name}&range=hour`, pages.numbers)(
      (page) => region(page, backlog).getByRole('slider').waitFor(),
      (page) => region(page, numbers.reviewers).getByRole('rowheader').waitFor(),
      (page) => region(page, backlog).getByText(numbers.asTable).click(),
      (page) => region(page, backlog).getByRole('table').waitFor(),
    ),
    ...checkedWork(t, name),
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

await prepare();
for (const [theme, language, width] of [
  ['light', 'en', 1280],
  ['dark', 'zh', 390],
] as const) {
  await prepareFor(theme);
  describe(`${theme}, in ${language}, ${width} px`, () => {
    const browser = useBrowser();
    const pages = pagesFor(language === 'zh' ? (zh as typeof en) : en, theme);

    test.each(pages)(
      'S4.9 axe finds nothing serious in %s, and nothing is wider than the window',
      async (path, title, ...steps) => {
        const viewport = { width, height: 800 };
        const page = await browser.open(api.url + path, { theme, language, viewport, person: 'anna' });
        await page.getByRole('heading', { level: 1, name: title, exact: true }).waitFor();
        await page.getByRole('main').getByRole('heading', { level: 2 }).first().waitFor();
        await eventually(async () => (await page.locator('.loading').count()) === 0);
        for (const step of steps.length > 0 ? steps : [async () => {}]) {
          await step(page);
          expect(await seriousFindings(page), String(step)).toEqual([]);
          const isTooWide = 'document.documentElement.scrollWidth > document.documentElement.clientWidth';
          expect(await page.evaluate(isTooWide), String(step)).toBe(false);
        }
      },
    );
  });
}
