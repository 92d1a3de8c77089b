import { z } from '@hono/zod-openapi';
import { TextOrNull, Texts, Whole } from './common.ts';

/** Stable error codes and the status each one has; details in API.md's table of errors. */
export const PROBLEMS = {
  invalid_request: { status: 422, title: 'Invalid request' },
  unauthenticated: { status: 401, title: 'Not authenticated' },
  forbidden: { status: 403, title: 'Forbidden' },
  not_found: { status: 404, title: 'Not found' },
  method_not_allowed: { status: 405, title: 'Method not allowed' },
  unsupported_media_type: { status: 415, title: 'Unsupported media type' },
  payload_too_large: { status: 413, title: 'Payload too large' },
  rate_limited: { status: 429, title: 'Too many requests' },
  id_conflict: { status: 409, title: 'Conflict: the id exists with other content' },
  in_use: { status: 409, title: 'In use' },
  not_open: { status: 409, title: 'No longer open' },
  lease_lost: { status: 409, title: 'Lease lost' },
  changed: { status: 409, title: 'Changed since the version that was seen' },
  erased: { status: 409, title: 'Erased' },
  not_final: { status: 409, title: 'Not decided' },
  window_closed: { status: 409, title: 'Too late to appeal' },
  already_open: { status: 409, title: 'A second look is open' },
  already_voted: { status: 409, title: 'Already voted' },
  conflict_of_interest: { status: 403, title: 'Conflict of interest' },
  limit_reached: { status: 422, title: 'Limit reached' },
  template_mismatch: { status: 422, title: 'Parameters do not match the template' },
  stale_log_id: { status: 409, title: 'Stale log id' },
  unavailable: { status: 503, title: 'Service unavailable' },
  internal: { status: 500, title: 'Internal error' },
} as const satisfies Record<string, { status: number; title: string }>;

export type ProblemCode = keyof typeof PROBLEMS;

/** Every error; below `errors` are the members that some codes have. */
export const ProblemSchema = z
  .looseObject({
    type: z.string().describe('Where the code is explained'),
    title: z.string(),
    status: Whole,
    code: z.string().describe('Stable; the description of each answer names those it may have'),
    detail: z.string(),
    requestId: z.string().describe('As in the header `X-Request-Id` and in the log'),
    errors: z
      .array(z.object({ path: z.string(), message: z.string() }))
      .optional()
      .describe('`invalid_request`, `template_mismatch`: what is wrong where'),
    reason: TextOrNull.optional().describe(
      '`lease_lost`: expired, released, transferred, revoked or settled; `not_open`: why it ended',
    ),
    holder: TextOrNull.optional().describe('`lease_lost`: who holds it now'),
    endedAt: TextOrNull.optional().describe('`lease_lost`: when the lease ended'),
    state: z.string().optional().describe('`not_open`: its final state'),
    by: TextOrNull.optional().describe('`not_open`: who ended it'),
    at: TextOrNull.optional().describe('`not_open`: when it ended'),
    cases: Texts.optional().describe('`in_use`: up to 1,000 open cases that need it'),
    version: Whole.optional().describe('`changed`: its version now'),
    current: TextOrNull.optional().describe('`stale_log_id`: the log id of the last dispatch'),
    retryAfter: z.number().optional().describe('`rate_limited`: seconds, as in `Retry-After`'),
  })
  .openapi('Problem');
