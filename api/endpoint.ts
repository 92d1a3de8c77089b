import type { IncomingMessage, ServerResponse } from 'node:http';
import type { z } from '@hono/zod-openapi';
import type { Context as HonoContext } from 'hono';
import { SMALL_BODY } from '../contract/common.ts';
import type { Role } from '../contract/keys.ts';
import type { ProblemCode } from '../contract/problems.ts';
import type { Gone } from '../runtime/waiting.ts';
import * as adminLog from '../services/access/admin-log.ts';
import { checkValues, problemOf } from '../services/shared/checks.ts';
import { type Context, invalid, Problem } from '../services/shared/service.ts';
import type { Api } from './api.ts';
import { type Caller, OPEN } from './auth.ts';
import { readJson, type Sent } from './body.ts';
import { checkScope, type Scope, type ScopedCall, scoped } from './scopes.ts';
import { STRANGERS, type Transfer } from './transfers.ts';

/** In the order of the OpenAPI document. */
export const TAGS = [
  ...(['Queues', 'Tickets', 'Reviewers', 'Jobs', 'Reviews', 'Courts', 'Cases', 'Tasks'] as const),
  ...(['Figures', 'Deliveries', 'Feed', 'Streams', 'Sessions', 'Keys', 'System'] as const),
];
export type Tag = (typeof TAGS)[number];

export const LARGE_BODY = 8 * 1024 * 1024;

type Schema = z.ZodType;
/** Undefined: the endpoint takes none. */
type Input = Schema | undefined;
type Out<S> = S extends Schema ? z.output<S> : undefined;
type In<S> = S extends Schema ? z.input<S> : never;

type Status = 200 | 201 | 202 | 204 | 503;
type Answers = Partial<Record<Status, Schema>>;
/** An answer. Its body is sent without a check, so its type must fit the schema of its status. */
type Answer<A extends Answers> = { [S in keyof A]-?: { status: S; body: In<A[S]> } }[keyof A];

interface Call<P, Q, B> {
  api: Api;
  ctx: Context;
  caller: Caller;
  params: P;
  query: Q;
  body: B;
  signal: Gone;
  /** Ends the connection, so that the caller does not take an incomplete answer for a whole one. */
  cut(): void;
  /** Counts a text that is not written as JSON until it is read. */
  hold(text: string): void;
  /** Counts bytes of an answer that is written in parts, until they are read. */
  holdPart(bytes: number): Transfer;
  /** The body as it was sent, for endpoints that check it themselves. */
  raw(): Promise<Sent>;
  header(name: string): string | undefined;
  incoming: IncomingMessage;
  /** Headers of the answer, to which endpoints may add. */
  headers: Record<string, string>;
}

/** A union over the statuses, so that handlers may choose one by an expression. */
type Answered<S, B> = S extends Status ? { status: S; body: B } : never;
export function answer<S extends Status, B>(status: S, body: B): Answered<S, B>;
export function answer(status: Status, body: unknown) {
  return { status, body };
}
export const ok = <B>(body: B) => answer(200, body);
/** The answer to a deletion, once it is done. */
export const deleted = (done: Promise<unknown>) => done.then(() => ok({ deleted: true }));

/** Objects that Hono's server for Node passes with each call. */
export interface ApiBindings {
  incoming: IncomingMessage;
  outgoing: ServerResponse;
  /** Whom bytes are counted for: a key's id; undefined: the caller is not known. */
  caller?: string;
  /** The name that the caller's key is bound to, for the log. */
  subject?: string | null;
}
export type ApiContext = HonoContext<{ Bindings: ApiBindings }>;

