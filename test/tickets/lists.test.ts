import { beforeAll, expect, test } from 'vitest';
import { dice, eventually, insist, type Json, numbered, type Reply, repeat, walk } from '../support/client.ts';
import { onDatabase } from '../support/database.ts';
import { erased } from '../support/erasures.ts';
import { byNight } from '../support/nightly.ts';
import { startTestSystem, testStores } from '../support/system.ts';

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

const stores = await testStores();

const WORDS = ['buy', 'now', 'Shop', 'straße', '立即购买', 'u17', 'cheap'];
const wordsOf = (body: Json): string[] =>
  typeof body === 'string' ? body.toLowerCase().split(' ') : Object.values(body ?? {}).flatMap(wordsOf);
const found = async (api: Json, query: Record<string, string>): Promise<string[]> =>
  (await walk(api, `/v1/tickets?${new URLSearchParams(query)}`, 7, false)).map(({ id }) => id).sort();

test('S4.9 lists by the words of bodies, those from before too; a changed body has its new ones, an erased one none', async () => {
  const off = await startTestSystem({}, { stores, role: 'api' });
  const refused = await off.api.get('/v1/tickets?text=buy');
  expect(refused).toMatchObject({ status: 422, body: { errors: [{ message: 'needs DOCKET_FULL_TEXT=on' }] } });
  const roll = dice(5);
  const some = () => WORDS.filter(() => roll(4) === 0).join(' ');
  const bodies = new Map<string, Json>();
  const addTo = async ({ api }: Json, ids: string[]) => {
    for (const id of ids) {
      const body = roll(2) ? some() : { a: some(), b: [{ text: some() }], n: 7 };
      await api.tickets.add('text', { id, body });
      bodies.set(id, body);
    }
  };
  await addTo(off, numbered(60, 'before-'));
  await off.stop();

  const on = await startTestSystem({ DOCKET_FULL_TEXT: 'on' }, { stores });
  const { api, sql } = on;
  await addTo(on, numbered(60, 'after-'));
  await eventually(async () => (await api.get('/v1/tickets?text=buy')).status === 200);
  for (const id of ['before-1', 'after-1']) {
    insist(await api.patch(`/v1/tickets/${id}`, { body: 'u17 cheap' }), 'change', 200);
    bodies.set(id, 'u17 cheap');
  }
  const check = async () => {
    for (const word of WORDS.map((one) => one.toLowerCase())) {
      const has = ([, body]: [string, Json]) => wordsOf(body).includes(word);
      const wanted = [...bodies].filter(has).map(([id]) => id);
      expect([word, await found(api, { text: word })]).toEqual([word, wanted.sort()]);
    }
  };
  await check();
  const both = ([, body]: [string, Json]) => wordsOf(body).includes('buy') && !wordsOf(body).includes('now');
  expect(await found(api, { text: 'buy -now', queue: 'text' })).toEqual(
    [...bodies]
      .filter(both)
      .map(([id]) => id)
      .sort(),
  );
  expect(await found(api, { text: 'buy', state: 'decided' })).toEqual([]);
  expect(await found(api, { text: '!&|' })).toEqual([]);
  for (const id of ['before-2', 'after-1']) {
    await erased(api, { item: { kind: 'ticket', id } });
    bodies.delete(id);
  }
  await check();
  expect(await sql('select id from ticket_text where id = any ($1)', [['before-2', 'after-1']])).toEqual([]);
  await on.stop();

  const { sql: look } = await startTestSystem({}, { stores, role: 'api' });
  await eventually(async () => (await look('select from ticket_text')).length === 0);
});
