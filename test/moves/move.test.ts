import { spawn } from 'node:child_process';
import { createReadStream, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, inject, test, vi } from 'vitest';
import { checkDump } from '../../db/moving/file.ts';
import { load } from '../../db/moving/load.ts';
import { INSTEAD, MOVED } from '../../db/moving/tables.ts';
import { docket, expectFailure, folder, ROOT } from '../support/cli.ts';
import { type Client, claimOne, eventTypes, eventually } from '../support/client.ts';
import { emptyDatabase, rowsOf } from '../support/database.ts';
import { testDoctor, useAllKinds } from '../support/doctor.ts';
import { dumped, loaded, loadedByPipe, resealed, tablesOf } from '../support/dumps.ts';
import { feed } from '../support/feed.ts';
import { poison } from '../support/poison.ts';
import { published } from '../support/published.ts';
import { startReceiver } from '../support/receiver.ts';
import { put } from '../support/reviews.ts';
import { startTestSystem, type TestStores, type TestSystem, testStores } from '../support/system.ts';
import { add, configure, decide, ticket } from '../support/tickets.ts';

// a program for each command, and machines that are shared stall for seconds
vi.setConfig({ testTimeout: 300_000 });

const ticksOf = async (api: Client): Promise<number> =>
  (await api.get('/v1/topics/ticks/jobs?limit=500')).body.items.length;

/** Until the schedule has fired once more. */
async function firing(api: Client): Promise<void> {
  const before = await ticksOf(api);
  await eventually(async () => (await ticksOf(api)) > before, 60_000);
}

/** Until all that Temporal should have is there, and rows agree with each other. */
async function sound(stores: Pick<TestStores, 'databaseUrl' | 'namespace'>): Promise<void> {
  const doctor = testDoctor(stores);
  await eventually(async () => {
    const broken = await doctor.broken({ deep: true });
    if (broken.length > 0) throw new Error(JSON.stringify(await doctor.findings({ deep: true })));
    return true;
  }, 90_000);
}

/** Adds tickets until it is told to stop. */
function keepAdding(api: Client): () => Promise<void> {
  let stopping = false;
  const adding = (async () => {
    for (let n = 0; !stopping; n++) await add(api, 'meanwhile', { id: `meanwhile-${n}` });
  })();
  return async () => {
    stopping = true;
    await adding;
  };
}

/** What is open when a system is left: a live lease, one that will run out, an outcome no one takes, an audit, a schedule. */
async function leaveOpen({ api, sql }: TestSystem, callback: object) {
  await useAllKinds(api, 'x');
  await add(api, 'outcomes', { id: 'outcome', callback });
  expect((await decide(api, await claimOne(api, 'outcomes', 'anna'))).status).toBe(200);
  await api.put('/v1/topics/ticks/schedules/each-second', { everySeconds: 1, body: 1 });
  await put(api, 'audited', { text: { status: 1 } });
  await poison(sql, 'review_index');
  expect((await api.post('/v1/reviews/audited/callbacks', { kind: 'text', status: 2 })).status).toBe(202);
  await eventually(async () => (await ticksOf(api)) > 0);
  await configure(api, 'brief', { leaseSeconds: 8 });
  for (const [queue, id] of Object.entries({ brief: 'runs-out', long: 'goes-on' })) await add(api, queue, { id });
  const runsOut = await claimOne(api, 'brief', 'anna');
  return { runsOut, goesOn: await claimOne(api, 'long', 'anna') };
}

let moved: TestSystem;

