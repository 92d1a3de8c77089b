import { beforeAll, expect, test } from 'vitest';
import { testDoctor, useAllKinds } from '../support/doctor.ts';
import { startTestSystem } from '../support/system.ts';

// No worker runs, so that nothing but the test writes once all kinds have been used.
const system = await startTestSystem({ LOG_LEVEL: 'silent' }, { role: 'api' });
const { api } = system;
const doctor = testDoctor(system);
const { sql } = doctor;

const one = async (text: string) => Object.values((await sql(text))[0] ?? {})[0];

beforeAll(async () => {
  await useAllKinds(api, 'x');
  // a reader, so that events have their positions
  expect((await api.get('/v1/feed?after=0&limit=500')).status).toBe(200);
});

test('a system that has all kinds in use breaks no invariant', async () => {
  expect(await doctor.broken()).toEqual([]);
  expect(await doctor.broken({ deep: true, limits: { lines: 10 } })).toEqual([]);
});

const HELD = `kind = 'ticket' and id = 'x-held'`;
const COMPLETED = `kind = 'task' and why = 'settled'`;

/** What breaks a rule, and what mends it; each breaks one only. */
const INJECTED: [check: string, what: string, example: RegExp, breaks: string, mends: string][] = [
  [
    ...(['counts', 'a count that no row stands for', /^ticket\/x-tickets ready: 8 counted, 1 rows$/] as const),
    `insert into tally_line (kind, queue, what, n) values ('ticket', 'x-tickets', 'ready', 7)`,
    `insert into tally_line (kind, queue, what, n) values ('ticket', 'x-tickets', 'ready', -7)`,
  ],
  [
    ...(['counts', 'a delivery that is not counted', /^delivery\/ticket pending: 2 counted, 0 rows$/] as const),
    `insert into tally_line (kind, queue, what, n) values ('delivery', 'ticket', 'pending', 2)`,
    `insert into tally_line (kind, queue, what, n) values ('delivery', 'ticket', 'pending', -2)`,
  ],
  [
    ...([
      'states',
      'an event that leads to another state',
      /^ticket\/x-waits: claimed does not lead to ready$/,
    ] as const),
    `with e as (update event set type = 'claimed' where item_id = 'x-waits') update item set last_event = 'claimed' where id = 'x-waits'`,
    `with e as (update event set type = 'created' where item_id = 'x-waits') update item set last_event = 'created' where id = 'x-waits'`,
  ],
  [
    ...(['log', 'a gap in its events', /^ticket\/x-decided: 3 events up to number 5, its row knows 3$/] as const),
    `update event set seq = seq + 2 where item_id = 'x-decided' and seq = 3`,
    `update event set seq = seq - 2 where item_id = 'x-decided' and seq = 5`,
  ],
  [
    ...(['log', 'an event of another type than the row says', /^job\/x-job-ready: the last event is kicked/] as const),
    `update event set type = 'kicked' where item_id = 'x-job-ready'`,
    `update event set type = 'created' where item_id = 'x-job-ready'`,
  ],
  [
    ...([
      'log',
      'a version that the row does not have',
      /^job\/x-job-ready: version \d+ in its events, \d+ in its row$/,
    ] as const),
    `update event set version = version + 1000000 where item_id = 'x-job-ready'`,
    `update event set version = version - 1000000 where item_id = 'x-job-ready'`,
  ],
  [
    ...([
      'log',
      'a decided ticket that is still granted to someone',
      /^ticket\/x-decided: 1 live leases in its events/,
    ] as const),
    `update event set ends = null where item_id = 'x-decided' and type = 'decided'`,
    `update event set ends = 2 where item_id = 'x-decided' and type = 'decided'`,
  ],
  [
    ...([
      'log',
      'a ticket that two hold at once',
      /^ticket\/x-held: 2 live leases in its events, and it is held$/,
    ] as const),
    `update event set token = '\\x00' where item_id = 'x-held' and type = 'created'`,
    `update event set token = null where item_id = 'x-held' and type = 'created'`,
  ],
  [
    ...(['holds', 'a token that was never granted', /^ticket\/x-held: its token is not the one/] as const),
    `update item set lease_id = 'x' || lease_id where ${HELD}`,
    `update item set lease_id = substr(lease_id, 2) where ${HELD}`,
  ],
  [
    ...([
      'holds',
      'a ticket that was handed out too early',
      /^ticket\/x-held: it was handed out before it was due$/,
    ] as const),
    `update item set available_at = available_at + interval '1 day' where ${HELD}`,
    `update item set available_at = available_at - interval '1 day' where ${HELD}`,
  ],
  [
    ...([
      'holds',
      'a slot that was given up while its lease is live',
      /^ticket\/x-held: its slot was given up/,
    ] as const),
    `update item set slot = -slot where ${HELD}`,
    `update item set slot = -slot where ${HELD}`,
  ],
  [
    ...(['leases', 'a live dispatch of what is over', /^task\/x-once\/.*: x holds it, and it is settled$/] as const),
    `update lease set ended_at = null, why = null, ended_by = null, slot = 'nobody' where ${COMPLETED}`,
    `update lease set ended_at = now(), why = 'settled', ended_by = 'x', slot = 'x' where kind = 'task' and slot = 'nobody'`,
  ],
  [
    ...(['cases', 'a hold that no one has', /^case\/x-open: 2 holds by its row, 1 live leases$/] as const),
    `update case_file set holds = holds + 1 where id = 'x-open'`,
    `update case_file set holds = holds - 1 where id = 'x-open'`,
  ],
  [
    ...(['cases', 'a vote that no one has cast', /^case\/x-open: its row counts 2 votes, .*, there are 1, /] as const),
    `update case_file set votes = 2, tally = '{"no": 2}' where id = 'x-open'`,
    `update case_file set votes = 1, tally = '{"no": 1}' where id = 'x-open'`,
  ],
  [
    ...([
      'cases',
      'capacity for more than may vote',
      /^case\/x-open: capacity \d+ by its row, \d+ by votes and leases$/,
    ] as const),
    `update item set capacity = capacity + 1 where kind = 'case' and id = 'x-open'`,
    `update item set capacity = capacity - 1 where kind = 'case' and id = 'x-open'`,
  ],
  [
    ...(['cases', 'a decided case without a winner', /^case\/x-case: it is settled, and its winner no one$/] as const),
    `update case_file set winner = null where id = 'x-case'`,
    `update case_file set winner = 'yes' where id = 'x-case'`,
  ],
  [
    ...([
      'stock',
      'more stock than the task has',
      /^task\/x-twice\/.*: 2 left by its row, 1 dispatched and 0 completed of 2$/,
    ] as const),
    `update item set capacity = capacity + 1 where kind = 'task' and id like 'x-twice/%'`,
    `update item set capacity = capacity - 1 where kind = 'task' and id like 'x-twice/%'`,
  ],
  [
    ...([
      'stock',
      'more dispatches than the task has',
      /^task\/x-once\/.*: no left by its row, 0 dispatched and 2 completed of 1$/,
    ] as const),
    `insert into lease (token, kind, item_id, queue, holder, slot, granted_at, ended_at, why, ended_by)
     select 'second', kind, item_id, queue, holder, slot, granted_at, ended_at, why, ended_by from lease where ${COMPLETED}`,
    `delete from lease where token = 'second'`,
  ],
  [
    ...(['reviews', 'a record that its index does not have', /^review\/x-review: record and index differ$/] as const),
    `update review set record = jsonb_set(record, '{text,status}', '9') where id = 'x-review'`,
    `update review set record = record_of_index(id) where id = 'x-review'`,
  ],
  [
    ...(['reviews', 'a base row of its own', /^review\/x-review: record and base row differ$/] as const),
    `update review_base set status = 9 where review_id = 'x-review'`,
    `update review_base set status = 2 where review_id = 'x-review'`,
  ],
  [
    ...([
      'reviews',
      'a status that no callback gave',
      /^review\/x-review: a status is not that of the callback/,
    ] as const),
    `update review_callback set status = 7 where review_id = 'x-review' and kind = 'text'`,
    `update review_callback set status = 2 where review_id = 'x-review' and kind = 'text'`,
  ],
  [
    ...(['reviews', 'a gap in its log', /^review\/x-review: 2 lines up to number 3, its row knows 2$/] as const),
    `update review_callback set seq = 3 where review_id = 'x-review' and seq = 2`,
    `update review_callback set seq = 2 where review_id = 'x-review' and seq = 3`,
  ],
  [
    ...([
      'outcomes',
      'an outcome that is pending and was delivered',
      /^ticket\/x-decided: its outcome is pending, and its delivery delivered$/,
    ] as const),
    `with d as (insert into delivery (kind, item_id, n, type, version, url, state)
                values ('ticket', 'x-decided', 1, 'ticket.decided', 1, 'http://receiver/', 'delivered'))
     update item set delivery_pending = true where kind = 'ticket' and id = 'x-decided'`,
    `with d as (delete from delivery where item_id = 'x-decided') update item set delivery_pending = false where kind = 'ticket' and id = 'x-decided'`,
  ],
  [
    ...(['feed', 'an event without a position', /^event \d+: ticket\/x-waits 1 \(created\) has no position$/] as const),
    `with p as (delete from feed where event_id = (select id from event where item_id = 'x-waits') returning *) insert into kept select * from p`,
    `insert into feed select * from kept`,
  ],
];

