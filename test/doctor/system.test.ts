import { Client, Connection } from '@temporalio/client';
import { afterAll, expect, test } from 'vitest';
import { EDITION } from '../../db/edition.ts';
import { eventually } from '../support/client.ts';
import { testDoctor } from '../support/doctor.ts';
import { lastingPort } from '../support/ports.ts';
import { startTestSystem, testStores } from '../support/system.ts';

const system = await startTestSystem({ LOG_LEVEL: 'silent' });
const doctor = testDoctor(system, 100);
const { sql } = doctor;

const connection = Connection.lazy({ address: `127.0.0.1:${await lastingPort()}` });
afterAll(() => connection.close());

test('a system that runs has nothing to be said about it', async () => {
  await eventually(async () => Object.keys(await doctor.findings()).length === 0);
});

test('objects: an index that is missing, a trigger that is disabled, a function that is gone', async () => {
  const [{ made } = {}] = await sql(`select indexdef as made from pg_indexes where indexname = 'item_oldest'`);
  await sql(`drop index item_oldest; alter table delivery disable trigger delivery_inserted;
    alter function event_from(timestamptz) rename to event_since`);
  expect((await doctor.findings()).objects).toMatchObject({
    ...{ severity: 'broken', count: 3 },
    examples: [
      'index item_oldest: is missing',
      'trigger delivery_inserted: is disabled',
      'function event_from(timestamp with time zone): is missing',
    ],
  });
  await sql(`${made}; alter table delivery enable trigger delivery_inserted;
    alter function event_since(timestamptz) rename to event_from`);
  expect(await doctor.broken()).toEqual([]);
});

test('objects: a constraint that was not checked for the rows that are there', async () => {
  await sql('alter table queue drop constraint queue_max_held_check');
  await sql('alter table queue add constraint queue_max_held_check check (max_held > 0) not valid');
  expect((await doctor.findings()).objects?.examples).toEqual(['constraint queue_max_held_check: is not validated']);
  await sql('alter table queue validate constraint queue_max_held_check');
  expect(await doctor.broken()).toEqual([]);
});

test("settings: those of a test's server, which may lose what is committed", async () => {
  const all = await doctor.all();
  const off = ['fsync', 'synchronous_commit'].map((name) => expect.stringContaining(`${name}: is off`));
  expect(all.find(({ check }) => check === 'settings')).toMatchObject({
    ...{ severity: 'warning', examples: expect.arrayContaining(off) },
  });
  expect(all.find(({ check }) => check === 'versions')).toMatchObject({
    severity: 'info',
    examples: [
      'Docket test',
      `schema edition ${EDITION}`,
      expect.stringMatching(/^PostgreSQL \d/),
      expect.stringMatching(/^Temporal \d/),
    ],
  });
});

test('temporal: it cannot be reached, and all else is looked at', async () => {
  const client = new Client({ connection, namespace: 'default' });
  const count = (n: number) =>
    sql(`insert into tally_line (kind, queue, what, n) values ('ticket', 'q', 'ready', $1)`, [n]);
  await count(1);
  const findings = await doctor.findings({ client });
  await count(-1);
  expect(Object.keys(findings).sort()).toEqual(['counts', 'temporal']);
  expect(findings.temporal).toMatchObject({ severity: 'broken', count: 1 });
});

test('search-attribute: a namespace in which it is not registered', async () => {
  const { connection: admin } = doctor.client;
  const { namespace } = system;
  await admin.operatorService.removeSearchAttributes({ namespace, searchAttributes: ['docketQueue'] });
  expect((await doctor.findings())['search-attribute']?.examples).toEqual(['docketQueue: is not registered']);
  await admin.operatorService.addSearchAttributes({ namespace, searchAttributes: { docketQueue: 2 } });
});

test('reconciliation: Temporal has another store than the one that was filled', async () => {
  const store = await eventually(
    async () => (await sql(`select store from reconciliation where stage is null`))[0]?.store as string,
  );
  await sql(`update reconciliation set store = 'another/1'`);
  expect((await doctor.findings()).reconciliation?.examples).toEqual([
    expect.stringMatching(/^store: Temporal has another store/),
  ]);
  await sql('update reconciliation set store = $1', [store]);
});

test('processes: a worker has another namespace than the others', async () => {
  const other = await testStores();
  const stores = { ...other, databaseUrl: system.databaseUrl };
  const astray = await startTestSystem({}, { stores, role: 'worker' });
  const { node } = astray.running.runtime;
  const found = await eventually(async () => (await doctor.findings()).processes?.examples, 60_000);
  expect(found).toEqual([`worker ${node}: has another Temporal, or not ${system.namespace}`]);
  await astray.stop();
  await sql('delete from node where id = $1', [node]);
});

test('processes and schema: nothing is alive; a later version has migrated, and no other check is made', async () => {
  await system.stop();
  expect((await doctor.findings()).processes?.examples.slice(0, 2)).toEqual([
    'api: no such process is alive',
    'worker: none follows the log',
  ]);
  await sql('update schema_edition set edition = $1, min_compatible = $1', [EDITION + 1]);
  expect(await doctor.findings()).toEqual({
    schema: {
      ...{ check: 'schema', severity: 'broken', count: 1, examples: ['too_new'] },
      advice: 'Run docket doctor of the version that migrated the database.',
    },
  });
  await sql('update schema_edition set edition = $1, min_compatible = $1', [EDITION]);
  await sql(`update schema_step set hash = 'older' where name = 'functions/tick.sql'`);
  expect(Object.keys(await doctor.findings())).toEqual(['schema']);
});
