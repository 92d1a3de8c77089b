import { chmodSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, inject, test } from 'vitest';
import { type DocketChild, settingsFor, startChild } from '../support/child.ts';
import { type Client, eventually, type Json, repeat } from '../support/client.ts';
import { byNight } from '../support/nightly.ts';
import { startTestSystem, testStores } from '../support/system.ts';

const JOBS = byNight(20_000, 5_000);
const DELAYED = byNight(10_000, 2_000);
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
  const { body: stats } = await two.api.get('/v1/topics/many/stats');
  expect(stats).toMatchObject({ total: JOBS, finished: JOBS, ready: 0, reserved: 0, delayed: 0 });
}, 180_000);

test(`S3.3 everything restarted with ${DELAYED} delayed jobs: all still due at their times, none early`, async () => {
  const dir = mkdtempSync(join(tmpdir(), 'docket-delayed-'));
  chmodSync(dir, 0o755);
  const env = {
    DOCKET_DATA: join(dir, 'data'),
    TEMPORAL_PORT: '0',
    TEMPORAL_UI_PORT: '0',
    DOCKET_CACHE: inject('cacheDir'),
  };
  let docket: DocketChild = await startChild('start', env);
  for (let at = 0; at < DELAYED; at += BATCH) {
    const jobs = repeat(BATCH, (n) => ({
      topic: 'due',
      id: `due-${at + n}`,
      delay: 20 + (n % 10) / 10,
      TTR: 600,
      body: 0,
    }));
    expect((await docket.api.post('/v1/jobs', { command: 'add', jobs })).body.success).toBe(true);
  }
  expect(await docket.end('SIGTERM')).toBe(0);
  docket = await startChild('start', env);
  await eventually(async () => (await docket.api.get('/v1/topics/due/stats')).body.ready === DELAYED, 60_000);
  const { items } = (await docket.api.get('/v1/topics/due/jobs?limit=500')).body;
  for (const { id, availableAt } of items.slice(0, 100)) {
    const { body } = await docket.api.get(`/v1/jobs/${id}/events`);
    const available = body.items.find((e: Json) => e.type === 'available');
    expect(Date.parse(available.at)).toBeGreaterThanOrEqual(Date.parse(availableAt));
  }
  expect(await docket.end('SIGTERM')).toBe(0);
}, 180_000);

test('S3.3 a job can be deleted in every state, and finished without a token as in the article', async () => {
  const { api } = await startTestSystem();
  const job = async (command: string, fields: object) => (await api.post('/v1/jobs', { command, ...fields })).body;
  const add = (id: string, delay = 0) => job('add', { topic: id, id, delay, TTR: 60, body: id });
  await Promise.all([add('ready'), add('delayed', 100), add('reserved'), add('buried'), add('again')]);
  await job('pop', { topic: 'reserved' });
  const { token } = await job('pop', { topic: 'buried' });
  await job('bury', { id: 'buried', token });
  for (const id of ['ready', 'delayed', 'reserved', 'buried']) {
    expect(await job('delete', { id })).toMatchObject({ success: true, id });
    expect(await job('delete', { id })).toMatchObject({ success: true, id });
    expect((await api.get(`/v1/jobs/${id}`)).body.state).toBe('deleted');
    expect(await job('pop', { topic: id })).toMatchObject({ success: true, id: null });
  }
  expect(await job('delete', { id: 'never-added' })).toMatchObject({ success: false });
  expect(await job('finish', { id: 'again' })).toMatchObject({ success: true });
  expect((await api.get('/v1/jobs/again')).body.state).toBe('finished');
});
