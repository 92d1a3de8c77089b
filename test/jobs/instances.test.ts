import { spawn } from 'node:child_process';
import { chmodSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Connection } from '@temporalio/client';
import { expect, inject, test } from 'vitest';
import { freePort } from '../../cli/servers/ports.ts';
import { type DocketChild, settingsFor, startChild } from '../support/child.ts';
import { type Client, eventually, type Json, repeat } from '../support/client.ts';
import { atEndOfFile } from '../support/endings.ts';
import { byNight } from '../support/nightly.ts';
import { startTestSystem, testStores } from '../support/system.ts';
import { msBetween } from '../support/times.ts';

const JOBS = byNight(20_000, 2_000);
const DELAYED = byNight(10_000, 500);
const BATCH = 500;

/** Calls the first server that answers, as a client with a list of servers does. */
function failingOver(servers: Client[]) {
  return async (command: string, fields: object): Promise<Json> => {
    for (let tries = 0; tries < 50; tries++)
      for (const server of servers)
        try {
          const { status, body } = await server.post('/v1/jobs', { command, ...fields });
          if (status === 200) return body;
        } catch {
          // that one is gone; the next
        }
    throw new Error(`no server answers ${command}`);
  };
}

test(`S3.4 one of two API processes killed with -9 while ${JOBS} jobs run: none lost, every job finished`, async () => {
  const stores = await testStores();
  const env = settingsFor(stores);
  const [one, two] = await Promise.all([
    startChild('api', env),
    startChild('api', env),
    startChild('worker', env),
    startChild('worker', env),
  ]);
  await eventually(async () => (await two.api.get('/v1/nodes')).body.items.length === 4);
  const call = failingOver([one.api, two.api]);
  for (let at = 0; at < JOBS; at += BATCH) {
    const jobs = repeat(BATCH, (n) => ({ topic: 'many', id: `job-${at + n}`, TTR: 2, body: n }));
    expect((await call('add', { jobs })).success).toBe(true);
  }
  const finished = new Set<string>();
  let killed = false;
  const consume = async () => {
    for (let empty = 0; empty < 3; ) {
      const { jobs = [] } = await call('pop', { topic: 'many', count: 50, wait: 3 });
      empty = jobs.length === 0 ? empty + 1 : 0;
      if (jobs.length === 0) continue;
      const { results } = await call('finish', { jobs: jobs.map(({ id, token }: Json) => ({ id, token })) });
      for (const { id, success } of results) if (success) finished.add(id);
      if (finished.size > JOBS / 3 && !killed) {
        killed = true;
        void one.end('SIGKILL');
      }
    }
  };
  await Promise.all(Array.from({ length: 8 }, consume));
  expect(killed).toBe(true);
  expect(await two.api.jobs.stats('many')).toMatchObject({
    total: JOBS,
    finished: JOBS,
    ready: 0,
    reserved: 0,
    delayed: 0,
  });
}, 180_000);

test(`S3.3 everything restarted with ${DELAYED} delayed jobs: all still due at their times, none early`, async () => {
  const dir = mkdtempSync(join(tmpdir(), 'docket-delayed-'));
  chmodSync(dir, 0o755);
  const ports = { TEMPORAL_PORT: '0', TEMPORAL_UI_PORT: '0' };
  const env = { DOCKET_DATA: join(dir, 'data'), ...ports, DOCKET_CACHE: inject('cacheDir') };
  let docket: DocketChild = await startChild('start', env);
  for (let at = 0; at < DELAYED; at += BATCH) {
    const delayed = (n: number) => ({ id: `due-${at + n}`, delay: 20 + (n % 10) / 10 });
    const jobs = repeat(BATCH, (n) => ({ topic: 'due', TTR: 600, body: 0, ...delayed(n) }));
    expect((await docket.api.jobs.job('add', { jobs })).success).toBe(true);
  }
  expect(await docket.end('SIGTERM')).toBe(0);
  docket = await startChild('start', env);
  await eventually(async () => (await docket.api.jobs.stats('due')).ready === DELAYED, 60_000);
  for (const { id, availableAt } of (await docket.api.jobs.jobsOf('due')).slice(0, 100)) {
    const available = (await docket.api.jobs.events(id)).find((e) => e.type === 'available');
    expect(msBetween(availableAt, available?.at)).toBeGreaterThanOrEqual(0);
  }
  expect(await docket.end('SIGTERM')).toBe(0);
}, 180_000);

/** With `job/` before it 804 bytes as a workflow's id. */
const LONG = '😀'.repeat(200);

/** A Temporal server of another team, with the limit that its documentation gives for SQL stores. */
async function foreignTemporal(): Promise<string> {
  const port = await freePort();
  const limit = ['--dynamic-config-value', 'limit.maxIDLength=255'];
  const names = ['--search-attribute', 'docketQueue=Keyword', '--log-level', 'error'];
  const args = ['server', 'start-dev', '--headless', '--port', String(port), ...names, ...limit];
  const server = spawn(inject('temporalCli'), args, { stdio: 'ignore' });
  atEndOfFile(() => server.kill('SIGKILL'));
  const address = `127.0.0.1:${port}`;
  await eventually(async () => {
    await (await Connection.connect({ address, connectTimeout: '1s' })).close();
    return true;
  }, 60_000);
  return address;
}

test('S3.2 S3.3 a job whose id Temporal refuses all the same holds up no other, and is popped and finished', async () => {
  const stores = { ...(await testStores()), temporalAddress: await foreignTemporal(), namespace: 'default' };
  const { api, sql } = await startTestSystem({ LOG_LEVEL: 'silent' }, { stores });
  await eventually(async () => (await api.get('/readyz')).body.status === 'ok', 60_000);
  await api.jobs.job('add', { jobs: [LONG, ...'abc'].map((id) => ({ topic: LONG, id, delay: 3600, body: 1 })) });
  const unpublished = () => sql<{ item_id: string }>('select item_id from unpublished');
  await eventually(async () => JSON.stringify(await unpublished()) === JSON.stringify([{ item_id: LONG }]));
  expect(await api.jobs.job('finish', { id: LONG })).toMatchObject({ success: true });
});

test('S3.4 those who wait elsewhere for topics with long names are woken at once', async () => {
  const stores = await testStores();
  // the one that starts last knows of the other from the start
  const here = await startTestSystem({}, { role: 'api', stores });
  const there = await startTestSystem({}, { role: 'api', stores });
  const wakeAll = async (tail: string) => {
    const topics = repeat(40, (n) => `${n}${tail}`);
    const waiting = topics.map((topic) => here.api.jobs.job('pop', { topic, wait: 30 }));
    await eventually(async () => here.running.runtime.waiters.size === topics.length);
    const start = performance.now();
    await there.api.jobs.job('add', { jobs: topics.map((topic, n) => ({ topic, id: `woken-${tail}-${n}`, body: n })) });
    expect((await Promise.all(waiting)).map((job) => job.value)).toEqual(topics.map((_, n) => n));
    return performance.now() - start;
  };
  const short = await wakeAll('');
  // a wake-up that gets lost is made up for within 5 s
  expect(await wakeAll('😀'.repeat(190))).toBeLessThan(Math.max(3_500, 5 * short));
});