beforeAll(() => sql('create table kept (like feed)'));

test.each(INJECTED)('%s: %s', async (check, _what, example, breaks, mends) => {
  await sql(breaks);
  const findings = await doctor.findings();
  const found = Object.values(findings).filter(({ severity }) => severity === 'broken');
  expect(found.map((finding) => finding.check)).toEqual([check]);
  expect(found[0]).toMatchObject({ count: 1, examples: [expect.stringMatching(example)] });
  expect(found[0]?.advice).toMatch(/^[A-Z].*\.$/);
  await sql(mends);
  expect(await doctor.broken()).toEqual([]);
});

test('feed: a position whose event is gone', async () => {
  const id = await one(`select id from event where item_id = 'x-later' or item_id like 'x-later/%' limit 1`);
  await sql('create table gone (like event)');
  await sql('with e as (delete from event where id = $1 returning *) insert into gone select * from e', [id]);
  expect((await doctor.findings()).feed?.examples).toEqual([
    expect.stringMatching(/^position \d+: its event \d+ is not there$/),
  ]);
  await sql('insert into event overriding system value select * from gone');
  expect(await doctor.broken()).toEqual([]);
});

test('cases: a person who has voted twice, which only a lost index lets happen', async () => {
  await sql('drop index vote_once');
  await sql(`insert into vote (token, case_id, court, juror, person, option, at, counted, gold)
             select 'again', case_id, court, juror, person, option, at, false, gold from vote where case_id = 'x-open' limit 1`);
  const findings = await doctor.findings();
  expect(findings.cases?.examples).toEqual(['case/x-open: 2 votes of 1 persons']);
  expect(findings.objects?.examples).toEqual(['index vote_once: is missing']);
  await sql(`delete from vote where token = 'again'`);
  await sql('create unique index vote_once on vote (case_id, person)');
  expect(await doctor.broken()).toEqual([]);
});

