import { describe, expect, test } from 'vitest';
import { claimOne, eventTypes, eventually, type Json, numbered } from '../support/client.ts';
import { LEASES } from '../support/leases.ts';
import { startTestSystem, testStores } from '../support/system.ts';
import { add, addMany, claim, configure, decide, ticket } from '../support/tickets.ts';

const stores = await testStores();
// without a worker: the durable timers of workflows would make up for a clock that fails
const { api, sql, running } = await startTestSystem({ LOG_LEVEL: 'silent' }, { role: 'api', stores });

const addAll = (queue: string, count: number, more: object = {}) => {
  const tickets = numbered(count, `${queue}-`).map((id) => ({ id, ...more }));
  return addMany(api, queue, tickets);
};
const stateOf = async (id: string) => (await ticket(api, id)).state;
const stats = async (queue: string): Promise<Json> => (await api.get(`/v1/queues/${queue}/stats`)).body;
const parkedGauge = async () => Number(/^docket_parked_items (\d+)$/m.exec((await api.get('/metrics')).body)?.[1]);

/** No update of this item succeeds until `heal` is called. */
const poison = (id: string) =>
  sql(`create or replace function poison() returns trigger language plpgsql as $$ begin
         if new.id = '${id}' then raise 'made to fail'; end if; return new; end $$;
       create trigger poison before update on item for each row execute function poison()`);
const heal = () => sql('drop trigger poison on item');
/** All leases of a queue have run out, and are due in a second. */
const runOut = (queue: string) =>
  sql(`update item set expires_at = clock_timestamp(), wake_at = clock_timestamp() + interval '1 s' where queue = $1`, [
    queue,
  ]);
/** What is parked is tried again now. */
async function unpark(): Promise<void> {
  await sql('delete from parked');
  running.runtime.rearm();
}

describe('an item whose transition fails', () => {
  test('S0.9 is parked, the others that are due go on, and it follows when it can', async () => {
    await poison('due-7');
    const ids = await addAll('due', 30, { delaySeconds: 0.5 });
    await eventually(async () => (await stats('due')).waiting === 29);
    expect(await stateOf('due-7')).toBe('delayed');
    const parked = await sql('select kind, item_id, error, until > clock_timestamp() as still from parked');
    expect(parked).toEqual([{ kind: 'ticket', item_id: 'due-7', error: 'made to fail', still: true }]);
    expect(await parkedGauge()).toBe(1);
    // parked, it takes nothing from what comes due later
    await add(api, 'due', { id: 'later', delaySeconds: 0.2 });
    await eventually(async () => (await stateOf('later')) === 'waiting');

    await heal();
    await unpark();
    await eventually(async () => (await stateOf('due-7')) === 'waiting');
    expect(await parkedGauge()).toBe(0);
    for (const id of ids) expect(await eventTypes(api, id)).toEqual(['created', 'available']);
    expect(await stats('due')).toMatchObject({ delayed: 0, waiting: 31 });
  });

  test('S0.7 a lease that cannot be ended does not keep others from theirs', async () => {
    const ids = await addAll('lease', 10);
    const held: Json[] = [];
    for (const id of ids) held.push(await claimOne(api, 'lease', `r-${id}`));
    await runOut('lease');
    await poison('lease-3');
    running.runtime.rearm();
    await eventually(async () => (await stats('lease')).waiting === 9);
    expect(await stateOf('lease-3')).toBe('held');
    // its time is over all the same: the holder is not let in
    const stuck = held.find((t) => t.id === 'lease-3');
    await heal();
    expect(await decide(api, stuck)).toMatchObject({ status: 409, body: { code: 'lease_lost', reason: 'expired' } });
    await unpark();
    await eventually(async () => (await stats('lease')).waiting === 10);
  });

  test('it can fail at being noted too, and is tried again when its minute is over', async () => {
    await poison('again-0');
    await addAll('again', 2, { delaySeconds: 0.2 });
    await eventually(async () => (await sql(`select 1 from parked where item_id = 'again-0'`)).length === 1);
    expect(await eventTypes(api, 'again-0')).toEqual(['created']);
    await heal();
    await sql(`update parked set until = clock_timestamp()`);
    await eventually(async () => (await stateOf('again-0')) === 'waiting');
    expect(await eventTypes(api, 'again-0')).toEqual(['created', 'available']);
  });
});

test('S0.9 a thousand due items with nothing to do do not keep another from its time', async () => {
  await addAll('idle', 1_000);
  await sql(`update item set wake_at = clock_timestamp() - interval '1 hour' where queue = 'idle'`);
  await add(api, 'prompt', { id: 'prompt', delaySeconds: 0.2 });
  const due = `select 1 from item where id = 'prompt' and state = 'delayed' or queue = 'idle' and wake_at is not null`;
  await eventually(async () => (await sql(due)).length === 0, 100_000);
  expect(await sql(`select 1 from parked where item_id like 'idle-%' or item_id = 'prompt'`)).toEqual([]);
  expect((await api.get('/v1/queues/idle/stats')).body.waiting).toBe(1_000);
}, 120_000);

test('S0.9 an item that stays due with nothing to do is parked', async () => {
  await add(api, 'odd', { id: 'odd' });
  // without a queue no transition of it can be found
  await sql(`update item set wake_at = clock_timestamp(), queue = 'nowhere' where id = 'odd'`);
  running.runtime.rearm();
  await eventually(async () => (await sql(`select 1 from parked where item_id = 'odd'`)).length === 1);
});

test('S0.6 two processes that look at the same time do nothing twice', async () => {
  const other = await startTestSystem({}, { role: 'api', stores });
  await configure(api, 'two', { leaseSeconds: 600, maxHeld: 100 });
  const ids = await addAll('two', 400, { delaySeconds: 1 });
  await eventually(async () => (await stats('two')).waiting === 400);
  for (const id of ids.slice(0, 50)) expect(await eventTypes(api, id)).toEqual(['created', 'available']);
  const both = [api, other.api, api, other.api];
  const claims = await Promise.all(both.map((one, n) => claim(one, 'two', `r-${n}`, { count: 100 })));
  expect(new Set(claims.flatMap(({ tickets }) => tickets.map((t: Json) => t.id))).size).toBe(400);
  await runOut('two');
  for (const { runtime } of [running, other.running]) runtime.rearm();
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
