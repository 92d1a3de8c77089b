import { Agent, request } from 'node:http';
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { checkAnswer, type Json } from './document.ts';

export { eventually } from './eventually.ts';

export type { Json };

export interface Reply {
  status: number;
  body: Json;
  headers: Headers;
}

/** The methods of HTTP, to one server and with one key or none. */
export interface Http {
  url: string;
  key?: string | undefined;
  get(path: string): Promise<Reply>;
  post(path: string, body?: unknown, headers?: Record<string, string>): Promise<Reply>;
  put(path: string, body?: unknown): Promise<Reply>;
  patch(path: string, body?: unknown): Promise<Reply>;
  raw(method: string, path: string, init?: RequestInit): Promise<Reply>;
}

/** The body of an answer that must have one of these statuses. */
export function insist({ status, body }: Reply, what: string, ...wanted: number[]): Json {
  if (!wanted.includes(status)) throw new Error(`${what}: ${status} ${JSON.stringify(body)}`);
  return body;
}

const agent = new Agent({ keepAlive: true });

/** As `fetch`, which takes twice the CPU. */
const call = (url: string, { body, method, headers, signal }: RequestInit) =>
  new Promise<{ status: number; headers: Headers; text: string }>((resolve, reject) => {
    const options = { agent, ...(method && { method }), ...(signal && { signal }) };
    const sent = request(url, { ...options, headers: Object.fromEntries(headers as Headers) }, (answer) => {
      const received = Object.entries(answer.headersDistinct).flatMap(([name, all = []]) =>
        all.map((value): [string, string] => [name, value]),
      );
      const done = (text: string) => {
        // answered before all was sent: nobody listens to what becomes of the rest
        if (!sent.writableFinished) sent.destroy();
        resolve({ status: answer.statusCode ?? 0, headers: new Headers(received), text });
      };
      text(answer).then(done, reject);
    });
    sent.on('error', reject);
    if (body instanceof ReadableStream) Readable.fromWeb(body as never).pipe(sent);
    else sent.end(body);
  });

/** A client with JSON, whose answers are held against the OpenAPI document. */
export function http(url: string, key?: string, isChecked = true): Http {
  const raw = async (method: string, path: string, init: RequestInit = {}): Promise<Reply> => {
    const sent = new Headers(init.headers);
    if (key) sent.set('authorization', `Bearer ${key}`);
    const { status, headers, text } = await call(url + path, { ...init, method, headers: sent });
    const contentType = headers.get('content-type') ?? '';
    const body = /[/+]json/.test(contentType) ? JSON.parse(text) : text;
    if (isChecked) checkAnswer({ method, url: url + path, status, contentType, body });
    return { status, headers, body };
  };
  const send = (method: string, path: string, body?: unknown, headers: Record<string, string> = {}) =>
    raw(method, path, {
      headers: { ...(body !== undefined && { 'content-type': 'application/json' }), ...headers },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
  return {
    url,
    key,
    raw,
    get: (path) => send('GET', path),
    post: (path, body, headers) => send('POST', path, body, headers),
    put: (path, body) => send('PUT', path, body),
    patch: (path, body) => send('PATCH', path, body),
  };
}

/** The only ticket of a claim's answer. */
export async function claimOne(client: Http, queue: string, reviewer: string, more: object = {}): Promise<Json> {
  const { status, body } = await client.post(`/v1/queues/${queue}/claim`, { reviewer, ...more });
  if (status !== 200 || body.tickets.length !== 1) throw new Error(`claim: ${status} ${JSON.stringify(body)}`);
  return body.tickets[0];
}

/** What `make` gives for each number from 0 below `count`. */
export const repeat = <T>(count: number, make: (n: number) => T): T[] =>
  Array.from({ length: count }, (_, n) => make(n));

/** A promise, and how it is resolved. */
export function deferred<T = void>(): { promise: Promise<T>; resolve(value: T): void; reject(error: Error): void } {
  let [resolve, reject] = [(_: T) => {}, (_: Error) => {}];
  const promise = new Promise<T>((done, failed) => {
    [resolve, reject] = [done, failed];
  });
  return { promise, resolve, reject };
}

/** The values of a text with JSON in each line; empty lines are left out. */
export const ndjson = (text: string): Json[] =>
  text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line));

export const numbered = (count: number, prefix = 'j'): string[] => repeat(count, (n) => `${prefix}${n}`);

/** Small random numbers that are the same in every run. */
export function dice(seed: number): (sides: number) => number {
  let state = seed;
  return (sides) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * sides);
  };
}

/** Types of a ticket's events, in order. */
export async function eventTypes(client: Http, id: string): Promise<string[]> {
  const { body } = await client.get(`/v1/tickets/${id}/events?limit=500`);
  return body.items.map((e: Json) => e.type);
}

/**
 * All pages of a list, by following its cursors.
 * @param isFull whether each page but the last must have `limit` items
 */
export async function walk(client: Http, path: string, limit: number, isFull = true): Promise<Json[]> {
  const all: Json[] = [];
  for (let cursor: string | null = ''; cursor !== null; ) {
    const next = cursor ? `&cursor=${encodeURIComponent(cursor)}` : '';
    const { status, body } = await client.get(`${path}${path.includes('?') ? '&' : '?'}limit=${limit}${next}`);
    if (status !== 200) throw new Error(`${status} ${JSON.stringify(body)}`);
    cursor = body.nextCursor;
    if (cursor === null || !isFull ? body.items.length > limit : body.items.length !== limit)
      throw new Error(`a page of ${limit} has ${body.items.length} items`);
    all.push(...body.items);
  }
  return all;
}