test('S0.9 from a running system into another that runs: all that is open goes on, and nothing is lost', async () => {
  let status = 500;
  const receiver = await startReceiver(() => status);
  const old = await startTestSystem({ LOG_LEVEL: 'silent' });
  moved = await startTestSystem({ LOG_LEVEL: 'silent' });
  // it follows its log, and knows its Temporal
  await eventually(async () => (await moved.sql('select from reconciliation')).length > 0);
  const { runsOut, goesOn } = await leaveOpen(old, receiver.callback);
  const events = await feed(old.api, 'after=0&limit=500');
  const stopAdding = keepAdding(old.api);
  const file = await dumped(old.databaseUrl, 'first.dump');
  await stopAdding();
  await old.stop();
  expect(statSync(file).mode & 0o777).toBe(0o600);
  const { item = [] } = tablesOf(file);
  expect(item.filter((row) => /\truns-out\t.*\theld\t/.test(row))).toHaveLength(1);

  const { code, stdout } = await loaded(moved.databaseUrl, file);
  expect([code, stdout]).toEqual([0, expect.stringContaining(`${item.length} of them items`)]);
  status = 204;
  const { api } = moved;
  expect((await feed(api, 'after=0&limit=500')).slice(0, events.length)).toEqual(events);
  // the lease is the same, by the same token
  expect((await decide(api, goesOn)).status).toBe(200);
  await eventually(async () => (await eventTypes(api, 'runs-out')).at(-1) === 'reclaimed', 60_000);
  expect((await decide(api, runsOut)).body.code).toBe('lease_lost');
  await eventually(async () => (await eventTypes(api, 'outcome')).at(-1) === 'delivered', 60_000);
  await eventually(async () => (await api.get('/v1/reviews/audited')).body.text.status === 2, 60_000);
  await firing(api);
  const there = await moved.sql(`select from item where id like 'meanwhile-%'`);
  expect(there).toHaveLength(item.filter((row) => row.includes('\tmeanwhile-')).length);
  await published(moved.running, 60_000);
  await sound(moved);
});

test('S0.9 and back, into a database without a schema: its tables are equal, and it goes on too', async () => {
  await moved.stop();
  const file = await dumped(moved.databaseUrl, 'second.dump');
  const back = { ...(await testStores()), databaseUrl: await emptyDatabase(inject('postgres')) };
  const { code, stdout } = await loadedByPipe(back.databaseUrl, file);
  expect([code, stdout]).toEqual([0, expect.stringMatching(/^migrate migrations\/0001_core\.sql$/m)]);
  const [left, arrived] = [tablesOf(file), tablesOf(await dumped(back.databaseUrl, 'third.dump'))];
  // who follows the log, and that all is to be put back
  for (const name of ['log_shard', 'reconciliation']) {
    expect(arrived[name]).not.toEqual(left[name]);
    arrived[name] = left[name] = [];
  }
  expect(arrived).toEqual(left);
  for (const name of ['item', 'event', 'lease', 'vote', 'task', 'review', 'sequences'])
    expect([name, arrived[name]]).toEqual([name, expect.arrayContaining([expect.any(String)])]);

  const { api, sql, running } = await startTestSystem({ LOG_LEVEL: 'silent' }, { stores: back });
  await firing(api);
  expect((await ticket(api, 'goes-on')).state).toBe('decided');
  const [newest] = await sql('select max(version) as version from item');
  expect((await add(api, 'long', { id: 'new' })).version).toBeGreaterThan(Number(newest?.version));
  await published(running, 60_000);
  await sound(back);
});

test('S0.9 what counts on one server only is left behind, in every table', async () => {
  const { databaseUrl } = await testStores();
  const found = await rowsOf<{ name: string }>(
    databaseUrl,
    `select table_name || '.' || column_name as name from information_schema.columns
      where table_schema = 'public' and table_name = any ($1) and data_type in ('xid', 'xid8', 'pg_snapshot', 'oid')`,
    [MOVED],
  );
  const replaced = Object.entries(INSTEAD).flatMap(([name, columns]) =>
    Object.keys(columns).map((c) => `${name}.${c}`),
  );
  expect(replaced).toEqual(expect.arrayContaining(found.map(({ name }) => name)));
});

/** Files that are not whole, or of another schema, made of one that is; what is said of each. */
async function wrongFiles(whole: string): Promise<Record<'damaged' | 'foreign', [file: string, said: RegExp][]>> {
  const text = readFileSync(whole);
  const made = (name: string, content: string | Buffer) => {
    writeFileSync(join(folder, name), content);
    return join(folder, name);
  };
  const migrations = /"migrations":\["migrations\/0001_core.sql",/;
  const later = (t: string) => t.replace(migrations, (known) => `${known}"migrations/9999_later.sql",`);
  const edition = (t: string) => t.replace(/"edition":\d+/, '"edition":999');
  const earlier = (t: string) => t.replace(/,"migrations\/0074_\w+\.sql"/, '');
  return {
    damaged: [
      [made('altered.dump', text.toString().replace('ticket\tq\t', 'ticket\tr\t')), /was altered/],
      [made('last.dump', text.subarray(0, -1)), /is cut: it ends before its last line/],
      [made('half.dump', text.subarray(0, text.length >> 1)), /is cut/],
      [made('twice.dump', Buffer.concat([text, text])), /was altered/],
      [made('nothing.dump', ''), /is not a file that docket dump has written/],
      [made('other.sql', 'create table x ();\n'), /is not a file that docket dump has written/],
    ],
    foreign: [
      [await resealed(whole, 'later.dump', later), /edition \d+\), and this program is earlier/],
      [await resealed(whole, 'edition.dump', edition), /edition 999\), and this program is earlier/],
      [
        await resealed(whole, 'earlier.dump', earlier),
        /this program is later.*: load it with that version into an empty database, then run docket migrate/,
      ],
    ],
  };
}

