import { expect, test } from 'vitest';
import { eventually, numbered } from '../support/client.ts';
import { openTestDb } from '../support/database.ts';
import { expectWhole, feed, note, pending, wholeFeed } from '../support/feed.ts';
import { addNew } from '../support/rows.ts';
import { startTestSystem, testStores } from '../support/system.ts';

// How positions are given out while transactions end in any order. Temporal is not needed for that.
const stores = { ...(await testStores()), temporalAddress: '127.0.0.1:9' };
const { api, sql, running } = await startTestSystem({ LOG_LEVEL: 'silent' }, { role: 'api', stores });
const db = openTestDb(stores.databaseUrl, 8);

await db.run('ensure_queue', { kind: 'ticket', name: 'q' });
await addNew(db, 'q', ['a', 'b', 'c', 'd']);

const end = async () => (await wholeFeed(api)).at(-1)?.seq ?? 0;
const idsBehind = async (after: number) => (await feed(api, `after=${after}`)).map((line) => line.id.split('/')[1]);
const holes = () => sql<{ first: string; last: string }>('select first, last from feed_hole order by first');
/** Other databases of the server have transactions too, and any of them may be the oldest. */
const withoutHoles = () =>
  eventually(async () => {
    await db.run('number_events', { limit: 1_000 });
    return (await holes()).length === 0;
  });

test('S4.8 who commits last with the lowest number is not missed, as he is by a cursor on that number', async () => {
  const start = await end();
  const first = await pending(db, (tx) => note(tx, 'a'));
  await note(db, 'b');
  const seen = await feed(api, `after=${start}`);
  expect(seen.map((line) => line.itemId)).toEqual(['b']);
  const cursor = (await sql<{ id: string }>('select max(id) as id from event'))[0]?.id;
  await first.commit();
  expect(await sql('select id from event where id > $1', [cursor])).toEqual([]);
  expect(await idsBehind(start + 1)).toEqual(['a']);
  expectWhole(await wholeFeed(api));
});

test('S4.8 whoever has drawn a number is waited for, also when his transaction is the newest of all', async () => {
  const start = await end();
  // has its transaction id, and draws an event's number only after the newer one has
  const older = await pending(db, (tx) => tx.run('ensure_queue', { kind: 'ticket', name: 'another' }));
  const newer = await pending(db, (tx) => note(tx, 'a'));
  await older.go((tx) => note(tx, 'b'));
  await older.commit();
  // no transaction with a higher id than the older one's has ended: that is all that a snapshot's xmax knows
  for (let pass = 0; pass < 3; pass++) expect(await idsBehind(start)).toEqual(['b']);
  await newer.commit();
  expect(await idsBehind(start)).toEqual(['b', 'a']);
  await withoutHoles();
});

test('S4.8 a transaction that stays open holds nobody up, and comes when it ends', async () => {
  const start = await end();
  const long = await pending(db, (tx) => addNew(tx, 'q', ['long-1', 'long-2', 'long-3']));
  for (let n = 1; n <= 20; n++) {
    await note(db, n % 2 ? 'a' : 'b');
    expect(await end()).toBe(start + n);
  }
  expect(await holes()).toHaveLength(1);
  await long.commit();
  expect(await idsBehind(start + 20)).toEqual(['long-1', 'long-2', 'long-3']);
  expectWhole(await wholeFeed(api));
  await withoutHoles();
});

test('S4.8 what was rolled back leaves no gap, however much it was', async () => {
  const start = await end();
  const lost = await pending(db, (tx) => addNew(tx, 'q', numbered(1_000, 'lost-')));
  await note(db, 'a');
  expect(await idsBehind(start)).toEqual(['a']);
  // a thousand numbers in one stretch, not a thousand rows that every pass looks at
  expect(await holes()).toHaveLength(1);
  await lost.rollback();
  await note(db, 'b');
  expect(await idsBehind(start)).toEqual(['a', 'b']);
  await withoutHoles();
  expect(await idsBehind(start)).toEqual(['a', 'b']);
});

test('S4.8 numbers that a crash has skipped are no gap either', async () => {
  const start = await end();
  await sql(
    `select setval(pg_get_serial_sequence('event', 'id'), nextval(pg_get_serial_sequence('event', 'id')) + 32)`,
  );
  await note(db, 'a');
  expect(await idsBehind(start)).toEqual(['a']);
  await withoutHoles();
});

