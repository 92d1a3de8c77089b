import pg from 'pg';
import PgBoss from 'pg-boss';
import type { Lab } from './lab.ts';
import { BODY } from './seed.ts';
import { repeat, type Timed } from './stats.ts';

const BATCH = 5_000;
const POOL = 20;

/** pg-boss as a library in this process, in a database of its own on the same server. */
export interface Rival {
  fill(queue: string, jobs: number): Promise<void>;
  /** Fetch + complete, so many at a time, one queue after the other. */
  run(queues: string[], callers: number, seconds: number): Promise<Timed>;
  stop(): Promise<void>;
}

export async function openRival(lab: Lab): Promise<Rival> {
  await lab.sql('drop database if exists rival');
  await lab.sql('create database rival');
  const url = new URL('/rival', lab.postgresUrl).href;
  const boss = new PgBoss({ connectionString: url, max: POOL, supervise: false, schedule: false });
  boss.on('error', (error) => lab.say(`  pg-boss: ${error.message}`));
  await boss.start();
  return {
    async fill(queue, jobs) {
      await boss.createQueue(queue);
      for (let left = jobs; left > 0; left -= BATCH) {
        const n = Math.min(BATCH, left);
        await boss.insert(Array.from({ length: n }, () => ({ name: queue, data: BODY })));
      }
      const client = new pg.Client({ connectionString: url });
      await client.connect();
      await client.query('analyze');
      await client.end();
    },
    run(queues, callers, seconds) {
      let at = 0;
      const step = async (took: number[]) => {
        const queue = queues[at];
        if (queue === undefined) return false;
        const start = performance.now();
        const [job] = await boss.fetch(queue);
        if (!job) {
          if (queue === queues[at]) at++;
          return true;
        }
        took.push(performance.now() - start);
        await boss.complete(queue, job.id, { verdict: 'keep' });
        return true;
      };
      return repeat(
        Array.from({ length: callers }, () => step),
        seconds,
      );
    },
    stop: () => boss.stop({ graceful: false, wait: true }),
  };
}
