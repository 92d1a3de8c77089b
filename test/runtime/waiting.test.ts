import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { Load } from '../../runtime/load.ts';
import { Waiters } from '../../runtime/waiting.ts';

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
  const wait = (seconds: number, who = 0, keys: () => string[] = () => [KEY], signal = gone.signal) =>
    waiters.waitFor({ keys, seconds, signal }, () => look(who));
  const add = (...things: number[]) => {
    stock.push(...things);
    waiters.ready(KEY, things.length);
  };
  return { waiters, gone, looks, wait, add, stock };
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
    const { wait, add, looks, waiters, gone } = stocked();
    const all = Array.from({ length: 10 }, (_, n) => wait(10, n));
    expect(waiters.size).toBe(10);
    looks.length = 0;
    add(1, 2, 3);
    await sleep(20);
    expect(looks).toHaveLength(3);
    expect(waiters.size).toBe(7);
    gone.abort();
    expect((await Promise.all(all)).filter((found) => found !== undefined).sort()).toEqual([1, 2, 3]);
  });

  test('passes on a wake-up that found nothing, until each has looked once', async () => {
    const { waiters, gone } = stocked();
    const asked: string[] = [];
    const wait = (who: string, fits: boolean) => {
      let first = true;
      return waiters.waitFor({ keys: () => [KEY], seconds: 10, signal: gone.signal }, async () => {
        if (first) {
          first = false;
          return undefined;
        }
        asked.push(who);
        return fits ? who : undefined;
      });
    };
    const all = [wait('a', false), wait('b', false), wait('c', true), wait('d', true)];
    await sleep(10);
    waiters.ready(KEY, 1);
    expect(await all[2]).toBe('c');
    expect(asked).toEqual(['a', 'b', 'c']);
    gone.abort();
    await Promise.all(all);
  });

  test('ends a wake-up at who found nothing and would have found whatever there is, but not for those woken beside it', async () => {
    const { waiters, gone, looks } = stocked();
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
    gone.abort();
    await Promise.all(all);
  });

  test('a caller who goes while it is called lets another take its turn', async () => {
    const { wait, add, waiters } = stocked();
    const [first, second] = [new AbortController(), new AbortController()];
    const leaving = wait(10, 1, undefined, first.signal);
    const staying = wait(10, 2, undefined, second.signal);
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
    const { wait, waiters, stock, looks, gone } = stocked();
    const all = Array.from({ length: 4 }, (_, n) => wait(10, n));
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
    gone.abort();
    await Promise.all(all);
  });
});
