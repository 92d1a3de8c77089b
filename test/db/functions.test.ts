import { afterEach, expect, test } from 'vitest';
import { KINDS } from '../../contract/kinds.ts';
import type { CoreState } from '../../contract/snapshot.ts';
import { EDITION, MIN_COMPATIBLE } from '../../db/edition.ts';
import { migrate } from '../../db/migrate.ts';
import { isFinal, stateWord } from '../../domain/items.ts';
import { kindOf } from '../../domain/kinds.ts';
import { connected } from '../support/database.ts';
import { testStores } from '../support/system.ts';

const { databaseUrl } = await testStores();
const client = await connected(databaseUrl);
const signatures = async () =>
  (await client.query<{ name: string }>('select oid::regprocedure as name from pg_proc order by 1')).rows.map(
    (r) => r.name,
  );
const ours = await signatures();
const OF_OTHERS = 'not_docket()';
/** Gone; gone, but with a view on it; now with other parameters. */
const OF_TICK = ['gone(text[])', 'depended_on()', 'tick(text,text)'];
const OF_GONE_FILE = 'of_gone_file(integer,item)';

afterEach(async () => {
  const planted = [OF_OTHERS, ...OF_TICK, OF_GONE_FILE].map((name) => `drop function if exists ${name} cascade;`);
  await client.query(planted.join(''));
  await client.query('update schema_edition set edition = $1', [EDITION]);
});

/** What an earlier release, which kept no record of functions, left behind. */
async function earlierRelease(edition: number): Promise<void> {
  const create = (...names: string[]) =>
    names.map((name) => `create function ${name} returns integer language sql as 'select 1';`).join('');
  const applied = (file: string, ...names: string[]) =>
    client.query(`begin; ${create(...names)}
      insert into schema_step (name, hash) values ('functions/${file}', 'earlier')
        on conflict (name) do update set hash = excluded.hash; commit`);
  await applied('tick.sql', ...OF_TICK);
  await applied('gone.sql', OF_GONE_FILE);
  await client.query(`${create(OF_OTHERS)} create view of_others as select depended_on()`);
  await client.query('drop table if exists schema_function');
  await client.query('update schema_edition set edition = $1', [edition]);
}
const added = async () => (await signatures()).filter((name) => !ours.includes(name)).sort();

test('S0.9 functions that are gone from the files are gone from an upgraded database', async () => {
  await earlierRelease(MIN_COMPATIBLE - 1);
  const lines: string[] = [];
  await migrate(databaseUrl, (line) => lines.push(line));
  expect(await added()).toEqual(['depended_on()', OF_OTHERS]);
  expect(await signatures()).toEqual(expect.arrayContaining(ours));
  expect(lines).toContainEqual(expect.stringMatching(/depended_on\(\).* stays: .*other objects depend on it/));
  expect((await client.query(`select 1 from schema_step where name = 'functions/gone.sql'`)).rows).toEqual([]);
});

test('S0.9 functions that a compatible edition calls stay until it no longer is', async () => {
  await earlierRelease(MIN_COMPATIBLE);
  const all = [...OF_TICK, OF_GONE_FILE, OF_OTHERS].sort();
  await migrate(databaseUrl);
  await migrate(databaseUrl);
  expect(await added()).toEqual(all);
  await client.query('update schema_function set edition = edition - 1');
  await migrate(databaseUrl);
  expect(await added()).toEqual(['depended_on()', OF_OTHERS]);
});

test("S0.9 in a restored database, functions that are not Docket's are told from its own", async () => {
  await earlierRelease(MIN_COMPATIBLE - 1);
  // one transaction writes all of it
  await client.query(`begin; create or replace function ${OF_OTHERS} returns integer language sql as 'select 2';
    update schema_step set name = name; commit`);
  await migrate(databaseUrl);
  expect(await added()).toContain(OF_OTHERS);
  expect(await signatures()).toEqual(expect.arrayContaining(ours));
});

test('S0.9 functions whose columns or names of parameters were others in an earlier release are made anew', async () => {
  await client.query(`begin; drop function counts_of(text, text);
    create function counts_of(p_kind text, p_queue text) returns table (n bigint) language sql as 'select 1::bigint';
    drop function sample_queues(integer);
    create function sample_queues(p_most integer) returns void language sql as 'select null::void';
    update schema_step set hash = 'earlier' where name = 'functions/samples.sql'; commit`);
  await migrate(databaseUrl);
  expect(await added()).toEqual([]);
  expect(await signatures()).toEqual(expect.arrayContaining(ours));
  const { rows } = await client.query(`select * from counts_of('ticket', 'none')`);
  expect(rows).toEqual([expect.objectContaining({ ready: '0', held: '0' })]);
});

test('S0.9 a later release can change each function and column: no function depends on another, or on a column', async () => {
  const { rows } = await client.query(
    `select objid::regprocedure::text as name, pg_describe_object(refclassid, refobjid, refobjsubid) as needs
       from pg_depend where classid = 'pg_proc'::regclass and deptype = 'n' and refobjid >= 16384
        and (refclassid = 'pg_proc'::regclass or refclassid = 'pg_class'::regclass and refobjsubid > 0)`,
  );
  expect(rows).toEqual([]);
});

test('db/functions/kinds.sql says what domain/kinds.ts says', async () => {
  const { rows } = await client.query(
    `select k as kind, clock_of(k) as clock, exhausted_state(k) as exhausted, overdue_state(k) as overdue, ranks_by_number(k) as "byNumber"
       from unnest($1::text[]) with ordinality as s (k, n) order by n`,
    [KINDS],
  );
  const expected = KINDS.map((kind) => {
    const { clock, exhausted, overdue, order } = kindOf(kind);
    return { kind, clock, exhausted, overdue, byNumber: order === 'number' };
  });
  expect(rows).toEqual(expected);
});

test.each(KINDS.filter((kind) => kindOf(kind).leased === 'one'))(
  'a %s ends with the word that its users know the state by',
  async (kind) => {
    const ends = (Object.keys(kindOf(kind).words) as CoreState[]).filter(isFinal);
    for (const state of ends) {
      const { rows } = await client.query('select end_event($1, $2) as event', [kind, state]);
      expect(rows[0].event).toBe(stateWord(kind, state));
    }
  },
);

test('each clock is a function of the database, and `advance` calls it', async () => {
  const clocks = [...new Set(KINDS.map((kind) => kindOf(kind).clock))].sort();
  const { rows } = await client.query(`select proname as name from pg_proc where proname = any ($1) order by 1`, [
    clocks,
  ]);
  expect(rows.map((r) => r.name)).toEqual(clocks);
  const [advance] = (await client.query(`select prosrc from pg_proc where proname = 'advance'`)).rows;
  for (const clock of clocks) expect(advance.prosrc).toContain(`${clock}(`);
});
