import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { Hono } from 'hono';
import { PROBLEMS } from '../contract/problems.ts';

const ASSETS: Record<string, string> = {
  'swagger-ui.css': 'text/css',
  'swagger-ui-bundle.js': 'text/javascript',
  'favicon-32x32.png': 'image/png',
};

const PAGE = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Docket API</title>
<link rel="icon" href="/docs/favicon-32x32.png">
<link rel="stylesheet" href="/docs/swagger-ui.css">
<div id="ui"></div>
<script src="/docs/swagger-ui-bundle.js"></script>
<script src="/docs/start.js"></script>
</html>`;

/** Where a problem's `type` leads. */
const ERRORS = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>Docket errors</title>
<h1>Errors</h1>
<p>Every error is <code>application/problem+json</code> (RFC 9457) with one of these codes.</p>
<dl>
${Object.entries(PROBLEMS)
  .map(([code, { status, title }]) => `<dt id="${code}"><code>${code}</code> (${status})</dt><dd>${title}.</dd>`)
  .join('\n')}
</dl>
</html>`;

const START = `SwaggerUIBundle({ url: '/openapi.json', dom_id: '#ui', deepLinking: true, tryItOutEnabled: true });`;

const POLICY = "default-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; frame-ancestors 'none'";

/** The API's documentation page, from files of this installation: nothing is fetched from elsewhere. */
export function docs(): Hono {
  const app = new Hono();
  const folder = dirname(createRequire(import.meta.url).resolve('swagger-ui-dist/package.json'));
  app.get('/', (c) => c.html(PAGE, 200, { 'content-security-policy': POLICY }));
  app.get('/errors', (c) => c.html(ERRORS, 200, { 'content-security-policy': POLICY }));
  app.get('/start.js', (c) => c.body(START, 200, { 'content-type': 'text/javascript' }));
  for (const [name, type] of Object.entries(ASSETS)) {
    const file = readFileSync(join(folder, name));
    app.get(`/${name}`, (c) => c.body(file, 200, { 'content-type': type, 'cache-control': 'max-age=86400' }));
  }
  return app;
}
