import { afterAll, expect, test } from 'vitest';
import { addItems } from '../../db/items.ts';
import { openDb } from '../../db/pool.ts';
import { eventually, repeat } from '../support/client.ts';
import { testStores } from '../support/system.ts';

const JOBS = 6_000;
const { databaseUrl } = await testStores();
const db = openDb({ url: databaseUrl, node: 'statistics', max: 1 });
afterAll(() => db.end());

const job = (id: string) => ({
  ...{ id, actor: 'test', queue: 'new', priority: 0, body: 1, requires: [], exclude: [], callback: null },
  ...{ delaySeconds: 0, deadlineSeconds: null, createdAt: null, leaseSeconds: 60, bodyBytes: 1 },
  hash: Buffer.from(id).toString('hex'),
});

async function readBy(index: string): Promise<number> {
  await db.pool.query('select pg_stat_force_next_flush()');
  await db.pool.query('select 1');
  const { rows } = await db.pool.query('select idx_tup_read from pg_stat_user_indexes where indexrelname = $1', [
    index,
  ]);
  return Number(rows[0]?.idx_tup_read);
}

test('S3.1 a pop reads what it pops, in a database whose tables nobody has looked at yet', async () => {
  await db.run('ensure_queue', { kind: 'job', name: 'new' });
  await db.pool.query('alter table item set (autovacuum_enabled = off)');
  for (let n = 0; n < JOBS; n += 1_000)
    await addItems(
      db,
      'job',
      repeat(1_000, (k) => job(`j${n + k}`)),
    );
  const before = await readBy('item_oldest');
  for (let n = 0; n < 10; n++) {
    const [popped] = await db.move('pop_jobs', { topics: ['new'], tokens: [`t${n}`], holders: ['h'] });
    await db.move('finish_jobs', { ids: [popped?.id ?? ''], tokens: [`t${n}`], actors: ['a'] });
  }
  expect((await readBy('item_oldest')) - before).toBeLessThan(JOBS);

  // and does not wait for autovacuum until its statements are planned with what there is; PostgreSQL may hear of the
  // rows of one table later than of those of another
  await eventually(async () => {
    const refreshed = await db.run('refresh_statistics');
    const { rows } = await db.pool.query("select reltuples from pg_class where relname = 'item'");
    return refreshed.length === 0 && rows[0]?.reltuples === JOBS;
  });
}, 60_000);
