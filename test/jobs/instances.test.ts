import { chmodSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, inject, test } from 'vitest';
import { type DocketChild, settingsFor, startChild } from '../support/child.ts';
import { type Client, eventually, type Json, repeat } from '../support/client.ts';
import { byNight } from '../support/nightly.ts';
import { testStores } from '../support/system.ts';
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
