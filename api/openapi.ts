import { OpenAPIHono, type RouteConfig, type z } from '@hono/zod-openapi';
import { PROBLEMS, type ProblemCode, ProblemSchema } from '../contract/problems.ts';
import { Problem } from '../services/problems.ts';
import { SESSION_COOKIE } from './auth.ts';
import type { AnyEndpoint } from './endpoint.ts';

/** The OpenAPI document of these endpoints. */
export function openApi(endpoints: AnyEndpoint[]) {
  const app = new OpenAPIHono();
  const { openAPIRegistry: registry } = app;
  registry.registerComponent('securitySchemes', 'key', { type: 'http', scheme: 'bearer' });
  const cookie = { type: 'apiKey', in: 'cookie', name: SESSION_COOKIE } as const;
  registry.registerComponent('securitySchemes', 'session', cookie);
  for (const e of endpoints) registry.registerPath(operationOf(e));
  return app.getOpenAPI31Document({
    openapi: '3.1.0',
    info: {
      title: 'Docket',
      version: '1.0.0',
      description:
        'Puts people and programs to work on a stream of items. Errors are RFC 9457 problems with a stable `code`.',
      license: { name: 'Apache-2.0', url: 'https://www.apache.org/licenses/LICENSE-2.0' },
    },
  });
}

function operationOf(e: AnyEndpoint): RouteConfig {
  const problems: ProblemCode[] = [
    'invalid_request',
    'unauthenticated',
    'forbidden',
    ...(e.problems ?? []),
    ...((e.body ?? e.document) ? (['payload_too_large', 'unsupported_media_type'] as const) : []),
    'rate_limited',
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
  return {
    method: e.method,
    path: e.path,
    tags: [e.tag],
    summary: e.summary,
    security: e.roles === null ? [] : [{ key: [] }, { session: [] }],
    ...(e.roles && { description: `Roles: ${[...e.roles, 'admin'].join(', ')}.` }),
    request: {
      ...(e.params && { params: e.params as z.ZodObject }),
      ...(e.query && { query: e.query as z.ZodObject }),
      ...((e.body ?? e.document) && {
        body: {
          content: { 'application/json': { schema: (e.body ?? e.document) as z.ZodType } },
          // a call without a body leaves out every field
          required: !e.body?.safeParse({}).success,
        },
      }),
    },
    responses: {
      ...Object.fromEntries(
        Object.entries(e.answers).map(([status, schema]) => [
          status,
          {
            description: status === '503' ? 'unavailable' : 'Done',
            ...(status !== '204' && { content: { [e.media ?? 'application/json']: { schema } } }),
          },
        ]),
      ),
      ...Object.fromEntries(
        [...byStatus].map(([status, codes]) => [
          status,
          {
            description: codes.join(', '),
            content: e.problemAnswer
              ? { 'application/json': { schema: e.answers[200] as z.ZodType } }
              : { 'application/problem+json': { schema: ProblemSchema } },
          },
        ]),
      ),
    },
  };
}
