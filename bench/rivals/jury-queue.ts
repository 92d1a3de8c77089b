import { Redis } from 'ioredis';
import { needDebian } from '../../test/support/debian.ts';
import type { Jury } from '../cases/court.ts';
import type { Lab } from '../lab.ts';
import { startServer } from './rival.ts';

/** How many open cases a juror fetches and looks at. */
const FETCHED = 5;
const HOLD_MS = 600_000;

/**
 * The scheme of the article that cases come from: a queue of holders for each case, each with a time to live. A
 * juror looks how long it is and, if there is room, joins it; between the look and the joining others do the same.
 */
export async function openJuryQueue(lab: Lab) {
  needDebian('redis-server');
  const server = await startServer(lab, 'redis-jury', 'redis-server', (port) => [
    ...['--port', String(port), '--bind', '127.0.0.1', '--dir', lab.dir],
    ...['--save', '', '--appendonly', 'yes', '--appendfilename', 'jury.aof', '--appendfsync', 'always'],
  ]);
  const redis = new Redis({ port: server.port, host: '127.0.0.1' });

  return {
    async open(ids: string[], votesToWin: number, overbook: number): Promise<Jury> {
      await redis.sadd('open', ids);

      const join = async (id: string, juror: string): Promise<boolean> => {
        if (await redis.sismember(`voted:${id}`, juror)) return false;
        const votes = Object.values(await redis.hgetall(`votes:${id}`)).map(Number);
        await redis.zremrangebyscore(`holders:${id}`, 0, Date.now());
        const holders = await redis.zcard(`holders:${id}`);
        if (holders >= votesToWin - Math.max(0, ...votes) + overbook) return false;
        await redis.zadd(`holders:${id}`, Date.now() + HOLD_MS, juror);
        return true;
      };

      return {
        async claim(juror) {
          for (const id of await redis.srandmember('open', FETCHED))
            if (await join(id, juror)) return { id, token: '' };
          return null;
        },
        async vote({ id }, juror, option) {
          await redis.sadd(`voted:${id}`, juror);
          const votes = await redis.hincrby(`votes:${id}`, option, 1);
          await redis.zrem(`holders:${id}`, juror);
          if (votes < votesToWin) return (await redis.exists(`decided:${id}`)) ? 'wasted' : 'counted';
          if ((await redis.set(`decided:${id}`, option, 'NX')) === null) return 'wasted';
          await redis.srem('open', id);
          return 'decided';
        },
      };
    },
    async stop() {
      redis.disconnect();
      await server.stop();
    },
  };
}
