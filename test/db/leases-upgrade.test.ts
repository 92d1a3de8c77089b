import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { migrate } from '../../db/migrate.ts';
import { eventually } from '../support/client.ts';
import { connected } from '../support/database.ts';
import { job } from '../support/jobs.ts';
import { startTestSystem, testStores } from '../support/system.ts';
import { claim, decide, withToken } from '../support/tickets.ts';

const MIGRATIONS = new URL('../../db/migrations/', import.meta.url);
const FIRST_WITHOUT_LEASES = '0050';
const stores = await testStores();
const old = await connected(stores.databaseUrl);

/** The schema as it was while tickets and jobs had rows of `lease`. */
async function earlierSchema(): Promise<void> {
  await old.query(`drop schema public cascade; create schema public;
    create table schema_step (name text primary key, hash text not null, applied_at timestamptz not null default now())`);
  for (const file of readdirSync(MIGRATIONS).sort()) {
    if (file >= FIRST_WITHOUT_LEASES) continue;
    const sql = readFileSync(new URL(file, MIGRATIONS), 'utf8');
    await old.query(sql);
    const hash = createHash('sha256').update(sql).digest('hex');
    await old.query('insert into schema_step (name, hash) values ($1, $2)', [`migrations/${file}`, hash]);
  }
}

/** An item that was claimed `leases.length` times, with the lines and the leases that this left. */
async function claimed(
  kind: 'ticket' | 'job',
  id: string,
  leases: { token: string; holder: string; ends?: [type: string, why: string, actor?: string]; follows?: string }[],
): Promise<void> {
  const at = (minute: number) => `now() - interval '1 hour' + interval '${minute} minutes'`;
  const live = leases.find((l) => l.ends === undefined);
  const settled = leases.find((l) => l.ends?.[1] === 'settled');
  const state = live ? 'held' : settled ? 'settled' : 'ready';
  await old.query(
    `insert into item (kind, id, queue, state, rank, body, content_hash, version, created_at, available_at, first_available_at,
       wake_at, lease_id, holder, granted_at, expires_at, lease_seconds, ended_at, ended_by, result, result_hash, settled_token,
       next_wanted, event_seq, last_event, last_actor, updated_at)
     select $1, $2, 'q', $3, 0, '{}', '', nextval('item_version'), now(), now(), now(),
       case when $4::text is not null then now() + interval '1 hour' end, $4::text, $5, case when $4::text is not null then ${at(2 * leases.length)} end,
       case when $4::text is not null then now() + interval '1 hour' end, 60,
       case when $6::text is not null then now() end, $7::text, case when $6::text is not null then '1'::json end, sha256('1'), $6::text,
       $8::boolean, ${2 * leases.length + 1}, 'x', 'x', now()`,
    [kind, id, state, live?.token, live?.holder, settled?.token, settled?.holder, id === 'decided'],
  );
  await old.query(
    `insert into event (kind, item_id, seq, type, actor, at, data) values ($1, $2, 1, 'created', 'p', now(), '{"queue":"q"}')`,
    [kind, id],
  );
  for (const [n, { token, holder, ends, follows }] of leases.entries()) {
    const [from, to] = [at(2 * n + 2), at(2 * n + 3)];
    const granting = kind === 'job' ? 'reserved' : 'claimed';
    await old.query(
      `insert into event (kind, item_id, seq, type, actor, at) select $1, $2, $3::integer, $4, $5, ${from}`,
      [...[kind, id, 2 * n + 2, granting, holder]],
    );
    await old.query(
      `insert into lease (token, kind, item_id, queue, holder, granted_at, ended_at, why, ended_by, follows)
       select $1, $2, $3, 'q', $4, ${from}, case when $5::text is not null then ${to} end, $5::text, $6, $7`,
      [token, kind, id, holder, ends?.[1], ends && (ends[2] ?? holder), follows],
    );
    if (ends)
      await old.query(
        `insert into event (kind, item_id, seq, type, actor, at) select $1, $2, $3::integer, $4, $5, ${to}`,
        [...[kind, id, 2 * n + 3, ends[0], ends[2] ?? holder]],
      );
  }
}

test('S0.9 leases of an earlier release go over: live ones settle, late ones are told who, when and why', async () => {
  await earlierSchema();
  // in one transaction, in which it is one moment
  await old.query('begin');
  await old.query(`insert into queue (kind, name, max_held) values ('ticket', 'q', 3), ('job', 'q', 1)`);
  await claimed('ticket', 'held', [
    { token: 'lost-token', holder: 'ben', ends: ['reclaimed', 'expired', 'system'] },
    { token: 'held-token', holder: 'anna' },
  ]);
  await claimed('ticket', 'decided', [{ token: 'settled-token', holder: 'carl', ends: ['decided', 'settled'] }]);
  await claimed('ticket', 'next', [{ token: 'next-token', holder: 'carl', follows: 'settled-token' }]);
  await claimed('ticket', 'also', [{ token: 'also-token', holder: 'anna' }]);
  await claimed('job', 'done', [{ token: 'job-token', holder: 'dan', ends: ['finished', 'settled'] }]);
  await old.query(`insert into tally (kind, queue, what, n) values ('ticket', 'q', 'held', 3)`);
  await old.query('commit');
  await migrate(stores.databaseUrl);
  const { api, sql } = await startTestSystem({}, { role: 'api', stores });
  expect(await sql('select from lease')).toEqual([]);
  const counted = async () =>
    (await sql(`select sum(n)::int as n from tally where queue = 'q' and what = 'held'`))[0]?.n;
  expect(await counted()).toBe(3);
  await eventually(async () => (await sql(`select from tally_line where at is null`)).length === 0);
  expect(await counted()).toBe(3);

  const ticket = (id: string, token: string) => ({ id, lease: { token } });
  // who lost it
  const late = await withToken(api, ticket('held', 'lost-token'), 'release');
  const lost = { code: 'lease_lost', holder: 'anna', reason: 'expired', endedAt: expect.any(String) };
  expect(late.body).toMatchObject(lost);
  const unknown = await withToken(api, ticket('held', 'made-up'), 'release');
  expect(unknown.body).toMatchObject({ reason: 'revoked', endedAt: null });
  // who decided it, asks again, and had a next one
  const again = await decide(api, ticket('decided', 'settled-token'), 1, { next: true });
  expect([again.status, again.body.next?.id, again.body.next?.lease.token]).toEqual([200, 'next', 'next-token']);
  const other = await decide(api, ticket('decided', 'settled-token'), 2);
  expect(other.body).toMatchObject({ code: 'not_open', by: 'carl' });
  for (const [token, success] of Object.entries({ 'job-token': true, 'made-up': false }))
    expect(await job(api, 'finish', { id: 'done', token })).toMatchObject({ success });
  // who holds them
  const { tickets } = await claim(api, 'q', 'anna', { count: 3 });
  expect(tickets.map((t: { id: string; lease: { token: string } }) => [t.id, t.lease.token]).sort()).toEqual([
    ['also', 'also-token'],
    ['held', 'held-token'],
  ]);
  expect((await decide(api, ticket('held', 'held-token'))).status).toBe(200);
  expect((await withToken(api, ticket('also', 'also-token'), 'renew')).status).toBe(200);
});
