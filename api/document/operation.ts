import { type RouteConfig, z } from '@hono/zod-openapi';
import { IdempotencyKey } from '../adding.ts';
import type { AnyEndpoint } from '../endpoint.ts';
import type { Answers, Example } from './examples.ts';
import { problemResponses } from './responses.ts';

const DONE: Record<string, string> = {
  200: 'Done',
  201: 'Created',
  202: 'Accepted: it is stored, and will be done',
  204: 'Done; there is no content',
  503: '`unavailable`',
};

const KEY = z.object({
  'Idempotency-Key': IdempotencyKey.optional().openapi({
    description: 'Where the body has no `id`: the same key within 24 hours names the same item',
  }),
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

interface Operation {
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
