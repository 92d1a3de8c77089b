import { OpenAPIHono } from '@hono/zod-openapi';
import { ProblemSchema } from '../../contract/problems.ts';
import { VERSION } from '../../runtime/version.ts';
import { SESSION_COOKIE } from '../auth.ts';
import { type AnyEndpoint, TAGS } from '../endpoint.ts';
import { answersOf, exampleOf } from './examples.ts';
import { illustrate, operationOf, SHARED_RESPONSES } from './operation.ts';
import { settleSchemas } from './schemas.ts';

const INFO = {
  title: 'Docket',
  version: VERSION,
  description:
    'Puts people and programs to work on a stream of items. Errors are RFC 9457 problems with a stable `code`. ' +
    'The examples are one story: a report of a message is decided, an order is closed, a review is audited, ' +
    'a dispute is judged and a price is checked. Tokens in them are made up: take those of your own answers.',
  license: { name: 'Apache-2.0', url: 'https://www.apache.org/licenses/LICENSE-2.0' },
};

const byPath = (a: AnyEndpoint, b: AnyEndpoint) => Number(a.path > b.path) - Number(a.path < b.path);

/** The OpenAPI document of these endpoints: by tag, then by path. */
export function openApi(all: AnyEndpoint[]) {
  const endpoints = TAGS.flatMap((tag) => all.filter((e) => e.tag === tag).sort(byPath));
  const app = new OpenAPIHono();
  const { openAPIRegistry: registry } = app;
  registry.registerComponent('securitySchemes', 'key', { type: 'http', scheme: 'bearer' });
  registry.registerComponent('securitySchemes', 'session', { type: 'apiKey', in: 'cookie', name: SESSION_COOKIE });
  registry.register('Problem', ProblemSchema);
  for (const [name, response] of Object.entries(SHARED_RESPONSES))
    registry.registerComponent('responses', name, response);
  for (const e of endpoints) registry.registerPath(operationOf(e));
  const document = app.getOpenAPI31Document({ openapi: '3.1.0', info: INFO });
  settleSchemas(document);
  for (const e of endpoints) {
    const operation = document.paths?.[e.path]?.[e.method];
    if (operation) illustrate(operation, exampleOf(e.operation), answersOf(e.operation));
  }
  return document;
}
