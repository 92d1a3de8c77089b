import { describe, expect, test } from 'vitest';
import { claimOne, eventTypes, eventually, type Json, repeat } from '../support/client.ts';
import { LEASES } from '../support/leases.ts';
import { startTestSystem, testStores } from '../support/system.ts';

const stores = await testStores();
const { api, sql } = await startTestSystem({ LOG_LEVEL: 'silent' }, { stores });

const names = (prefix: string, count: number) => repeat(count, (n) => `${prefix}-${n}`);
const addAll = (queue: string, ids: string[], more: object = {}) =>
  api.post(`/v1/queues/${queue}/tickets/batch`, { tickets: ids.map((id) => ({ id, body: id, ...more })) });
const stateOf = async (id: string) => (await api.get(`/v1/tickets/${id}`)).body.state as string;
const stats = async (queue: string): Promise<Json> => (await api.get(`/v1/queues/${queue}/stats`)).body;
const parkedGauge = async () => Number(/^docket_parked_items (\d+)$/m.exec((await api.get('/metrics')).body)?.[1]);

/** No update of this item succeeds until `heal` is called. */
const poison = (id: string) =>
  sql(`create or replace function poison() returns trigger language plpgsql as $$ begin
         if new.id = '${id}' then raise 'made to fail'; end if; return new; end $$;
       create trigger poison before update on item for each row execute function poison()`);
const heal = () => sql('drop trigger poison on item');

describe('an item whose transition fails', () => {
  test('S0.9 is parked, the others that are due go on, and it follows when it can', async () => {
    await poison('due-7');
    const ids = names('due', 30);
    await addAll('due', ids, { delaySeconds: 0.5 });
    await eventually(async () => (await stats('due')).waiting === 29, 5_000);
    expect(await stateOf('due-7')).toBe('delayed');
    const parked = await sql('select kind, item_id, error, until > clock_timestamp() as still from parked');
    expect(parked).toEqual([{ kind: 'ticket', item_id: 'due-7', error: 'made to fail', still: true }]);
    expect(await parkedGauge()).toBe(1);
    // parked, it takes nothing from what comes due later
    await addAll('due', ['later'], { delaySeconds: 0.2 });
    await eventually(async () => (await stateOf('later')) === 'waiting', 3_000);

    await heal();
    await sql('delete from parked');
    await eventually(async () => (await stateOf('due-7')) === 'waiting', 10_000);
    expect(await parkedGauge()).toBe(0);
    for (const id of ids) expect(await eventTypes(api, id)).toEqual(['created', 'available']);
    expect(await stats('due')).toMatchObject({ delayed: 0, waiting: 31 });
  });

  test('S0.7 a lease that cannot be ended does not keep others from theirs', async () => {
    const ids = names('lease', 10);
    await addAll('leases', ids);
    const held: Json[] = [];
    for (const id of ids) held.push(await claimOne(api, 'leases', `r-${id}`));
    await sql(
      `update item set expires_at = clock_timestamp(), wake_at = clock_timestamp() + interval '1 s' where queue = 'leases'`,
    );
    await poison('lease-3');
    await eventually(async () => (await stats('leases')).waiting === 9, 12_000);
    expect(await stateOf('lease-3')).toBe('held');
    // its time is over all the same: the holder is not let in
    const stuck = held.find((t) => t.id === 'lease-3');
    await heal();
    const late = await api.post('/v1/tickets/lease-3/decide', { token: stuck.lease.token, decision: 1 });
    expect(late).toMatchObject({ status: 409, body: { code: 'lease_lost', reason: 'expired' } });
    await sql('delete from parked');
    await eventually(async () => (await stats('leases')).waiting === 10, 10_000);
  });

  test('it can fail at being noted too, and is tried again when its minute is over', async () => {
    await poison('again-0');
    await addAll('again', ['again-0', 'again-1'], { delaySeconds: 0.2 });
    await eventually(async () => (await sql(`select 1 from parked where item_id = 'again-0'`)).length === 1, 5_000);
    expect(await eventTypes(api, 'again-0')).toEqual(['created']);
    await heal();
    await sql(`update parked set until = clock_timestamp()`);
    await eventually(async () => (await stateOf('again-0')) === 'waiting', 10_000);
    expect(await eventTypes(api, 'again-0')).toEqual(['created', 'available']);
  });
});

test('S0.9 a thousand due items with nothing to do do not keep another from its time', async () => {
  // without a worker: the durable timers of workflows would make up for it
  const alone = await startTestSystem({ LOG_LEVEL: 'silent' }, { role: 'api' });
  const ids = names('idle', 1_000);
  await alone.api.post('/v1/queues/idle/tickets/batch', { tickets: ids.map((id) => ({ id, body: id })) });
  await alone.sql(`update item set wake_at = clock_timestamp() - interval '1 hour' where queue = 'idle'`);
  await alone.api.post('/v1/queues/prompt/tickets', { id: 'prompt', body: {}, delaySeconds: 0.2 });
  await eventually(async () => (await alone.api.get('/v1/tickets/prompt')).body.state === 'waiting');
  await eventually(async () => (await alone.sql('select 1 from item where wake_at is not null')).length === 0);
  expect(await alone.sql('select 1 from parked')).toEqual([]);
  expect((await alone.api.get('/v1/queues/idle/stats')).body.waiting).toBe(1_000);
  await alone.stop();
});

test('S0.9 an item that stays due with nothing to do is parked', async () => {
  const alone = await startTestSystem({ LOG_LEVEL: 'silent' }, { role: 'api' });
  await alone.api.post('/v1/queues/odd/tickets', { id: 'odd', body: {} });
  // without a queue no transition of it can be found
  await alone.sql(`update item set wake_at = clock_timestamp(), queue = 'nowhere' where id = 'odd'`);
  await eventually(async () => (await alone.sql(`select 1 from parked where item_id = 'odd'`)).length === 1);
  await alone.stop();
});

test('S0.6 two processes that look at the same time do nothing twice', async () => {
  const other = await startTestSystem({}, { stores });
  const ids = names('two', 400);
  await api.put('/v1/queues/two', { leaseSeconds: 5, maxHeld: 100 });
  await addAll('two', ids, { delaySeconds: 1 });
  await eventually(async () => (await stats('two')).waiting === 400);
  for (const id of ids.slice(0, 50)) expect(await eventTypes(api, id)).toEqual(['created', 'available']);
  const claims = await Promise.all(
    [api, other.api, api, other.api].map((one, n) =>
      one.post('/v1/queues/two/claim', { reviewer: `r-${n}`, count: 100 }),
    ),
  );
  const held = claims.flatMap((c) => c.body.tickets.map((t: Json) => t.id));
  expect(new Set(held).size).toBe(400);
  await eventually(async () => (await stats('two')).waiting === 400);
  const types = await sql(`select type, count(*)::int as n, count(distinct item_id)::int as items from event
    where item_id like 'two-%' group by type order by type`);
  expect(types).toEqual(['available', 'claimed', 'created', 'reclaimed'].map((type) => ({ type, n: 400, items: 400 })));
  expect(await stats('two')).toMatchObject({ delayed: 0, held: 0, leaseExpiries: 400 });
  expect(await sql(`select why, count(*)::int as n from ${LEASES} where queue = 'two' group by why`)).toEqual([
    { why: 'expired', n: 400 },
  ]);
  const versions = await sql(`select count(*)::int as n, count(distinct version)::int as different from item`);
  expect(versions[0]?.n).toBe(versions[0]?.different);
  await other.stop();
});
