import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import { Wire } from '../beanstalkd/wire.ts';
import { claimOne, type Json, numbered, repeat } from '../support/client.ts';
import { behind } from '../support/database.ts';
import { startTestSystem } from '../support/system.ts';
import { add, addMany, claim, configure, decide, events, withToken } from '../support/tickets.ts';

const { api, sql, running, databaseUrl } = await startTestSystem(
  { DOCKET_PACEMAKER: 'off', BEANSTALKD_PORT: '0' },
  { role: 'api' },
);
const GRANT = `select count(*) from grant_items('ticket', '{t}', '{ben}', '{second}', '{1}')`;
const GIVE_BACK = 'select count(*) from give_back($1, array[$2], null::text[])';

const rowOf = (id: string): [string, string[]] => ['select from item where id = $1 for update', [id]];
const behindRow = <T>(id: string, call: () => Promise<T>, meanwhile: Parameters<typeof behind>[3]) =>
  behind(databaseUrl, rowOf(id), call, meanwhile);

/** The lines of an item's history, each later than the one before. */
async function history(id: string): Promise<string[]> {
  const lines = await sql<{ type: string; at: string }>(
    'select type, at::text from event where item_id = $1 order by seq',
    [id],
  );
  expect(lines.map(({ at }) => at)).toEqual(lines.map(({ at }) => at).sort());
  return lines.map(({ type }) => type);
}

test('S0.6 a ticket taken away behind a wait loses a lease that began before', async () => {
  await add(api, 'waits', { id: 't' });
  await api.post('/v1/queues/waits/claim', { reviewer: 'anna' });
  const release = () => api.post('/v1/tickets/t/release', {});
  const answer = await behindRow('t', release, [[GIVE_BACK, ['ticket', 't']], [GRANT]]);
  expect(answer).toMatchObject({ status: 200, body: { state: 'waiting' } });
  expect(await history('t')).toEqual(['created', 'claimed', 'released', 'claimed', 'released']);
});

test('S0.4 a ticket transferred, or a job acknowledged, behind a wait ends a lease that began before', async () => {
  await api.put('/v1/queues/other', {});
  await add(api, 'waits', { id: 'moved' });
  const grant = GRANT.replace('{t}', '{moved}');
  const transfer = () => api.post('/v1/tickets/moved/transfer', { queue: 'other' });
  expect(await behindRow('moved', transfer, [[grant]])).toMatchObject({ status: 200, body: { queue: 'other' } });
  expect(await history('moved')).toEqual(['created', 'claimed', 'transferred']);

  await api.post('/v1/jobs', { command: 'add', topic: 'done', id: 'done', body: 'x' });
  const finish = () => api.post('/v1/jobs', { command: 'finish', id: 'done' });
  const pop = "select count(*) from pop_jobs('{done}', '{first}', '{anna}', null, null)";
  expect((await behindRow('done', finish, [[pop]])).status).toBe(200);
  expect(await history('done')).toEqual(['created', 'reserved', 'finished']);
});

test('S3.1 S3.8 a job reserved or put aside behind a wait: each reservation begins after the end of the one before', async () => {
  await api.post('/v1/jobs', { command: 'add', topic: 'default', id: 'j', body: 'x' });
  const pop: [string] = ["select count(*) from pop_jobs('{default}', '{first}', '{anna}', null, null)"];
  const wire = await Wire.open(running.beanstalkd?.port ?? 0);
  const number = (await sql<{ seq: string }>("select seq from item where id = 'j'"))[0]?.seq;
  const reserve = () => wire.ask(`reserve-job ${number}`);
  expect(await behindRow('j', reserve, [pop, [GIVE_BACK, ['job', 'j']]])).toContain('RESERVED');
  expect(await wire.ask(`release ${number} 0 0`)).toBe('RELEASED\r\n');
  const bury = () => api.post('/v1/jobs/j/bury', { reason: 'poisonous' });
  expect(await behindRow('j', bury, [pop])).toMatchObject({ status: 200, body: { state: 'buried' } });
  wire.close();
  expect(await history('j')).toEqual(['created', 'reserved', 'released', 'reserved', 'released', 'reserved', 'buried']);
});

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

const { db } = running.runtime;
const backends = () =>
  sql<{ pid: number }>(
    "select pid from pg_stat_activity where datname = current_database() and application_name like 'docket %' order by pid",
  );

test('S0.10 a statement that PostgreSQL refuses costs no connection', async () => {
  const refused = () => db.run('get_items', { kind: 'ticket', ids: ['\0'] });
  // as many connections as that takes
  await Promise.all(repeat(20, () => refused().catch(() => {})));
  const before = await backends();
  for (let n = 0; n < 20; n++) await expect(refused()).rejects.toMatchObject({ code: '22021' });
  expect(await backends()).toEqual(before);
  expect(await db.run('get_items', { kind: 'ticket', ids: ['none'] })).toEqual([]);
});
