import { randomUUID } from 'node:crypto';
import { Hono } from 'hono';
import { secureHeaders } from 'hono/secure-headers';
import { Problem, problemFrom } from '../services/shared/service.ts';
import type { Api } from './api.ts';
import type { ApiContext } from './endpoint.ts';
import { isForeign, isLoopbackName } from './origins.ts';

/** The result of a call: a value, which is sent as JSON, or a response. */
export type Outcome = { status: number; body: unknown } | Response;

/** Headers of an answer by name. */
type Head = Record<string, string>;

/** Restricts the callers of a server that requires no key. */
export interface Guard {
  /** Accepts calls to a loopback host name only. */
  loopbackNames: boolean;
  /** Rejects calls from pages of other sites. */
  ownPages: boolean;
}

/** An open server accepts calls from this machine only. One that requires keys needs no guard. */
export const guardOf = ({ config: { open } }: Api): Guard => ({ loopbackNames: open, ownPages: open });

/** The handling of one route's calls. */
export interface Route {
  /** With `:name` for parameters. */
  path: string;
  /** Answered however many calls there are, and not counted as one. */
  probe?: boolean;
  /** `headers` are those of the answer, also of a problem. */
  work(c: ApiContext, headers: Head): Promise<Outcome> | Outcome;
  /** Replaces the answer as problem+json. */
  problemAnswer?(problem: Problem): { status: number; body: object };
}

const PER_ANSWER = { 'content-type': '', 'x-request-id': '' };
const REQUEST_ID = /^[\w.-]{1,100}$/;

/**
 * Wraps every call: request id, headers, limits, errors as problems, a line in the log, metrics. One function and not a
 * chain of Hono's middleware, which costs more than most calls.
 * @returns a function that makes the handler of a route
 */
export async function framing(api: Api, guard: Guard) {
  // includes names whose values differ: V8 adds a name to a copy ten times slower than it copies all of them
  const always: Head = { ...(await securityHeaders()), 'cache-control': 'no-store', ...PER_ANSWER };
  const { tracing } = api.ctx;
  return (route: Route) => {
    const handle = async (c: ApiContext) => {
      const start = performance.now();
      const given = c.env.incoming.headers['x-request-id'];
      const requestId = typeof given === 'string' && REQUEST_ID.test(given) ? given : randomUUID();
      const headers = { ...always };
      headers['x-request-id'] = requestId;
      const answer = await answerOf(api, guard, c, route, headers);
      const ms = performance.now() - start;
      const [method, { path }, { status }] = [c.req.method, route, answer];
      api.metrics.calls.observe({ method, route: path, status }, ms / 1000);
      const line = { requestId, method, route: path, status, ms: Math.round(ms * 10) / 10, ...involved(c) };
      api.ctx.log[route.probe ? 'debug' : 'info'](line, 'request');
      return answer;
    };
    if (!tracing) return handle;
    return (c: ApiContext) => tracing.call(`${c.req.method} ${route.path}`, c.env.incoming.headers, () => handle(c));
  };
}

/** Who has called, from where, and about what: the names in the path. */
function involved(c: ApiContext) {
  const { caller, subject, incoming } = c.env;
  const item = Object.values(c.req.param()).join('/') || undefined;
  return { key: caller, subject: subject ?? undefined, item, address: incoming.socket.remoteAddress };
}

/** Hono's security headers, read once because they are the same for each answer. */
async function securityHeaders(): Promise<Head> {
  const app = new Hono().use(secureHeaders({ crossOriginResourcePolicy: 'same-origin' }));
  app.get('/', (c) => c.body(null));
  return Object.fromEntries((await app.request('/')).headers);
}

async function answerOf(api: Api, guard: Guard, c: ApiContext, route: Route, headers: Head): Promise<Response> {
  const { load } = api.ctx;
  if (!route.probe) load.enter();
  try {
    admit(api, guard, c, route);
    const outcome = await route.work(c, headers);
    if (!(outcome instanceof Response))
      return json(outcome.status, outcome.body, headers, { hold: (text) => api.transfers.holdText(c.env, text) });
    for (const [name, value] of Object.entries(headers))
      if (value !== '' && !outcome.headers.has(name)) outcome.headers.set(name, value);
    return outcome;
  } catch (error) {
    return errorResponse(api, c, route, headers, error);
  } finally {
    if (!route.probe) load.leave();
  }
}

function errorResponse(api: Api, c: ApiContext, { problemAnswer }: Route, headers: Head, error: unknown): Response {
  const requestId = headers['x-request-id'] ?? '';
  const problem = reported(api, requestId, c.req.path, error);
  const { status } = problem;
  if (status === 429) headers['retry-after'] = String(problem.fields.retryAfter ?? 1);
  if (status === 401) headers['www-authenticate'] = 'Bearer';
  const shaped = problemAnswer?.(problem);
  if (shaped) return json(shaped.status, shaped.body, headers);
  return json(status, problem.toJSON(requestId), headers, { type: 'application/problem+json' });
}

/** The problem that an error is to the caller. Counts it, and logs the cause where it is not the caller's. */
export function reported(api: Api, requestId: string, path: string, error: unknown): Problem {
  const problem = problemFrom(error);
  const { status, code } = problem;
  if (status >= 500) api.ctx.log.error({ requestId, path, ...described(error) }, code);
  api.metrics.refused.inc({ code });
  return problem;
}

/** Passes headers as a plain object, which the server writes as it is. It would sort and copy `Headers`. */
function json(
  status: number,
  body: unknown,
  headers: Head,
  { type = 'application/json', hold }: { type?: string; hold?(text: string): void } = {},
): Response {
  if (status === 204) {
    delete headers['content-type'];
    return new Response(null, { status, headers });
  }
  if (status === 503) headers['retry-after'] = '1';
  headers['content-type'] = type;
  const text = JSON.stringify(body);
  hold?.(text);
  return new Response(text, { status, headers });
}

/** @throws Problem `rate_limited` for too many concurrent calls, `forbidden` for a call that the guard rejects */
function admit({ ctx, config }: Api, { loopbackNames, ownPages }: Guard, c: ApiContext, { probe }: Route): void {
  if (!probe && ctx.load.calls > config.maxCalls)
    throw new Problem('rate_limited', 'too many calls at once', { retryAfter: 1 });
  const { incoming } = c.env;
  if (loopbackNames && !isLoopbackName(incoming))
    throw new Problem('forbidden', 'this server is open to this machine only');
  if (ownPages && isForeign(incoming)) throw new Problem('forbidden', 'pages of other sites may not call this server');
}

/** Message and stack only: a database error also carries the row, which is a caller's content. */
function described(error: unknown) {
  const { message, code, stack } = error as Error & { code?: string };
  return { err: message, code, stack };
}
