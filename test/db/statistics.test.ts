import { expect, test } from 'vitest';
import { eventually, numbered } from '../support/client.ts';
import { openTestDb } from '../support/database.ts';
import { addNew } from '../support/rows.ts';
import { testStores } from '../support/system.ts';

const JOBS = 6_000;
const { databaseUrl } = await testStores();
const db = openTestDb(databaseUrl);

async function readBy(index: string): Promise<number> {
  await db.pool.query('select pg_stat_force_next_flush()');
  await db.pool.query('select 1');
  const read = 'select idx_tup_read as n from pg_stat_user_indexes where indexrelname = $1';
  return Number((await db.pool.query(read, [index])).rows[0]?.n);
}

test('S3.1 a pop reads what it pops, in a database whose tables nobody has looked at yet', async () => {
  await db.run('ensure_queue', { kind: 'job', name: 'new' });
  await db.pool.query('alter table item set (autovacuum_enabled = off)');
  for (let n = 0; n < JOBS; n += 1_000) await addNew(db, 'new', numbered(1_000, `j${n}-`), 'job');
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
