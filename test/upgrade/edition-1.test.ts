import { join } from 'node:path';
import pg from 'pg';
import { afterAll, describe, expect, inject, test } from 'vitest';
import { migrate } from '../../db/migrate.ts';
import { settingsFor, startChild } from '../support/child.ts';
import { docket, run } from '../support/cli.ts';
import { type Client, type Json, repeat } from '../support/client.ts';
import { testDoctor, useAllKinds } from '../support/doctor.ts';
import { EDITION_1, releaseOf } from '../support/releases.ts';
import { testStores } from '../support/system.ts';

const ITEMS = 1_000_000;
const BATCH = 1_000;
const HELD = 100;
const say = (line: string) => process.stdout.write(`${line}\n`);

/** Waiting tickets and delayed jobs, in batches, four at a time. */
async function fill(api: Client): Promise<void> {
  const batches = repeat(ITEMS / BATCH, (n) => n);
  const add = async () => {
    for (let n = batches.pop(); n !== undefined; n = batches.pop()) {
      const tickets = repeat(BATCH, (i) => ({ id: `bulk-${n}-${i}`, body: { n, i } }));
      const { status } = await api.post(`/v1/queues/bulk-${n % 10}/tickets/batch`, { tickets });
      expect(status).toBeLessThan(300);
    }
  };
  await Promise.all([add(), add(), add(), add()]);
}

async function hold(api: Client): Promise<{ id: string; token: string }[]> {
  await api.put('/v1/queues/held', { leaseSeconds: 3_600, maxHeld: HELD });
  const tickets = repeat(HELD, (n) => ({ id: `held-${n}`, body: n }));
  await api.post('/v1/queues/held/tickets/batch', { tickets });
  const { body } = await api.post('/v1/queues/held/claim', { reviewer: 'ada', count: HELD });
  return body.tickets.map(({ id, lease }: Json) => ({ id, token: lease.token }));
}

describe.skipIf(!process.env.DOCKET_NIGHTLY)('from edition 1', async () => {
  const stores = await testStores();
  const database = new pg.Client({ connectionString: stores.databaseUrl });
  await database.connect();
  afterAll(() => database.end());
  const env = settingsFor(stores, { DOCKET_ALLOW_PRIVATE_CALLBACKS: '1', LOG_LEVEL: 'error' });
  const doctor = testDoctor(stores);
  const counts = async () =>
    (await database.query('select kind, state, count(*)::integer as n from item group by 1, 2 order by 1, 2')).rows;

  test('S0.9 a million items go over in one stop, and nothing is lost', async () => {
    await database.query('drop schema public cascade; create schema public');
    const earlier = join(releaseOf(EDITION_1, inject('cacheDir'), say), 'bin/docket.mjs');
    expect(await run([process.execPath, earlier, 'migrate'], env)).toMatchObject({ code: 0 });
    const before = await Promise.all(['api', 'worker'].map((command) => startChild(command, env, earlier)));
    // answers of that release are not those of today's document
    const api = (before[0] as (typeof before)[number]).api.unchecked();
    await useAllKinds(api, 'before');
    await fill(api);
    const held = await hold(api);
    expect(held).toHaveLength(HELD);
    await Promise.all(before.map(({ end }) => end('SIGTERM')));
    const was = await counts();

    const stopped = performance.now();
    await migrate(stores.databaseUrl);
    expect(await docket(['migrate'], env)).toMatchObject({ code: 0 });
    const migrated = performance.now();
    const after = await Promise.all(['api', 'worker'].map((command) => startChild(command, env)));
    const ready = performance.now();
    const seconds = (ms: number) => (ms / 1000).toFixed(0);
    say(`${ITEMS} items: migrated in ${seconds(migrated - stopped)} s, ready after ${seconds(ready - stopped)} s`);

    const now = (after[0] as (typeof after)[number]).api;
    expect(await counts()).toEqual(was);
    for (const { id, token } of held)
      expect(await now.post(`/v1/tickets/${id}/decide`, { token, decision: 'fine' }), id).toMatchObject({
        status: 200,
      });
    const { body } = await now.post('/v1/queues/bulk-3/claim', { reviewer: 'bob' });
    expect(body.tickets).toHaveLength(1);
    await useAllKinds(now, 'after');
    expect(await doctor.broken({ deep: true, repair: true })).toEqual([]);
    await Promise.all(after.map(({ end }) => end('SIGTERM')));
  }, 3_600_000);
});
