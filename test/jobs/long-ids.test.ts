import { spawn } from 'node:child_process';
import { Connection } from '@temporalio/client';
import { expect, inject, test } from 'vitest';
import { freePort } from '../../cli/servers/ports.ts';
import { eventually, repeat } from '../support/client.ts';
import { atEndOfFile } from '../support/endings.ts';
import { startTestSystem, testStores } from '../support/system.ts';

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
