import { join } from 'node:path';
import { expect, inject, test } from 'vitest';
import { startPostgres } from '../../cli/servers/postgres.ts';
import { migrate } from '../../db/migrate.ts';
import { docketHere, expectFailure } from '../support/cli.ts';
import { claimOne, eventTypes, eventually } from '../support/client.ts';
import { emptyDatabase, onDatabase, rowsOf } from '../support/database.ts';
import { testDoctor } from '../support/doctor.ts';
import { dumped, loaded } from '../support/dumps.ts';
import { atEndOfFile } from '../support/endings.ts';
import { ownFolder } from '../support/own.ts';
import { startTestSystem, testStores } from '../support/system.ts';
import { add, decide, ticket } from '../support/tickets.ts';

const server = inject('postgres');

/** An empty database with these settings of its own. */
async function databaseWith(settings: Record<string, string>, inside = 'select'): Promise<string> {
  const url = await emptyDatabase(server);
  const name = new URL(url).pathname.slice(1);
  for (const [setting, value] of Object.entries(settings))
    await rowsOf(url, `alter database ${name} set ${setting} = ${value}`);
  await rowsOf(url, inside);
  return url;
}

/** Ends the connections of Docket's processes, so that new ones have the settings that were changed. */
const endSessions = (url: string) =>
  rowsOf(
    url,
    `select pg_terminate_backend(pid) from pg_stat_activity
    where datname = current_database() and pid <> pg_backend_pid() and backend_type = 'client backend'`,
  );

test('S0.9 a dump of a database whose tables are in another schema than public has all rows, and load puts them back', async () => {
  const inSchema = () => databaseWith({ search_path: 'docket' }, 'create schema docket');
  const [from, to] = [await inSchema(), await inSchema()];
  await migrate(from);
  const stores = { ...(await testStores()), databaseUrl: from };
  const { api, stop } = await startTestSystem({}, { stores });
  for (let n = 0; n < 5; n++) await add(api, 'moved', { id: `moved-${n}` });
  expect((await testDoctor(stores).findings()).objects).toBeUndefined();
  await stop();
  const file = await dumped(from, 'schema.dump');
  expect(await loaded(to, file)).toMatchObject({ code: 0, stdout: expect.stringContaining('5 of them items') });
  expect(await rowsOf(to, 'select count(*)::int as n from docket.item')).toEqual([{ n: 5 }]);
  // nothing is in the schema that comes first now
  await rowsOf(from, 'create schema other');
  const none = await docketHere(['dump'], { DATABASE_URL: `${from}?options=-csearch_path%3Dother,docket` });
  expectFailure(none, /no table .*item/);
}, 180_000);

test('S0.9 settings of a database that others chose change no answer', async () => {
  const databaseUrl = await databaseWith({
    datestyle: "'SQL, DMY'",
    intervalstyle: 'iso_8601',
    timezone: "'Asia/Shanghai'",
    bytea_output: 'escape',
    array_nulls: 'off',
    transform_null_equals: 'on',
    default_transaction_isolation: 'serializable',
    lock_timeout: '1',
  });
  await migrate(databaseUrl);
  const stores = { ...(await testStores()), databaseUrl };
  const { api } = await startTestSystem({}, { stores });
  const before = Date.now();
  await add(api, 'dated', { id: 'dated-1', body: 1 });
  const held = await claimOne(api, 'dated', 'anna');
  expect(Math.abs(Date.parse(held.lease.expiresAt) - before)).toBeLessThan(3_600_000);
  expect((await decide(api, held)).status).toBe(200);
  const read = await ticket(api, 'dated-1');
  expect(Math.abs(Date.parse(read.createdAt) - before)).toBeLessThan(600_000);
  expect(await eventTypes(api, 'dated-1')).toEqual(expect.arrayContaining(['created', 'claimed', 'decided']));
  // compared with the hash that is stored
  expect((await api.post('/v1/queues/dated/tickets', { id: 'dated-1', body: 1 })).status).toBe(200);
  expect((await api.get('/readyz')).body).toMatchObject({ postgres: 'ok', schema: 'ok' });

  // one that only a superuser may set: triggers would not run
  const name = new URL(databaseUrl).pathname.slice(1);
  await rowsOf(databaseUrl, `alter database ${name} set session_replication_role = replica`);
  await endSessions(databaseUrl);
  await eventually(async () => (await api.get('/readyz')).body.postgres === 'misconfigured');
  const examples = (await testDoctor(stores).all()).find(({ check }) => check === 'settings')?.examples;
  expect(examples).toContain('session_replication_role: is replica: Docket relies on origin');
  await rowsOf(databaseUrl, `alter database ${name} reset session_replication_role`);
  await endSessions(databaseUrl);
}, 120_000);

