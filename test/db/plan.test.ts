import { beforeAll, describe, expect, test } from 'vitest';
import {
  addItems,
  closeItems,
  type ItemFilter,
  listItems,
  listTickets,
  settleNext,
  type Walked,
} from '../../db/items.ts';
import type { ParamsOf } from '../../db/pool.ts';
import { repeat } from '../support/client.ts';
import { openTestDb } from '../support/database.ts';
import { byNight } from '../support/nightly.ts';
import { expectFewRead, explainAll, loader, type Plan, plansOf, readBy } from '../support/plans.ts';
import { DECISION, settle } from '../support/rows.ts';
import { testStores } from '../support/system.ts';

const WAITING = byNight(1_000_000, 60_000);
const LATER = byNight(200_000, 15_000);
const DUE = 3_000;
const DECIDED = byNight(200_000, 15_000);
const SKILLS = 20;
/** What a list may read: a page of each state of each queue, and all that is held. */
const LISTED = 1_500;

const { databaseUrl } = await testStores();
// one session, as in real life: its plans are made once and kept
const db = openTestDb(databaseUrl);
const nodesOf = plansOf(db);
const sql = (text: string) => db.pool.query(text);

const LARGE = ['item', 'event'];

/** Found by an index, and no more than a few rows looked at or sorted. */
const expectFew = (nodes: Plan[], rows: number) => expectFewRead(nodes, LARGE, rows);
const indexesOn = (nodes: Plan[]) => new Set(nodes.map((n) => n['Index Name']).filter((name) => name !== undefined));

const load = loader(sql);

beforeAll(async () => {
  await sql(`alter table item disable trigger user`);
  // the test says itself when statistics are renewed
  for (const table of LARGE) await sql(`alter table ${table} set (autovacuum_enabled = off)`);
  await sql(
    `insert into queue (kind, name, max_held) values ('ticket', 'big', 1000), ('ticket', 'skilled', 1000), ('ticket', 'later', 1000)`,
  );
  await load('old', 'big', DECIDED, { state: 'settled' });
  await sql(`insert into event (kind, item_id, seq, type, actor, at, token)
    select 'ticket', 'old-' || n, 1, 'claimed', 'nobody', now(), token_hash('old-' || n) from generate_series(1, ${DECIDED}) n`);
  // stale: as counted on a day when everything was done and nothing waited, was held or was due
  for (const table of LARGE) await sql(`analyze ${table}`);
  await load('w', 'big', WAITING);
  await load('s', 'skilled', WAITING / 10, { requires: `array['skill-' || n % ${SKILLS}]` });
  await load('l', 'later', LATER, { state: 'delayed', wake: `now() + interval '1 day' + n * interval '1 s'` });
  await load('d', 'later', DUE, { state: 'delayed', wake: `now() - n * interval '1 ms'` });
  for (const state of ['ready', 'settled']) await load(`zz-${state}`, 'small', 50, { state });
  await load('zz-delayed', 'small', 50, { state: 'delayed', wake: `now() + interval '1 day'` });
  await sql(`insert into queue (kind, name) values ('job', 'jobs'), ('job', 'no-jobs')`);
  const job = { kind: 'job', state: 'delayed' };
  await load('jl', 'jobs', byNight(100_000, 20_000), { ...job, wake: `now() + interval '1 day' + n * interval '1 s'` });
  await load('jd', 'jobs', DUE / 3, { ...job, wake: `now() - n * interval '1 ms'` });
  await load('jr', 'jobs', DUE, { kind: 'job' });
  await sql(`alter table item enable trigger user`);
  await explainAll(db);
}, 300_000);

let tokens = 0;
const claim = async (more: Partial<ParamsOf<'claim'>> & { queue: string }) => {
  const count = more.count ?? 1;
  const own = repeat(count * (more.persons?.length ?? 1), () => `plan-${++tokens}`);
  const rest = { kind: 'ticket', persons: [`p-${tokens}`], count, skills: [], resume: true };
  return db.move('claim', { ...rest, ...more, tokens: own });
};

