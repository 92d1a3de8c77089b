import { beforeAll, expect, test } from 'vitest';
import { verdictOf } from '../../domain/courts.ts';
import { repeat } from '../support/client.ts';
import { openTestDb } from '../support/database.ts';
import { expectFewRead, explainAll, loader, plansOf } from '../support/plans.ts';
import { startTestSystem, testStores } from '../support/system.ts';

const TICKETS = 60_000;
const MANY = 3_000;
const HELD = 200;
const TABLES = ['item', 'lease', 'case_file'];
const FEW = 60;

const stores = await testStores();
const { api, sql } = await startTestSystem({ DOCKET_PACEMAKER: 'off' }, { role: 'api', stores });
// one session, as in real life: its plans are made once and kept
const db = openTestDb(stores.databaseUrl);
const nodesOf = plansOf(db);

const ok = async (call: ReturnType<typeof api.get>) => expect((await call).status).toBe(200);

/** Adds that many to the court, or to the topic, beside one that is there from the beginning. */
async function add(prefix: string, count: number): Promise<void> {
  for (let from = 0; from < count; from += 1_000) {
    const ids = repeat(Math.min(1_000, count - from), (n) => `${prefix}-${from + n}`);
    await ok(api.post('/v1/courts/seldom/cases/batch', { cases: ids.map((id) => ({ id, body: {} })) }));
    const jobs = ids.map((id) => ({ topic: 'seldom', id, body: {} }));
    await ok(api.post('/v1/jobs', { command: 'add', jobs }));
  }
}

/** Claims a case for a juror and votes on it, in the session whose plans are looked at. */
async function claimAndVote(juror: string): Promise<void> {
  const token = `lt_${juror}`;
  const claim = { court: 'seldom', jurors: [juror], tokens: [token] };
  const id = (await db.move('claim_cases', claim, { moved: () => [] })).find(({ outcome }) => outcome === 'held')?.id;
  if (!id) throw new Error(`${juror} got no case`);
  const [found] = await db.run('cases_to_judge', { ids: [id], tokens: [token] });
  if (!found) throw new Error(`${id} is gone`);
  const { votes, settings_version: settingsVersion } = found;
  const vote = { id, token, option: 'seller', comment: null, subject: null, votes, settingsVersion };
  const sent = [{ ...vote, verdict: verdictOf(found, { seller: votes + 1 }, found.stage) }];
  expect(await db.move('cast_votes', { votes: sent }, { moved: () => [] })).toMatchObject([{ outcome: 'counted' }]);
}

const versionOfJob = async (id: string) => {
  const query = (name: string) =>
    db.pool.query({ name, text: `select version from item where kind = 'job' and id = $1`, values: [id] });
  expect((await query('job-by-id')).rows).toHaveLength(1);
};

beforeAll(async () => {
  for (const table of TABLES) await sql(`alter table ${table} set (autovacuum_enabled = off)`);
  await sql('alter table item disable trigger user');
  await loader(sql)('t', 'big', TICKETS);
  await sql('alter table item enable trigger user');
  await ok(api.put('/v1/courts/seldom', { votesToWin: 9, strategy: { pick: 'oldest' } }));
  const jurors = repeat(HELD + 10, (n) => ({ id: `juror-${n}` }));
  await ok(api.put('/v1/courts/seldom/jurors', { jurors, list: 'today', final: true }));
  await add('first', 2);
  // they know next to nothing of cases and jobs
  await sql('analyze item');
  await explainAll(db);
  for (let n = 0; n < 6; n++) await claimAndVote(`juror-${HELD + n}`);
  await add('one', MANY);
  for (let n = 0; n < HELD; n++) await ok(api.post('/v1/courts/seldom/claim', { juror: `juror-${n}` }));
  // as maintenance does with tables that have grown by half: not with this one, most of which is tickets
  await sql('analyze lease, case_file');
}, 180_000);

test('S2.2 S2.3 a claim and a vote read as little of thousands of cases that statistics do not know beside many tickets', async () => {
  expectFewRead(await nodesOf(() => claimAndVote(`juror-${HELD + 8}`)), TABLES, FEW);
});

test('S3.1 a job is found by its id among thousands that statistics do not know beside many tickets', async () => {
  expectFewRead(await nodesOf(() => versionOfJob('one-7')), TABLES, FEW);
});

test('S3.1 a finish reads as little of thousands of jobs that statistics do not know beside many tickets', async () => {
  const finish = async (id: string) => {
    const finished = await db.move('finish_jobs', { ids: [id], tokens: [null], actors: ['x'] }, { moved: () => [] });
    expect(finished).toHaveLength(1);
  };
  expectFewRead(await nodesOf(() => finish('one-8')), TABLES, FEW);
});

const SOME = { topic: 'seldom', limit: 3, actor: 'x' };
test.each([
  { statement: 'kick_topic', n: 100, params: () => SOME },
  { statement: 'reserve_job', n: 400, params: (number: number) => ({ number, token: 'lt_x', holder: 'x' }) },
] as const)('S3.1 S3.3 $statement reads as little of them', async ({ statement, n, params }) => {
  const ids = [`one-${n}`, `one-${n + 1}`, `one-${n + 2}`];
  for (const id of ids) await db.move('bury_open_job', { id, actor: 'x', reason: 'x' }, { moved: () => [] });
  const [row] = await sql("select seq from item where kind = 'job' and id = $1", [ids[0]]);
  const nodes = await nodesOf(async () => {
    const moved = await db.move(statement, params(Number(row?.seq)) as never, { moved: () => [] });
    expect(moved).toHaveLength(statement === 'reserve_job' ? 1 : 3);
  });
  expectFewRead(nodes, TABLES, FEW);
});
