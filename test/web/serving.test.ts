import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { afterAll, expect, test } from 'vitest';
import { readConfig } from '../../runtime/config.ts';
import { routes } from '../../web/routes.ts';
import { eventually } from '../support/client.ts';
import { expectProblem } from '../support/problems.ts';
import { rawGet } from '../support/raw.ts';
import { startTestSystem } from '../support/system.ts';

const system = await startTestSystem({ DOCKET_IMAGE_HOSTS: 'images.example.com, https://*.cdn.example.com' });
const { api } = system;
await eventually(async () => (await api.get('/')).status === 200);

const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "connect-src 'self'",
  "font-src 'self'",
  "img-src 'self' data: images.example.com https://*.cdn.example.com",
  "media-src 'self' data: images.example.com https://*.cdn.example.com",
  "base-uri 'none'",
  "form-action 'self'",
  "frame-ancestors 'none'",
].join('; ');

test('S4.9 every page is served at its own address, under a policy without anything inline or foreign', async () => {
  for (const { path } of Object.values(routes)) {
    const { status, headers, body } = await api.get(path.replaceAll(/:\w+/g, 'x'));
    expect(status, path).toBe(200);
    expect(headers.get('content-security-policy')).toBe(POLICY);
    expect(headers.get('cache-control')).toBe('no-cache');
    expect(headers.get('x-content-type-options')).toBe('nosniff');
    expect(body).not.toMatch(/<script(?![^>]* src=)|<style|\sstyle=|\son\w+=|https?:\/\//);
  }
});

test('what is neither a page nor of the API is a problem, the API and its documentation are as they were', async () => {
  const nothing = ['', '/assets', '/v1'].map((folder) => `${folder}/nothing`);
  for (const path of [...nothing, '/assets/nothing.js', '/index.html/x', '/site.json', '/..%2fpackage.json'])
    expectProblem(await api.get(path), path, 'not_found');
  expectProblem(await api.post('/', {}), 'POST /', 'method_not_allowed');
  expect((await api.get('/docs')).body).toContain('swagger');
  expect((await api.get('/openapi.json')).body.openapi).toBe('3.1.0');
});

test('who opens an address that has no page in a browser gets the console, which says so; of the API it is a problem', async () => {
  const headers = { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' };
  const page = await api.raw('GET', '/nothing/here', { headers });
  expect([page.status, page.headers.get('content-type')]).toEqual([404, 'text/html; charset=utf-8']);
  expect(page.body).toBe((await api.get('/')).body);
  const called = await api.raw('GET', '/v1/nothing', { headers });
  expect([called.status, called.headers.get('content-type')]).toEqual([404, 'application/problem+json']);
});

test('files with a hash in their name are kept for ever, the page is asked for each time and sent once', async () => {
  const { body, headers } = await api.get('/');
  const files = [...(body as string).matchAll(/(?:src|href)="(\/assets\/[^"]+)"/g)].map(([, file = '']) => file);
  expect(files.length).toBeGreaterThan(1);
  for (const file of files)
    expect((await api.get(file)).headers.get('cache-control'), file).toBe('public, max-age=31536000, immutable');
  const again = await api.raw('GET', '/', { headers: { 'if-none-match': headers.get('etag') ?? '' } });
  expect(again.status).toBe(304);
});

test('files are sent compressed as the browser takes them', async () => {
  const plain = await rawGet(api.url, '/', { 'accept-encoding': 'identity' });
  expect(plain.headers['content-encoding']).toBeUndefined();
  const brotli = await rawGet(api.url, '/', { 'accept-encoding': 'gzip, deflate, br' });
  expect(brotli.headers['content-encoding']).toBe('br');
  expect(brotliDecompressSync(brotli.body)).toEqual(plain.body);
  const gzip = await rawGet(api.url, '/', { 'accept-encoding': 'gzip' });
  expect(gzip.headers['content-encoding']).toBe('gzip');
  expect(gunzipSync(gzip.body)).toEqual(plain.body);
});

test('hosts of images are hosts: nothing else gets into the policy', () => {
  const { imageHosts } = readConfig({ DOCKET_IMAGE_HOSTS: ' a.example, http://127.0.0.1:9000 ,' });
  expect(imageHosts).toEqual(['a.example', 'http://127.0.0.1:9000']);
  const path = 'https://a.example/path';
  for (const wrong of ["'unsafe-inline'", '*', 'https:', 'a.example; script-src *', path, 'data:', 'a b'])
    expect(() => readConfig({ DOCKET_IMAGE_HOSTS: wrong }), wrong).toThrow(/^DOCKET_IMAGE_HOSTS/);
});

test('a first start builds the console beside the API, which works meanwhile', async () => {
  const cacheDir = mkdtempSync(join(tmpdir(), 'docket-console-'));
  afterAll(() => rmSync(cacheDir, { recursive: true, force: true }));
  const first = await startTestSystem({ DOCKET_CACHE: cacheDir }, { role: 'api' });
  const early = await first.api.get('/');
  expect(early.status).toBe(503);
  expect(early.body).toMatch(/http-equiv="refresh"/);
  expect((await first.api.get('/v1/queues')).status).toBe(200);
  expectProblem(await first.api.get('/nothing'), '/nothing', 'not_found');
  await eventually(async () => (await first.api.get('/')).status === 200, 60_000);
  expect((await first.api.get('/')).body).toBe((await api.get('/')).body);
});