/** As often as it takes until the session has settled for plans that fit all arguments alike. */
const often = async (work: () => Promise<unknown>) => {
  for (let n = 0; n < 12; n++) await work();
};
/** The plans of many claims, each of which gets so many. */
const claims = (more: Parameters<typeof claim>[0], got = 1) =>
  nodesOf(() => often(async () => expect(await claim(more)).toHaveLength(got)));

describe.each(['stale', 'fresh'])('with %s statistics', (statistics) => {
  beforeAll(async () => {
    if (statistics === 'fresh') for (const table of LARGE) await sql(`analyze ${table}`);
    const counted = await sql(`select reltuples::int as n from pg_class where relname = 'item'`);
    expect(counted.rows[0].n > WAITING).toBe(statistics === 'fresh');
  }, 120_000);

  test('S0.3 a claim reads the head of the ready index', async () => {
    const nodes = await claims({ queue: 'big' });
    expectFew(nodes, 20);
    for (const index of ['item_due', 'item_ready']) expect(indexesOn(nodes)).toContain(index);
  });

  test('S0.3 of a crowd that is due a claim does a hundred, and finds them by their queue', async () => {
    const nodes = await nodesOf(() => claim({ queue: 'later' }));
    expectFew(nodes, 210);
    expect(indexesOn(nodes)).not.toContain('item_wake');
  });

  test('S0.3 so do many who claim together, and one who claims many', async () => {
    const persons = repeat(64, (n) => `many-${statistics}-${n}`);
    expect(await claim({ queue: 'big', persons })).toHaveLength(64);
    const nodes = await nodesOf(async () => {
      await claim({ queue: 'big', persons: persons.map((p) => `${p}-b`) });
      expect(await claim({ queue: 'big', count: 100 })).toHaveLength(100);
    });
    expectFew(nodes, 300);
    expect(indexesOn(nodes)).toContain('item_ready');
  });

  test('S0.3 a claim with skills reads one head per skill', async () => {
    const skills = ['skill-3', 'skill-5', 'skill-19', 'never-asked-for'];
    const nodes = await claims({ queue: 'skilled', skills });
    expectFew(nodes, 100);
    expect(indexesOn(nodes)).toContain('item_ready');
    expectFew(await claims({ queue: 'big', skills }), 100);
  });

  test('S0.3 a claim that finds nothing for this person does not look at everything', async () => {
    expectFew(await claims({ queue: 'skilled', skills: ['nothing'] }, 0), 100);
  });

  test('S3.1 a pop reads what is due and the head of the ready index, however many are delayed', async () => {
    const pop = async (topics: string[], count: number) => {
      const own = repeat(count, () => `plan-${++tokens}`);
      const rows = await db.move('pop_jobs', { topics, tokens: own, holders: own.map(() => 'h') });
      return rows.filter(({ lease_id: token }) => token !== null);
    };
    const none = await nodesOf(() => often(async () => expect(await pop(['no-jobs'], 1)).toHaveLength(0)));
    expectFew(none, 5);
    const nodes = await nodesOf(async () => {
      await often(async () => expect(await pop(['jobs'], 1)).toHaveLength(1));
      expect(await pop(['jobs', 'no-jobs'], 100)).toHaveLength(100);
    });
    // all that are due are looked at, because the first by priority may be any of them
    expectFew(nodes, DUE / 3 + 200);
    expect(indexesOn(nodes)).toContain('item_ready');
    expect(indexesOn(nodes)).toContain('item_delayed');
  });

  test('S0.5 counts are added up from what has changed, however many queues there are', async () => {
    await sql(
      `insert into tally_sum select 'ticket', 'sum-' || n, 'ready', 1 from generate_series(1, 100000) n on conflict do nothing`,
    );
    await db.run('compact_tally', undefined);
    expect(await claim({ queue: 'big' })).toHaveLength(1);
    const nodes = await nodesOf(() => db.run('compact_tally', undefined));
    for (const n of nodes.filter((n) => n['Relation Name']?.startsWith('tally_') && n['Node Type'].endsWith('Scan')))
      expect([n['Relation Name'], readBy(n) < 200], JSON.stringify(n)).toEqual(['tally_line', true]);
  });

  test('S0.4 a bulk invalidation reads its own queue, whatever others have', async () => {
    const states = ['delayed', 'ready', 'held'];
    const of = { kind: 'ticket', queue: 'small' };
    const nodes = await nodesOf(() =>
      often(async () => {
        for (const state of states)
          await db.run('filter_items', { ...of, state, afterAt: '-infinity', afterSeq: 0, limit: 1_000 });
        expect(await db.run('count_filtered', { ...of, states })).toEqual([{ n: 100 }]);
      }),
    );
    expectFew(nodes, 150);
    expect(indexesOn(nodes)).toContain('item_state');
  });

  test('S0.9 the clock reads what is due, by its time', async () => {
    const nodes = await nodesOf(async () => expect(await db.move('tick', { limit: 1000 })).toHaveLength(1000));
    expectFew(nodes, 1000);
    expect(indexesOn(nodes)).toContain('item_wake');
    const one = await nodesOf(() => often(() => db.move('tick_item', { kind: 'ticket', id: 'w-900000' })));
    expectFew(one, 5);
  });

  test('S0.8 a decision finds its ticket and its lease by their keys', async () => {
    const decide = async (count: number) => {
      const held = await claim({ queue: 'big', count });
      return nodesOf(async () => expect(await settle(db, held)).toHaveLength(count));
    };
    for (let n = 0; n < 12; n++) {
      const nodes = await decide(1);
      expectFew(nodes, 5);
      expect(indexesOn(nodes)).toContain('item_pkey');
      expect(indexesOn(nodes)).toContain('event_pkey');
    }
    expectFew(await decide(64), 64 * 3);
    expectFew(await decide(1), 5);
  });

  test('S0.8 a decision with a next ticket reads no more, however many are held', async () => {
    const others = await claim({ queue: 'big', count: 500 });
    let [held] = await claim({ queue: 'big' });
    const nodes = await nodesOf(() =>
      often(async () => {
        const rows = await settleNext(
          db,
          'ticket',
          [{ ...DECISION, id: held?.id ?? '', token: held?.lease_id ?? '', next: `plan-${++tokens}` }],
          [],
        );
        held = rows.find((row) => row.state === 'held');
        expect(rows).toHaveLength(2);
      }),
    );
    expectFew(nodes, 10);
    expect(indexesOn(nodes)).toContain('item_holder');
    expect(await settle(db, others)).toHaveLength(500);
  });

  test.each<[Walked, string, ItemFilter?]>([
    [{ decidedBy: 'nobody' }, 'item_decided_by'],
    [{ decidedBy: 'nobody', verdict: '2' }, 'item_decided_by'],
    [{ verdict: '2' }, 'item_state'],
    [{ verdict: '2' }, 'item_state', { queue: 'big' }],
    [{ category: 'c' }, 'item_state'],
    [{ category: 'c' }, 'item_holder', { person: 'p-1' }],
    [{ decidedAfter: '2099-01-01T00:00:00Z' }, 'item_state'],
    [{ overturned: 'true' }, 'item_overturned'],
    [{ automation: 'full' }, 'item_automated'],
    [{ subject: 's' }, 'item_subject'],
    [{ text: 'w' }, 'ticket_text_words'],
  ])('S4.9 a list by %j reads 10,000 tickets at most, by %s', async (walked, index, filter = {}) => {
    const list = () => listTickets(db.lists, filter, walked, 51);
    const nodes = await nodesOf(() => often(list), db.lists.pool);
    expectFew(nodes, 10_000);
    expect(indexesOn(nodes)).toContain(index);
  });

  const [past, future] = ['2001-01-01T00:00:00.000Z', '2099-01-01T00:00:00.000Z'];
  test.each<[ItemFilter, string]>([
    [{}, 'item_state'],
    [{ queue: 'big' }, 'item_state'],
    [{ queue: 'big', createdBefore: past }, 'item_state'],
    [{ queue: 'big', state: 'settled' }, 'item_state'],
    [{ state: 'settled' }, 'item_state'],
    [{ state: 'settled', createdAfter: past, createdBefore: future }, 'item_state'],
    [{ state: 'ready' }, 'item_state'],
    [{ state: 'delayed', queue: 'big' }, 'item_state'],
    [{ state: 'invalidated' }, 'item_state'],
    [{ person: 'nobody' }, 'item_decided_by'],
    [{ person: 'nobody', queue: 'big', state: 'settled', createdAfter: past }, 'item_decided_by'],
    [{ person: 'unknown', state: 'settled' }, 'item_decided_by'],
    [{ person: 'p-1', state: 'held' }, 'item_holder'],
    [{ queue: 'later', state: 'held' }, 'item_holder'],
  ])('S0.5 a list by %j reads about as many rows as it shows', async (filter, index) => {
    const list = () => listItems(db.lists, 'ticket', filter, 51);
    const nodes = await nodesOf(() => often(list), db.lists.pool);
    expectFew(nodes, LISTED);
    expect(indexesOn(nodes)).toContain(index);
    const last = (await list()).at(-1);
    if (last === undefined) return;
    const before = { time: last.created_at.toISOString(), seq: last.seq };
    expectFew(await nodesOf(() => listItems(db.lists, 'ticket', { ...filter, before }, 51), db.lists.pool), LISTED);
  });
});

