import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import axe from 'axe-core';
import { type Browser, type BrowserContextOptions, chromium as driver, type Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, expect } from 'vitest';
import { needDebian } from './debian.ts';

// the first is the same browser without windows: a page of it costs a third of the CPU
const NAMES = ['chromium-headless-shell', 'chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'];

/** The browser of this machine: that of CHROMIUM, else that of NAMES which is on the PATH. */
function findChromium(): string | undefined {
  if (process.env.CHROMIUM) return process.env.CHROMIUM;
  const folders = (process.env.PATH ?? '').split(delimiter);
  return NAMES.flatMap((name) => folders.map((dir) => join(dir, name))).find((file) => existsSync(file));
}

export function launch(): Promise<Browser> {
  needDebian('chromium-headless-shell');
  return driver.launch({
    executablePath: findChromium() ?? '',
    // as root there is no sandbox; /dev/shm of containers is small
    args: ['--no-sandbox', '--disable-dev-shm-usage', '--disable-gpu'],
  });
}

interface OpenOptions extends BrowserContextOptions {
  /** Of the console: `light` and `dark` as its switch says, not the system. */
  theme?: 'light' | 'dark';
  language?: 'en' | 'zh';
  /** Signs in with it first. */
  key?: string;
  /** Who works at the desks, where the server asks for no key. */
  person?: string;
  /** Other hosts that the page may ask. */
  hosts?: string[];
}

export interface TestBrowser {
  /**
   * A page of a browser of its own: no cookie or storage is shared with others. It is watched: an error on its console, a
   * violation of the policy, an exception or a request to another host fails the test.
   */
  open(url: string, options?: OpenOptions): Promise<Page>;
  /** The same before it has gone to the address. */
  prepare(url: string, options?: OpenOptions): Promise<Page>;
}

/** A browser for the tests of a file. */
export function useBrowser(): TestBrowser {
  let browser: Browser | undefined;
  const faults: string[] = [];
  beforeAll(async () => {
    browser = await launch();
  });
  afterEach(async () => {
    await Promise.all((browser?.contexts() ?? []).map((context) => context.close()));
    expect(faults.splice(0), 'what went wrong in the browser').toEqual([]);
  });
  afterAll(() => browser?.close());
  const prepare = async (url: string, { key, ...options }: OpenOptions = {}) => {
    if (!browser) throw new Error('there is no browser');
    const page = await newPage(browser, url, options);
    watch(page, [new URL(url).host, ...(options.hosts ?? [])], faults);
    if (key) await signInWith(page, url, key);
    return page;
  };
  const open = async (url: string, options?: OpenOptions) => {
    const page = await prepare(url, options);
    await page.goto(url);
    return page;
  };
  return { open, prepare };
}

async function signInWith(page: Page, url: string, key: string): Promise<void> {
  const answer = await page.context().request.post(new URL('/v1/session', url).href, { data: { key } });
  expect(answer.status(), await answer.text()).toBe(201);
}

/** A page that has not gone anywhere yet. */
export async function newPage(browser: Browser, url: string, options: OpenOptions): Promise<Page> {
  const { theme, language, person, key: _key, hosts: _hosts, ...more } = options;
  const given = { 'docket.theme': theme, 'docket.language': language, 'docket.person': person };
  const chosen = Object.fromEntries(Object.entries(given).flatMap(([name, value]) => (value ? [[name, value]] : [])));
  const localStorage = Object.entries(chosen).map(([name, value]) => ({ name, value }));
  const storageState = { cookies: [], origins: [{ origin: new URL(url).origin, localStorage }] };
  const context = await browser.newContext({ locale: 'en-GB', storageState, ...more });
  // before the test's own time limit, so that what was waited for is named
  context.setDefaultTimeout(150_000);
  return context.newPage();
}

/** What the API refuses stands on the console too, but the page may well be right to ask. */
const isAnswerOfApi = (text: string, url: string) =>
  text.startsWith('Failed to load resource') && /^\/(v1\/|readyz|metrics)/.test(new URL(url, 'http://x').pathname);

function watch(page: Page, hosts: string[], faults: string[]): void {
  page.on('console', (message) => {
    const [text, { url }] = [message.text(), message.location()];
    if (message.type() === 'error' && !isAnswerOfApi(text, url)) faults.push(`console: ${text}`);
  });
  page.on('pageerror', (error) => faults.push(`exception: ${error.stack ?? error.message}`));
  page.on('request', (request) => {
    const url = new URL(request.url());
    if (!hosts.includes(url.host) && url.protocol !== 'data:') faults.push(`request to another host: ${url.href}`);
  });
}

const RULES = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];

/** What axe finds in a page that keeps somebody from using it, or two parts of it that sound the same; one line each. */
export async function seriousFindings(page: Page): Promise<string[]> {
  // half a megabyte: once for each document
  if (!(await page.evaluate('Boolean(window.axe)'))) await page.evaluate(axe.source);
  const found = await page.evaluate<{ id: string; impact: string; help: string; nodes: { html: string }[] }[]>(
    `axe.run({ runOnly: ${JSON.stringify(RULES)} }).then((result) => result.violations)`,
  );
  const serious = found.filter(
    ({ id, impact }) => impact === 'serious' || impact === 'critical' || id === 'landmark-unique',
  );
  return serious.map(({ id, help, nodes }) => `${id}: ${help}: ${nodes.map((n) => n.html).join(' | ')}`);
}
