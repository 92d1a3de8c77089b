import { afterEach, expect, test } from 'vitest';
import { EDITION } from '../../db/edition.ts';
import { migrate } from '../../db/migrate.ts';
import { docketHere } from '../support/cli.ts';
import { startTestSystem } from '../support/system.ts';

const { api, sql, databaseUrl } = await startTestSystem({ LOG_LEVEL: 'silent' }, { role: 'api' });

const migrateCommand = () => docketHere(['migrate'], { DATABASE_URL: databaseUrl });

const ready = async () => {
  const { status, body } = await api.get('/readyz');
  return [status, body.schema];
};

/** What a later version's `docket migrate` leaves behind: a function with another text, and its edition. */
async function laterVersion(edition: number, minCompatible: number): Promise<void> {
  await sql(`create or replace function ids_of(p_kind text, p_kinds text[], p_ids text[]) returns text[]
             language sql immutable as $$ select array(select p.id from unnest(p_kinds, p_ids) as p (kind, id) where p.kind = p_kind) /* later */ $$`);
  await sql(`update schema_step set hash = 'later' where name = 'functions/tick.sql'`);
  await sql('update schema_edition set edition = $1, min_compatible = $2', [edition, minCompatible]);
}
const stillThere = async () =>
  (await sql(`select 1 from pg_proc where proname = 'ids_of' and prosrc like '%later%'`)).length === 1;

afterEach(async () => {
  await sql(`delete from schema_step where name = 'migrations/9999_later.sql'`);
  await sql('update schema_edition set edition = $1, min_compatible = $1', [EDITION]);
  await migrate(databaseUrl);
  expect(await ready()).toEqual([200, 'ok']);
});

test('S0.9 a later version has changed functions: this one stays ready, and does not put its own back', async () => {
  await laterVersion(EDITION + 1, EDITION);
  expect(await ready()).toEqual([200, 'ok']);
  await api.post('/v1/queues/newer/tickets', { id: 'n', body: {} });
  expect((await api.post('/v1/queues/newer/claim', { reviewer: 'anna' })).body.tickets).toHaveLength(1);
  const { code, stderr } = await migrateCommand();
  expect([code, stderr]).toEqual([1, expect.stringMatching(/edition \d.*edition \d.*can run on it/s)]);
  expect(await stillThere()).toBe(true);
  expect(await ready()).toEqual([200, 'ok']);
});

test('S0.9 a later version that this one does not work with: not ready, and it says why', async () => {
  await laterVersion(EDITION + 1, EDITION + 1);
  expect((await api.get('/readyz')).status).toBe(503);
  expect(await ready()).toEqual([503, 'too_new']);
  expect(await migrateCommand()).toMatchObject({ code: 1, stderr: expect.stringMatching(/run that one/) });
});

test('S0.9 migrations that this version does not know are not migrated over, even in one edition', async () => {
  await sql(`insert into schema_step (name, hash) values ('migrations/9999_later.sql', 'x')`);
  await laterVersion(EDITION, EDITION);
  const { code, stderr } = await migrateCommand();
  expect([code, stderr]).toEqual([1, expect.stringContaining('migrations/9999_later.sql')]);
  expect(await stillThere()).toBe(true);
  expect(await ready()).toEqual([200, 'ok']);
});

test('S0.9 an earlier edition is brought up to date, and says so until then', async () => {
  await sql(`update schema_edition set edition = edition - 1, min_compatible = edition - 1`);
  await sql(`update schema_step set hash = 'earlier' where name = 'functions/tick.sql'`);
  expect(await ready()).toEqual([503, 'outdated']);
  expect(await migrateCommand()).toMatchObject({ code: 0, stdout: expect.stringContaining('functions/tick.sql') });
  expect(await ready()).toEqual([200, 'ok']);
  const [tick] = await sql(`select prosrc from pg_proc where proname = 'tick'`);
  expect(tick?.prosrc).toContain('skip locked');
});
