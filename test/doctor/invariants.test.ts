import { setTimeout as sleep } from 'node:timers/promises';
import { beforeAll, expect, test } from 'vitest';
import { testDoctor, useAllKinds } from '../support/doctor.ts';
import { startTestSystem } from '../support/system.ts';

// No worker runs, so that nothing but the test writes once all kinds have been used.
const system = await startTestSystem({ LOG_LEVEL: 'silent' }, { role: 'api' });
const { api } = system;
const doctor = testDoctor(system, 0);
const { sql } = doctor;

beforeAll(async () => {
  await useAllKinds(api, 'x');
  await api.tickets.decided('looked', { id: 'x-looked' });
  expect((await api.post('/v1/tickets/x-looked/looks', { cause: 'check' })).status).toBe(201);
  expect((await api.put('/v1/reviewers/x-counted', {})).status).toBe(200);
  await sql("update reviewer set updated_at = updated_at - interval '1 hour'");
  await api.tickets.addHeld('counted', 'x-by-counted', 'x-counted');
  // a reader, so that events have their positions
  expect((await api.get('/v1/feed?after=0&limit=500')).status).toBe(200);
});

test('a system that has all kinds in use breaks no invariant', async () => {
  expect(await doctor.broken()).toEqual([]);
  expect(await doctor.broken({ deep: true, limits: { lines: 10 } })).toEqual([]);
});

const HELD = `kind = 'ticket' and id = 'x-held'`;

/** A statement that breaks one rule with `breaks` in place of $, and puts it right with `mends`. */
interface Injected {
  check: string;
  what: string;
  example: RegExp;
  statement: string;
  breaks: string;
  mends: string;
}

const COUNT = `insert into tally_line (kind, queue, what, n) values`;
const UP_AND_DOWN = { breaks: '+', mends: '-' };

