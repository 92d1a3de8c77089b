import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { PROBLEM_HELP } from '../contract/problem-help.ts';
import { PROBLEMS, type ProblemCode } from '../contract/problems.ts';
import type { ApiContext } from './endpoint.ts';
import { escaped, htmlPage } from './html.ts';

const ASSETS: Record<string, string> = {
  'swagger-ui.css': 'text/css',
  'swagger-ui-bundle.js': 'text/javascript',
  'favicon-32x32.png': 'image/png',
};

const DOCS = htmlPage(
  'Docket API',
  `<link rel="icon" href="/docs/favicon-32x32.png">
<link rel="stylesheet" href="/docs/swagger-ui.css">
<div id="ui"></div>
<script src="/docs/swagger-ui-bundle.js"></script>
<script src="/docs/start.js"></script>`,
);

const START = `SwaggerUIBundle({ url: '/openapi.json', dom_id: '#ui', deepLinking: true });`;

const POLICY = "default-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; frame-ancestors 'none'";

type Page = (c: ApiContext) => Response;

/** The API's documentation by path, from files of this installation: nothing is fetched from elsewhere. */
export function pages(): Record<string, Page> {
  const folder = dirname(createRequire(import.meta.url).resolve('swagger-ui-dist/package.json'));
  const html =
    (text: string): Page =>
    (c) =>
      c.html(text, 200, { 'content-security-policy': POLICY });
  const asset = ([name, type]: [string, string]): [string, Page] => {
    const file = readFileSync(join(folder, name));
    return [`/docs/${name}`, (c) => c.body(file, 200, { 'content-type': type, 'cache-control': 'max-age=86400' })];
  };
  return {
    '/docs': html(DOCS),
    '/docs/errors': html(PROBLEM_PAGE),
    '/docs/start.js': (c) => c.body(START, 200, { 'content-type': 'text/javascript' }),
    ...Object.fromEntries(Object.entries(ASSETS).map(asset)),
  };
}

const html = (markdown: string) => escaped(markdown).replaceAll(/`([^`]+)`/g, '<code>$1</code>');

function section(code: ProblemCode): string {
  const { status, title } = PROBLEMS[code];
  const { meaning, action, fields } = PROBLEM_HELP[code];
  return `<section id="${code}">
<h2><code>${code}</code> · ${status} · ${escaped(title)}</h2>
<p>${html(meaning)}</p>
<p><strong>What to do:</strong> ${html(action)}</p>${fields ? `\n<p><strong>More fields:</strong> ${html(fields)}</p>` : ''}
</section>`;
}

/** The page to which the `type` of every problem leads; its fragment is the code. */
const PROBLEM_PAGE = htmlPage(
  'Docket errors',
  `<h1>Errors</h1>
<p>Every error is <code>application/problem+json</code> (RFC 9457) with one of these codes.</p>
${(Object.keys(PROBLEMS) as ProblemCode[]).map(section).join('\n')}`,
);
