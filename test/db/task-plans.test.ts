import { beforeAll, expect, test } from 'vitest';
import { contentHash } from '../../services/shared/tokens.ts';
import { repeat } from '../support/client.ts';
import { openTestDb } from '../support/database.ts';
import { expectFewRead, explainAll, plansOf } from '../support/plans.ts';
import { testStores } from '../support/system.ts';

const GROUPS = 200;
/** Tasks of which the statistics know. */
const KNOWN = 5;
const MANY = 3_000;
const TABLES = ['item', 'task'];
const FEW = 60;

const { databaseUrl } = await testStores();
// one session, as in real life: its plans are made once and kept
const db = openTestDb(databaseUrl);
const nodesOf = plansOf(db);
const sql = (text: string, values?: unknown[]) => db.pool.query(text, values);

const taskOf = (id: string, gid: string) => ({
  ...{ id, type: 'once', executor: `gid_${gid}`, queue: `gid_${gid}`, start_time: new Date(Date.now() - 60_000) },
  ...{ every_minutes: null, dispatch: 'each-once', params: {}, dispatch_times: 5, template_id: 'visit' },
  ...{ content_hash: `\\x${contentHash({ id })}`, daily_time: null, every_days: 1, timezone: 'UTC', catch_up: 'all' },
  ...{ lookback_seconds: 86_400, max_lookback_seconds: null, answer_seconds: null, end_time: null, callback: null },
});

/** Adds them as `POST /v1/tasks` does. */
const add = (tasks: ReturnType<typeof taskOf>[]) =>
  sql(`select count(*) from json_array_elements($1::json) x cross join lateral add_task(x.value, 1000, 'anna') a`, [
    JSON.stringify(tasks),
  ]);

const pull = (uid: string) =>
  db.move(
    'next_tasks',
    { pulls: [{ person: uid, uid, exclude: [], token: `plan-${uid}`, explain: false }] },
    { moved: () => [] },
  );

beforeAll(async () => {
  // the test says itself when statistics are renewed
  for (const table of TABLES) await sql(`alter table ${table} set (autovacuum_enabled = off)`);
  await sql(`insert into task_template (id, name, params, content_hash) values ('visit', 'Visit', '{}', '\\x00')`);
  const first = repeat(GROUPS, (n) => taskOf(`first-${n}`, `g${n}`));
  await add(first.slice(0, KNOWN));
  await sql('analyze task');
  await add(first.slice(KNOWN));
  await sql('analyze item');
  await sql(`insert into member (group_id, person, given_as) values ('all', 'ann', 'ann')`);
  await add(repeat(MANY, (n) => taskOf(`one-${n}`, 'all')));
  await explainAll(db);
}, 120_000);

test('S4.1 adding a task reads as little where there are thousands of which the statistics know nothing', async () => {
  for (let n = 0; n < 8; n++) expectFewRead(await nodesOf(() => add([taskOf(`more-${n}`, 'all')])), TABLES, FEW);
});

test('S4.6 a pull reads the first of a group in order, however many the group has open', async () => {
  const nodes = await nodesOf(async () => expect(await pull('ann')).toHaveLength(1));
  expectFewRead(nodes, TABLES, FEW);
  expect(nodes.map((n) => n['Index Name'])).toContain('item_stock');
});
