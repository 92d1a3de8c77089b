import type { ServerResponse } from 'node:http';
import type { z } from '@hono/zod-openapi';
import type { Context, Hono } from 'hono';
import { SMALL_BODY } from '../contract/common.ts';
import type { Role } from '../contract/keys.ts';
import type { ProblemCode } from '../contract/problems.ts';
import { invalid, Problem, problemFrom } from '../services/problems.ts';
import type { Api } from './api.ts';
import type { Caller } from './auth.ts';
import { checkScope, scoped } from './scopes.ts';

export const LARGE_BODY = 8 * 1024 * 1024;
const MAX_DEPTH = 100;
const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: false });

type Schema = z.ZodType;
type Out<S> = S extends Schema ? z.output<S> : undefined;
type In<S> = S extends Schema ? z.input<S> : never;

type Status = 200 | 201 | 202 | 503;
/** The schema of the body under each status. */
type Answers = Partial<Record<Status, Schema>>;
/** What may be answered: bodies are sent as they are, so the schema of their status must accept them. */
type Answer<A extends Answers> = { [S in keyof A]-?: { status: S; body: In<A[S]> } }[keyof A];

/** A body as it came; `value` is undefined where there was none. */
interface Sent {
  value: unknown;
  bytes: number;
}

interface Call<P, Q, B> {
  api: Api;
  caller: Caller;
  params: P;
  query: Q;
  body: B;
  /** Fires when the caller has gone. */
  signal: AbortSignal;
  /** Breaks the connection off, so that an answer that cannot go on is not taken for a whole one. */
  cut(): void;
  /** The body as it was sent, for endpoints that check it themselves. */
  raw(): Promise<Sent>;
  header(name: string): string | undefined;
}

/** One for each status that it may be, so that handlers choose it by an expression. */
type Answered<S, B> = S extends Status ? { status: S; body: B } : never;
export function answer<S extends Status, B>(status: S, body: B): Answered<S, B>;
export function answer(status: Status, body: unknown) {
  return { status, body };
}
export const ok = <B>(body: B) => answer(200, body);

/** One endpoint: what it takes, who may call it, what it answers. The OpenAPI document is made of these. */
export interface Endpoint<
  P extends Schema | undefined,
  Q extends Schema | undefined,
  B extends Schema | undefined,
  A extends Answers,
> {
  method: 'get' | 'post' | 'put' | 'patch' | 'delete';
  /** With `{name}` for parameters. */
  path: string;
  tag: string;
  summary: string;
  /** `admin` may do everything and need not be named; null: no key is asked for. */
  roles: Role[] | null;
  /** Also by `?ticket=` from `POST /v1/stream-tickets`. */
  takesTicket?: boolean;
  params?: P;
  query?: Q;
  body?: B;
  /** The body's schema in the document only; the handler reads `raw()`. */
  document?: Schema;
  /** Bytes. */
  bodyLimit?: number;
  /** The handler looks at the values of each entry itself, so that a bad one doesn't harm the others. */
  checksEntries?: boolean;
  answers: A;
  /** What an answer is sent as, where it isn't application/json. */
  media?: string;
  /** Beyond those every endpoint can answer. */
  problems?: ProblemCode[];
  /** An answer of its own in place of problem+json. */
  problemAnswer?(problem: Problem): { status: number; body: object };
  handle(call: Call<Out<P>, Out<Q>, Out<B>>): Promise<Answer<A> | Response>;
}

export function endpoint<
  A extends Answers,
  P extends Schema | undefined = undefined,
  Q extends Schema | undefined = undefined,
  B extends Schema | undefined = undefined,
>(definition: Endpoint<P, Q, B, A>): Endpoint<P, Q, B, A> {
  return definition;
}

export type AnyEndpoint = Endpoint<Schema | undefined, Schema | undefined, Schema | undefined, Answers>;

