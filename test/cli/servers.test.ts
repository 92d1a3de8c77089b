import { existsSync, mkdtempSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import net, { connect } from 'node:net';
import { join } from 'node:path';
import { describe, expect, inject, test, vi } from 'vitest';
import { settingsFor, startChild } from '../support/child.ts';
import { docket, docketHere, type Ended, expectFailure, folder, ROOT, run } from '../support/cli.ts';
import { eventually } from '../support/client.ts';
import { emptyDatabase, rowsOf } from '../support/database.ts';
import { createKey } from '../support/keys.ts';
import { listening } from '../support/listening.ts';
import { lastingPort } from '../support/ports.ts';
import { startTestSystem, testStores } from '../support/system.ts';

/**
 * A network that changes what a server answers.
 * @param rewrite makes of the bytes that came from it as many others
 * @returns its host and port
 */
async function startProxy(to: { host: string; port: number }, rewrite: (answer: string) => string): Promise<string> {
  const server = net.createServer((caller) => {
    const called = connect(to);
    caller.pipe(called);
    // latin1 has a character for each byte
    called.on('data', (bytes) => caller.write(Buffer.from(rewrite(bytes.toString('latin1')), 'latin1')));
    for (const [one, other] of [
      [caller, called],
      [called, caller],
    ] as const) {
      one.on('error', () => other.destroy());
      one.on('close', () => other.destroy());
    }
  });
  return new URL(await listening(server)).host;
}

// a program for each call, and machines that are shared stall for seconds
vi.setConfig({ testTimeout: 200_000 });

const stores = await testStores();
const { host } = new URL(stores.databaseUrl);

/** The test's database by another user, password, server or name. */
function database(change: Partial<Pick<URL, 'username' | 'password' | 'host' | 'pathname'>>): string {
  const url = new URL(stores.databaseUrl);
  Object.assign(url, change);
  return url.href;
}

/** Runs a command to its end: servers in a process of their own, because they change what signals do, all others in this one. */
const runs = (line: string, env: Record<string, string>): Promise<Ended> =>
  (/^(start|api|worker)$/.test(line) ? docket : docketHere)(line.split(' '), env);

describe('PostgreSQL', () => {
  const REFUSED =
    /DATABASE_URL: cannot reach PostgreSQL at 127\.0\.0\.1:1 \(connection refused\); start it, or correct DATABASE_URL/;

  test.each(['start', 'api', 'worker', 'migrate', 'reconcile', 'key list'])(
    'docket %s says that DATABASE_URL cannot be reached',
    async (line) => {
      const env = {
        ...{ DATABASE_URL: 'postgres://me:hunter2@127.0.0.1:1/docket', TEMPORAL_ADDRESS: inject('temporal') },
        ...{ PORT: '0', DOCKET_DATA: mkdtempSync(join(folder, 'data-')) },
      };
      const ended = await runs(line, env);
      expectFailure(ended, REFUSED);
      expect(ended.stderr.trimEnd().split('\n')).toHaveLength(1);
    },
  );

  test('a host that there is not, and one that is no PostgreSQL', async () => {
    const silent = new URL(await listening(createServer())).host;
    const none = await runs('key list', { DATABASE_URL: 'postgres://me:hunter2@no.such.host.invalid/docket' });
    const http = await runs('migrate', { DATABASE_URL: `postgres://me:hunter2@${silent}/docket` });
    const localhost = await runs('migrate', { DATABASE_URL: 'postgres://me:hunter2@localhost:1/docket' });
    expectFailure(none, /DATABASE_URL: cannot reach PostgreSQL at no\.such\.host\.invalid:5432 \(.*\); start it, or/);
    expectFailure(http, `DATABASE_URL: cannot reach PostgreSQL at ${silent} (no answer from PostgreSQL)`);
    // both of its addresses are tried, whose error has no message
    expectFailure(localhost, 'DATABASE_URL: cannot reach PostgreSQL at localhost:1 (connection refused)');
  });

  test('a wrong password, a wrong user and a database that there is not', async () => {
    const password = await runs('migrate', { DATABASE_URL: database({ password: 'hunter2' }) });
    const none = await runs('migrate', { DATABASE_URL: database({ password: '' }) });
    const user = await runs('key list', { DATABASE_URL: database({ username: 'nobody' }) });
    const missing = await runs('api', { DATABASE_URL: database({ pathname: '/missing' }), PORT: '0' });
    const rejected = (name: string) =>
      `DATABASE_URL: PostgreSQL at ${host} answers "password authentication failed for user "${name}""; correct the user`;
    expectFailure(password, rejected('docket'));
    expectFailure(none, `DATABASE_URL: PostgreSQL at ${host} asks for a password, and DATABASE_URL has none`);
    expectFailure(user, rejected('nobody'));
    expectFailure(missing, `answers "database "missing" does not exist"; create the database, or name another one`);
    const secret = new URL(stores.databaseUrl).password;
    for (const { stderr } of [password, none, user, missing]) expect(stderr).not.toContain(secret);
  });

  test('a database that docket migrate has not been run on, and one whose owner is another', async () => {
    for (const text of ['create database cli_empty', `create role cli_guest login password 'hunter2'`])
      await rowsOf(database({ pathname: '/postgres' }), text);
    const empty = { DATABASE_URL: database({ pathname: '/cli_empty' }) };
    const guest = { DATABASE_URL: database({ pathname: '/cli_empty', username: 'cli_guest', password: 'hunter2' }) };
    expectFailure(await runs('key list', empty), /"relation .* does not exist"; run docket migrate first/);
    expectFailure(await runs('migrate', guest), /"permission denied for .*"; make its user the owner of the database/);
    expect(await runs('migrate', empty)).toMatchObject({ code: 0, stderr: '' });
    expect(await runs('key list', empty)).toEqual({ code: 0, stdout: '', stderr: '' });
  });

  test('a server that is too old: nothing is changed', async () => {
    const { hostname, port } = new URL(stores.databaseUrl);
    const [shown] = await rowsOf<{ number: string; version: string }>(
      stores.databaseUrl,
      `select current_setting('server_version_num') as number, current_setting('server_version') as version`,
    );
    const { number, version } = shown as NonNullable<typeof shown>;
    const proxy = await startProxy({ host: hostname, port: Number(port) }, (answer) =>
      answer.replace(number, number.replace(/^../, '14')).replace(version, version.replace(/^../, '14')),
    );
    const old = await emptyDatabase(stores.databaseUrl);
    const env = { DATABASE_URL: database({ host: proxy, pathname: new URL(old).pathname }) };
    expectFailure(
      await runs('migrate', env),
      /DATABASE_URL: PostgreSQL 14\.\d+ is too old, Docket needs 15 or newer; name a newer server in DATABASE_URL/,
    );
    expect(await rowsOf(old, `select from pg_tables where schemaname = 'public'`)).toEqual([]);
  });

  test('that of a docket start which does not run any more', async () => {
    const data = mkdtempSync(join(folder, 'stopped-'));
    writeFileSync(join(data, 'database.url'), 'postgres://docket:hunter2@127.0.0.1:1/docket\n');
    expectFailure(
      await runs('key list', { DOCKET_DATA: data }),
      `DOCKET_DATA: cannot reach PostgreSQL at 127.0.0.1:1 (connection refused); start Docket on ${data}, or set DATABASE_URL`,
    );
  });
});

describe('Temporal', () => {
  test.each(['worker', 'start', 'migrate'])('docket %s says that TEMPORAL_ADDRESS cannot be reached', async (name) => {
    const env = {
      ...{ DATABASE_URL: stores.databaseUrl, TEMPORAL_ADDRESS: '127.0.0.1:1' },
      ...{ PORT: '0', DOCKET_DATA: mkdtempSync(join(folder, 'data-')) },
    };
    expectFailure(
      await runs(name, env),
      /TEMPORAL_ADDRESS: cannot reach Temporal at 127\.0\.0\.1:1 \(.*\); start it, or correct TEMPORAL_ADDRESS/,
    );
  });

  test.each(['worker', 'migrate'])('docket %s names a namespace that Temporal does not have', async (name) => {
    const env = settingsFor(stores, { TEMPORAL_NAMESPACE: 'nowhere' });
    expectFailure(
      await runs(name, env),
      /TEMPORAL_NAMESPACE: Temporal at 127\.0\.0\.1:\d+ has no namespace nowhere; create it \(temporal operator namespace/,
    );
  });

  test("Temporal's own settings that cannot be read", async () => {
    const env = { DATABASE_URL: stores.databaseUrl, TEMPORAL_TLS_CLIENT_CERT_PATH: join(folder, 'no.pem') };
    expectFailure(await runs('worker', env), /TEMPORAL_\*: these settings cannot be read: .*no\.pem.*; correct them/);
  });
});

test('S0.9 a key for another Temporal is not shown to the server of docket start', async () => {
  vi.stubEnv('TEMPORAL_API_KEY', 'of-another');
  const { api } = await startTestSystem({}, { stores: await testStores() });
  vi.unstubAllEnvs();
  expect((await api.post('/v1/queues/own/tickets', { id: 'own', body: 1 })).status).toBe(201);
  await eventually(async () => (await api.get('/v1/tickets/own/workflow')).body.status === 'running');
});

describe('a server that asks for keys', async () => {
  const { api, running } = await startTestSystem({ DOCKET_AUTH: 'keys' });
  const keyOf = async (role: 'admin' | 'reviewer' | 'agent') =>
    (await createKey(running.runtime.db, { name: role, role, subject: role })).key;

  const demo = (key: string) =>
    run(['npm', 'run', '--silent', 'demo'], { DOCKET_URL: api.url, ...(key && { DOCKET_KEY: key }) }, ROOT);

  test('the demo names DOCKET_KEY, when it is missing, wrong, or not that of an administrator', async () => {
    for (const [key, status] of [
      ['', 401],
      ['hunter2', 401],
      [await keyOf('reviewer'), 403],
    ] as const) {
      const { code, stderr } = await demo(key);
      expect([code, stderr]).toEqual([
        1,
        expect.stringMatching(new RegExp(`^DOCKET_KEY: .* answered ${status} \\(`, 'm')),
      ]);
      expect(stderr).toContain("set DOCKET_KEY to an administrator's key: npx docket key create --role admin");
      expect(stderr).not.toMatch(/hunter2|^ {4}at /m);
    }
  });

  test('the demo runs with the key of an administrator', async () => {
    const { code, stdout, stderr } = await demo(await keyOf('admin'));
    expect([code, stderr]).toEqual([0, '']);
    expect(stdout).toContain('left open: queue sites');
  }, 240_000);

  test('docket start in keys mode says how to get a key, and how to run the demo with it', async () => {
    const DOCKET_DATA = join(folder, 'keys');
    const env = settingsFor(stores, { DOCKET_AUTH: 'keys', DOCKET_DATA });
    const child = await startChild('start', env);
    const { url } = child.api;
    expect(child.output()).toContain(`Create one: DOCKET_DATA=${DOCKET_DATA} npx docket key create --role admin\n`);
    expect(child.output()).toContain(`Try: DOCKET_URL=${url} DOCKET_KEY=<that key> npm run demo\n`);
    // as it says
    const made = await runs('key create --role admin', { DOCKET_DATA });
    const key = made.stdout.split('\n')[0] ?? '';
    expect((await child.api.get('/v1/keys')).status).toBe(401);
    expect((await child.api.as(key).get('/v1/keys')).status).toBe(200);
    expect(await child.end('SIGTERM')).toBe(0);
  }, 120_000);
});

test('B.1 a Temporal without Nexus is said, and all else runs', async () => {
  const dir = mkdtempSync(join(folder, 'older-'));
  const older = join(dir, 'temporal');
  const off = '--dynamic-config-value system.enableNexus=false';
  writeFileSync(
    older,
    `#!/bin/sh\n[ "$1" = server ] && exec '${inject('temporalCli')}' "$@" ${off}\nexec '${inject('temporalCli')}' "$@"\n`,
    { mode: 0o755 },
  );
  const ports = { TEMPORAL_PORT: '0', TEMPORAL_UI_PORT: '0' };
  const child = await startChild('start', { ...ports, TEMPORAL_CLI: older, DOCKET_DATA: join(dir, 'data') });
  expect(child.output()).toContain('Temporal: this version has no Nexus');
  await child.api.post('/v1/queues/older/tickets', { id: 'older', body: 1 });
  await eventually(async () => (await child.api.get('/v1/tickets/older/workflow')).body.status === 'running', 60_000);
  expect(await child.end('SIGTERM')).toBe(0);
}, 120_000);

describe.concurrent('npm scripts', () => {
  test.each([
    ['start', 'Usage: docket start'],
    ['demo', '--forever'],
    ['bench', '--only <parts>'],
    ['screenshots', '[page]'],
  ])('npm run %s -- --help runs nothing', async (name, said) => {
    const dist = join(ROOT, 'dist/sources');
    const before = existsSync(dist) && statSync(dist).mtimeMs;
    const port = await lastingPort();
    const env = { PORT: String(port), DOCKET_DATA: join(folder, name) };
    const { code, stdout, stderr } = await run(['npm', 'run', '--silent', name, '--', '--help'], env, ROOT);
    expect([code, stdout]).toEqual([0, expect.stringContaining(said)]);
    expect(stdout).toContain('Examples:');
    expect(stderr).not.toContain('Error');
    expect(existsSync(dist) && statSync(dist).mtimeMs).toBe(before);
    expect(existsSync(join(folder, name))).toBe(false);
  });

  test.each([
    ['demo', ['--for-ever'], /unknown option '--for-ever'\n\(Did you mean --forever\?\)/],
    ['bench', ['--only', 'claims,nonsense'], /--only: there is no part nonsense; it takes claims, /],
    ['screenshots', ['nowhere'], /'nowhere' is invalid/],
  ])('npm run %s says what it cannot understand', async (name, args, said) => {
    const { code, stderr } = await run(['npm', 'run', '--silent', name, '--', ...args], {}, ROOT);
    expect([code, stderr]).toEqual([2, expect.stringMatching(said)]);
    expect(stderr).toContain('--help to see how it is used');
  });
});
