import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test, vi } from 'vitest';
import { readConfig } from '../../runtime/config.ts';
import { Load } from '../../runtime/load.ts';
import { Maintenance } from '../../runtime/maintenance.ts';
import { Bus, type Hint } from '../../runtime/notify.ts';
import { Waiters } from '../../runtime/waiting.ts';
import { deferred, eventually, repeat } from '../support/client.ts';
import { openTestDb, rowsOf } from '../support/database.ts';
import { testStores } from '../support/system.ts';

const { databaseUrl } = await testStores();
const logs = () => ({ debug: vi.fn(), info: vi.fn(), warn: vi.fn(), error: vi.fn() });
const db = openTestDb(databaseUrl, 4, 'maintained');

const nodes = () => rowsOf<{ id: string; seen_at: Date }>(databaseUrl, 'select id, seen_at from node');

test('S0.9 a chore that hangs and one that fails stop neither the sign of life, nor other chores, nor tidying', async () => {
  const log = logs();
  const process = { node: 'maintained', url: null, role: 'api', follower: undefined };
  const maintenance = new Maintenance({ db, ...process, bus: { hasPeers: true } as Bus, log });
  const hanging = deferred();
  const hangs = vi.fn(() => hanging.promise);
  const works = vi.fn();
  maintenance.add(hangs);
  maintenance.add(() => {
    throw new Error('this chore fails');
  });
  maintenance.add(works);
  await rowsOf(databaseUrl, `insert into node (id, role, seen_at) values ('gone', 'api', now() - interval '2 hours')`);
  await maintenance.start();
  await eventually(async () => (await nodes()).length === 1);
  const [first] = await nodes();
  await eventually(async () => ((await nodes())[0]?.seen_at ?? 0) > (first?.seen_at ?? 0));
  await eventually(async () => works.mock.calls.length > 1);
  expect(hangs).toHaveBeenCalledTimes(1);
  expect(log.warn).toHaveBeenCalledWith({ err: 'this chore fails' }, expect.anything());
  hanging.resolve();
  await maintenance.stop();
  expect(await nodes()).toEqual([]);
});

const notify = (payload: string) => rowsOf(databaseUrl, `select pg_notify('docket', $1)`, [payload]);

async function startBus(node: string) {
  const hints: Hint[] = [];
  const log = logs();
  const onGap = vi.fn();
  const bus = new Bus({ url: databaseUrl, node, log, onHint: (hint) => hints.push(hint), onGap, publish: notify });
  await bus.start();
  const listening = `from pg_stat_activity where application_name = 'docket ${node} listen'`;
  return {
    ...{ bus, hints, log, onGap },
    connections: async () => (await rowsOf(databaseUrl, `select pid ${listening}`)).length,
    cut: () => rowsOf(databaseUrl, `select pg_terminate_backend(pid) ${listening}`),
  };
}

test('S0.9 notifications that are not of Docket are ignored, and those that come after them are not', async () => {
  const { bus, hints, log } = await startBus('foreign');
  for (const payload of ['x', '', 'null', '7', '{}', '{"node":"another","notices":true}']) await notify(payload);
  await eventually(async () => hints.length > 0);
  expect(hints).toEqual([{ node: 'another', notices: true }]);
  expect(log.warn).toHaveBeenCalledTimes(5);
  await bus.stop();
});

test('S0.9 a connection that is lost is made again, but not once it is to be stopped', async () => {
  const { bus, onGap, connections, cut } = await startBus('lost');
  await cut();
  await eventually(async () => onGap.mock.calls.length === 1);
  expect(await connections()).toBe(1);
  await cut();
  await eventually(async () => (await connections()) === 0);
  await bus.stop();
  await sleep(1_500);
  expect(await connections()).toBe(0);
});

const KEY = 'ticket/q';

/** Waiters, and a stock of things to find; each look takes one. */
function stocked(stock: number[] = []) {
  const waiters = new Waiters(new Load());
  const gone = new AbortController();
  const looks: number[] = [];
  const look = (who = 0) => {
    looks.push(who);
    return Promise.resolve(stock.shift());
  };
  const wait = (seconds: number, who = 0, signal = gone.signal) =>
    waiters.waitFor({ keys: () => [KEY], seconds, signal }, () => look(who));
  const add = (...things: number[]) => {
    stock.push(...things);
    waiters.ready(KEY, things.length);
  };
  /** Ends all that still waits. */
  const leave = (all: Promise<unknown>[]) => {
    gone.abort();
    return Promise.all(all);
  };
  return { waiters, gone, looks, wait, add, stock, leave };
}