/** Puts an endpoint into the app. */
export function register(app: Hono, api: Api, e: AnyEndpoint): void {
  app.on(e.method.toUpperCase(), e.path.replaceAll(/\{(\w+)\}/g, ':$1'), async (c) => {
    try {
      const answered = await answerOf(api, e, c);
      if (answered instanceof Response) return answered;
      if (answered.status === 503) c.header('retry-after', '1');
      return c.json(answered.body as object, answered.status);
    } catch (error) {
      const problem = e.problemAnswer && problemFrom(error);
      if (!problem || problem.status === 500) throw error;
      const { status, body } = e.problemAnswer?.(problem) ?? { status: 500, body: {} };
      if (problem.status === 503 || problem.status === 429) c.header('retry-after', '1');
      if (problem.status === 401) c.header('www-authenticate', 'Bearer');
      return c.json(body, status as 400);
    }
  });
}

async function answerOf(api: Api, e: AnyEndpoint, c: Context): Promise<Answer<Answers> | Response> {
  const caller = await authorise(api, e, c);
  const params = check(e.params, pathParams(c), 'path');
  checkNames(e, c.req.query());
  const query = check(e.query, c.req.query(), 'query');
  const raw = () => readJson(c.req.raw, e.bodyLimit ?? SMALL_BODY);
  const body = e.body && check(e.body, await bodyOf(e, c.req.raw), 'body');
  const header = (name: string) => c.req.header(name);
  const cut = () => (c.env as { outgoing?: ServerResponse } | undefined)?.outgoing?.destroy();
  const isBound = caller.queues !== null;
  if (isBound) {
    const named = { params: params ?? {}, query: query ?? {}, body: body ?? {} };
    await checkScope(api, caller, { endpoint: `${e.method} ${e.path}`, path: e.path, ...named });
  }
  const answered = await e.handle({
    ...{ api, caller, params, query, body, raw, header, cut },
    // made on demand: most calls never wait
    get signal() {
      return c.req.raw.signal;
    },
  });
  if (answered instanceof Response || !isBound) return answered;
  return { ...answered, body: scoped(caller, e.path, answered.body) };
}

/**
 * The parameters of the path, decoded. Hono leaves what it cannot decode as it is, which may be another item's name.
 * @throws Problem 422 for a path that is not percent-encoded UTF-8
 */
function pathParams(c: Context): Record<string, string> {
  const [path = ''] = c.req.url.split('?', 1);
  try {
    decodeURIComponent(path);
  } catch {
    throw invalid('path', 'is not percent-encoded UTF-8');
  }
  return c.req.param();
}

/** A call without a body is one that leaves out every field. */
async function bodyOf(e: AnyEndpoint, request: Request): Promise<unknown> {
  const { value } = await readJson(request, e.bodyLimit ?? SMALL_BODY);
  if (value === undefined) return {};
  if (!e.checksEntries) checkValues(value);
  return value;
}

async function authorise(api: Api, e: AnyEndpoint, c: Context): Promise<Caller> {
  if (e.roles === null) return { id: 'open', actor: 'anonymous', role: 'admin', subject: null, queues: null };
  const ticket = e.takesTicket ? c.req.query('ticket') : undefined;
  const caller = ticket ? await api.auth.ticketCaller(ticket) : await api.auth.caller(c.req.header('authorization'));
  if (caller.role !== 'admin' && !e.roles.includes(caller.role))
    throw new Problem('forbidden', `a ${caller.role} key may not do this`);
  return caller;
}

function check(schema: Schema | undefined, value: unknown, where: string): undefined {
  if (schema === undefined) return undefined;
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data as undefined;
  throw problemOf(parsed.error, where);
}

/** A parameter that is misspelt would be a filter that does nothing. */
function checkNames(e: AnyEndpoint, query: Record<string, string>): void {
  const known = e.query ? (e.query as z.ZodObject).shape : {};
  const errors = Object.keys(query)
    .filter((name) => !Object.hasOwn(known, name) && !(name === 'ticket' && e.takesTicket))
    .slice(0, 50)
    .map((name) => ({ path: name.slice(0, 100), message: 'is not a parameter of this call' }));
  const [first] = errors;
  if (first) throw new Problem('invalid_request', `query: ${first.path} ${first.message}`, { errors });
}

/** Every wrong field with its path; never the value itself. */
export function problemOf(error: z.ZodError, where: string): Problem {
  const errors = error.issues
    .flatMap(plainly)
    .slice(0, 50)
    .map((i) => ({ path: i.path.join('.'), message: i.message }));
  const first = errors[0];
  return new Problem('invalid_request', `${where}: ${first?.path ? `${first.path}: ` : ''}${first?.message}`, {
    errors,
  });
}

