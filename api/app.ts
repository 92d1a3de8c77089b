import { randomUUID } from 'node:crypto';
import { type Context, Hono, type Next } from 'hono';
import { routePath } from 'hono/route';
import { secureHeaders } from 'hono/secure-headers';
import { Problem, problemFrom } from '../services/problems.ts';
import type { Api } from './api.ts';
import { docs } from './docs.ts';
import { type AnyEndpoint, register } from './endpoint.ts';
import { endpoints } from './endpoints.ts';
import { openApi } from './openapi.ts';

const LOOPBACK_HOST = /^(localhost|127\.0\.0\.1|\[::1\])(:\d+)?$/i;

/** The HTTP API: frame around the endpoints (request ids, headers, errors, limits, metrics). */
export function createApp(api: Api): Hono {
  const app = new Hono();
  app.use(secureHeaders({ crossOriginResourcePolicy: 'same-origin' }));
  app.use((c, next) => account(api, c, next));
  app.use((c, next) => admit(api, c, next));
  app.onError((error, c) => answerError(api, error, c));
  app.notFound((c) => answerError(api, new Problem('not_found', `there is no ${c.req.path}`), c));

  for (const e of endpoints) register(app, api, e);
  app.get('/openapi.json', (c) => c.json(openApi(endpoints)));
  app.route('/docs', docs());
  app.get('/', (c) => c.redirect('/docs'));
  refuseOtherMethods(app, endpoints);
  return app;
}

/** Gives each call its id, and a line in the log and in the metrics, whatever becomes of it. */
async function account(api: Api, c: Context, next: Next): Promise<void> {
  const requestId = c.req.header('x-request-id')?.match(/^[\w.-]{1,100}$/)?.[0] ?? randomUUID();
  c.set('requestId' as never, requestId as never);
  const start = performance.now();
  await next();
  // set on the answer itself: `c.header` would make a new one around its body, as a stream
  const { headers, status } = c.res;
  headers.set('x-request-id', requestId);
  if (!headers.has('cache-control')) headers.set('cache-control', 'no-store');
  const ms = performance.now() - start;
  const { method } = c.req;
  const route = routePath(c, -1);
  api.metrics.calls.observe({ method, route, status: String(status) }, ms / 1000);
  api.runtime.log.info({ requestId, method, route, status, ms: Math.round(ms * 10) / 10 }, 'request');
}

/** @throws Problem when there are too many calls, or an open server is called by a page of another site */
async function admit(api: Api, c: Context, next: Next): Promise<void> {
  const { load } = api.runtime;
  load.enter();
  try {
    if (load.calls > api.config.maxCalls)
      throw new Problem('rate_limited', 'too many calls at once', { retryAfter: 1 });
    // a page of another site must not reach an open server through a name of its own (DNS rebinding)
    if (api.config.open && !LOOPBACK_HOST.test(c.req.header('host') ?? 'localhost'))
      throw new Problem('forbidden', 'this server is open to this machine only');
    // what a browser sends for a page of another site: even a call without a body would be done
    if (api.config.open && isForeign(c.req.header('sec-fetch-site'), c.req.header('origin')))
      throw new Problem('forbidden', 'pages of other sites may not call this server');
    await next();
  } finally {
    load.leave();
  }
}

/** A known path with a method it doesn't have is 405 and says which it has. */
function refuseOtherMethods(app: Hono, all: AnyEndpoint[]): void {
  const methods = new Map<string, string[]>();
  for (const e of all) {
    const path = e.path.replaceAll(/\{(\w+)\}/g, ':$1');
    methods.set(path, [...(methods.get(path) ?? []), e.method.toUpperCase()]);
  }
  for (const path of ['/', '/docs', '/openapi.json']) methods.set(path, ['GET']);
  for (const [path, allowed] of methods)
    app.all(path, (c) => {
      c.header('allow', allowed.join(', '));
      throw new Problem('method_not_allowed', `${c.req.path} knows ${allowed.join(', ')}`);
    });
}

function isForeign(site: string | undefined, origin: string | undefined): boolean {
  if (site === 'cross-site') return true;
  return origin !== undefined && !(URL.canParse(origin) && LOOPBACK_HOST.test(new URL(origin).host));
}

function answerError(api: Api, error: unknown, c: Context): Response {
  const requestId = (c.get('requestId' as never) as string | undefined) ?? randomUUID();
  const problem = problemFrom(error);
  if (problem.status >= 500) api.runtime.log.error({ requestId, path: c.req.path, ...described(error) }, problem.code);
  api.metrics.refused.inc({ code: problem.code });
  c.header('x-request-id', requestId);
  const own = endpoints.find(
    (e) => e.problemAnswer && e.path === c.req.path && e.method === c.req.method.toLowerCase(),
  );
  if (problem.status === 503 || problem.status === 429) c.header('retry-after', '1');
  if (problem.status === 401) c.header('www-authenticate', 'Bearer');
  const shaped = own?.problemAnswer?.(problem);
  if (shaped) return c.json(shaped.body, shaped.status as 400);
  return c.body(JSON.stringify(problem.toJSON(requestId)), problem.status as 400, {
    'content-type': 'application/problem+json',
  });
}

/** Message and stack only: a database error also carries the row, which is a caller's content. */
function described(error: unknown) {
  const { message, code, stack } = error as Error & { code?: string };
  return { err: message, code, stack };
}
