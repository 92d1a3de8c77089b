import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import { claimOne, type Json, numbered } from '../support/client.ts';
import { startTestSystem } from '../support/system.ts';
import { add, addMany, claim, configure, decide, events, withToken } from '../support/tickets.ts';

const { api, sql } = await startTestSystem({ DOCKET_PACEMAKER: 'off' }, { role: 'api' });
const hash = (token: string) => createHash('sha256').update(token).digest('hex');

test('S0.5 S0.7 a line of the log says which version and lease it gives, and which lease it ends', async () => {
  await add(api, 'log', { id: 'l' });
  const first = await claimOne(api, 'log', 'anna');
  expect((await withToken(api, first, 'renew')).status).toBe(200);
  expect((await withToken(api, first, 'release')).status).toBe(200);
  const second = await claimOne(api, 'log', 'ben');
  for (let n = 0; n < 2; n++) expect((await withToken(api, first, 'renew')).status).toBe(409);
  // by hand, past every statement: nothing moves without its line
  await sql(
    `update item set version = nextval('item_version'), event_seq = event_seq + 1, last_event = 'changed' where id = 'l'`,
  );
  expect((await decide(api, second)).status).toBe(200);
  const lines = await sql(
    `select type, version is not null as versioned, encode(token, 'hex') as token, ends from event where item_id = 'l' order by seq`,
  );
  expect(lines.map(({ type, versioned, token, ends }) => [type, versioned, token, ends])).toEqual([
    ['created', true, null, null],
    ['claimed', true, hash(first.lease.token), null],
    ['released', true, null, 2],
    ['claimed', true, hash(second.lease.token), null],
    ['refused', false, hash(first.lease.token), null],
    ['changed', true, null, null],
    ['decided', true, null, 4],
  ]);
  const newest = `select max(e.version) = i.version as newest from event e join item i on i.id = e.item_id where i.id = 'l' group by i.version`;
  expect(await sql(newest)).toEqual([{ newest: true }]);
  const shown = JSON.stringify([await events(api, 'l'), (await api.get('/v1/feed')).body]);
  for (const { lease } of [first, second])
    for (const secret of [lease.token, hash(lease.token)]) expect(shown).not.toContain(secret);
  for (const event of await events(api, 'l')) expect(Object.keys(event)).not.toContain('token');
});

test('S0.6 a hold that has run out takes none of its holder’s places, before any clock has ended it', async () => {
  await configure(api, 'slots', { maxHeld: 2, leaseSeconds: 600 });
  await addMany(api, 'slots', numbered(6, 's-'));
  const held = async (count: number): Promise<string[]> =>
    (await claim(api, 'slots', 'anna', { count })).tickets.map((t: Json) => t.id);
  const runOut = async (id: string) => {
    await sql(`insert into parked (kind, item_id, until, error) values ('ticket', $1, now() + interval '1 h', '')`, [
      id,
    ]);
    await sql(
      `update item set granted_at = now() - interval '2 s', expires_at = now() - interval '1 s' where id = $1`,
      [id],
    );
  };
  expect(await held(5)).toEqual(['s-0', 's-1']);
  await runOut('s-0');
  expect(await held(5)).toEqual(['s-1', 's-2']);
  // lowered: what is held stays, and nothing more comes until less is held than that
  await configure(api, 'slots', { maxHeld: 1, leaseSeconds: 600 });
  expect(await held(5)).toEqual(['s-1', 's-2']);
  await runOut('s-1');
  expect(await held(5)).toEqual(['s-2']);
  await runOut('s-2');
  expect(await held(5)).toEqual(['s-3']);
  const slots = await sql(`select id, slot > 0 as live from item where queue = 'slots' and state = 'held' order by id`);
  expect(slots).toEqual(numbered(4, 's-').map((id) => ({ id, live: id === 's-3' })));
});
