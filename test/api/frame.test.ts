import { readFileSync } from 'node:fs';
import { Agent, get } from 'node:http';
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { Validator } from '@seriousme/openapi-schema-validator';
import { describe, expect, test } from 'vitest';
import { endpoints } from '../../api/endpoints.ts';
import { PROBLEMS } from '../../contract/problems.ts';
import { type Json, repeat } from '../support/client.ts';
import { onDatabase } from '../support/database.ts';
import { expectProblem } from '../support/problems.ts';
import { startTestSystem } from '../support/system.ts';

const system = await startTestSystem();
const { api } = system;
await api.post('/v1/queues/q/tickets', { id: 'one', body: 1 });
const document: Json = (await api.get('/openapi.json')).body;

describe('health', () => {
  test('livez and readyz', async () => {
    expect(await api.get('/livez')).toMatchObject({ status: 200, body: { status: 'ok' } });
    const ready = await api.get('/readyz');
    expect(ready).toMatchObject({ status: 200, body: { status: 'ok', postgres: 'ok', schema: 'ok', temporal: 'ok' } });
    for (const path of ['/livez', '/readyz'])
      expect((await fetch(api.url + path, { method: 'HEAD' })).status).toBe(200);
  });

  test('S0.8 an idle connection is kept longer than a proxy keeps it', async () => {
    // Node.js says in the answer how many seconds it keeps the connection; proxies usually keep theirs for 60
    const kept = await new Promise<string>((resolve, reject) => {
      const agent = new Agent({ keepAlive: true });
      get(`${api.url}/livez`, { agent }, (answer) => {
        resolve(String(answer.headers['keep-alive']));
        answer.resume();
        agent.destroy();
      }).on('error', reject);
    });
    expect(Number(/timeout=(\d+)/.exec(kept)?.[1])).toBeGreaterThan(60);
  });

  test('S0.9 a connection on which nothing was sent holds up no stop', async () => {
    const { api, stop } = await startTestSystem({}, { role: 'api' });
    const { hostname, port } = new URL(api.url);
    const unused = connect(Number(port), hostname);
    expect((await api.get('/livez')).status).toBe(200);
    // what is still open is dropped after eight seconds
    expect(await Promise.race([stop().then(() => 'stopped'), sleep(7_500, 'late')])).toBe('stopped');
    unused.destroy();
  });

  test('metrics, by route and not by id', async () => {
    await api.get('/v1/tickets/one');
    await api.get('/v1/tickets/two');
    await api.get(`/made-up-${Math.random()}`);
    const { status, body, headers } = await api.get('/metrics');
    expect(status).toBe(200);
    expect(headers.get('content-type')).toContain('text/plain');
    const unpublished = ['unpublished_rows', 'unpublished_oldest_seconds'];
    for (const name of [...unpublished, 'parked_items', 'publishing_items', 'temporal_down', 'waiting_callers'])
      expect(body).toMatch(new RegExp(`^docket_${name} [\\d.e-]+$`, 'm'));
    expect(body).toMatch(/docket_http_seconds_count\{.*route="\/v1\/tickets\/:id".*status="404".*\} 1/);
    expect(body).toMatch(/docket_refused_total\{code="not_found".*\} \d/);
    expect(body).not.toContain('made-up-');
    expect(body).not.toContain('/v1/tickets/one');
  });

  test('nodes: who lives, and where', async () => {
    const seen = (await api.get('/v1/nodes')).body.items;
    expect(seen).toEqual([{ id: system.running.runtime.node, url: api.url, seenAt: expect.any(String) }]);
    expect(Date.now() - Date.parse(seen[0].seenAt)).toBeLessThan(15_000);
  });
});

