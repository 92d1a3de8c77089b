import { PROBLEMS, type ProblemCode } from '../../contract/problems.ts';
import { Problem } from '../../services/shared/problems.ts';
import type { AnyEndpoint } from '../endpoint.ts';

const REQUEST_ID = '2c1f7c4e-0d7e-4a55-9a4f-6b1f0f2d9a10';
const RETRY_AFTER = { 'Retry-After': { description: 'Seconds', schema: { type: 'integer' } } } satisfies Headers;
const PROBLEM = { $ref: '#/components/schemas/Problem' };

/** What a problem says, and the members that only this code has. */
const DETAILS: Record<ProblemCode, [detail: string, members?: Record<string, unknown>]> = {
  invalid_request: [
    'query: colour is not a parameter of this call',
    { errors: [{ path: 'colour', message: 'is not a parameter of this call' }] },
  ],
  unauthenticated: ['send Authorization: Bearer with a valid key'],
  forbidden: ['the role or the subject of this key does not allow it'],
  not_found: ['there is nothing under the name in the path'],
  method_not_allowed: ['this path knows GET, PUT'],
  unsupported_media_type: ['send the body as application/json'],
  payload_too_large: ['the body may have 262144 bytes at most'],
  rate_limited: ['too many calls at once', { retryAfter: 1 }],
  id_conflict: ['this id exists with other content'],
  not_open: ['it is decided', { state: 'decided', by: 'anna', at: '2026-11-21T09:30:00.000Z', reason: null }],
  lease_lost: ['the lease has expired', { holder: 'boris', endedAt: '2026-11-21T09:35:00.000Z', reason: 'expired' }],
  already_voted: ['this person has voted on this case'],
  conflict_of_interest: ['this person is a party of the case'],
  limit_reached: ['there are 100 active rotating tasks for this executor already'],
  template_mismatch: [
    'template price-check: params.product: is required',
    { errors: [{ path: 'params.product', message: 'is required' }] },
  ],
  stale_log_id: [
    "this is not the log id of the client's last dispatch; nothing is with this client now",
    { current: null },
  ],
  unavailable: ['the database cannot be reached or has no connection free, try again'],
  internal: ['this is a bug; the request id helps to find it'],
};

const BROKEN = { status: 400, errors: [{ path: '', message: 'is not valid JSON in UTF-8' }] };

/** A problem as it is answered. */
function problemOf(code: ProblemCode, status: number): Problem {
  if (status === BROKEN.status) return new Problem(code, 'the body is not valid JSON in UTF-8', BROKEN);
  const [detail, members] = DETAILS[code];
  return new Problem(code, detail, members);
}

const summaryOf = (code: ProblemCode) => PROBLEMS[code].title;

type Headers = Record<string, { description?: string; schema: { type: 'string' | 'integer' } }>;

function responseOf(status: number, codes: ProblemCode[], headers?: Headers) {
  const examples = Object.fromEntries(
    codes.map((code) => [code, { summary: summaryOf(code), value: problemOf(code, status).toJSON(REQUEST_ID) }]),
  );
  return {
    description: codes.map((code) => `\`${code}\`: ${summaryOf(code)}`).join('. '),
    ...(headers && { headers }),
    content: { 'application/problem+json': { schema: PROBLEM, examples } },
  };
}

const HEADERS: Partial<Record<number, Headers>> = {
  401: { 'WWW-Authenticate': { schema: { type: 'string' } } },
  405: { Allow: { description: 'The methods that the path knows', schema: { type: 'string' } } },
  429: RETRY_AFTER,
  503: RETRY_AFTER,
};

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
  Object.entries(SHARED).map(([name, [status, ...codes]]) => [name, responseOf(status, codes, HEADERS[status])]),
);

const sharedName = (status: number, codes: ProblemCode[]) =>
  Object.entries(SHARED).find(([, [of, ...its]]) => of === status && String(its) === String(codes))?.[0];

/** The answers of an endpoint that are problems, by status. */
export function problemResponses(e: AnyEndpoint): Record<string, object> {
  const found: Record<string, object> = {};
  for (const [status, codes] of problemsOf(e)) {
    const name = sharedName(status, codes);
    // a method that a path does not know is no call of this endpoint, so it is answered as everywhere
    if (e.problemAnswer && status !== 405) found[status] = ownResponse(e, status, codes);
    else found[status] = name ? { $ref: `#/components/responses/${name}` } : responseOf(status, codes, HEADERS[status]);
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

/** In the endpoint's own shape. */
function ownResponse(e: AnyEndpoint, status: number, codes: ProblemCode[]): object {
  const examples = Object.fromEntries(
    codes.map((code) => [code, { summary: summaryOf(code), value: e.problemAnswer?.(problemOf(code, status)).body }]),
  );
  return {
    description: codes.map((code) => `\`${code}\`: ${summaryOf(code)}`).join('. '),
    ...(HEADERS[status] && { headers: HEADERS[status] }),
    content: { 'application/json': { schema: e.answers[200], examples } },
  };
}
