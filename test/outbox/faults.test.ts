import { afterEach, describe, expect, test } from 'vitest';
import { startOutbox } from '../support/child.ts';
import { docket, expectFailure } from '../support/cli.ts';
import { deferred, eventually, repeat } from '../support/client.ts';
import { connected, emptyDatabase, openTestDb } from '../support/database.ts';
import { createKey } from '../support/keys.ts';
import { startTestSystem, testStores } from '../support/system.ts';
import { installOutbox, startGateway, withFollower } from './outbox.ts';

const stores = { ...(await testStores()), temporalAddress: '127.0.0.1:9' };
const { api, cell } = await startTestSystem({ LOG_LEVEL: 'silent' }, { role: 'api', stores });
const outbox = await installOutbox(stores.databaseUrl);
const { client } = outbox;
const gateway = await startGateway(api.url);

afterEach(() => {
  gateway.answer = () => ({});
});

/** Adds a job and a ticket for each of some numbers, each in a transaction of its own. */
async function addBoth(from: number, to: number, prefix: string): Promise<void> {
  for (let n = from; n < to; n++)
    await client.query(
      `select docket_outbox.add_job('${prefix}', '${prefix}-' || $1, $2), docket_outbox.add_ticket('${prefix}', '${prefix}-' || $1, $2)`,
      [n, n],
    );
}

/** How many items of each kind there are, and how many events say that one was made. */
const made = (prefix: string) =>
  cell(
    `select jsonb_object_agg(kind, n) from (select kind, count(*) as n from event
      where type = 'created' and item_id like $1 group by kind) e`,
    [`${prefix}-%`],
  );

describe('killed with -9', () => {
  test('the follower, after Docket has added and before the row is deleted: one item, and one run that is over', async () => {
    const answered = deferred();
    const added = deferred();
    gateway.answer = (path, isCheck) => {
      if (isCheck) return {};
      if (path.endsWith('/jobs')) added.resolve();
      return { until: answered.promise };
    };
    const first = startOutbox(outbox.url, gateway.url);
    await client.query(
      `select docket_outbox.add_job('held', 'held-1', '1'), docket_outbox.add_ticket('held', 'held-1', '1')`,
    );
    await added.promise;
    // its run is over before the follower has heard of it
    const { body } = await api.post('/v1/jobs', { command: 'pop', topic: 'held', wait: 20 });
    await api.jobs.job('finish', { id: 'held-1', token: body.token });
    await eventually(() => api.tickets.ticket('held-1'));
    await first.end('SIGKILL');
    answered.resolve();
    expect(await outbox.cell('select count(*)::int from docket_outbox.message')).toBe(2);
    await withFollower(outbox, api.url, () => outbox.drained());
    expect(await api.jobs.oneJob('held-1')).toMatchObject({ run: 1, state: 'finished' });
    expect(await made('held')).toEqual({ job: 1, ticket: 1 });
    expect(await outbox.cell('select count(*)::int from docket_outbox.refused')).toBe(0);
  });

  test('the follower, again and again while rows are added: each is one item', async () => {
    let adding = true;
    const writing = (async () => {
      for (let n = 0; adding; n += 5) await addBoth(n, n + 5, 'kill');
    })();
    for (let kills = 0; kills < 5; kills++) {
      const follower = startOutbox(outbox.url, gateway.url);
      const before = gateway.calls;
      await eventually(async () => gateway.calls > before + 1 + kills);
      await follower.end('SIGKILL');
    }
    adding = false;
    await writing;
    await withFollower(outbox, api.url, () => outbox.drained());
    const n = await outbox.cell('select (last_value / 2)::int - 1 from docket_outbox.number');
    expect(n).toBeGreaterThan(20);
    expect(await made('kill')).toEqual({ job: n, ticket: n });
  }, 120_000);

  test('the connection to PostgreSQL: the follower takes up again', async () => {
    await withFollower(outbox, api.url, async () => {
      await addBoth(0, 5, 'cut');
      for (let cuts = 0; cuts < 3; cuts++) {
        await eventually(() =>
          outbox.cell(`select pg_terminate_backend(pid) from pg_stat_activity
            where application_name = 'docket outbox' and datname = current_database()`),
        );
        await addBoth(5 + cuts * 5, 10 + cuts * 5, 'cut');
      }
      await outbox.drained();
    });
    expect(await made('cut')).toEqual({ job: 20, ticket: 20 });
  });
});

test('two followers share the rows, and each becomes one item', async () => {
  const gates = [await startGateway(api.url), await startGateway(api.url)];
  // none is answered before both have rows
  const both = deferred();
  const held = new Set<object>();
  for (const gate of gates)
    gate.answer = (_, isCheck) => {
      if (isCheck) return {};
      held.add(gate);
      if (held.size === gates.length) both.resolve();
      return { until: both.promise };
    };
  const count = 3_000;
  await client.query(
    `select docket_outbox.add_job('two', 'two-' || n, to_jsonb(n)) from generate_series(1, ${count}) n`,
  );
  const followers = gates.map(({ url }) => startOutbox(outbox.url, url));
  await outbox.drained();
  for (const one of followers) expect(await one.end('SIGTERM')).toBe(0);
  const counts = followers.map((one) => Number(/(\d+) rows added/.exec(one.output())?.[1]));
  expect(counts.reduce((sum, n) => sum + n)).toBe(count);
  expect(Math.min(...counts)).toBeGreaterThan(0);
  expect(await made('two')).toEqual({ job: count });
});

