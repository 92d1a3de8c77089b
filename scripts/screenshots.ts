import { mkdirSync } from 'node:fs';
import { Argument } from 'commander';
import { launch, newPage } from '../test/support/browser.ts';
import { type RouteName, routes } from '../web/routes.ts';
import { base, call, needServer } from './demo/call.ts';
import { POSTS } from './demo/posts.ts';
import { script } from './usage.ts';

// Photographs each page of the console of a running Docket, which `npm run demo` has filled: light and dark, wide and
// narrow, into docs/screenshots/. `npm run screenshots -- home` does those of one page only.

const FOLDER = 'docs/screenshots';
const SIZES = { 1280: { width: 1280, height: 800 }, 390: { width: 390, height: 844 } };
const QUIET_MS = 1_500;
/** Of a long list the rest looks the same. */
const MOST_PX = 2_000;

/** Of pages with parameters: the path to photograph, by what the server has. */
const examples: Partial<Record<RouteName, () => Promise<string>>> = {
  numbers: async () => `/numbers?queue=${await busiest('queues', 'waiting')}&range=hour`,
  queue: () => first('/v1/tickets', (ticket) => `/queues/ticket/${ticket.queue}`),
  quality: async () => `/queues/ticket/${await busiest('queues', 'decided')}/quality`,
  service: async () => `/queues/ticket/${await busiest('queues', 'decided')}/service`,
  item: () => first('/v1/tickets', (ticket) => `/items/ticket/${ticket.id}`),
  review: () => first('/v1/reviews', (review) => `/reviews/${review.id}`),
  deskQueue: async () => `/desk/${POSTS}`,
  juryCourt: async () => `/jury/${await busiest('courts', 'open')}`,
  queueSettings: () => first('/v1/queues', (queue) => `/settings/queues/${queue.name}`),
  topicSettings: () => first('/v1/topics', (topic) => `/settings/topics/${topic.name}`),
  courtSettings: () => first('/v1/courts', (court) => `/settings/courts/${court.name}`),
  schedules: () => first('/v1/topics', (topic) => `/schedules?topic=${topic.name}`),
  editTask: () => first('/v1/tasks', (task) => `/tasks/edit/${task.id}`),
  taskGroup: () => first('/v1/groups', (group) => `/tasks/groups/${group.id}`),
};

/** Who works at the desks. */
const PERSON = 'rita';

/** Of the newest queues or courts, the one with most to do. */
async function busiest(what: 'queues' | 'courts', figure: string): Promise<string> {
  const { items } = await call('GET', `/v1/${what}?limit=20`);
  const counts = items.map(async ({ name }: { name: string }) => ({
    name,
    n: (await call('GET', `/v1/${what}/${encodeURIComponent(name)}/stats`))[figure] as number,
  }));
  const found: { name: string; n: number }[] = await Promise.all(counts);
  return encodeURIComponent(found.toSorted((a, b) => b.n - a.n)[0]?.name ?? 'none');
}

/** The newest entry of a list. */
async function first(list: string, path: (entry: Record<string, string>) => string): Promise<string> {
  const { items } = await call('GET', `${list}?limit=1`);
  return path(items[0] ?? {});
}

/** What stands at every address while no one is signed in; an open server has to be made to say so. */
const SIGNED_OUT = 'signIn';

/** Not a page of ours: where a ticket's workflow is looked at. */
const TEMPORAL_UI = 'temporal-ui';

const names = [...(Object.keys(routes) as RouteName[]), SIGNED_OUT] as const;
const screenshots = script(
  'npm run screenshots --',
  `Photographs each page of the console of a running Docket, which npm run demo has filled,
into ${FOLDER}/: light and dark, wide and narrow. Needs Chromium.`,
)
  .addArgument(new Argument('[page]', 'only this one').choices([...names, TEMPORAL_UI]))
  .addHelpText(
    'after',
    `
Environment:
  DOCKET_URL  URL of the server (default: http://127.0.0.1:PORT)
  PORT        its port on this machine (default: 3000)
  CHROMIUM    path of Chromium, where it is not on the PATH

Examples:
  # all pages
  npm run screenshots
  # one page
  npm run screenshots -- home`,
  );
const [only] = screenshots.parse().processedArgs as [string | undefined];
const wanted = names.filter((name) => only === undefined || name === only);

await needServer();
mkdirSync(FOLDER, { recursive: true });
const browser = await launch();
for (const name of wanted) {
  const path = name === SIGNED_OUT ? '/' : ((await examples[name]?.()) ?? routes[name].path);
  for (const theme of ['light', 'dark'] as const)
    for (const [width, viewport] of Object.entries(SIZES)) {
      const page = await newPage(browser, base, { theme, language: 'en', person: PERSON, viewport });
      if (name === SIGNED_OUT) await page.route('**/v1/session', (route) => route.fulfill({ status: 401 }));
      await page.goto(base + path);
      // live pages have a connection open, so the network never gets quiet
      await page.getByRole('heading', { level: 1 }).waitFor();
      await page.waitForTimeout(QUIET_MS);
      // all media of a ticket are shown
      if (name === 'deskQueue') await page.keyboard.press('i');
      const wholePx = await page.evaluate<number>('document.documentElement.scrollHeight');
      const clip = { x: 0, y: 0, width: viewport.width, height: Math.min(wholePx, MOST_PX) };
      await page.screenshot({ path: `${FOLDER}/${name}-${theme}-${width}.png`, fullPage: true, clip });
      await page.context().close();
    }
  console.log(`${FOLDER}/${name}-*.png`);
}
if (only === undefined || only === TEMPORAL_UI) await photographTemporal();
await browser.close();

/** The workflow of a decided ticket, as operators see it. */
async function photographTemporal(): Promise<void> {
  const { items } = await call('GET', '/v1/tickets?state=decided&limit=1');
  const { uiUrl } = await call('GET', `/v1/tickets/${encodeURIComponent(items[0].id)}/workflow`);
  const page = await browser.newPage({ viewport: SIZES[1280] });
  await page.goto(uiUrl);
  // its page asks again and again, and has its parts come one after the other
  await page.waitForTimeout(4 * QUIET_MS);
  await page.screenshot({ path: `${FOLDER}/${TEMPORAL_UI}.png` });
  console.log(`${FOLDER}/${TEMPORAL_UI}.png`);
}