test('S0.9 docket load refuses what it cannot load whole, and changes nothing', async () => {
  const { databaseUrl } = await testStores();
  await rowsOf(databaseUrl, `insert into queue (kind, name) values ('ticket', 'q')`);
  const one = { id: 't', queue: 'q', priority: 0, body: {}, hash: '00', delaySeconds: 0, actor: 'key' };
  await rowsOf(databaseUrl, `select from add_items('ticket', '${JSON.stringify([one])}', false)`);
  const whole = await dumped(databaseUrl, 'whole.dump');
  const before = readFileSync(whole);
  const { damaged, foreign } = await wrongFiles(whole);
  const empty = await emptyDatabase(inject('postgres'));
  const tables = () => rowsOf(empty, `select from information_schema.tables where table_schema = 'public'`);
  for (const [file, said] of damaged) await expect(checkDump(createReadStream(file), file)).rejects.toThrow(said);
  for (const [file, said] of foreign) await expect(load(empty, createReadStream(file), file)).rejects.toThrow(said);
  for (const [file, said] of [...damaged.slice(0, 2), ...foreign.slice(0, 1)])
    expectFailure(await loaded(empty, file), /^docket load: /, said);
  expectFailure(await loaded(empty, join(folder, 'no.dump')), /cannot read .*no\.dump \(no such file or folder\)/);
  expect(await tables()).toEqual([]);
  // what comes by a pipe is noticed at its end
  expectFailure(await loadedByPipe(empty, join(folder, 'altered.dump')), /^docket load: standard input was altered/);
  expect(await rowsOf(empty, 'select from queue')).toEqual([]);
  const buried = await resealed(whole, 'buried.dump', (t) => t.replace('\tready\t', '\tburied\t'));
  await expect(load(empty, createReadStream(buried), 'buried.dump')).rejects.toThrow(/a ticket that cannot be: t/);
  expect(await rowsOf(empty, 'select from item')).toEqual([]);
  expectFailure(await loaded(databaseUrl, whole), /the database is not empty, it has rows in .*queue/);
  expectFailure(await docket(['dump', whole], { DATABASE_URL: databaseUrl }), /whole\.dump \(it is there already\)/);
  expect(readFileSync(whole).equals(before)).toBe(true);
  expectFailure(
    await docket(['dump'], { DATABASE_URL: await emptyDatabase(inject('postgres')) }),
    /run docket migrate first/,
  );
});

test('S0.9 docket load is killed in the middle: the database is empty, and takes it the next time', async () => {
  const { databaseUrl } = await testStores();
  await rowsOf(databaseUrl, `insert into review (id, record) select 'r' || n, '{}' from generate_series(1, 2000) n`);
  const file = await dumped(databaseUrl, 'killed.dump');
  const text = readFileSync(file);
  const url = await emptyDatabase(inject('postgres'));
  const env = { ...process.env, DATABASE_URL: url };
  const stdio = ['pipe', 'ignore', 'ignore'] as const;
  const child = spawn(process.execPath, ['cli/docket.mjs', 'load'], { cwd: ROOT, env, stdio: [...stdio] });
  child.stdin?.write(text.subarray(0, text.indexOf('table {"name":"review"') + 100_000));
  const copying = async () =>
    (await rowsOf(url, `select from pg_stat_progress_copy where datname = current_database() and tuples_processed > 0`))
      .length > 0;
  await eventually(copying, 60_000);
  child.kill('SIGKILL');
  await eventually(async () => !(await copying()));
  expect(await rowsOf(url, 'select from review')).toEqual([]);
  expect(await loaded(url, file)).toMatchObject({ code: 0, stderr: '' });
  expect(tablesOf(await dumped(url, 'taken.dump')).review).toEqual(tablesOf(file).review);
  expect(tablesOf(file).review).toHaveLength(2_000);
});