type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/** An endpoint: its input, its callers, its answers. The OpenAPI document is generated from these. */
interface Definition<P extends Input, Q extends Input, B extends Input, A extends Answers> {
  tag: Tag;
  summary: string;
  /** Besides `admin`, which may call every endpoint; null: no key is required. */
  roles: Role[] | null;
  /** How it treats keys that are bound to queues. */
  scope: Scope<ScopedCall<Out<P>, Out<Q>, Out<B>>>;
  /** Also takes `?ticket=` from `POST /v1/stream-tickets` in place of a key. */
  takesTicket?: boolean;
  params?: P;
  query?: Q;
  body?: B;
  /** The body's schema in the document, where `body` is another one or the handler reads `raw()`. */
  document?: Schema;
  /** Without an id in the body, the header `Idempotency-Key` names the item that is added. */
  takesKey?: boolean;
  /** Bytes. */
  bodyLimit?: number;
  /** The body's content type may be missing, or one that programs send where none is set. */
  takesAnyType?: boolean;
  /** The handler checks the values of each entry, so that a bad one does not affect the others. */
  checksEntries?: boolean;
  answers: A;
  /** The media type of answers, where it is not application/json. */
  media?: string;
  /** Asked by those who watch the process: answered however many other calls there are, and not counted as one. */
  probe?: boolean;
  /** Besides those that every endpoint can answer. */
  problems?: readonly ProblemCode[];
  /** Replaces the answer as problem+json. */
  problemAnswer?(problem: Problem): { status: number; body: object };
  handle(call: Call<Out<P>, Out<Q>, Out<B>>): Promise<Answer<A> | Response>;
}

export interface Endpoint<P extends Input, Q extends Input, B extends Input, A extends Answers>
  extends Definition<P, Q, B, A> {
  operation: string;
  method: Lowercase<Method>;
  path: string;
}

/**
 * @param operation its name in the OpenAPI document, which clients are generated from: it never changes
 * @param route the method, and the path with `{name}` for parameters
 */
export function endpoint<
  A extends Answers,
  P extends Input = undefined,
  Q extends Input = undefined,
  B extends Input = undefined,
>(operation: string, route: `${Method} ${string}`, definition: Definition<P, Q, B, A>): Endpoint<P, Q, B, A> {
  const [method, path = ''] = route.split(' ');
  return { operation, method: method?.toLowerCase() as Lowercase<Method>, path, ...definition };
}

export type AnyEndpoint = Endpoint<Input, Input, Input, Answers>;

type Outcome = Promise<Answer<Answers> | Response>;

/** Handles a call of an endpoint over HTTP. @throws Problem */
export async function perform(api: Api, e: AnyEndpoint, c: ApiContext, headers: Record<string, string>): Outcome {
  const caller = e.roles === null ? OPEN : await identify(api, c, e.takesTicket);
  const sender = { api, incoming: c.env.incoming, caller: c.env.caller ?? STRANGERS };
  const raw = () => readJson(sender, e.bodyLimit ?? SMALL_BODY, e.takesAnyType);
  return performAs(caller, api, e, c, headers, { params: () => pathParams(c), raw });
}

/** The input of a call, before its check. */
interface Given {
  params(): Record<string, unknown>;
  raw(): Promise<Sent>;
}

/** Handles a call of an endpoint by a known caller, whatever protocol its input came by. @throws Problem */
export async function performAs(
  caller: Caller,
  api: Api,
  e: AnyEndpoint,
  c: ApiContext,
  headers: Record<string, string>,
  { params: named, raw }: Given,
): Outcome {
  if (e.roles && caller.role !== 'admin' && !e.roles.includes(caller.role))
    throw new Problem('forbidden', `a ${caller.role} key may not do this`);
  const params = check(e.params, named(), 'path');
  const query = queryOf(e, c);
  const { incoming, outgoing } = c.env;
  const body = e.body && check(e.body, bodyOf(e, await raw()), 'body');
  const header = (name: string) => c.req.header(name);
  const cut = () => void outgoing.destroy();
  const held = {
    hold: (text: string) => api.transfers.holdText(c.env, text),
    holdPart: (n: number) => api.transfers.holdPart(c.env, n),
  };
  const isBound = caller.queues !== null;
  if (isBound) await checkScope(api.ctx, caller, e.scope, { params, query, body });
  const signal = new Departure(c);
  const call = { api, ctx: api.ctx, caller, params, query, body, raw, header, cut, ...held, incoming, headers, signal };
  const answered = changesSettings(e) ? await recorded(e, call) : await e.handle(call);
  if (answered instanceof Response || !isBound) return answered;
  return { ...answered, body: scoped(caller, e.scope, answered.body) };
}

