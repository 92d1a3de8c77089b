import { setTimeout as sleep } from 'node:timers/promises';
import { launch } from '../../test/support/browser.ts';
import { openCallers } from '../client.ts';
import { cpuSeconds, type Lab } from '../lab.ts';
import type { Report } from '../report.ts';
import { seedTickets } from '../seed.ts';
import { short } from '../stats.ts';
import { until } from './steady.ts';

const CONSOLES = 100;
const QUEUES = 20;
const PAGES = ['/', '/numbers', '/search'];
/** What a page asks first is not what it asks while it stands open. */
const OPENED_MS = 20_000;
/** Samples of the figures are taken each minute, and pages ask for them each minute. */
const PERIOD_MS = 60_000;
const MOST_PERCENT = 2;

interface Ask {
  path: string;
  /** Since the begin of the minute. */
  atMs: number;
}

/** What a page does in a minute in which nothing happens. */
interface Habits {
  asks: Ask[];
  /** The stream of events that it keeps open. */
  stream: string | undefined;
}

/** What open consoles cost the API while nothing happens (scenario 16). */
export async function consoles(lab: Lab, report: Report): Promise<void> {
  for (let n = 0; n < QUEUES; n++) await seedTickets(lab, `shown-${n}`, 50);
  const docket = await lab.docket();
  const percentOf = async (work: () => Promise<unknown>) => {
    const before = cpuSeconds(docket.api.pid);
    const start = performance.now();
    await work();
    return ((cpuSeconds(docket.api.pid) - before) / (performance.now() - start)) * 100_000;
  };
  try {
    await until(async () => (await lab.sql('select from unpublished limit 1')).length === 0, 600);
    const none = await percentOf(() => sleep(PERIOD_MS));
    for (const page of PAGES) {
      const habits = await watch(docket.url, page);
      const percent = await open(docket.url, habits, percentOf);
      report.add({
        what: `${CONSOLES} open at ${page}, asking ${habits.asks.length}× a minute each${habits.stream ? ', with a stream' : ''}`,
        figure: `${short(percent)} % of one core`,
        rival: `without any: ${short(none)} %`,
        measured: { value: percent - none, unit: '% more' },
        target: { most: MOST_PERCENT },
      });
    }
  } finally {
    await docket.stop();
  }
}

/** Looks at the page for a minute, and notes what it asks for. */
async function watch(url: string, path: string): Promise<Habits> {
  const browser = await launch();
  try {
    const page = await browser.newPage();
    const all: Ask[] = [];
    const start = performance.now() + OPENED_MS;
    page.on('request', (request) => {
      const { pathname, search } = new URL(request.url());
      all.push({ path: pathname + search, atMs: performance.now() - start });
    });
    await page.goto(url + path);
    await sleep(start + PERIOD_MS - performance.now());
    return {
      asks: all.filter(({ atMs }) => atMs >= 0),
      stream: all.find(({ path: asked }) => asked.includes('follow=true'))?.path,
    };
  } finally {
    await browser.close();
  }
}

/** So many consoles for a minute, each on its own connections and with its own minute. @returns percent of a core */
async function open(
  url: string,
  { asks, stream }: Habits,
  percentOf: (work: () => Promise<unknown>) => Promise<number>,
): Promise<number> {
  const ended = new AbortController();
  const callers = await openCallers(url, CONSOLES);
  try {
    for (const _ of stream ? callers : []) {
      const response = await fetch(url + stream, { signal: ended.signal });
      void response.text().catch(() => {}); // cut off at the end
    }
    await sleep(OPENED_MS);
    const ask = async (caller: (typeof callers)[number], n: number) => {
      const phaseMs = (PERIOD_MS * n) / CONSOLES;
      const start = performance.now();
      for (const { path, atMs } of shifted(asks, phaseMs)) {
        await sleep(Math.max(0, start + atMs - performance.now()));
        await caller.get(path);
      }
    };
    return await percentOf(() => Promise.all([sleep(PERIOD_MS), ...callers.map(ask)]));
  } finally {
    ended.abort();
    for (const caller of callers) caller.close();
  }
}

/** The same minute, begun so much later. */
const shifted = (asks: Ask[], phaseMs: number): Ask[] =>
  asks.map(({ path, atMs }) => ({ path, atMs: (atMs + phaseMs) % PERIOD_MS })).sort((a, b) => a.atMs - b.atMs);
