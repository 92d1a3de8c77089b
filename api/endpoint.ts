import type { ServerResponse } from 'node:http';
import type { OpenAPIHono, z } from '@hono/zod-openapi';
import type { Context } from 'hono';
import { PROBLEMS, type ProblemCode, ProblemSchema } from '../contract/problems.ts';
import type { Role } from '../db/keys.ts';
import { invalid, Problem, problemFrom } from '../services/problems.ts';
import type { Api } from './api.ts';
import type { Caller } from './auth.ts';
import { checkValues, readJson, type Sent } from './body.ts';
import { checkScope, scoped } from './scopes.ts';

export const SMALL_BODY = 256 * 1024;
export const LARGE_BODY = 8 * 1024 * 1024;

type Schema = z.ZodType;
type Out<S> = S extends Schema ? z.output<S> : undefined;

export interface Call<P, Q, B> {
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

export interface Answer {
  status: 200 | 201 | 202;
  body: unknown;
}

export const ok = (body: unknown): Answer => ({ status: 200, body });

/** One endpoint: what it takes, who may call it, what it answers. The OpenAPI document is made of these. */
export interface Endpoint<P extends Schema | undefined, Q extends Schema | undefined, B extends Schema | undefined> {
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
  answers: Partial<Record<200 | 201 | 202, Schema>>;
  /** What an answer is sent as, where it isn't application/json. */
  media?: string;
  /** Beyond those every endpoint can answer. */
  problems?: ProblemCode[];
  /** An answer of its own in place of problem+json. */
  problemAnswer?(problem: Problem): { status: number; body: object };
  handle(call: Call<Out<P>, Out<Q>, Out<B>>): Promise<Answer | Response>;
}

export function endpoint<
  P extends Schema | undefined = undefined,
  Q extends Schema | undefined = undefined,
  B extends Schema | undefined = undefined,
>(definition: Endpoint<P, Q, B>): Endpoint<P, Q, B> {
  return definition;
}

export type AnyEndpoint = Endpoint<Schema | undefined, Schema | undefined, Schema | undefined>;

/** Puts an endpoint into the app and into the OpenAPI document. */
export function register(app: OpenAPIHono, api: Api, e: AnyEndpoint): void {
  document(app, e);
  app.on(e.method.toUpperCase(), e.path.replaceAll(/\{(\w+)\}/g, ':$1'), async (c) => {
    try {
      const answer = await answerOf(api, e, c);
      return answer instanceof Response ? answer : c.json(answer.body as object, answer.status);
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

async function answerOf(api: Api, e: AnyEndpoint, c: Context): Promise<Answer | Response> {
  const caller = await authorise(api, e, c);
  const params = check(e.params, pathParams(c), 'path');
  checkNames(e, c.req.query());
  const query = check(e.query, c.req.query(), 'query');
  const raw = () => readJson(c.req.raw, e.bodyLimit ?? SMALL_BODY);
  const body = e.body && check(e.body, await bodyOf(e, c.req.raw), 'body');
  const header = (name: string) => c.req.header(name);
  const cut = () => (c.env as { outgoing?: ServerResponse } | undefined)?.outgoing?.destroy();
  const record = (value: unknown) => (value ?? {}) as Record<string, unknown>;
  const named = { params: record(params), query: record(query), body: record(body) };
  await checkScope(api, caller, { endpoint: `${e.method} ${e.path}`, path: e.path, ...named });
  const answer = await e.handle({
    ...{ api, caller, params, query, body, raw, header, cut },
    // made when somebody asks for it: most calls never wait
    get signal() {
      return c.req.raw.signal;
    },
  });
  if (answer instanceof Response) return answer;
  return { ...answer, body: scoped(caller, e.path, answer.body) };
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

function document(app: OpenAPIHono, e: AnyEndpoint): void {
  const problems: ProblemCode[] = [
    'invalid_request',
    'unauthenticated',
    'forbidden',
    ...(e.problems ?? []),
    ...((e.body ?? e.document) ? (['payload_too_large', 'unsupported_media_type'] as const) : []),
    'unavailable',
  ];
  const byStatus = new Map<number, ProblemCode[]>();
  for (const code of new Set(problems)) {
    const status = e.problemAnswer?.(new Problem(code, '')).status ?? PROBLEMS[code].status;
    if (status in e.answers) continue;
    byStatus.set(status, [...(byStatus.get(status) ?? []), code]);
  }
  // a body that is no JSON, which has the code of wrong values
  if (e.body ?? e.document) byStatus.set(400, ['invalid_request']);
  app.openAPIRegistry.registerPath({
    method: e.method,
    path: e.path,
    tags: [e.tag],
    summary: e.summary,
    security: e.roles === null ? [] : [{ key: [] }],
    ...(e.roles && { description: `Roles: ${[...e.roles, 'admin'].join(', ')}.` }),
    request: {
      ...(e.params && { params: e.params as z.ZodObject }),
      ...(e.query && { query: e.query as z.ZodObject }),
      ...((e.body ?? e.document) && {
        body: {
          content: { 'application/json': { schema: (e.body ?? e.document) as Schema } },
          // a call without a body leaves out every field
          required: !e.body?.safeParse({}).success,
        },
      }),
    },
    responses: {
      ...Object.fromEntries(
        Object.entries(e.answers).map(([status, schema]) => [
          status,
          { description: 'Done', content: { [e.media ?? 'application/json']: { schema } } },
        ]),
      ),
      ...Object.fromEntries(
        [...byStatus].map(([status, codes]) => [
          status,
          {
            description: codes.join(', '),
            content: e.problemAnswer
              ? { 'application/json': { schema: e.answers[200] as Schema } }
              : { 'application/problem+json': { schema: ProblemSchema } },
          },
        ]),
      ),
    },
  });
}