describe('every answer', () => {
  const known = ['/livez', '/v1/queues', '/v1/tickets/one', '/docs', '/openapi.json', '/metrics'];
  const paths = [...known, '/v1/tickets/none', '/nothing'];

  test('has a request id: the one that was sent, or its own', async () => {
    for (const path of paths) {
      const own = (await api.get(path)).headers.get('x-request-id');
      expect(own, path).toMatch(/^[0-9a-f-]{36}$/);
      const sent = await api.raw('GET', path, { headers: { 'x-request-id': 'trace.me_1-2' } });
      expect(sent.headers.get('x-request-id'), path).toBe('trace.me_1-2');
      for (const odd of ['a b', 'x'.repeat(101), '<script>', '"', 'a\tb']) {
        const { headers } = await api.raw('GET', path, { headers: { 'x-request-id': odd } });
        expect(headers.get('x-request-id'), path).toMatch(/^[0-9a-f-]{36}$/);
      }
    }
  });

  const EXPECTED = {
    ...{ 'x-content-type-options': 'nosniff', 'x-frame-options': 'SAMEORIGIN', 'referrer-policy': 'no-referrer' },
    ...{ 'cross-origin-resource-policy': 'same-origin', 'cache-control': 'no-store' },
    ...{ 'x-powered-by': null, 'access-control-allow-origin': null },
  };

  test('has headers that keep browsers out of trouble', async () => {
    for (const path of paths) {
      const { headers } = await api.get(path);
      const seen = Object.keys(EXPECTED).map((name) => [name, headers.get(name)]);
      expect(Object.fromEntries(seen), path).toEqual(EXPECTED);
    }
  });

  test('a body that is too large is refused before it is read', async () => {
    const large = { body: 'x'.repeat(300_000) };
    expectProblem(await api.post('/v1/queues/q/tickets', large), 'large', 'payload_too_large');
    expect((await api.post('/v1/queues/q/tickets/batch', { tickets: [large] })).status).toBe(200);
    expect((await api.post('/v1/queues/q/tickets', { body: 'x'.repeat(262_000) })).status).toBe(201);
  });

  test('too many calls at once are put off, not piled up', async () => {
    const busy = await startTestSystem({}, { limits: { maxCalls: 2 } });
    const calls = await onDatabase(busy.databaseUrl, async (blocker) => {
      await blocker.query('begin; lock table queue in access exclusive mode');
      const all = repeat(40, () => busy.api.get('/v1/queues'));
      await Promise.race(all); // none is answered but with a refusal while the table is locked
      return all;
    });
    const late = (await Promise.all(calls)).filter((r) => r.status !== 200);
    expect(late.length).toBeGreaterThan(0);
    for (const reply of late) {
      expectProblem(reply, 'busy', 'rate_limited');
      expect(reply.headers.get('retry-after')).toBe('1');
    }
    expect((await busy.api.get('/v1/queues')).status).toBe(200);
  });
});

describe('documentation', () => {
  test('the page and its files are from this server alone', async () => {
    const { status, body, headers } = await api.get('/docs');
    expect(status).toBe(200);
    expect(headers.get('content-security-policy')).toMatch(/default-src 'self'/);
    expect(body).not.toMatch(/(src|href|url)\s*[=(]\s*["']?(https?:)?\/\//i);
    const files = [...(body as string).matchAll(/(?:src|href)="([^"]+)"/g)].map(([, file]) => file as string);
    expect(files.length).toBeGreaterThan(2);
    for (const file of files) expect((await api.get(file)).status, file).toBe(200);
    const { body: start } = await api.get('/docs/start.js');
    expect(start).toContain('/openapi.json');
    // a reader who wants to send a call asks for that with a button
    expect(start).not.toContain('tryItOutEnabled');
  });

  test('it names the version of the package', async () => {
    expect(document.info.version).toBe(JSON.parse(readFileSync('package.json', 'utf8')).version);
  });

  test('the OpenAPI document is valid 3.1', async () => {
    expect(document.openapi).toMatch(/^3\.1\./);
    const validator = new Validator();
    expect(await validator.validate(structuredClone(document))).toMatchObject({ valid: true });
    expect(validator.version).toBe('3.1');
    expect(() => validator.resolveRefs()).not.toThrow();
  });

  test('it has every endpoint, with its parameters, body, answers and problems', () => {
    for (const e of endpoints) {
      const found = document.paths[e.path]?.[e.method];
      expect(found, e.path).toMatchObject({ summary: e.summary, tags: [e.tag] });
      const named = [...e.path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name);
      const inPath = (found.parameters ?? []).filter((p: Json) => p.in === 'path');
      expect(inPath.map((p: Json) => p.name).sort(), e.path).toEqual(named.sort());
      expect(found.requestBody !== undefined, e.path).toBe((e.body ?? e.document) !== undefined);
      expect(found.security.length > 0, e.path).toBe(e.roles !== null);
      for (const status of Object.keys(e.answers)) expect(found.responses, e.path).toHaveProperty(status);
      for (const code of e.problems ?? [])
        expect(found.responses, e.path).toHaveProperty(String(PROBLEMS[code].status));
    }
    const listed = Object.values(document.paths).flatMap((path) => Object.keys(path as object));
    expect(listed.length).toBe(endpoints.length);
  });
});
