import { afterEach, expect, test } from 'vitest';
import { EDITION, MIN_COMPATIBLE } from '../../db/edition.ts';
import { migrate } from '../../db/migrate.ts';
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
