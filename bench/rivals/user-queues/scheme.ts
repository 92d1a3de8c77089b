import { randomUUID } from 'node:crypto';
import type { Redis } from 'ioredis';
import type pg from 'pg';
import type { Answer } from '../../tasks/ledger.ts';
import type { BenchTask } from '../../tasks/population.ts';

/** Clients ask once a minute; what has become due since is in the queue that is built then. */
const QUEUE_SECONDS = 60;

type Queued = Pick<BenchTask, 'id' | 'params' | 'startTime' | 'dispatch'>;

const EXECUTORS = "array['uid_' || $1] || array(select 'gid_' || group_id from member where person = $1)";
const STATEMENTS = {
  due: `select t.id, t.params, t.start_time as "startTime", t.dispatch from task t join stock s on s.task_id = t.id
         where t.executor = any (${EXECUTORS}) and not t.deleted and t.start_time <= now() and s.n > 0
           and (t.dispatch = 'blocking' or not exists (select from dispatch d where d.uid = $1 and d.task_id = t.id))
         order by t.start_time, t.id`,
  stock: 'select n from stock where task_id = $1',
  decrement: 'update stock set n = n - 1 where task_id = $1',
  log: 'insert into dispatch (log_id, uid, task_id) values ($1, $2, $3)',
  complete:
    'update dispatch set completed_at = clock_timestamp(), result = $2 where log_id = $1 returning completed_at',
  change:
    'update task t set params = $3, dispatch_times = $2 from task o where t.id = $1 and o.id = $1 returning o.dispatch_times as was',
  restock: 'update stock set n = n + $2 where task_id = $1',
  remove: 'update task set deleted = true where id = $1',
  executor: 'select executor from task where id = $1',
  members: 'select person from member where group_id = $1',
  join: 'insert into member (person, group_id) select p, $1 from unnest($2::text[]) p on conflict do nothing',
  leave: 'delete from member where group_id = $1 and person = any ($2::text[])',
};

/**
 * The scheme of the article that tasks come from: a queue for each user in Redis, built from the tables when it is
 * missing and thrown away after each change of what is in it, so that all clients of a group build theirs at once. The
 * stock is looked at, and then taken from. The unfinished task is kept in Redis too.
 */
export function userQueues(pool: pg.Pool, redis: Redis) {
  const run: Run = async (name, values) => (await pool.query({ name, text: STATEMENTS[name], values })).rows;
  return { ...clientsCalls(run, redis), ...adminsCalls(run, redis) };
}

// biome-ignore lint/suspicious/noExplicitAny: rows of whatever statement
type Run = (name: keyof typeof STATEMENTS, values: unknown[]) => Promise<any[]>;

function clientsCalls(run: Run, redis: Redis) {
  const build = async (uid: string): Promise<void> => {
    const tasks = await run('due', [uid]);
    const writing = redis.multi().del(`queue:${uid}`).set(`built:${uid}`, 1, 'EX', QUEUE_SECONDS);
    if (tasks.length > 0) writing.rpush(`queue:${uid}`, ...tasks.map((task) => JSON.stringify(task)));
    await writing.exec();
  };

  const take = async (uid: string, { id, params, startTime }: Queued): Promise<string | null> => {
    const [stock] = await run('stock', [id]);
    if (!stock || stock.n <= 0) return null;
    await run('decrement', [id]);
    const logId = randomUUID();
    await run('log', [logId, uid, id]);
    const unfinished = JSON.stringify({ task: { id, occurrence: startTime, startTime, params }, logId });
    await redis.set(`unfinished:${uid}`, unfinished);
    return unfinished;
  };

  return {
    async next(uid: string): Promise<Answer | { task: null }> {
      const unfinished = await redis.get(`unfinished:${uid}`);
      if (unfinished) return { ...JSON.parse(unfinished), redo: true };
      if (!(await redis.exists(`built:${uid}`))) await build(uid);
      for (;;) {
        const text = await redis.lpop(`queue:${uid}`);
        if (text === null) return { task: null };
        const task: Queued = JSON.parse(text);
        const given = await take(uid, task);
        if (!given) continue;
        // who is fast may go on taking it
        if (task.dispatch === 'blocking') await redis.lpush(`queue:${uid}`, text);
        return { ...JSON.parse(given), redo: false };
      }
    },

    /** @returns when; undefined: it isn't this user's unfinished one */
    async complete(uid: string, logId: string, result: unknown): Promise<string | undefined> {
      const unfinished = await redis.get(`unfinished:${uid}`);
      if (!unfinished || JSON.parse(unfinished).logId !== logId) return undefined;
      const [row] = await run('complete', [logId, JSON.stringify(result ?? null)]);
      await redis.del(`unfinished:${uid}`);
      return row?.completed_at;
    },
  };
}

function adminsCalls(run: Run, redis: Redis) {
  const forget = async (people: string[]): Promise<void> => {
    if (people.length > 0) await redis.del(...people.flatMap((uid) => [`built:${uid}`, `queue:${uid}`]));
  };

  const membersOf = async (gid: string): Promise<string[]> => (await run('members', [gid])).map(({ person }) => person);

  const forgetThoseOf = async (task: string): Promise<void> => {
    const [row] = await run('executor', [task]);
    const executor: string = row?.executor ?? '';
    await forget(executor.startsWith('gid_') ? await membersOf(executor.slice(4)) : [executor.slice(4)]);
  };

  return {
    async changeTask(id: string, dispatchTimes: number, params: object): Promise<void> {
      const [row] = await run('change', [id, dispatchTimes, JSON.stringify(params)]);
      await run('restock', [id, dispatchTimes - row?.was]);
      await forgetThoseOf(id);
    },

    async deleteTask(id: string): Promise<void> {
      await run('remove', [id]);
      await forgetThoseOf(id);
    },

    async changeGroup(gid: string, add: string[], remove: string[]): Promise<void> {
      await run('join', [gid, add]);
      await run('leave', [gid, remove]);
      await forget([...(await membersOf(gid)), ...remove]);
    },
  };
}