test('S0.9 while PostgreSQL is read-only, calls that write are 503 with Retry-After and readyz is 503', async () => {
  const { api, databaseUrl } = await startTestSystem({ LOG_LEVEL: 'silent' }, { role: 'api' });
  await eventually(async () => (await api.get('/readyz')).status === 200);
  const name = new URL(databaseUrl).pathname.slice(1);
  await rowsOf(databaseUrl, `alter database ${name} set default_transaction_read_only = on`);
  await endSessions(databaseUrl);
  const ready = await eventually(async () => {
    const answer = await api.get('/readyz');
    return answer.body.postgres === 'read_only' ? answer : undefined;
  });
  expect(ready.status).toBe(503);
  const refused = await api.post('/v1/queues/standby/tickets', { id: 'later', body: 1 });
  expect(refused).toMatchObject({ status: 503, body: { code: 'unavailable' } });
  expect(refused.headers.get('retry-after')).toBe('1');
  await onDatabase(databaseUrl, async (client) => {
    await client.query('set transaction_read_only = off');
    await client.query('set default_transaction_read_only = off');
    await client.query(`alter database ${name} reset default_transaction_read_only`);
  });
  // without a restart of anything
  await eventually(async () => (await api.get('/readyz')).body.postgres === 'ok', 60_000);
  expect((await add(api, 'standby', { id: 'later', body: 1 })).state).toBe('waiting');
}, 120_000);

test('S0.9 of several hosts in DATABASE_URL the one is used that accepts writes', async () => {
  const standby = await startPostgres(join(ownFolder('standby'), 'postgres'), {
    settings: { fsync: 'off' },
  });
  atEndOfFile(() => standby.stop());
  const { port: standbyPort } = new URL(standby.url);
  const stores = await testStores();
  const { port, pathname } = new URL(stores.databaseUrl);
  await rowsOf(standby.url, `create database ${pathname.slice(1)}`);
  const { password } = new URL(server);
  await rowsOf(standby.url, `alter role docket password '${password}'`);
  const changed = new URL(standby.url);
  changed.password = password;
  await rowsOf(changed.href, 'alter system set default_transaction_read_only = on');
  await rowsOf(changed.href, 'select pg_reload_conf()');
  const hosts = `127.0.0.1:1,127.0.0.1:${standbyPort},127.0.0.1:${port}`;
  const databaseUrl = `postgres://docket:${password}@${hosts}${pathname}?target_session_attrs=read-write`;
  const { api } = await startTestSystem({ DATABASE_URL: databaseUrl }, { stores: { ...stores, databaseUrl } });
  expect((await add(api, 'hosts', { id: 'hosts-1' })).state).toBe('waiting');
  expect(await rowsOf(stores.databaseUrl, 'select id from item')).toEqual([{ id: 'hosts-1' }]);
}, 120_000);

test('a database that cannot hold all characters is refused in a sentence, and nothing is made in it', async () => {
  const name = `latin1_${Date.now()}`;
  await rowsOf(server, `create database ${name} encoding 'LATIN1' locale 'C' template template0`);
  const url = new URL(`/${name}`, server).href;
  expectFailure(await docketHere(['migrate'], { DATABASE_URL: url }), /encoding LATIN1.*Docket needs UTF8/);
  expect(await rowsOf(url, `select tablename from pg_tables where schemaname = 'public'`)).toEqual([]);
}, 60_000);
