import { type RouteConfig, z } from '@hono/zod-openapi';
import { PROBLEMS, type ProblemCode } from '../../contract/problems.ts';
import { Problem } from '../../services/shared/service.ts';
import { IdempotencyKey } from '../adding.ts';
import type { AnyEndpoint } from '../endpoint.ts';
import { type Answers, type Example, PROBLEM_EXAMPLES } from './examples.ts';

const DONE: Record<string, string> = {
  200: 'Done',
  201: 'Created',
  202: 'Accepted: it is stored, and will be done',
  204: 'Done; there is no content',
  503: '`unavailable`',
};

const KEY = z.object({
  'Idempotency-Key': IdempotencyKey.optional().describe(
    'Where the body has no `id`: the same key within 24 hours names the same item',
  ),
});

/** How the document describes an endpoint, without examples. */
export function operationOf(e: AnyEndpoint): RouteConfig {
  const body = e.document ?? e.body;
  return {
    operationId: e.operation,
    method: e.method,
    path: e.path,
    tags: [e.tag],
    summary: e.summary,
    security: e.roles === null ? [] : [{ key: [] }, { session: [] }],
    ...(e.roles && { description: `Roles: ${[...e.roles, 'admin'].join(', ')}.` }),
    request: {
      ...(e.params && { params: e.params as z.ZodObject }),
      ...(e.query && { query: e.query as z.ZodObject }),
      ...(e.takesKey && { headers: KEY }),
      ...(body && {
        body: {
          content: { 'application/json': { schema: body } },
          // a call without a body leaves out every field
          required: !e.body?.safeParse({}).success,
        },
      }),
    },
    responses: { ...answerResponses(e), ...problemResponses(e) } as RouteConfig['responses'],
  };
}

function answerResponses(e: AnyEndpoint) {
  const isRepeatable = 201 in e.answers;
  const descriptionOf = (status: string) =>
    status === '200' && isRepeatable ? 'Done; it was there before' : (DONE[status] ?? 'Done');
  return Object.fromEntries(
    Object.entries(e.answers).map(([status, schema]) => [
      status,
      {
        description: descriptionOf(status),
        ...(status !== '204' && { content: { [e.media ?? 'application/json']: { schema } } }),
      },
    ]),
  );
}

interface Media {
  example?: unknown;
  examples?: unknown;
}

export interface Operation {
  parameters?: object[];
  requestBody?: object;
  responses?: object;
}

/** Adds the examples of an operation. @throws Error for an example of a parameter or answer that it does not have */
export function illustrate(operation: Operation, example: Example, answers: Answers): void {
  const parameters = (operation.parameters ?? []) as { in: string; name: string; example?: unknown }[];
  for (const where of ['path', 'query'] as const)
    for (const [name, value] of Object.entries(example[where] ?? {})) {
      const parameter = parameters.find((p) => p.in === where && p.name === name);
      if (!parameter) throw new Error(`an example has the parameter ${name}, which its operation does not have`);
      parameter.example = value;
    }
  const body = mediaOf(operation.requestBody);
  if (body && 'body' in example) body.example = example.body;
  if (body && example.bodies) body.examples = example.bodies;
  for (const [status, value] of Object.entries(answers)) {
    const media = mediaOf((operation.responses as Record<string, object>)[status]);
    if (!media) throw new Error(`an example has the answer ${status}, which its operation does not have`);
    if (example.bodies) media.examples = named(example, value as Record<string, unknown>);
    else media.example = value;
  }
}

/** The answers to the bodies of the same names. */
const named = ({ bodies }: Example, answers: Record<string, unknown>) =>
  Object.fromEntries(
    Object.entries(answers).map(([name, value]) => [name, { summary: bodies?.[name]?.summary ?? name, value }]),
  );

/** The description of the only media type of a body or an answer. */
function mediaOf(node: { content?: Record<string, Media> } | undefined): Media | undefined {
  return Object.values(node?.content ?? {})[0];
}

const REQUEST_ID = '2c1f7c4e-0d7e-4a55-9a4f-6b1f0f2d9a10';
const RETRY_AFTER = { 'Retry-After': { description: 'Seconds', schema: { type: 'integer' } } } satisfies Headers;
const PROBLEM = { $ref: '#/components/schemas/Problem' };

const BROKEN = { status: 400, errors: [{ path: '', message: 'is not valid JSON in UTF-8' }] };

