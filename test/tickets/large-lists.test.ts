import { beforeAll, expect, test } from 'vitest';
import { numbered, type Reply, repeat } from '../support/client.ts';
import { onDatabase } from '../support/database.ts';
import { byNight } from '../support/nightly.ts';
import { startTestSystem } from '../support/system.ts';

/** `.ci/nightly` runs it at full size. */
const MANY = byNight(1_000_000, 100_000);
const { api, sql, databaseUrl } = await startTestSystem({ LOG_LEVEL: 'silent' }, { role: 'api' });
const { addMany, claimOne, decide } = api.tickets;

const COLUMNS = `kind, id, queue, state, rank, body, content_hash, version, created_at, available_at, first_available_at,
  event_seq, last_event, last_actor, updated_at, result, ended_at, ended_by`;

/** Rows as they would lie there, without the history that a million of them would have. */
async function load(queue: string, state: string, age: string): Promise<void> {
  const end =
    state === 'settled' ? `'1', now(), case when n % 1000 = 0 then 'rare' else 'rita' end` : 'null, null, null';
  await sql(`insert into item (${COLUMNS}) select 'ticket', '${queue}-' || n, '${queue}', '${state}', n, '{}', '\\x00',
    nextval('item_version'), t.at, t.at, t.at, 1, 'created', 'loader', now(), ${end}
    from generate_series(1, ${MANY}) n cross join lateral (select now() - interval '${age}' - n * interval '1 ms' as at) t`);
  await sql(`insert into tally_line (kind, queue, what, n) values ('ticket', '${queue}', '${state}', ${MANY})`);
}

beforeAll(async () => {
  for (const queue of ['past', 'present', 'small']) await api.put(`/v1/queues/${queue}`, { maxHeld: 100 });
  await sql('alter table item disable trigger user');
  await load('past', 'settled', '1 day');
  await load('present', 'ready', '1 hour');
  await sql('alter table item enable trigger user');
  // what has yet to be published: nobody follows the log here
  await sql(`insert into event (kind, item_id, seq, type, actor, at, version)
    select kind, id, 1, 'created', 'test', now() - interval '1 hour', version from item where queue = 'present'`);
  for (const table of ['item', 'event']) await sql(`analyze ${table}`);
  await addMany('small', numbered(60, 'small-'));
}, 600_000);

const median = async (call: () => Promise<Reply>): Promise<number> => {
  const times = [];
  for (let n = 0; n < 7; n++) {
    const start = performance.now();
    expect((await call()).status).toBe(200);
    times.push(performance.now() - start);
  }
  return times.sort((a, b) => a - b)[3] as number;
};

/** Far above what a list of a small queue takes on a busy machine, below what a walk over a million rows does. */
async function expectQuick(path: string): Promise<void> {
  const small = await median(() => api.get('/v1/tickets?queue=small'));
  expect(await median(() => api.get(path)), path).toBeLessThan(100 + 10 * small);
}

test.each([
  ['reviewer=rita', 50],
  ['reviewer=rare', 50],
  ['reviewer=nobody', 0],
  ['reviewer=rare&queue=past&state=decided', 50],
  ['reviewer=rare&createdAfter=2001-01-01T00:00:00Z&createdBefore=2099-01-01T00:00:00Z', 50],
  ['reviewer=rita&state=held', 0],
  ['state=decided', 50],
  ['state=decided&queue=past', 50],
  ['state=decided&createdAfter=2001-01-01T00:00:00Z', 50],
  ['state=waiting', 50],
  ['state=held', 0],
  ['state=dead', 0],
  ['queue=past', 50],
  ['', 50],
] as const)('S0.5 a list by "%s" is as quick beside very many tickets as in a small queue', async (filter, count) => {
  const { items } = (await api.get(`/v1/tickets?${filter}`)).body;
  expect(items).toHaveLength(count);
  await expectQuick(`/v1/tickets?${filter}`);
});

test('S0.5 figures are too', async () => {
  await expectQuick('/metrics');
  await expectQuick('/v1/queues/past/stats');
  await expectQuick('/v1/queues/present/stats');
  const metrics = (await api.get('/metrics')).body as string;
  const value = (name: string) => Number(new RegExp(`^${name} (.*)$`, 'm').exec(metrics)?.[1]);
  expect(value('docket_unpublished_rows') / MANY).toBeCloseTo(1, 1);
  expect(value('docket_unpublished_oldest_seconds')).toBeGreaterThan(3_500);
});

test('S0.3 lists that hang hold up no claim, and end as unavailable', async () => {
  await onDatabase(databaseUrl, async (blocker) => {
    let ended = 0;
    await blocker.query('begin; lock table task_template in access exclusive mode');
    const lists = repeat(40, () => api.get('/v1/templates').finally(() => ended++));
    for (let n = 0; n < 5; n++) {
      const held = await claimOne('small', `quick-${n}`);
      expect((await decide(held)).status).toBe(200);
    }
    expect(ended).toBe(0);
    for (const reply of await Promise.all(lists)) {
      expect(reply).toMatchObject({ status: 503, body: { code: 'unavailable' } });
      expect(reply.headers.get('retry-after')).toBe('1');
    }
  });
  expect((await api.get('/v1/templates')).status).toBe(200);
}, 120_000);
