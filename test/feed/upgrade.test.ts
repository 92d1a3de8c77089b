import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { afterAll, expect, inject, test } from 'vitest';
import { migrate } from '../../db/migrate.ts';
import { openDb } from '../../db/pool.ts';

const DATABASE = `upgrade_${process.pid}`;
const url = new URL(`/${DATABASE}`, inject('postgres')).href;
const folder = fileURLToPath(new URL('../../db/migrations/', import.meta.url));

const admin = new pg.Client({ connectionString: new URL('/postgres', url).href });
await admin.connect();
await admin.query(`create database ${DATABASE}`);
afterAll(() => admin.end());

/** The schema as it was before there was a feed. */
async function older(): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query(`create table schema_step (
    name text primary key, hash text not null, applied_at timestamptz not null default clock_timestamp())`);
  for (const file of readdirSync(folder).sort()) {
    if (file >= '0007') continue;
    const text = readFileSync(folder + file, 'utf8');
    await client.query(text);
    const hash = createHash('sha256').update(text).digest('hex');
    await client.query('insert into schema_step (name, hash) values ($1, $2)', [`migrations/${file}`, hash]);
  }
  return client;
}

test('S4.8 what happened before there was a feed is in it, each item’s events in their order', async () => {
  const client = await older();
  const at = (second: number) => `2026-01-02T03:04:0${second}Z`;
  // b's clock was set back between its events, and its rows lie in the wrong order
  for (const [id, seq, second] of [
    ['a', 1, 1],
    ['b', 3, 2],
    ['b', 2, 5],
    ['a', 2, 4],
    ['b', 1, 3],
  ])
    await client.query(
      `insert into event (kind, item_id, seq, type, actor, at) values ('ticket', $1, $2, 'noted', 'x', $3)`,
      [id, seq, at(second as number)],
    );
  await client.query(`insert into review (id, record, created_at) values ('r', '{}', '${at(0)}')`);
  await client.query(`insert into review_callback
      (review_id, callback_id, kind, target_id, status, audit_time, outcome, seq, applied_at, before, after)
    values ('r', 'c', 'text', '', 5, '${at(2)}', 'applied', 1, '${at(2)}', '1', '5')`);
  await client.query(
    `insert into review_callback (review_id, callback_id, kind, target_id) values ('r', 'd', 'text', '')`,
  );
  await client.end();

  await migrate(url);
  const db = openDb({ url, node: 'upgrade', max: 1 });
  expect(await db.run('number_events', { limit: 100 })).toEqual([{ numbered: 7, newest: 7 }]);
  const rows = await db.run('feed_page', { after: 0, limit: 100, bytes: 1e6 });
  const ids = rows.map(({ kind, item_id, event_seq }) => `${kind}/${item_id}/${event_seq}`);
  expect(ids).toEqual([
    ...['review/r/0', 'ticket/a/1', 'review/r/1', 'ticket/b/1', 'ticket/a/2', 'ticket/b/2', 'ticket/b/3'],
  ]);
  expect(rows[2]).toMatchObject({ type: 'applied', data: { kind: 'text', targetId: null, status: 5, before: 1 } });
  // what comes now is numbered behind it
  await db.pool.query(
    `insert into event (kind, item_id, seq, type, actor, at) values ('ticket', 'a', 3, 'n', 'x', now())`,
  );
  expect(await db.run('number_events', { limit: 100 })).toEqual([{ numbered: 1, newest: 8 }]);
  await db.end();
});
