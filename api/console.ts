import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { extname, join } from 'node:path';
import type { Context } from 'hono';
import { htmlPage } from './html.ts';

const TYPES: Record<string, string> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript',
  '.css': 'text/css',
  '.svg': 'image/svg+xml',
};
/** In order of preference. */
const ENCODINGS = { br: '.br', gzip: '.gz' };
const FOREVER = 'public, max-age=31536000, immutable';

interface File {
  type: string;
  /** Files with a hash in their name never change. */
  cache: string;
  etag: string;
  /** By encoding; `identity` is the file itself. */
  bodies: Record<string, Uint8Array<ArrayBuffer>>;
}

/**
 * Serves the console's files (web/) from memory, and its page at every path of its route table. While a first start from
 * sources builds the files, it answers with a page that says so.
 */
export class Console {
  readonly #policy: string;
  #files = new Map<string, File>();
  /** The path segments of each page; those that begin with `:` match any segment. */
  #routes: string[][] = [];
  #state: 'building' | 'ready' | 'failed' = 'building';

  /** @param imageHosts origins from which pages may show images, videos and sounds, beside this server */
  constructor(imageHosts: string[]) {
    this.#policy = [
      "default-src 'none'",
      ...["script-src 'self'", "style-src 'self'", "connect-src 'self'", "font-src 'self'"],
      ...['img-src', 'media-src'].map((what) => [what, "'self'", 'data:', ...imageHosts].join(' ')),
      ...["base-uri 'none'", "form-action 'self'", "frame-ancestors 'none'"],
    ].join('; ');
  }

  /** @param folder the build's output, with its `site.json` */
  load(folder: string): void {
    const { routes } = JSON.parse(readFileSync(join(folder, 'site.json'), 'utf8')) as { routes: string[] };
    const names = readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((name) => name.replaceAll('\\', '/'));
    const served = names.filter((name) => extname(name) in TYPES);
    this.#files = new Map(served.map((name) => [`/${name}`, readFile(folder, name, names)]));
    this.#routes = routes.map((path) => path.split('/'));
    this.#state = 'ready';
  }

  /** The files could not be built; the log says why. */
  fail(): void {
    this.#state = 'failed';
  }

  /** The answer to a call; undefined: its path is none of the console's. */
  answer(c: Context): Response | undefined {
    if (c.req.method !== 'GET' && c.req.method !== 'HEAD') return undefined;
    const { path } = c.req;
    if (this.#state !== 'ready') return this.#waiting(c, path);
    const file = path === '/index.html' ? undefined : this.#files.get(path);
    if (file) return this.#send(c, file);
    const page = this.#files.get('/index.html');
    if (page && this.#isPage(path)) return this.#send(c, page);
    // the page itself tells a person that there is nothing at this address
    return page && isOpened(c, path) ? this.#send(c, page, 404) : undefined;
  }

  #isPage(path: string): boolean {
    const parts = path.split('/');
    const fits = (route: string[]) =>
      route.length === parts.length && route.every((r, n) => r === parts[n] || (r.startsWith(':') && parts[n] !== ''));
    return this.#routes.some(fits);
  }

  #send(c: Context, { type, cache, etag, bodies }: File, status: 200 | 404 = 200): Response {
    const headers = {
      'content-type': type,
      'cache-control': cache,
      etag,
      vary: 'accept-encoding',
      'content-security-policy': this.#policy,
    };
    if (status === 200 && c.req.header('if-none-match') === etag) return new Response(null, { status: 304, headers });
    const accepted = c.req.header('accept-encoding') ?? '';
    const encoding = Object.keys(ENCODINGS).find((e) => e in bodies && accepted.includes(e)) ?? 'identity';
    const body = bodies[encoding] ?? null;
    return new Response(body, {
      status,
      headers: { ...headers, ...(encoding !== 'identity' && { 'content-encoding': encoding }) },
    });
  }

  /** Routes are not known yet, so any path outside the API that a browser opens may be a page's. */
  #waiting(c: Context, path: string): Response | undefined {
    if (path !== '/' && !isOpened(c, path)) return undefined;
    const failed = this.#state === 'failed';
    const headers = { 'content-type': 'text/html; charset=utf-8', 'content-security-policy': this.#policy };
    return new Response(failed ? FAILED : BUILDING, { status: 503, headers: { ...headers, 'retry-after': '1' } });
  }
}

/** Whether a person opens the address in a browser; the API answers programs at any. */
const isOpened = (c: Context, path: string): boolean =>
  /\btext\/html\b/.test(c.req.header('accept') ?? '') && !path.startsWith('/v1/');

function readFile(folder: string, name: string, names: string[]): File {
  const content = readFileSync(join(folder, name));
  const bodies: File['bodies'] = { identity: content };
  for (const [encoding, suffix] of Object.entries(ENCODINGS))
    if (names.includes(name + suffix)) bodies[encoding] = readFileSync(join(folder, name + suffix));
  return {
    type: TYPES[extname(name)] ?? 'application/octet-stream',
    cache: name.startsWith('assets/') ? FOREVER : 'no-cache',
    etag: `"${createHash('sha256').update(content).digest('base64url').slice(0, 22)}"`,
    bodies,
  };
}

const SCHEME = '\n<meta name="color-scheme" content="light dark">';
const page = (head: string, text: string) =>
  htmlPage('Docket', `<h1>Docket</h1>\n<p>${text}\n<p>The API is ready: <a href="/docs">/docs</a>`, `${SCHEME}${head}`);

const BUILDING = page(
  '\n<meta http-equiv="refresh" content="1">',
  'The console is being built, which takes some seconds at the first start.',
);
const FAILED = page(
  '',
  'The console could not be built: the server’s log says why. <code>npm run build</code> tries again.',
);
