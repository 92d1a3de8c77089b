import fs from 'node:fs';
import type { Server } from 'node:http';
import { setTimeout } from 'node:timers/promises';
import { createAdaptorServer, type HttpBindings } from '@hono/node-server';
import { Hono } from 'hono';
import { expect, inject, test, vi } from 'vitest';
import { createDocket, type Docket, type DocketOptions } from '../../cli/library.ts';
import { Client } from '../../clients/typescript/src/index.ts';
import { api as clientOf, deferred, eventually, type Json } from '../support/client.ts';
import { openTestDb, rowsOf } from '../support/database.ts';
import { atEndOfFile } from '../support/endings.ts';
import { createKey } from '../support/keys.ts';
import { listening } from '../support/listening.ts';
import { expectProblem } from '../support/problems.ts';
import { startReceiver } from '../support/receiver.ts';
import { testStores } from '../support/system.ts';

const stores = await testStores();
const others = await testStores();
const settings = (namespace: string) => ({
  TEMPORAL_NAMESPACE: namespace,
  DOCKET_ALLOW_PRIVATE_CALLBACKS: '1',
  DOCKET_CACHE: inject('cacheDir'),
  LOG_LEVEL: 'error',
});
const start = async (options: DocketOptions): Promise<Docket> => {
  const docket = await createDocket(options);
  atEndOfFile(() => docket.stop());
  return docket;
};

/** A program with a page of its own, and Docket beside it. */
const app = new Hono<{ Bindings: HttpBindings }>();
app.get('/', (c) => c.text('a program of its own'));
const one = await start({ ...stores, basePath: '/docket', settings: settings(stores.namespace) });
app.all('/docket/*', (c) => one.fetch(c.req.raw, c.env));
const two = await start({
  ...others,
  role: 'api',
  basePath: '/team/b',
  settings: { ...settings(others.namespace), DOCKET_AUTH: 'open' },
});
app.all('/team/b/*', (c) => two.fetch(c.req.raw, c.env));

/** Serves a program until the end of the file. @returns its URL */
const serving = ({ fetch }: Pick<typeof app, 'fetch'>) => listening(createAdaptorServer({ fetch }) as Server);
const root = await serving(app);
const db = openTestDb(stores.databaseUrl);
const { key } = await createKey(db, { name: 'program', role: 'admin', subject: null });
const docket = clientOf(`${root}/docket`, key).unchecked();

test('S0.2 S0.7 S0.10 a Hono app has the whole API under a path of its own, and the worker beside it', async () => {
  expect((await clientOf(root).unchecked().get('/')).body).toBe('a program of its own');
  const { callback, received } = await startReceiver();
  expect((await docket.put('/v1/queues/inside', { callback, leaseSeconds: 60 })).status).toBe(200);
  // a caller waits, and is woken up by the commit
  const waiting = docket.post('/v1/queues/inside/claim', { reviewer: 'anna', waitSeconds: 20 });
  expect((await docket.post('/v1/queues/inside/tickets', { id: 'in', body: { text: 'ä' } })).status).toBe(201);
  const [ticket] = (await waiting).body.tickets;
  expect(ticket).toMatchObject({ id: 'in', body: { text: 'ä' } });
  const decided = await docket.post('/v1/tickets/in/decide', { token: ticket.lease.token, decision: 'ok' });
  expect(decided.body.ticket).toMatchObject({ state: 'decided' });
  await eventually(async () => received.length === 1);
  await eventually(async () => (await docket.get('/v1/tickets/in/workflow')).body.status === 'completed');
  expect((await docket.get('/readyz')).body.status).toBe('ok');
  const client = new Client({ servers: `${root}/docket`, apiKey: key });
  expect(await client.tickets.get('in')).toMatchObject({ state: 'decided', decision: 'ok' });
});