test('S4.8 holes that fill up piece by piece, in passes of any size', async () => {
  const start = await end();
  const names = (prefix: string) => numbered(7, `${prefix}-`);
  const transactions = [];
  for (const prefix of ['p', 'q', 'r', 's', 't'])
    transactions.push(await pending(db, (tx) => addNew(tx, 'q', names(prefix))));
  await note(db, 'c');
  expect(await idsBehind(start)).toEqual(['c']);
  const [p, q, r, s, t] = transactions;
  for (const [n, one] of [s, q, t, p].entries()) {
    await one?.commit();
    for (let pass = 0; pass <= n; pass++) await db.run('number_events', { limit: 3 });
  }
  await r?.rollback();
  for (let n = 0; n < 20; n++) await db.run('number_events', { limit: 2 });
  const got = await idsBehind(start + 1);
  expect([...got].sort()).toEqual(['p', 'q', 's', 't'].flatMap(names));
  for (const prefix of ['p', 'q', 's', 't'])
    expect(got.filter((id) => id?.startsWith(`${prefix}-`))).toEqual(names(prefix));
  expectWhole(await wholeFeed(api));
  await withoutHoles();
});

test('S4.8 a pass that is full gives up nothing that it did not look at', async () => {
  const start = await end();
  const names = numbered(10, 'full-');
  const late = await pending(db, (tx) => addNew(tx, 'q', names));
  await note(db, 'a');
  expect(await idsBehind(start)).toEqual(['a']);
  await late.commit();
  // whoever drew these has ended, and the first three fill the pass
  expect(await db.run('number_events', { limit: 3 })).toEqual([{ numbered: 3, newest: start + 4 }]);
  expect(await idsBehind(start + 1)).toEqual(names);
  await withoutHoles();
});

test('S4.8 an item whose later events are seen has its earlier ones before them', async () => {
  const start = await end();
  const first = await pending(db, (tx) => note(tx, 'd'));
  await note(db, 'a');
  // waits for the first one's row, and is committed in the same instant as others are numbered
  const second = note(db, 'd');
  const reading = (async () => {
    for (let n = 0; n < 30; n++) await feed(api, `after=${start}`);
  })();
  await first.commit();
  await Promise.all([second, reading]);
  expect((await idsBehind(start)).sort()).toEqual(['a', 'd', 'd']);
  expectWhole(await wholeFeed(api));
});

test('S4.8 a reader’s own events are there for him, also when a pass that began before them is under way', async () => {
  const start = await end();
  // the place of the next one is taken for a while, so that a pass has looked and cannot write
  const blocker = await db.pool.connect();
  await blocker.query('begin');
  await blocker.query('insert into feed (seq, event_id) values ($1, -1)', [start + 1]);
  await note(db, 'a');
  const first = feed(api, `after=${start}`);
  const waiting = `select 1 from pg_stat_activity
    where datname = current_database() and wait_event_type = 'Lock' and query like '%number_events%'`;
  await eventually(async () => (await sql(waiting)).length === 1);
  await note(db, 'b');
  const second = running.runtime.feed.read(start, 10);
  for (let n = 0; n < 5; n++) await running.runtime.db.run('feed_page', { after: start, limit: 10, bytes: 1e6 });
  await blocker.query('rollback');
  blocker.release();
  expect((await second).rows.map((row) => row.item_id)).toEqual(['a', 'b']);
  expect((await first)[0]?.itemId).toBe('a');
  await withoutHoles();
});

test('S4.8 a pass inside of a longer transaction is refused: it could not know who may still commit', async () => {
  const before = await sql('select * from feed_state');
  const inside = db.transaction(async (tx) => {
    await note(tx, 'a');
    await tx.run('number_events', { limit: 10 });
  });
  await expect(inside).rejects.toThrow(/transaction of its own/);
  expect(await sql('select * from feed_state')).toEqual(before);
});

test('S4.8 where the feed ends is said, and can be read on from, however far nobody has read yet', async () => {
  const before = await end();
  await addNew(db, 'q', numbered(6_000, 'unread-'));
  await eventually(async () => {
    const { headers } = await api.get('/v1/feed?after=0&limit=1');
    expect(Number(headers.get('docket-feed-newest'))).toBe(before + 6_000);
    return true;
  });
  expect(await feed(api, `after=${before + 5_998}`)).toMatchObject([{ seq: before + 5_999 }, { seq: before + 6_000 }]);
});

test('S4.8 nobody reads: nothing is numbered; nothing new: nothing is written', async () => {
  const before = await sql('select * from feed_state');
  await note(db, 'a');
  expect(await sql('select * from feed_state')).toEqual(before);
  await wholeFeed(api);
  await withoutHoles();
  const after = await sql('select xmin, * from feed_state');
  for (let n = 0; n < 5; n++) await wholeFeed(api);
  expect(await sql('select xmin, * from feed_state')).toEqual(after);
});
