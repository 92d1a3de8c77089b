import { expect, test } from 'vitest';
import { dice, eventually, insist, type Json, numbered, repeat, walk } from '../support/client.ts';
import { onDatabase } from '../support/database.ts';
import { erased } from '../support/erasures.ts';
import { startTestSystem, testStores } from '../support/system.ts';

const { api, databaseUrl } = await startTestSystem({ LOG_LEVEL: 'silent' }, { role: 'api' });
const { addMany, claimOne, decide } = api.tickets;

test('S0.3 lists that hang hold up no claim, and end as unavailable', async () => {
  await addMany('small', numbered(60, 'small-'));
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