test('S0.3 in a database that was never analyzed, plans made for a few tickets read a few of many', async () => {
  const fresh = openTestDb((await testStores()).databaseUrl);
  const run = (text: string) => fresh.pool.query(text);
  const nodes = plansOf(fresh);
  const handOut = async (n: number) => {
    const [persons, tokens] = [[`p-${n}`], [`t-${n}`]];
    const queue = { kind: 'ticket', queue: 'q', persons, tokens, count: 1, skills: [], resume: true };
    const [ticket, next] = [(await fresh.move('claim', queue))[0], { ...DECISION, next: `next-${n}` }];
    await fresh.move('renew_items', { kind: 'ticket', ids: [ticket?.id ?? ''], tokens, subjects: [null] });
    const [, given] = await settleNext(fresh, 'ticket', [{ ...next, id: ticket?.id ?? '', token: `t-${n}` }], []);
    const items = [{ id: given?.id ?? '' }];
    const closing = { state: 'invalidated', items, reason: 'r', actor: 'a' } as const;
    expect(await closeItems(fresh, 'ticket', closing)).toHaveLength(1);
    const job = { id: `j-${n}`, key: 'k', queue: 'j', priority: 0, body: n, hash: '00', delaySeconds: 0, actor: 'a' };
    await addItems(fresh, 'job', [job]);
    const [met] = await fresh.run('find_runs', { ids: [job.id], keys: ['k'], topics: ['j'] });
    expect(met).toMatchObject({ no: 1, of_key: 1 });
  };
  const second = { share: 1, of: 'all', queue: null, blind: true, compare: null, adapt: null };
  await run(`insert into queue (kind, name, second)
             values ('ticket', 'q', '${JSON.stringify(second)}'), ('job', 'j', null)`);
  await run(`alter table item set (autovacuum_enabled = off)`);
  await loader(run)('few', 'q', 20);
  await explainAll(fresh);
  for (let n = 0; n < 3; n++) await handOut(n);
  await loader(run)('many', 'q', 2_000);
  await loader(run)('jobs', 'j', 2_000, { kind: 'job' });
  await loader(run)('held', 'other', 2_000, { state: 'delayed', wake: `now() + interval '1 day'` });
  await loader(run)('over', 'q', 2_000, { state: 'settled' });
  expectFewRead(await nodes(() => handOut(10)), ['item'], 50);
});

test('S0.8 all text has one collation, so that no function leaves an index for the collation of its caller', async () => {
  const { rows } = await sql(`
    select c.relname || '.' || a.attname as name from pg_attribute a join pg_class c on c.oid = a.attrelid
     where c.relnamespace = 'public'::regnamespace and c.relkind = 'r' and a.attnum > 0 and not a.attisdropped
       and a.attcollation = 'pg_catalog."default"'::regcollation and c.relname not like 'schema\\_%' and c.relname <> 'seen_transition'
     order by 1`);
  // generated columns are computed from these
  expect(rows.map((r) => r.name)).toEqual(['delivery.url', 'item.requires']);
});
