import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import type { FeedEvent } from '../../contract/feed.ts';
import type { Mover } from '../../db/pool.ts';
import { type Client, dice, numbered, repeat } from '../support/client.ts';
import { openTestDb } from '../support/database.ts';
import { arrived, expectWhole, follow, note, pending } from '../support/feed.ts';
import { addNew, settle } from '../support/rows.ts';
import { startTestSystem, testStores } from '../support/system.ts';

const EVENTS = 100_000;
const CONNECTIONS = 16;
const SHARED = 40;
const TICKETS = 100;

// the feed is read over HTTP and events are made by the statements that the API runs; without Temporal, whose
// work for 33,000 tickets is not asked about here
const stores = { ...(await testStores()), temporalAddress: '127.0.0.1:9' };
const { api, sql } = await startTestSystem({ LOG_LEVEL: 'silent' }, { role: 'api', stores });
const db = openTestDb(stores.databaseUrl, CONNECTIONS + 2, 'writers');

const settings = {
  kind: 'ticket',
  leaseSeconds: 3600,
  escalations: [],
  reclaimedFirst: false,
  maxHeld: TICKETS,
  rules: [],
};

/** A hundred tickets from their creation to their decision: three events each. */
async function lives(tx: Mover, queue: string, name: string): Promise<number> {
  const ids = numbered(TICKETS, `${name}-`);
  await addNew(tx, queue, ids);
  const tokens = ids.map((id) => `lt_${id}`);
  const claim = { kind: 'ticket', queue, count: TICKETS, skills: [], resume: false };
  const held = await tx.move('claim', { ...claim, persons: [name], tokens });
  expect(await settle(tx, held)).toHaveLength(TICKETS);
  return 3 * TICKETS;
}

let written = 0;

/** One connection's work: many short transactions, some slow ones, some that roll back, and items shared by all. */
async function write(writer: number): Promise<void> {
  const roll = dice(writer + 1);
  const queue = `q-${writer}`;
  await db.run('put_queue', { name: queue, ...settings });
  for (let n = 0; written < EVENTS; n++) {
    const [slow, lost] = [roll(12) === 0, roll(10) === 0];
    const work = async (tx: Mover) => {
      let events = await lives(tx, queue, `w${writer}-${n}`);
      if (slow) await sleep(200 + roll(1_000));
      // last, and by their ids: the others wait for these rows
      const touched = [roll(SHARED), roll(SHARED), roll(SHARED)].sort((a, b) => a - b);
      for (const shared of new Set(slow ? [] : touched)) {
        await note(tx, `shared-${String(shared).padStart(2, '0')}`);
        events++;
      }
      if (lost) throw new Error('rolled back');
      return events;
    };
    const events = await db.transaction(work).catch((error: Error) => {
      if (error.message !== 'rolled back') throw error;
      return 0;
    });
    written += events;
  }
}

/** Reads on until told to stop, and is cut off again and again: it remembers what it has read, and nothing else. */
async function forgetful(client: Client, all: FeedEvent[], done: () => boolean): Promise<number> {
  const roll = dice(99);
  for (let cuts = 0; ; cuts++) {
    const followed = await follow(client, `after=${all.at(-1)?.seq ?? 0}`);
    const enough = all.length + 500 + roll(20_000);
    while (!done() && all.length + followed.lines.length < enough) await sleep(20);
    followed.cut();
    await followed.ended;
    all.push(...followed.lines);
    if (done()) return cuts;
  }
}

test('S4.8 100,000 events of 16 connections: two followers, one cut off again and again, see the same feed', async () => {
  await db.run('put_queue', { name: 'shared', ...settings });
  const shared = repeat(SHARED, (n) => `shared-${String(n).padStart(2, '0')}`);
  await addNew(db, 'shared', shared);
  // open from before the first event of the others until after most of them
  const kept = await pending(db, (tx) => addNew(tx, 'shared', ['late-1', 'late-2', 'late-3']));
  const lost = await pending(db, (tx) => addNew(tx, 'shared', ['never-1', 'never-2']));
  const steady = await follow(api, 'after=0');
  const resumed: FeedEvent[] = [];
  let total = Number.POSITIVE_INFINITY;
  const reading = forgetful(api, resumed, () => steady.lines.length >= total);

  await Promise.all(repeat(CONNECTIONS, (n) => write(n)));
  // of the two that are still open nothing was seen, and nothing had to wait for them
  const committed = Number((await sql<{ n: string }>('select count(*) as n from event'))[0]?.n);
  await arrived(steady, committed, 60_000);
  await Promise.all([kept.commit(), lost.rollback()]);
  total = committed + 3;
  await arrived(steady, total, 60_000);
  expect(await reading).toBeGreaterThan(3);
  expect(total).toBeGreaterThan(EVENTS);

  expectWhole(steady.lines);
  expect(steady.lines).toHaveLength(total);
  expect(steady.lines.slice(-3).map((line) => line.itemId)).toEqual(['late-1', 'late-2', 'late-3']);
  const rest = await follow(api, `after=${resumed.at(-1)?.seq ?? 0}`);
  await arrived(rest, total - resumed.length);
  const both = [...resumed, ...rest.lines];
  expect(both).toHaveLength(total);
  expect(both.findIndex((line, n) => JSON.stringify(line) !== JSON.stringify(steady.lines[n]))).toBe(-1);
  const [events] = await sql<{ n: string }>(
    `select count(*) as n from event where concat_ws('/', kind, item_id, no, seq) = any ($1)`,
    [steady.lines.map((line) => line.id)],
  );
  expect(Number(events?.n)).toBe(total);
}, 180_000);
