import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { needDebian } from '../../test/support/debian.ts';
import type { Lab } from '../lab.ts';
import { startServer } from './rival.ts';

/** One audit's callback, as both sides of scenario 11 get it. */
export interface Callback {
  review: string;
  id: string;
  picture: string;
  status: number;
  /** ISO time. */
  auditTime: string;
}

const LOCK_MS = 3_000;
/** In the trace that the article prints, who lost the lock came again 4 to 6 s later. */
const PUT_OFF_MS = 4_000;
const LOOK_MS = 50;

const UNLOCK = "if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('del', KEYS[1]) end";

type Record = { [picture: string]: { status: number; auditTime: string } };

/**
 * The scheme of the article that reviews come from: a lock per review by SETNX, the whole record read,
 * changed and written back under it, and a delay queue for those who don't get the lock.
 */
export async function openLockScheme(lab: Lab) {
  needDebian('redis-server');
  const server = await startServer(lab, 'redis-reviews', 'redis-server', (port) => [
    ...['--port', String(port), '--bind', '127.0.0.1', '--dir', lab.dir],
    ...['--save', '', '--appendonly', 'yes', '--appendfilename', 'reviews.aof', '--appendfsync', 'always'],
  ]);
  const redis = new Redis({ port: server.port, host: '127.0.0.1' });
  let waited = 0;
  let stopped = false;

  const apply = async (callback: Callback): Promise<boolean> => {
    const [lock, token] = [`lock:${callback.review}`, randomUUID()];
    if ((await redis.set(lock, token, 'PX', LOCK_MS, 'NX')) === null) return false;
    const record: Record = JSON.parse((await redis.get(`record:${callback.review}`)) ?? '{}');
    const known = record[callback.picture];
    const late = known !== undefined && callback.auditTime < known.auditTime;
    if (!late) {
      record[callback.picture] = { status: callback.status, auditTime: callback.auditTime };
      await redis.set(`record:${callback.review}`, JSON.stringify(record));
      await redis.hset(`index:${callback.review}`, callback.picture, callback.status);
      await redis.set(`base:${callback.review}`, callback.id);
    }
    await redis.rpush(`log:${callback.review}`, `${callback.id} ${late ? 'expired' : 'applied'}`);
    await redis.eval(UNLOCK, 1, lock, token);
    return true;
  };

  const done = new Map<string, () => void>();
  const poller = (async () => {
    while (!stopped) {
      for (const text of await redis.zrangebyscore('delayed', 0, Date.now())) {
        if ((await redis.zrem('delayed', text)) === 0) continue;
        const callback: Callback = JSON.parse(text);
        if (await apply(callback)) done.get(callback.id)?.();
        else await redis.zadd('delayed', Date.now() + PUT_OFF_MS, text);
      }
      await sleep(LOOK_MS);
    }
  })();

  return {
    /** Resolves when the callback has been applied or found to be late. */
    async send(callback: Callback): Promise<void> {
      if (await apply(callback)) return;
      waited++;
      const applied = new Promise<void>((resolve) => void done.set(callback.id, resolve));
      await redis.zadd('delayed', Date.now() + PUT_OFF_MS, JSON.stringify(callback));
      await applied;
    },
    /** How many had to wait for a lock since the last time this was asked. */
    waited: () => {
      const n = waited;
      waited = 0;
      return n;
    },
    async stop() {
      stopped = true;
      await poller;
      redis.disconnect();
      await server.stop();
    },
  };
}