describe('S0.3 S3.1 S4.3 one wait for all', () => {
  test('looks once without a wait, and leaves nothing behind', async () => {
    const { wait, looks, waiters } = stocked();
    expect(await wait(0)).toBeUndefined();
    expect(looks).toHaveLength(1);
    expect(waiters.size).toBe(0);
  });

  test('gives what is there without waiting', async () => {
    const { wait, waiters } = stocked([7]);
    expect(await wait(10)).toBe(7);
    expect(waiters.size).toBe(0);
  });

  test('sees what comes while it looks: it is registered before', async () => {
    const { waiters, gone } = stocked();
    let looks = 0;
    const found = await waiters.waitFor({ keys: () => [KEY], seconds: 10, signal: gone.signal }, async () => {
      if (looks++ > 0) return 'late';
      waiters.ready(KEY, 1);
      return undefined;
    });
    expect([found, looks]).toEqual(['late', 2]);
  });

  test('wakes as many as there are things, and each once', async () => {
    const { wait, add, looks, waiters, leave } = stocked();
    const all = repeat(10, (n) => wait(10, n));
    expect(waiters.size).toBe(10);
    looks.length = 0;
    add(1, 2, 3);
    await sleep(20);
    expect(looks).toHaveLength(3);
    expect(waiters.size).toBe(7);
    expect((await leave(all)).filter((found) => found !== undefined).sort()).toEqual([1, 2, 3]);
  });

  test('passes on a wake-up that found nothing, until each has looked once', async () => {
    const { waiters, gone, leave } = stocked();
    const asked: string[] = [];
    const wait = (who: string) =>
      waiters.waitFor({ keys: () => [KEY], seconds: 10, signal: gone.signal }, async () => {
        asked.push(who);
        return asked.length > 4 && 'cd'.includes(who) ? who : undefined;
      });
    const all = [...'abcd'].map(wait);
    await sleep(10);
    waiters.ready(KEY, 1);
    expect(await all[2]).toBe('c');
    expect(asked).toEqual([...'abcd', 'a', 'b', 'c']);
    await leave(all);
  });

  test('ends a wake-up at who found nothing and would have found whatever there is, but not for those woken beside it', async () => {
    const { waiters, gone, looks, leave } = stocked();
    const wait = (who: number, findsAll: boolean) =>
      waiters.waitFor(
        { keys: () => [KEY], seconds: 10, signal: gone.signal, findsAll },
        async () => void looks.push(who),
      );
    const all = [wait(0, false), wait(1, true), wait(2, true), wait(3, true)];
    await sleep(10);
    looks.length = 0;
    waiters.ready(KEY, 1);
    await sleep(20);
    expect(looks).toEqual([0, 1]);
    waiters.ready(KEY, 2);
    await sleep(20);
    expect(looks).toEqual([0, 1, 2, 3]);
    await leave(all);
  });

  test('a caller who goes while it is called lets another take its turn', async () => {
    const { wait, add, waiters } = stocked();
    const [first, second] = [new AbortController(), new AbortController()];
    const leaving = wait(10, 1, first.signal);
    const staying = wait(10, 2, second.signal);
    await sleep(10);
    first.abort();
    add(5);
    expect(await leaving).toBeUndefined();
    expect(await staying).toBe(5);
    expect(waiters.size).toBe(0);
  });

  test('waits where its keys say after each look', async () => {
    const { waiters, gone } = stocked();
    let keys = ['task/uid_a'];
    let looks = 0;
    const found = waiters.waitFor({ keys: () => keys, seconds: 10, signal: gone.signal }, async () => {
      keys = ['task/uid_a', 'task/gid_g'];
      return ++looks < 3 ? undefined : looks;
    });
    await sleep(10);
    expect([looks, waiters.size]).toEqual([2, 2]);
    waiters.ready('task/gid_g', 1);
    expect(await found).toBe(3);
    expect(waiters.size).toBe(0);
  });

  test('ends in its time, with its process, and without a look for who has gone', async () => {
    const { wait, waiters, looks, gone } = stocked();
    expect(await wait(0.05)).toBeUndefined();
    const waiting = wait(10);
    await sleep(10);
    waiters.close();
    expect(await waiting).toBeUndefined();
    expect(await wait(10)).toBeUndefined();
    looks.length = 0;
    gone.abort();
    expect(await wait(10)).toBeUndefined();
    expect(looks).toEqual([]);
  });

  test('a poll asks one of each queue, and goes on only while it finds something', async () => {
    const { wait, waiters, stock, looks, leave } = stocked();
    const all = repeat(4, (n) => wait(10, n));
    await sleep(10);
    looks.length = 0;
    waiters.poll();
    await sleep(10);
    expect(looks).toHaveLength(1);
    stock.push(1, 2);
    waiters.poll();
    await sleep(10);
    // two found something, the third look found nothing and ended it
    expect(looks).toHaveLength(4);
    await leave(all);
  });
});

test.each([
  [undefined, { publishIdlePerSecond: 50, publishBusyPerSecond: 2, waitingWorkflows: 50_000 }],
  ['localhost:7233', { publishIdlePerSecond: 50, waitingWorkflows: Number.MAX_SAFE_INTEGER }],
  ['[::1]:7233', { publishIdlePerSecond: 50, waitingWorkflows: Number.MAX_SAFE_INTEGER }],
  ['temporal.internal', { publishIdlePerSecond: 1_000, publishBusyPerSecond: 10 }],
])('how much is published follows from where Temporal runs: %s', (TEMPORAL_ADDRESS, limits) => {
  expect(readConfig({ TEMPORAL_ADDRESS })).toMatchObject(limits);
});

test('a measurement gives its own limits, and leaves the others', () => {
  expect(readConfig({}, { maxCalls: 2 })).toMatchObject({ maxCalls: 2, publishIdlePerSecond: 50 });
});