const INJECTED: Injected[] = [
  {
    ...{ check: 'counts', what: 'a count that no row stands for' },
    example: /^ticket\/x-tickets ready: 8 counted, 1 rows$/,
    ...{ statement: `${COUNT} ('ticket', 'x-tickets', 'ready', $7)`, ...UP_AND_DOWN },
  },
  {
    ...{ check: 'counts', what: 'a delivery that is not counted' },
    example: /^delivery\/ticket pending: 2 counted, 0 rows$/,
    ...{ statement: `${COUNT} ('delivery', 'ticket', 'pending', $2)`, ...UP_AND_DOWN },
  },
  {
    ...{ check: 'states', what: 'an event that leads to another state' },
    example: /^ticket\/x-waits: claimed does not lead to ready$/,
    // past the trigger, which would refuse it
    statement: `begin; alter table item disable trigger item_derived; update event set type = '$' where item_id = 'x-waits';
      update item set last_event = '$' where id = 'x-waits'; alter table item enable trigger item_derived; commit`,
    ...{ breaks: 'claimed', mends: 'created' },
  },
  {
    ...{ check: 'log', what: 'a gap in its events' },
    example: /^ticket\/x-decided: 3 events up to number 5, its row knows 3$/,
    ...{ statement: `update event set seq = seq $ 2 where item_id = 'x-decided' and seq >= 3`, ...UP_AND_DOWN },
  },
  {
    ...{ check: 'log', what: 'an event of another type than the row says' },
    example: /^job\/x-job-ready: the last event is kicked/,
    ...{ statement: `update event set type = '$' where item_id = 'x-job-ready'`, breaks: 'kicked', mends: 'created' },
  },
  {
    ...{ check: 'log', what: 'a version that the row does not have' },
    example: /^job\/x-job-ready: version \d+ in its events, \d+ in its row$/,
    ...{ statement: `update event set version = version $ 1000000 where item_id = 'x-job-ready'`, ...UP_AND_DOWN },
  },
  {
    ...{ check: 'log', what: 'a decided ticket that is still granted to someone' },
    example: /^ticket\/x-decided: 1 live leases in its events/,
    statement: `update event set ends = $ where item_id = 'x-decided' and type = 'decided'`,
    ...{ breaks: 'null', mends: '2' },
  },
  {
    ...{ check: 'log', what: 'a ticket that two hold at once' },
    example: /^ticket\/x-held: 2 live leases in its events, and it is held$/,
    statement: `update event set token = $ where item_id = 'x-held' and type = 'created'`,
    ...{ breaks: `'\\x00'`, mends: 'null' },
  },
  {
    ...{ check: 'holds', what: 'a token that was never granted', example: /^ticket\/x-held: its token is not the one/ },
    ...{
      statement: `update item set lease_id = $ where ${HELD}`,
      breaks: `'x' || lease_id`,
      mends: 'substr(lease_id, 2)',
    },
  },
  {
    ...{ check: 'holds', what: 'a ticket that was handed out too early' },
    example: /^ticket\/x-held: it was handed out before it was due$/,
    ...{ statement: `update item set available_at = available_at $ interval '1 day' where ${HELD}`, ...UP_AND_DOWN },
  },
  {
    ...{ check: 'holds', what: 'a slot that was given up while its lease is live' },
    example: /^ticket\/x-held: its slot was given up/,
    ...{ statement: `update item set slot = $slot where ${HELD}`, breaks: '-', mends: '-' },
  },
  {
    ...{ check: 'leases', what: 'a live dispatch of what is over' },
    example: /^task\/x-once\/.*: x holds it, and it is settled$/,
    statement: `update lease set $ kind = 'task' and (why = 'settled' or slot = 'nobody')`,
    breaks: `ended_at = null, why = null, ended_by = null, slot = 'nobody' where`,
    mends: `ended_at = now(), why = 'settled', ended_by = 'x', slot = 'x' where`,
  },
  {
    ...{ check: 'cases', what: 'a hold that no one has', example: /^case\/x-open: 2 holds by its row, 1 live leases$/ },
    ...{ statement: `update case_file set holds = holds $ 1 where id = 'x-open'`, ...UP_AND_DOWN },
  },
  {
    ...{ check: 'cases', what: 'a vote that no one has cast' },
    example: /^case\/x-open: its row counts 2 votes, .*, there are 1, /,
    ...{
      statement: `update case_file set votes = $, tally = '{"no": $}' where id = 'x-open'`,
      breaks: '2',
      mends: '1',
    },
  },
  {
    ...{ check: 'cases', what: 'capacity for more than may vote' },
    example: /^case\/x-open: capacity \d+ by its row, \d+ by votes and leases$/,
    ...{ statement: `update item set capacity = capacity $ 1 where kind = 'case' and id = 'x-open'`, ...UP_AND_DOWN },
  },
  {
    ...{ check: 'cases', what: 'a decided case without a winner' },
    example: /^case\/x-case: it is settled, and its winner no one$/,
    ...{ statement: `update case_file set winner = $ where id = 'x-case'`, breaks: 'null', mends: `'yes'` },
  },
  {
    ...{ check: 'stock', what: 'more stock than the task has' },
    example: /^task\/x-twice\/.*: 2 left by its row, 1 dispatched and 0 completed of 2$/,
    ...{
      statement: `update item set capacity = capacity $ 1 where kind = 'task' and id like 'x-twice/%'`,
      ...UP_AND_DOWN,
    },
  },
  {
    ...{ check: 'stock', what: 'more dispatches than the task has' },
    example: /^task\/x-once\/.*: no left by its row, 0 dispatched and 2 completed of 1$/,
    statement: '$',
    breaks: `insert into lease (token, kind, item_id, queue, holder, slot, granted_at, ended_at, why, ended_by)
      select 'second', kind, item_id, queue, holder, slot, granted_at, ended_at, why, ended_by
        from lease where kind = 'task' and why = 'settled'`,
    mends: `delete from lease where token = 'second'`,
  },
  {
    ...{ check: 'reviews', what: 'a record that its index does not have' },
    example: /^review\/x-review: record and index differ$/,
    statement: `update review set record = $ where id = 'x-review'`,
    ...{ breaks: `jsonb_set(record, '{text,status}', '9')`, mends: 'record_of_index(id)' },
  },
  {
    ...{ check: 'reviews', what: 'a base row of its own', example: /^review\/x-review: record and base row differ$/ },
    ...{ statement: `update review_base set status = $ where review_id = 'x-review'`, breaks: '9', mends: '2' },
  },
  {
    ...{ check: 'reviews', what: 'a status that no callback gave' },
    example: /^review\/x-review: a status is not that of the callback/,
    statement: `update review_callback set status = $ where review_id = 'x-review' and kind = 'text'`,
    ...{ breaks: '7', mends: '2' },
  },
  {
    ...{ check: 'reviews', what: 'a gap in its log' },
    example: /^review\/x-review: 2 lines up to number 3, its row knows 2$/,
    ...{
      statement: `update review_callback set seq = seq $ 1 where review_id = 'x-review' and seq > 1`,
      ...UP_AND_DOWN,
    },
  },
  {
    ...{ check: 'outcomes', what: 'an outcome that is pending and was delivered' },
    example: /^ticket\/x-decided: its outcome is pending, and its delivery delivered$/,
    statement: `with d as ($) update item set delivery_pending = not delivery_pending where kind = 'ticket' and id = 'x-decided'`,
    breaks: `insert into delivery (kind, item_id, n, type, version, url, state)
      values ('ticket', 'x-decided', 1, 'ticket.decided', 1, 'http://receiver/', 'delivered')`,
    mends: `delete from delivery where item_id = 'x-decided'`,
  },
  {
    ...{ check: 'quotas', what: 'a hand-out that is not counted' },
    example: /^x-counted: 0 counted, 1 handed out$/,
    ...{ statement: "update reviewer_day set n = $ where name = 'x-counted'", breaks: '0', mends: '1' },
  },
  {
    ...{ check: 'looks', what: 'a second look that has ended for the ticket that it is about' },
    example: /^ticket\/\S+: it is a look at x-looked, which says otherwise$/,
    statement: `update item set look = jsonb_set(look, '{looks,0,outcome}', '$') where id = 'x-looked'`,
    ...{ breaks: '"upheld"', mends: 'null' },
  },
  {
    ...{ check: 'feed', what: 'an event without a position' },
    example: /^event \d+: ticket\/x-waits 1 \(created\) has no position$/,
    statement: '$',
    breaks: `with p as (delete from feed where event_id = (select id from event where item_id = 'x-waits') returning *)
      insert into kept select * from p`,
    mends: `insert into feed select * from kept`,
  },
];

beforeAll(() => sql('create table kept (like feed)'));

test.each(INJECTED)('$check: $what', async ({ check, example, statement, breaks, mends }) => {
  await sql(statement.replaceAll('$', breaks));
  const findings = await doctor.findings();
  const found = Object.values(findings).filter(({ severity }) => severity === 'broken');
  expect(found.map((finding) => finding.check)).toEqual([check]);
  expect(found[0]).toMatchObject({ count: 1, examples: [expect.stringMatching(example)] });
  expect(found[0]?.advice).toMatch(/^[A-Z].*\.$/);
  await sql(statement.replaceAll('$', mends));
  expect(await doctor.broken()).toEqual([]);
});

test('feed: a position whose event is gone', async () => {
  await sql('create table gone (like event)');
  await sql(`with e as (delete from event where id = (select id from event where item_id like 'x-later%' limit 1) returning *)
    insert into gone select * from e`);
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
    sleep(1_500).then(() => system.sql(`update case_file set holds = holds - 1 where id = 'x-open'`)),
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
