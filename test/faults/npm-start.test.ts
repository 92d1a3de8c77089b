import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { describe, expect, inject, onTestFinished, test } from 'vitest';
import { isAlive } from '../../cli/servers/children.ts';
import { lastingPort } from '../../cli/servers/ports.ts';
import { type DocketChild, startChild, startNpm } from '../support/child.ts';
import { claimOne, eventually } from '../support/client.ts';
import { ownFolder } from '../support/own.ts';
import { pidIn, processesWith } from '../support/processes.ts';
import { startReceiver } from '../support/receiver.ts';

const dir = ownFolder('npm');
const data = join(dir, 'data');
const env = {
  DOCKET_DATA: data,
  TEMPORAL_PORT: '0',
  TEMPORAL_UI_PORT: '0',
  DOCKET_CACHE: inject('cacheDir'),
  DOCKET_ALLOW_PRIVATE_CALLBACKS: '1',
};

const allGone = (docket: number) =>
  eventually(async () => {
    const left = [...processesWith(data), ...(isAlive(docket) ? [`docket ${docket}`] : [])];
    if (left.length > 0) throw new Error(`still there: ${left.join('\n')}`);
    return true;
  }, 30_000);

/** Adds a ticket, and decides the one before: what has to be found again. */
async function work({ api }: DocketChild, id: string): Promise<void> {
  expect((await api.post('/v1/queues/start/tickets', { id, body: {} })).status).toBe(201);
  const { lease } = await claimOne(api, 'start', 'anna');
  expect((await api.post(`/v1/tickets/${id}/decide`, { token: lease.token, decision: 'ok' })).status).toBe(200);
}

const WAYS: [name: string, kill: (npm: ChildProcess, docket: number) => void][] = [
  ['SIGTERM to npm', (npm) => npm.kill('SIGTERM')],
  ['kill -9 of npm', (npm) => npm.kill('SIGKILL')],
  ['SIGTERM to Docket', (_, docket) => process.kill(docket, 'SIGTERM')],
  ['kill -9 of Docket', (_, docket) => process.kill(docket, 'SIGKILL')],
  ['Ctrl-C', (npm) => process.kill(-npm.pid!, 'SIGINT')],
  ['kill -9 of the whole process group', (npm) => process.kill(-npm.pid!, 'SIGKILL')],
];

describe('npm start', () => {
  const done: string[] = [];

  test.each(WAYS)(
    'S0.9 %s: no process stays behind, and a restart finds everything',
    async (way, kill) => {
      const npm = await startNpm(env);
      const id = `after-${WAYS.findIndex(([name]) => name === way)}`;
      for (const earlier of done) expect((await npm.api.get(`/v1/tickets/${earlier}`)).body.state).toBe('decided');
      await work(npm, id);
      done.push(id);
      const docket = pidIn(data, 'docket.pid');
      expect(processesWith(data).length).toBeGreaterThan(1);
      kill(npm.process, docket);
      await allGone(docket);
    },
    120_000,
  );

  test('S0.9 servers that are killed are started again on their ports, and callbacks are delivered', async () => {
    const docket = await startChild('start', env);
    const { callback, received } = await startReceiver();
    await docket.api.put('/v1/queues/start', { callback });
    for (const file of ['temporal/temporal.pid', 'postgres/postmaster.pid'] as const) {
      const before = { pid: pidIn(data, file), url: readFileSync(join(data, 'database.url'), 'utf8') };
      process.kill(before.pid, 'SIGKILL');
      await eventually(async () => !isAlive(before.pid));
      await eventually(async () => (await docket.api.get('/readyz')).body.status === 'ok', 60_000);
      expect(pidIn(data, file)).not.toBe(before.pid);
      expect(readFileSync(join(data, 'database.url'), 'utf8')).toBe(before.url);
      const count = received.length;
      await work(docket, `again-${file.split('/')[0]}`);
      await eventually(async () => received.length > count, 60_000);
    }
    expect(docket.output()).toMatch(/Temporal ended unexpectedly[\s\S]*Temporal runs again/);
    expect(docket.output()).toMatch(/PostgreSQL ended unexpectedly[\s\S]*PostgreSQL runs again/);
    expect(await docket.end('SIGTERM')).toBe(0);
    expect(processesWith(data)).toEqual([]);
  }, 240_000);

  test('S0.9 a watchdog killed with its server left behind: the next start ends it first', async () => {
    const docket = await startChild('start', env);
    const servers = ['temporal/temporal.pid', 'postgres/postmaster.pid'] as const;
    const old = servers.map((file) => pidIn(data, file));
    docket.process.kill('SIGSTOP');
    for (const line of processesWith('watchdog.mjs').filter((l) => l.includes(data)))
      process.kill(Number.parseInt(line, 10), 'SIGKILL');
    await docket.end('SIGKILL');
    expect(old.some(isAlive)).toBe(true);
    const next = await startChild('start', env);
    expect(old.some(isAlive)).toBe(false);
    expect(await next.end('SIGTERM')).toBe(0);
    expect(processesWith(data)).toEqual([]);
  }, 120_000);
});

describe('a start that does not succeed', () => {
  test('S0.9 leaves nothing running when a port is taken', async () => {
    const port = await lastingPort();
    const taken = createServer().listen(port, '127.0.0.1');
    onTestFinished(() => void taken.close());
    const fresh = join(dir, 'taken');
    await expect(startChild('start', { ...env, DOCKET_DATA: fresh, TEMPORAL_PORT: String(port) })).rejects.toThrow(
      `port ${port} is taken`,
    );
    expect(processesWith(fresh)).toEqual([]);
  }, 60_000);

  test('S0.9 leaves nothing running when Temporal fails while PostgreSQL is coming up, or is up', async () => {
    const fresh = join(dir, 'late');
    const cli = join(dir, 'temporal-that-fails');
    for (const seconds of [2, 12]) {
      writeFileSync(cli, `#!/bin/sh\nsleep ${seconds}\necho no such option\nexit 1\n`, { mode: 0o755 });
      const start = startChild('start', { ...env, DOCKET_DATA: fresh, TEMPORAL_CLI: cli });
      await expect(start).rejects.toThrow('Temporal did not start:\nno such option');
      expect(processesWith(fresh)).toEqual([]);
    }
  }, 60_000);

  test.each(['SIGTERM', 'SIGKILL'] as const)(
    'S0.9 %s while initdb runs: the next start goes well',
    async (signal) => {
      const fresh = join(dir, `early-${signal}`);
      const bin = join(import.meta.dirname, '../../cli/docket.mjs');
      const child = spawn(process.execPath, [bin, 'start'], {
        env: { ...process.env, ...env, PORT: '0', DOCKET_DATA: fresh },
        stdio: 'ignore',
      });
      const ended = new Promise((resolve) => child.on('exit', resolve));
      await eventually(async () => existsSync(join(fresh, 'postgres.new', 'PG_VERSION')));
      child.kill(signal);
      await ended;
      if (signal === 'SIGTERM') expect(processesWith(fresh)).toEqual([]);
      else await eventually(async () => processesWith(fresh).length === 0);
      const next = await startChild('start', { ...env, DOCKET_DATA: fresh });
      await work(next, 'first');
      expect(await next.end('SIGTERM')).toBe(0);
    },
    120_000,
  );
});