function problemOf(code: ProblemCode, status: number): Problem {
  if (status === BROKEN.status) return new Problem(code, 'the body is not valid JSON in UTF-8', BROKEN);
  const { detail, ...members } = PROBLEM_EXAMPLES[code];
  return new Problem(code, detail, members);
}

const summaryOf = (code: ProblemCode) => PROBLEMS[code].title;

type Headers = Record<string, { description?: string; schema: { type: 'string' | 'integer' } }>;

const HEADERS: Partial<Record<number, Headers>> = {
  401: { 'WWW-Authenticate': { schema: { type: 'string' } } },
  405: { Allow: { description: 'The methods that the path knows', schema: { type: 'string' } } },
  429: RETRY_AFTER,
  503: RETRY_AFTER,
};

/** @param own an endpoint that answers problems in its own shape */
function responseOf(status: number, codes: ProblemCode[], own?: AnyEndpoint) {
  const headers = HEADERS[status];
  const schema: object = own?.answers[200] ?? PROBLEM;
  const shownAs = (problem: Problem) => own?.problemAnswer?.(problem).body ?? problem.toJSON(REQUEST_ID);
  const examples = Object.fromEntries(
    codes.map((code) => [code, { summary: summaryOf(code), value: shownAs(problemOf(code, status)) }]),
  );
  return {
    description: codes.map((code) => `\`${code}\`: ${summaryOf(code)}`).join('. '),
    ...(headers && { headers }),
    content: { [own ? 'application/json' : 'application/problem+json']: { schema, examples } },
  };
}

/** By name: the problems that most operations can answer with, by their status and codes. */
const SHARED: Record<string, [status: number, ...codes: ProblemCode[]]> = {
  BrokenBody: [400, 'invalid_request'],
  Unauthenticated: [401, 'unauthenticated'],
  Forbidden: [403, 'forbidden'],
  NotFound: [404, 'not_found'],
  MethodNotAllowed: [405, 'method_not_allowed'],
  LeaseLost: [409, 'not_open', 'lease_lost'],
  PayloadTooLarge: [413, 'payload_too_large'],
  UnsupportedMediaType: [415, 'unsupported_media_type'],
  InvalidRequest: [422, 'invalid_request'],
  RateLimited: [429, 'rate_limited'],
  Unavailable: [503, 'unavailable'],
};

/** The document's `components.responses`. */
export const SHARED_RESPONSES = Object.fromEntries(
  Object.entries(SHARED).map(([name, [status, ...codes]]) => [name, responseOf(status, codes)]),
);

const sharedName = (status: number, codes: ProblemCode[]) =>
  Object.entries(SHARED).find(([, [of, ...its]]) => of === status && String(its) === String(codes))?.[0];

function problemResponses(e: AnyEndpoint): Record<string, object> {
  const found: Record<string, object> = {};
  for (const [status, codes] of problemsOf(e)) {
    const name = sharedName(status, codes);
    // a method that a path does not know is no call of this endpoint, so it is answered as everywhere
    if (e.problemAnswer && status !== 405) found[status] = responseOf(status, codes, e);
    else found[status] = name ? { $ref: `#/components/responses/${name}` } : responseOf(status, codes);
  }
  return found;
}

function problemsOf(e: AnyEndpoint): Map<number, ProblemCode[]> {
  const takesBody = Boolean(e.body ?? e.document);
  const codes = new Set<ProblemCode>([
    'invalid_request',
    ...(e.roles ? (['unauthenticated'] as const) : []),
    'forbidden',
    'method_not_allowed',
    ...(e.problems ?? []),
    ...(takesBody ? (['payload_too_large', 'unsupported_media_type'] as const) : []),
    'rate_limited',
    'unavailable',
  ]);
  const byStatus = new Map<number, ProblemCode[]>();
  for (const code of codes) {
    const status = code === 'method_not_allowed' ? 405 : statusOf(e, code);
    if (status in e.answers) continue;
    byStatus.set(status, [...(byStatus.get(status) ?? []), code]);
  }
  // a body that is no JSON, which has the code of wrong values
  if (takesBody) byStatus.set(BROKEN.status, ['invalid_request']);
  return byStatus;
}

const statusOf = (e: AnyEndpoint, code: ProblemCode) =>
  e.problemAnswer?.(new Problem(code, '')).status ?? PROBLEMS[code].status;
