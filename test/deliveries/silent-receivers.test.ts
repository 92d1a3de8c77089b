import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { settingsFor, startChild } from '../support/child.ts';
import { type Client, eventually, type Json, numbered, repeat } from '../support/client.ts';
import { byNight } from '../support/nightly.ts';
import { type Receiver, startReceiver } from '../support/receiver.ts';
import { startTestSystem, testStores } from '../support/system.ts';
import { add, addMany, configure } from '../support/tickets.ts';

const stores = await testStores();
const { api, sql } = await startTestSystem({}, { role: 'api', stores });
const worker = await startChild(
  'worker',
  settingsFor(stores, { DOCKET_ALLOW_PRIVATE_CALLBACKS: '1', LOG_LEVEL: 'warn' }),
);
/** The bound on a healthy receiver's verdict: two seconds, or ten times what it takes on this machine while idle. */
const BOUND_MS = 2_000;

const MANY = byNight(1_000, 300);

const silent = () => startReceiver(() => new Promise<number>(() => {}));

/** Decides `n` tickets of a queue from outside, in bulk. */
async function resolveMany(client: Client, queue: string, n: number): Promise<void> {
  const ids = await addMany(client, queue, numbered(n, `${queue}-`));
  const items = ids.map((id) => ({ id, decision: 'ok' }));
  const { body } = await client.post('/v1/tickets/resolve', { items, reason: 'elsewhere' });
  expect(body.results.filter((r: { httpStatus: number }) => r.httpStatus !== 200)).toEqual([]);
}

/** How long verdicts take to arrive, one after the other, in milliseconds. */
async function latencies(receiver: Receiver, queue: string, n: number): Promise<number[]> {
  const found: number[] = [];
  for (let i = 0; i < n; i++) {
    const { id } = await add(api, queue);
    const start = performance.now();
    await api.post(`/v1/tickets/${id}/resolve`, { decision: 'ok', reason: 'elsewhere' });
    const { at } = await eventually(
      async () => receiver.received.find((r) => JSON.parse(r.body).ticket.id === id),
      60_000,
    );
    found.push(at - start);
  }
  return found;
}

const warnings = () =>
  worker
    .output()
    .split('\n')
    .filter((line) => line.includes('"level":40')).length;
const opened = async (like: string) =>
  Number((await sql(`select count(*) as n from delivery where item_id like $1`, [like]))[0]?.n);

test(`S0.10 ${MANY} verdicts for a receiver that never answers hold up no other, and cost by attempts, not by waiting`, async () => {
  const [mute, healthy] = [await silent(), await startReceiver()];
  await configure(api, 'mute', { callback: mute.callback });
  await configure(api, 'healthy', { callback: healthy.callback });
  const idle = await latencies(healthy, 'healthy', 5);
  await resolveMany(api, 'mute', MANY);
  await eventually(async () => (await opened('mute-%')) === MANY, 120_000);
  const busy = await latencies(healthy, 'healthy', 15);
  expect(Math.max(...busy)).toBeLessThan(Math.max(BOUND_MS, 10 * Math.max(...idle)));
  // rows are written when a delivery is opened and after each attempt, never for one that waits
  const [rows] = await sql(
    `select (select n_tup_upd from pg_stat_user_tables where relname = 'delivery')::int as updates, sum(attempts)::int as attempts
       from delivery`,
  );
  expect(rows?.updates).toBeLessThanOrEqual(rows?.attempts);
  expect(mute.received.length).toBeLessThan(40);
  expect(warnings()).toBeLessThan(60);
}, 240_000);

test.each([
  ['that never answered', 'new', 0],
  ['that answered before', 'known', 16],
])(
  'S0.10 twenty receivers that hang, %s, leave room for one that was never called',
  async (_, name, before) => {
    let hanging = false;
    const answer = () => (hanging ? new Promise<number>(() => {}) : 204);
    const mutes = await Promise.all(repeat(20, () => startReceiver(answer)));
    const [usual, healthy] = [await startReceiver(), await startReceiver()];
    await configure(api, `usual-${name}`, { callback: usual.callback });
    const idle = await latencies(usual, `usual-${name}`, 5);
    for (const [n, { callback }] of mutes.entries())
      for (const when of ['before', 'after']) await configure(api, `${name}-${when}-${n}`, { callback });
    await configure(api, `fresh-${name}`, { callback: healthy.callback });
    if (before > 0) for (const n of mutes.keys()) await resolveMany(api, `${name}-before-${n}`, before);
    await eventually(async () => mutes.every((m) => m.received.length === before), 60_000);
    hanging = true;
    await Promise.all(mutes.map((_, n) => resolveMany(api, `${name}-after-${n}`, 20)));
    await eventually(async () => mutes.every((m) => m.received.length > before), 120_000);
    await eventually(async () => (await opened(`${name}-after-%`)) === 400, 120_000);
    // a slot that a hanging call has comes free after ten seconds; a receiver with slots of its own says what the machine takes
    const [found, beside] = await Promise.all([
      latencies(healthy, `fresh-${name}`, 10),
      latencies(usual, `usual-${name}`, 10),
    ]);
    expect(Math.max(...found)).toBeLessThan(Math.max(2 * BOUND_MS, 10 * Math.max(...idle), 3 * Math.max(...beside)));
  },
  240_000,
);

test('S0.10 a receiver that answers again gets all that waited for it, each once', async () => {
  const waking = await startReceiver((n) => (n <= 2 ? new Promise<number>(() => {}) : 204));
  await configure(api, 'waking', { callback: waking.callback });
  await resolveMany(api, 'waking', 60);
  const delivered = `select count(*)::int as n from delivery where queue = 'waking' and state = 'delivered'`;
  await eventually(async () => (await sql(delivered))[0]?.n === 60, 120_000);
  expect(waking.received.length).toBe(62);
}, 180_000);

test('S0.10 a verdict does not wait behind a hundred redeliveries to the same slow receiver', async () => {
  let slow = false;
  const receiver = await startReceiver(async () => {
    if (!slow) return 410;
    await sleep(1_000);
    return 204;
  });
  const usual = await startReceiver();
  // a second try has tickets of its own
  const queue = `slow-${Date.now()}`;
  await configure(api, queue, { callback: receiver.callback });
  await configure(api, 'usual', { callback: usual.callback });
  await resolveMany(api, queue, 100);
  const failed = async () => (await api.get(`/v1/deliveries?queue=${queue}&state=failed&limit=500`)).body.items;
  await eventually(async () => (await failed()).length === 100, 60_000);
  slow = true;
  const again = ({ itemId }: Json) => api.post(`/v1/deliveries/ticket/${itemId}/1/redeliver`);
  for (const { status } of await Promise.all((await failed()).map(again))) expect(status).toBe(202);
  const { items } = (await api.get(`/v1/deliveries?queue=${queue}&state=pending&limit=500`)).body;
  // where it takes long, a receiver without redeliveries says whether all did
  const [[latency], [beside]] = await Promise.all([latencies(receiver, queue, 1), latencies(usual, 'usual', 1)]);
  expect(items.length).toBeGreaterThan(20);
  expect(latency, `beside: ${beside} ms`).toBeLessThan(2 * BOUND_MS);
}, 180_000);