/** Changes that only administrators and supervisors may make are recorded in the admin log. */
const changesSettings = (e: AnyEndpoint): boolean =>
  e.method !== 'get' && e.roles?.every((role) => role === 'supervisor') === true;

function recorded(e: AnyEndpoint, call: Call<undefined, undefined, undefined>): Promise<Answer<Answers> | Response> {
  const { ctx, caller, params, body, headers } = call;
  // from the decoded parameters: a name can be percent-encoded in several ways
  const names = new Map<string, unknown>(Object.entries(params ?? {}));
  const path = e.path.replaceAll(/\{(\w+)\}/g, (_, name) => String(names.get(name)));
  const requestId = headers['x-request-id'] ?? null;
  const line = { keyId: caller.id, actor: caller.actor, operation: e.operation, path, body, requestId };
  return adminLog.record(ctx, line, () => e.handle(call));
}

/** Tells when the caller disconnects. Makes a signal and its controller only where a listener is added. */
export class Departure implements Gone {
  readonly #c: ApiContext;

  constructor(c: ApiContext) {
    this.#c = c;
  }

  get aborted(): boolean {
    return this.#c.env.outgoing.destroyed;
  }

  addEventListener(...args: Parameters<Gone['addEventListener']>): void {
    this.#c.req.raw.signal.addEventListener(...args);
  }

  removeEventListener(...args: Parameters<Gone['removeEventListener']>): void {
    this.#c.req.raw.signal.removeEventListener(...args);
  }
}

/**
 * The decoded parameters of the path. Hono does not decode invalid encodings, and the result could be another item's name.
 * @throws Problem 422 for a path that is not percent-encoded UTF-8
 */
function pathParams(c: ApiContext): Record<string, string> {
  if (c.req.url.includes('%')) {
    const [path = ''] = c.req.url.split('?', 1);
    try {
      decodeURIComponent(path);
    } catch {
      throw invalid('path', 'is not percent-encoded UTF-8');
    }
  }
  return c.req.param();
}

function queryOf(e: AnyEndpoint, c: ApiContext): undefined {
  if (!c.req.url.includes('?')) return check(e.query, {}, 'query');
  checkNames(e, c.req.queries());
  return check(e.query, c.req.query(), 'query');
}

/** A missing body counts as an object without fields. */
function bodyOf(e: AnyEndpoint, { value }: Sent): unknown {
  if (value === undefined) return {};
  if (!e.checksEntries) checkValues(value);
  return value;
}

/** Authenticates the caller, and notes them for the log. @throws Problem `unauthenticated`, `rate_limited` */
export async function identify(api: Api, c: ApiContext, takesTicket = false): Promise<Caller> {
  const ticket = takesTicket ? c.req.query('ticket') : undefined;
  const { auth } = api;
  const caller = ticket
    ? await auth.ticketCaller(ticket)
    : await auth.caller(c.req.header('authorization'), c.env.incoming);
  c.env.caller = caller.id;
  c.env.subject = caller.subject;
  return caller;
}

function check(schema: Input, value: unknown, where: string): undefined {
  if (schema === undefined) return undefined;
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data as undefined;
  throw problemOf(parsed.error, where);
}

/** Rejects parameters that are unknown or repeated: a filter would be ignored. */
function checkNames(e: AnyEndpoint, query: Record<string, string[]>): void {
  const known: object = { ...(e.query as z.ZodObject | undefined)?.shape, ...(e.takesTicket && { ticket: true }) };
  const wrong = (name: string) =>
    Object.hasOwn(known, name) ? 'is given more than once' : 'is not a parameter of this call';
  const errors = Object.entries(query)
    .filter(([name, values]) => values.length > 1 || !Object.hasOwn(known, name))
    .slice(0, 50)
    .map(([name]) => ({ path: name.slice(0, 100), message: wrong(name) }));
  const [first] = errors;
  if (first) throw new Problem('invalid_request', `query: ${first.path} ${first.message}`, { errors });
}