describe('a server that takes nothing now', () => {
  const PROBLEM = 'application/problem+json';
  const ANSWERS = {
    429: { status: 429, type: PROBLEM, body: '{"code": "rate_limited", "detail": "too many"}' },
    503: { status: 503, type: PROBLEM, body: '{"code": "unavailable", "detail": "no database"}' },
    500: { status: 500, type: PROBLEM, body: '{"code": "internal", "detail": "a bug"}' },
    some: { status: 200, body: '{"results": [{"id": "x", "httpStatus": 503, "code": "unavailable"}]}' },
    cut: { status: 400, type: PROBLEM, body: '{"code": "invalid_request", "detail": "the body did not arrive"}' },
    proxy: { status: 502, body: '<h1>Bad gateway</h1>' },
    other: { status: 404, body: '<h1>Not found</h1>' },
    site: { status: 200, body: '<h1>Welcome</h1>' },
  };

  test('rows wait until it does, and none is refused', async () => {
    const follower = startOutbox(outbox.url, gateway.url);
    for (const [name, answer] of Object.entries(ANSWERS)) {
      gateway.answer = () => answer;
      const before = gateway.calls;
      const said = follower.output().length;
      await client.query(`select docket_outbox.add_ticket('wait', 'wait-' || $1, '1')`, [name]);
      await eventually(async () => gateway.calls > before + 1);
      expect(await outbox.cell('select count(*)::int from docket_outbox.message')).toBe(1);
      const says = new RegExp(`answered ${answer.status}: .*; trying again\n`);
      await eventually(async () => says.test(follower.output().slice(said)));
      gateway.answer = () => ({});
      await outbox.drained();
      expect(await api.tickets.ticket(`wait-${name}`)).toMatchObject({ state: 'waiting' });
    }
    expect(await follower.end('SIGTERM')).toBe(0);
    expect(await outbox.cell('select count(*)::int from docket_outbox.refused')).toBe(0);
  });

  test('nothing listens there: rows wait, and SIGTERM ends the follower all the same', async () => {
    await client.query(`select docket_outbox.add_ticket('wait', 'wait-none', '1')`);
    const follower = startOutbox(outbox.url, 'http://127.0.0.1:9');
    await eventually(async () => follower.output().includes('cannot be reached'));
    expect(await follower.end('SIGTERM')).toBe(0);
    await withFollower(outbox, api.url, () => outbox.drained());
  });

  test('a URL of Docket without an API there ends the follower, and rows wait', async () => {
    await client.query(`select docket_outbox.add_ticket('wrong', 'wrong-1', '1')`);
    for (const path of ['/v1', '/docs', '?v=1']) {
      const ended = await docket(['outbox', 'follow', outbox.url], { DOCKET_URL: `${api.url}${path}` });
      expectFailure(ended, 'docket outbox follow: DOCKET_URL: ', 'correct DOCKET_URL');
    }
    expect((await client.query('delete from docket_outbox.message')).rowCount).toBe(1);
  });

  test('one queue that cannot be added to holds up no other', async () => {
    await client.query(`select docket_outbox.add_ticket('stuck', 'stuck-' || n, '1') from generate_series(1, 1500) n`);
    await client.query(`select docket_outbox.add_ticket('free', 'free-1', '1')`);
    gateway.answer = (path) => (path.includes('/stuck/') ? { status: 503, body: '{"code": "unavailable"}' } : {});
    const follower = startOutbox(outbox.url, gateway.url);
    await eventually(() => api.tickets.ticket('free-1'));
    gateway.answer = () => ({});
    await outbox.drained();
    expect(await follower.end('SIGTERM')).toBe(0);
    expect(await made('stuck')).toEqual({ ticket: 1500 });
  });
});

describe('keys', () => {
  const db = openTestDb(stores.databaseUrl);

  test('one that is not known, or may not add, ends the follower; one for some queues is refused others only', async () => {
    const closed = await startTestSystem({ DOCKET_AUTH: 'keys', LOG_LEVEL: 'silent' }, { role: 'api', stores });
    await client.query(`select docket_outbox.add_job('keys', 'keys-1', '1')`);
    const agent = await createKey(db, { name: 'agent', role: 'agent', subject: null });
    for (const env of [{}, { DOCKET_KEY: 'hunter2' }, { DOCKET_KEY: agent.key }] as Record<string, string>[]) {
      const ended = await docket(['outbox', 'follow', outbox.url], { DOCKET_URL: closed.api.url, ...env });
      expectFailure(
        ended,
        `docket outbox follow: DOCKET_KEY: ${closed.api.url} answers `,
        'docket key create --role producer',
      );
    }
    const { key } = await createKey(db, { name: 'producer', role: 'producer', subject: null, queues: ['keys'] });
    await client.query(`select docket_outbox.add_job(t, t || '-2', '1') from unnest('{keys,other,keys}'::text[]) t`);
    await client.query(
      `select docket_outbox.add_ticket('other', 'other-3', '1'), docket_outbox.add_ticket('keys', 'keys-3', '1')`,
    );
    const follower = startOutbox(outbox.url, closed.api.url, { DOCKET_KEY: key });
    await outbox.drained();
    expect(await follower.end('SIGTERM')).toBe(0);
    expect(await made('keys')).toEqual({ job: 2, ticket: 1 });
    const { rows } = await client.query(`select id, problem ->> 'code' as code from docket_outbox.refused order by no`);
    expect(rows).toEqual(['other-2', 'other-3'].map((id) => ({ id, code: 'forbidden' })));
    await client.query('delete from docket_outbox.refused');
  });
});