test('what is out of the part of the log that is read is found with deep only', async () => {
  await sql(`update case_file set winner = null where id = 'x-case'`);
  expect(await doctor.broken({ limits: { lines: 5 } })).toEqual([]);
  expect(await doctor.broken({ deep: true, limits: { lines: 5 } })).toEqual(['cases']);
  await sql(`update case_file set winner = 'yes' where id = 'x-case'`);
});

test('what is right again at the second look does not count', async () => {
  await sql(`update case_file set holds = holds + 1 where id = 'x-open'`);
  const [findings] = await Promise.all([
    doctor.findings({ limits: { againMs: 3_000 } }),
    new Promise((resolve) => setTimeout(resolve, 1_500)).then(() =>
      system.sql(`update case_file set holds = holds - 1 where id = 'x-open'`),
    ),
  ]);
  expect(findings.cases).toBeUndefined();
});

test('counts: repair corrects them, twice does so once, and items that come meanwhile are counted', async () => {
  await sql(
    `insert into tally_line (kind, queue, what, n) values ('ticket', 'x-tickets', 'ready', 5), ('job', 'x-topic', 'ready', -1)`,
  );
  const [findings] = await Promise.all([
    doctor.findings({ repair: true }),
    api.post('/v1/queues/x-tickets/tickets', { body: 1 }),
  ]);
  expect(findings.counts).toMatchObject({ count: 0, repaired: '2 counts were corrected.' });
  expect((await doctor.findings({ repair: true })).counts).toBeUndefined();
  expect((await api.get('/v1/queues/x-tickets/stats')).body).toMatchObject({ waiting: 2 });
});
