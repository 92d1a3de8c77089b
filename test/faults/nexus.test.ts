import { expect, inject, test } from 'vitest';
import { startChild } from '../support/child.ts';
import { eventually, type Json, repeat } from '../support/client.ts';
import { connected } from '../support/database.ts';
import { startCallers } from '../support/nexus.ts';
import { byNight } from '../support/nightly.ts';
import { startTestSystem, testStores } from '../support/system.ts';

const stores = await testStores();
const { api, sql, cell } = await startTestSystem({}, { stores, role: 'api' });
const { start } = await startCallers(stores);
const worker = () =>
  startChild('worker', {
    ...{ DATABASE_URL: stores.databaseUrl, TEMPORAL_ADDRESS: stores.temporalAddress, DOCKET_CACHE: inject('cacheDir') },
    ...{ TEMPORAL_NAMESPACE: stores.namespace, DOCKET_NEXUS_QUEUES: '*' },
  });
const waits = async (like = '%') => Number(await cell('select count(*) from wait where item_id like $1', [like]));
const ticket = (id: string) => ({ queue: 'faults', id, body: 1 });
const resolve = (id: string) => api.post(`/v1/tickets/${id}/resolve`, { decision: id, reason: 'elsewhere' });

test('B.1 operations wait while no worker is there, for ten seconds, by night for a minute', async () => {
  const minute = await start('ticket', ticket('minute'));
  await new Promise((resolve) => setTimeout(resolve, byNight(50_000, 1_000)));
  const seconds = await start('ticket', ticket('seconds'));
  await new Promise((resolve) => setTimeout(resolve, 10_000));
  const running = await worker();
  await eventually(async () => (await waits()) === 2, 60_000);
  for (const id of ['minute', 'seconds']) expect((await resolve(id)).status).toBe(200);
  for (const handle of [minute, seconds]) expect(await handle.result()).toMatchObject({ state: 'decided' });
  await running.end('SIGKILL');
}, 240_000);

test('B.1 a worker killed between the add of an item and the start of its wait: its caller is answered, by one item', async () => {
  const first = await worker();
  const blocker = await connected(stores.databaseUrl);
  await blocker.query('begin');
  await blocker.query('lock table wait in share mode');
  const handle = await start('ticket', ticket('between'));
  const blocked = `select pid from pg_locks where not granted and relation = 'wait'::regclass`;
  await eventually(async () => (await cell(`select count(*) from item where id = 'between'`)) === '1', 60_000);
  await eventually(async () => (await sql(blocked)).length > 0);
  await first.end('SIGKILL');
  // else what it asked for would still be done
  await sql(`select pg_terminate_backend(pid) from (${blocked}) b`);
  await blocker.query('rollback');
  expect(await waits('between')).toBe(0);
  const second = await worker();
  await eventually(async () => (await waits('between')) === 1, 90_000);
  await resolve('between');
  expect(await handle.result()).toMatchObject({ state: 'decided', decision: 'between' });
  expect(await cell(`select count(*) from event where type = 'created' and item_id = 'between'`)).toBe('1');
  await second.end('SIGKILL');
}, 240_000);

test('B.1 a worker killed with -9 again and again while operations begin and end: each is answered, once', async () => {
  const ids = repeat(60, (n) => `kill-${n}`);
  const handles: [string, Awaited<ReturnType<typeof start>>][] = [];
  const begin = async (some: string[]) => {
    for (const id of some) handles.push([id, await start('ticket', ticket(id))]);
  };
  for (let round = 0; round < 3; round++) {
    const running = await worker();
    const before = await waits();
    await begin(ids.slice(20 * round, 20 * round + 20));
    // in the middle: some have a wait, others not yet
    await eventually(async () => (await waits()) > before, 60_000);
    await running.end('SIGKILL');
  }
  const known = (await sql(`select id from item where id like 'kill-%'`)).map(({ id }) => id as string);
  // decided while no worker is there
  for (const id of known) await resolve(id);
  const running = await worker();
  const decided = new Set(known);
  for (const [id, handle] of handles) {
    if (!decided.has(id)) await eventually(async () => (await resolve(id)).status === 200, 90_000);
    expect((await handle.result()) as Json).toMatchObject({ state: 'decided', decision: id });
  }
  expect(await cell(`select count(*) from event where type = 'created' and item_id like 'kill-%'`)).toBe('60');
  await running.end('SIGTERM');
}, 300_000);