describe('the command', () => {
  test('install may be repeated beside a follower and rows, which stay what they are', async () => {
    const identity = await outbox.cell('select outbox from docket_outbox.identity');
    await client.query(`select docket_outbox.add_ticket('kept', 'kept-1', '1')`);
    expect((await docket(['outbox', 'install', outbox.url])).code).toBe(0);
    expect(await outbox.cell('select count(*)::int from docket_outbox.message')).toBe(1);
    await withFollower(outbox, api.url, async () => {
      await outbox.drained();
      const both = await Promise.all(repeat(2, () => docket(['outbox', 'install', outbox.url])));
      expect(both.map(({ code, stderr }) => [code, stderr])).toEqual([
        [0, ''],
        [0, ''],
      ]);
      await client.query(`select docket_outbox.add_ticket('kept', 'kept-2', '1')`);
      await outbox.drained();
    });
    expect(await made('kept')).toEqual({ ticket: 2 });
    expect(await outbox.cell('select outbox from docket_outbox.identity')).toBe(identity);
  });

  test('a database without an outbox, and one that is not there', async () => {
    const none = await emptyDatabase(stores.databaseUrl);
    const env = { DOCKET_URL: api.url };
    const without = await docket(['outbox', 'follow', none], env);
    expectFailure(without, 'URL: its database has no outbox; run docket outbox install URL first');
    const away = 'postgres://me:hunter2@127.0.0.1:9/app';
    expectFailure(await docket(['outbox', 'install', away]), 'URL: cannot reach PostgreSQL at 127.0.0.1:9');
    const follower = startOutbox(away, api.url);
    await eventually(async () => follower.output().includes('URL: cannot reach PostgreSQL at 127.0.0.1:9'));
    expect(await follower.end('SIGTERM')).toBe(0);
    expect(follower.output()).not.toContain('hunter2');
  });
});

const incompressible = (length: number) =>
  repeat(length, () => Math.random().toString(36))
    .join('')
    .slice(0, length);

describe('beside a transaction that stays open', () => {
  const bytes = () =>
    outbox.cell(`select sum(pg_total_relation_size(c.oid))::int from pg_class c
      where c.relnamespace = 'docket_outbox'::regnamespace and c.relkind = 'r' and c.relname like 'message%'`);

  test('rows that wait are kept when the parts take turns', async () => {
    // text that PostgreSQL cannot make smaller
    const add = `select docket_outbox.add_job('turns', 'turns-' || n, to_jsonb($1::text)) from generate_series(1, 800) n`;
    const turn = () => outbox.cell('select last_value::int from docket_outbox.current');
    const first = await turn();
    await client.query(add, [incompressible(7_000)]);
    // it leaves for later what autovacuum has locked
    await eventually(async () => {
      await client.query('select docket_outbox.tidy()');
      return (await turn()) !== first;
    });
    expect(await outbox.cell('select count(*)::int from docket_outbox.message')).toBe(800);
    await withFollower(outbox, api.url, () => outbox.drained());
    expect(await made('turns')).toEqual({ job: 800 });
  });

  const ROUNDS = 12;

  test('the outbox stays small, and a late row of that transaction is moved', async () => {
    const long = await connected(outbox.url);
    await long.query('begin isolation level repeatable read');
    await long.query(`select docket_outbox.add_ticket('late', 'late-1', '1')`);
    await long.query('select count(*) from docket_outbox.refused');
    await withFollower(outbox, api.url, async () => {
      const text = incompressible(7_000);
      for (let round = 0; round < ROUNDS; round++) {
        await client.query(
          `select docket_outbox.add_job('open', 'open-' || $1 || '-' || n, to_jsonb($2::text)) from generate_series(1, 300) n`,
          [round, text],
        );
        await outbox.drained();
      }
      await eventually(async () => (await bytes()) < 16 * 1024 * 1024);
      await long.query('commit');
      await eventually(() => api.tickets.ticket('late-1'));
      await client.query(`select docket_outbox.add_ticket('late', 'late-2', '1')`);
      await eventually(() => api.tickets.ticket('late-2'));
    });
    expect(await made('open')).toEqual({ job: 300 * ROUNDS });
  }, 180_000);
});
