import type { Item } from '../../contract/items.ts';
import type { Db } from '../../db/pool.ts';
import { share } from '../shared/batching.ts';
import { Problem } from '../shared/problems.ts';

/** A job by its id, or by the number that it has over beanstalkd's protocol. */
export type JobRef = string | number;

/** @throws Problem `not_found` */
export function unknown(job: JobRef): never {
  throw new Problem('not_found', `there is no job ${job}`);
}

/** The job, open or not. @throws Problem `not_found` */
export type Find = (job: JobRef) => Promise<Item>;

/** By an id one statement; by numbers concurrent calls share one. */
export function finding(db: Db): Find {
  const byNumber = share<number, Item | undefined>(
    async (numbers) => {
      const rows = new Map((await db.run('jobs_by_number', { numbers })).map((row) => [row.seq, row]));
      return numbers.map((number) => rows.get(number));
    },
    { keys: () => [] },
  );
  return async (job) => {
    const item =
      typeof job === 'number' ? await byNumber(job) : (await db.run('get_items', { kind: 'job', ids: [job] }))[0];
    return item ?? unknown(job);
  };
}

/** @throws Problem `not_found` for a number that no job has */
export const idOf = async (find: Find, job: JobRef) => (typeof job === 'string' ? job : (await find(job)).id);