test('S0.4 streams work through the app', async () => {
  const ended = new AbortController();
  const answer = await fetch(`${root}/docket/v1/stream?queue=inside`, {
    headers: { authorization: `Bearer ${key}` },
    signal: ended.signal,
  });
  expect(answer.headers.get('content-type')).toContain('text/event-stream');
  const reader = answer.body?.pipeThrough(new TextDecoderStream()).getReader();
  await docket.post('/v1/queues/inside/tickets', { id: 'streamed', body: 1 });
  let text = '';
  while (!text.includes('event: available')) text += (await reader?.read())?.value ?? '';
  ended.abort();
});

test('S0.3 keys are asked for unless the program says otherwise, and what is not there is a problem', async () => {
  const open = clientOf(`${root}/docket`).unchecked();
  expectProblem(await open.get('/v1/queues'), 'without a key', 'unauthenticated');
  expectProblem(await docket.get('/v1/none'), 'no such path', 'not_found');
  expectProblem(await docket.raw('DELETE', '/v1/queues'), 'no such method', 'method_not_allowed');
  expectProblem(await docket.post('/v1/queues/inside/claim', { reviewer: 7 }), 'bad body', 'invalid_request');
});

test('S0.2 two of them are in one process, each with its own items', async () => {
  const second = clientOf(`${root}/team/b`).unchecked();
  expect((await second.post('/v1/queues/q/tickets', { id: 'in', body: 2 })).status).toBe(201);
  expect((await second.get('/v1/tickets/in')).body).toMatchObject({ queue: 'q', state: 'waiting' });
  expect((await docket.get('/v1/tickets/in')).body).toMatchObject({ queue: 'inside', state: 'decided' });
});

test('S0.9 what is stopped ends its long polls, and the program goes on', async () => {
  const third = await createDocket({
    ...stores,
    role: 'api',
    basePath: '/third',
    settings: settings(stores.namespace),
  });
  const came = deferred();
  const own = new Hono<{ Bindings: HttpBindings }>().all('/third/*', (c) => {
    came.resolve();
    return third.fetch(c.req.raw, c.env);
  });
  const client = clientOf(`${await serving(own)}/third`, key).unchecked();
  const before = performance.now();
  const waiting = client.post('/v1/queues/empty/claim', { reviewer: 'bob', waitSeconds: 30 });
  await came.promise;
  await third.stop();
  const { status, body } = (await waiting) as { status: number; body: Json };
  expect([status, body.tickets]).toEqual([200, []]);
  expect(performance.now() - before).toBeLessThan(25_000);
  expect((await docket.get('/v1/queues')).status).toBe(200);
});

test('S0.3 what is wrong with the options is said, by name and without the password', async () => {
  const wrong = createDocket({ ...stores, settings: { DOCKET_POOL: 'many' } });
  await expect(wrong).rejects.toThrow(/^DOCKET_POOL must be/);
  const url = new URL(stores.databaseUrl);
  url.port = '1';
  url.password = 'hunter2';
  const away = createDocket({ ...stores, databaseUrl: url.href }).catch((error: Error) => error.message);
  expect(await away).toMatch(/DATABASE_URL/);
  expect(await away).not.toContain('hunter2');
});

test('S0.9 one that cannot be started leaves nothing behind', async () => {
  const { databaseUrl, namespace } = await testStores();
  const options = { databaseUrl, temporalAddress: '127.0.0.1:1', settings: settings(namespace) };
  await expect(createDocket(options)).rejects.toThrow(/127\.0\.0\.1:1/);
  const left = `select application_name from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()`;
  await eventually(async () => (await rowsOf(databaseUrl, left)).length === 0);
  expect(await rowsOf(databaseUrl, 'select id from node')).toEqual([]);
});

test('a log that has nothing to say writes nothing', async () => {
  const write = vi.spyOn(fs, 'write');
  await setTimeout(300);
  expect(write.mock.calls.filter(([file]) => file === 2)).toEqual([]);
  write.mockRestore();
});