/** Of several shapes that something may have, the one that it comes nearest to says what is wrong. */
function plainly(issue: z.core.$ZodIssue): z.core.$ZodIssue[] {
  if (issue.code !== 'invalid_union') return [issue];
  const [nearest] = [...issue.errors].sort((a, b) => a.length - b.length);
  return nearest?.map((i) => ({ ...i, path: [...issue.path, ...i.path] })) ?? [issue];
}

/**
 * Reads a JSON body; what is not UTF-8 is refused here, what could not be kept as sent by `checkValues`.
 * @param limit bytes
 */
async function readJson(request: Request, limit: number): Promise<Sent> {
  const bytes = await readBytes(request, limit);
  if (bytes.length === 0) return { value: undefined, bytes: 0 };
  const type = request.headers.get('content-type') ?? '';
  if (!/^application\/(.+\+)?json\s*(;|$)/i.test(type))
    throw new Problem('unsupported_media_type', 'send the body as application/json');
  try {
    return { value: JSON.parse(decoder.decode(bytes)), bytes: bytes.length };
  } catch {
    throw new Problem('invalid_request', 'the body is not valid JSON in UTF-8', {
      status: 400,
      errors: [{ path: '', message: 'is not valid JSON in UTF-8' }],
    });
  }
}

async function readBytes(request: Request, limit: number): Promise<Uint8Array> {
  const tooLarge = () => new Problem('payload_too_large', `the body may have ${limit} bytes at most`);
  if (Number(request.headers.get('content-length') ?? 0) > limit) throw tooLarge();
  if (request.headers.has('content-length')) return new Uint8Array(await request.arrayBuffer());
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of request.body ?? []) {
    size += chunk.length;
    if (size > limit) throw tooLarge();
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/** A place in the value: the node, its names (none: an array), and how many of its children were looked at. */
interface Place {
  node: unknown[] | Record<string, unknown>;
  names: string[] | null;
  seen: number;
}

/**
 * Nothing gets lost on the way: NUL, lone surrogates and numbers that would be stored differently than they
 * were sent are refused. Walks without recursion, since depth is the caller's to choose, and keeps one place
 * per level, since 8 MB may hold four million values.
 * @throws Problem 422 that names the place
 */
export function checkValues(root: unknown): void {
  const places: Place[] = [];
  const refuse = (wrong: string) => {
    const path = places.map(({ names, seen }) => names?.[seen - 1] ?? seen - 1).join('.');
    throw new Problem('invalid_request', `${path || 'the body'} ${wrong}`, { errors: [{ path, message: wrong }] });
  };
  const enter = (value: unknown) => {
    const wrong = wrongness(value, places.length);
    if (wrong) refuse(wrong);
    if (Array.isArray(value)) places.push({ node: value, names: null, seen: 0 });
    else if (typeof value === 'object' && value !== null)
      places.push({ node: value as Record<string, unknown>, names: Object.keys(value), seen: 0 });
  };
  enter(root);
  for (let at = places.at(-1); at; at = places.at(-1)) {
    const { node, names } = at;
    const n = at.seen++;
    if (n === (names ?? (node as unknown[])).length) {
      places.pop();
      continue;
    }
    const name = names?.[n];
    const wrong = name === '__proto__' ? 'is not allowed as a name' : wrongness(name, places.length - 1);
    if (wrong) refuse(wrong);
    enter(name === undefined ? (node as unknown[])[n] : (node as Record<string, unknown>)[name]);
  }
}

function wrongness(value: unknown, depth: number): string | null {
  if (depth > MAX_DEPTH) return `is nested more than ${MAX_DEPTH} deep`;
  if (typeof value === 'string') {
    if (value.includes('\0')) return 'contains a NUL character';
    if (!value.isWellFormed()) return 'contains half of a surrogate pair';
  }
  if (typeof value === 'number') {
    if (!Number.isFinite(value)) return 'is a number out of range';
    if (Number.isInteger(value) && !Number.isSafeInteger(value))
      return 'is a whole number beyond 2^53, which JSON readers round: send it as a string';
  }
  return null;
}
