import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { Hono } from 'hono';
import { readBytes } from '../api/body.ts';
import { type ApiBindings, LARGE_BODY } from '../api/endpoint.ts';
import { isForeign, isLoopbackName } from '../api/origins.ts';
import type { Log } from '../runtime/log.ts';
import { Problem, problemFrom } from '../services/shared/problems.ts';
import { bodyOf, type Call, forward, read } from './forward.ts';
import { Locator, manyItems, type Noun, oneItem, transfer } from './items.ts';
import { jobCommand } from './jobs.ts';
import { named } from './named.ts';
import type { Places } from './places.ts';

export interface RouterOptions {
  /** As the file says now. */
  places(): Places;
  /** Runs what adds under one file: a new one waits for it, and it waits for a new one. */
  adding<T>(work: (places: Places) => Promise<T>): Promise<T>;
  /** Whether calls without a key are passed on: on loopback only. */
  open: boolean;
  log: Log;
}

const NAMED = { queues: 'queue', topics: 'topic', courts: 'court' } as const;
const NOUNS = new Set(['tickets', 'jobs', 'cases']);
const REVIEWS = new Set(['reviews', 'pictures', 'review-stats']);
const TASKS = new Set(['templates', 'groups', 'tasks', 'clients', 'dispatch-log']);

/**
 * One address before several Dockets: calls go to the one that has what they are about. It keeps nothing but the file of places,
 * so any number of routers may run.
 */
export function createRouter(o: RouterOptions): Hono<{ Bindings: ApiBindings }> {
  const locator = new Locator();
  const app = new Hono<{ Bindings: ApiBindings }>();
  app.get('/livez', (c) => c.json({ status: 'ok' }));
  app.get('/readyz', async (c) => {
    const dockets = await health(o.places(), c.req.raw);
    return c.json({ status: dockets.down ? 'unavailable' : 'ok', dockets: dockets.states }, dockets.down ? 503 : 200);
  });
  app.all('*', async (c) => {
    const { incoming } = c.env;
    if (o.open && (!isLoopbackName(incoming) || isForeign(incoming)))
      throw new Problem('forbidden', 'this router is open to this machine only');
    // a Docket on loopback may ask for no key: this router answers to others than that one does
    if (!o.open && incoming.headers.authorization === undefined)
      throw new Problem('unauthenticated', 'send Authorization: Bearer with a key that all Dockets have');
    const call = await callOf(c.req.raw, incoming);
    const adds =
      call.method === 'POST' && /^\/v1\/(jobs|(queues|courts)\/[^/]+\/(tickets|cases)(\/batch)?)$/.test(c.req.path);
    return adds && !isPop(call) ? o.adding((places) => route(places, locator, call)) : route(o.places(), locator, call);
  });
  app.onError((error, c) => {
    const requestId = c.req.header('x-request-id') ?? randomUUID();
    const problem = problemFrom(error);
    if (problem.status >= 500) o.log.error({ requestId, path: c.req.path, err: error.message }, problem.code);
    const { status, message, code } = problem;
    const [type, body] =
      c.req.path === '/v1/jobs'
        ? ['application/json', { success: false, error: message, id: null, value: null, code }]
        : ['application/problem+json', problem.toJSON(requestId)];
    const headers = { 'content-type': type, 'x-request-id': requestId, ...(status === 503 && { 'retry-after': '1' }) };
    return new Response(JSON.stringify(body), { status, headers });
  });
  return app;
}

/** @throws Problem `payload_too_large`, or `invalid_request` where the connection ends before the body does */
async function callOf({ url, method, headers, signal }: Request, incoming: IncomingMessage): Promise<Call> {
  const { pathname, search } = new URL(url);
  const bytes = await readBytes(incoming, LARGE_BODY);
  return {
    method,
    path: pathname + search,
    headers,
    body: bytes.length > 0 ? new Uint8Array(bytes) : undefined,
    signal,
  };
}

/** It waits for up to a minute, and adds nothing. */
const isPop = (call: Call) => call.path === '/v1/jobs' && bodyOf(call)?.command !== 'add';

function route(places: Places, locator: Locator, call: Call): Promise<Response> {
  const { pathname, searchParams } = new URL(call.path, 'http://router');
  const [version, noun = '', name, ...rest] = pathname.slice(1).split('/').map(decoded);
  const action = rest.join('/');
  if (version !== 'v1') throw elsewhere(call);
  if (name === undefined) {
    if (noun === 'jobs' && call.method === 'POST') return jobCommand(places, locator, call);
    const queue = searchParams.get('queue');
    const court = searchParams.get('court');
    if (call.method === 'GET' && queue !== null && (noun === 'tickets' || noun === 'stream'))
      return forward(places.of(`queue/${queue}`).to, call);
    if (call.method === 'GET' && court !== null && noun === 'cases')
      return forward(places.of(`court/${court}`).to, call);
  } else {
    if (Object.hasOwn(NAMED, noun)) return named(places, `${NAMED[noun as keyof typeof NAMED]}/${name}`, action, call);
    if (noun === 'tickets' && name === 'resolve' && action === '') return resolveMany(places, call);
    if (noun === 'tickets' && action === 'transfer') return transfer(places, locator, call, name);
    if (NOUNS.has(noun)) return oneItem(places, locator, call, noun as Noun, name);
  }
  if (REVIEWS.has(noun)) return forward(places.reviews, call);
  if (TASKS.has(noun)) return forward(places.tasks, call);
  throw elsewhere(call);
}

/** @throws Problem 422 for what is no encoding of text */
function decoded(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    throw new Problem('invalid_request', `${segment} in the path is not percent-encoded text`);
  }
}

function resolveMany(places: Places, call: Call): Promise<Response> {
  const body = bodyOf(call);
  const items = body?.items;
  if (!Array.isArray(items)) return forward(places.any, call);
  return manyItems(places, call, items, (some) => ({ ...body, items: some }));
}

const elsewhere = ({ method, path }: Call) =>
  new Problem('not_found', `the router does not answer ${method} ${path.split('?')[0]}: ask the Docket itself`);

async function health(places: Places, { signal }: Request) {
  const call = { method: 'GET', path: '/readyz', headers: new Headers(), body: undefined, signal };
  const asked = places.all.map(async (docket): Promise<[string, string]> => {
    const { value } = await forward(docket, call)
      .then(read)
      .catch(() => ({ value: undefined }));
    return [docket.name, typeof value?.status === 'string' ? value.status : 'unavailable'];
  });
  const states = Object.fromEntries(await Promise.all(asked));
  return { states, down: Object.values(states).includes('unavailable') };
}
