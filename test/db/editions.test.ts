import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterEach, expect, test } from 'vitest';
import { EDITION } from '../../db/edition.ts';
import { startTestSystem } from '../support/system.ts';

const { api, sql, databaseUrl } = await startTestSystem({ LOG_LEVEL: 'silent' });
const bin = fileURLToPath(new URL('../../cli/docket.mjs', import.meta.url));

/** Runs `docket migrate` on the test's database. */
const migrateCommand = () =>
  promisify(execFile)(process.execPath, [bin, 'migrate'], {
    env: { ...process.env, DATABASE_URL: databaseUrl, TEMPORAL_ADDRESS: '' },
  }).then(
    ({ stdout }) => ({ code: 0, text: stdout }),
    (error: { code: number; stderr: string }) => ({ code: error.code, text: error.stderr }),
  );

const ready = async () => {
  const { status, body } = await api.get('/readyz');
  return [status, body.schema];
};
const functionText = async () => (await sql(`select prosrc from pg_proc where proname = 'tick'`))[0]?.prosrc as string;

/** What a later version's `docket migrate` leaves behind: a function with another text, and its edition. */
async function laterVersion(edition: number, minCompatible: number): Promise<void> {
  await sql(`create or replace function ids_of(p_kind text, p_kinds text[], p_ids text[]) returns text[]
             language sql immutable as $$ select array(select p.id from unnest(p_kinds, p_ids) as p (kind, id) where p.kind = p_kind) /* later */ $$`);
  await sql(`update schema_step set hash = 'later' where name = 'functions/tick.sql'`);
  await sql(
    'create table if not exists schema_edition (one boolean primary key default true, edition integer, min_compatible integer)',
  );
  await sql(
    `insert into schema_edition (edition, min_compatible) values ($1, $2)
             on conflict (one) do update set edition = $1, min_compatible = $2`,
    [edition, minCompatible],
  );
}
const stillThere = async () =>
  (await sql(`select 1 from pg_proc where proname = 'ids_of' and prosrc like '%later%'`)).length === 1;

afterEach(async () => {
  await sql(`delete from schema_step where name = 'migrations/9999_later.sql'`);
  await sql('update schema_edition set edition = $1, min_compatible = $1', [EDITION]);
  await migrateCommand();
  expect(await ready()).toEqual([200, 'ok']);
});

test('S0.9 a later version has changed functions: this one stays ready, and does not put its own back', async () => {
  await laterVersion(EDITION + 1, EDITION);
  expect(await ready()).toEqual([200, 'ok']);
  await api.post('/v1/queues/newer/tickets', { id: 'n', body: {} });
  expect((await api.post('/v1/queues/newer/claim', { reviewer: 'anna' })).body.tickets).toHaveLength(1);
  const { code, text } = await migrateCommand();
  expect([code, text]).toEqual([1, expect.stringMatching(/edition \d.*edition \d.*can run on it/s)]);
  expect(await stillThere()).toBe(true);
  expect(await ready()).toEqual([200, 'ok']);
});

test('S0.9 a later version that this one does not work with: not ready, and it says why', async () => {
  await laterVersion(EDITION + 1, EDITION + 1);
  expect((await api.get('/readyz')).status).toBe(503);
  expect(await ready()).toEqual([503, 'too_new']);
  expect(await migrateCommand()).toMatchObject({ code: 1, text: expect.stringMatching(/run that one/) });
});

test('S0.9 migrations that this version does not know are not migrated over, even in one edition', async () => {
  await sql(`insert into schema_step (name, hash) values ('migrations/9999_later.sql', 'x')`);
  await laterVersion(EDITION, EDITION);
  const { code, text } = await migrateCommand();
  expect([code, text]).toEqual([1, expect.stringContaining('migrations/9999_later.sql')]);
  expect(await stillThere()).toBe(true);
  expect(await ready()).toEqual([200, 'ok']);
});

test('S0.9 an earlier edition is brought up to date, and says so until then', async () => {
  await sql(`update schema_edition set edition = edition - 1, min_compatible = edition - 1`);
  await sql(`update schema_step set hash = 'earlier' where name = 'functions/tick.sql'`);
  expect(await ready()).toEqual([503, 'outdated']);
  expect(await migrateCommand()).toMatchObject({ code: 0, text: expect.stringContaining('functions/tick.sql') });
  expect(await ready()).toEqual([200, 'ok']);
  expect(await functionText()).toContain('skip locked');
});
