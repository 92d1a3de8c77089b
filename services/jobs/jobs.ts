import type { Item } from '../../contract/items.ts';
import type { ItemFilter } from '../../db/items.ts';
import type { Db, RowOf } from '../../db/pool.ts';
import { refusalOf } from '../../domain/refusals.ts';
import * as items from '../items/items.ts';
import { share } from '../shared/batching.ts';
import type { Context } from '../shared/context.ts';
import { Problem } from '../shared/problems.ts';
import { isSettledBy } from '../shared/tokens.ts';
import { adding, type JobAdding } from './adding.ts';
import { aside, type JobsAside, type Waiting } from './aside.ts';
import { type Find, finding, idOf, type JobRef, unknown } from './finding.ts';
import { type JobsPopping, MOST_TOGETHER, popping, type Reservation } from './popping.ts';

/** What is said of a job that has ended. */
type Ended = Pick<Item, 'id' | 'queue' | 'state'>;

/**
 * The commands of jobs (S3), over all transports alike. Statements of concurrent calls are shared. They
 * throw a Problem: `not_found`, and for a token that is of no live reservation `not_open` or `lease_lost`.
 */
export interface JobService extends JobAdding, JobsPopping, JobsAside {
  /**
   * Without a token it ends whatever reservation is current.
   * @returns the job as it is now: finished, or, without a token, as it had ended before
   */
  finish(id: string, token: string | null, actor: string): Promise<Ended>;
  /**
   * Deletes an open job.
   * @param alsoReserved whether a reservation is ended
   * @returns undefined: the job had ended already, or is reserved
   */
  remove(job: JobRef, actor: string, alsoReserved: boolean): Promise<Ended | undefined>;
  touch(reservation: Reservation): Promise<Item>;
  /** Repeated, it changes nothing. @returns the job as it is now: buried where its topic allows no further attempt */
  release(reservation: Reservation, delaySeconds: number, priority?: number): Promise<Item>;
  /** Repeated, it changes nothing. */
  bury(reservation: Reservation, priority?: number): Promise<Item>;
  get(job: JobRef): Promise<Item>;
  /** The first of a topic's jobs in a state, in the order in which they leave it. */
  first(topic: string, state: Waiting): Promise<Item | undefined>;
  list(filter: ItemFilter, limit: number): Promise<Item[]>;
  /** Of an open job, for beanstalkd's protocol. */
  stats(number: number): Promise<RowOf<'job_stats'>>;
}

export function jobService(runtime: Context): JobService {
  const { db } = runtime;
  const find = finding(db);
  return {
    ...adding(runtime),
    ...popping(runtime),
    ...ending(runtime, find),
    ...holding(runtime),
    ...aside(db, find),
    get: find,
    first: async (topic, state) => (await db.run(`peek_${state}`, { topic }))[0],
    list: (filter, limit) => items.list(runtime, 'job', filter, limit),
    async stats(number) {
      const [stats] = await db.run('job_stats', { number });
      return stats ?? unknown(number);
    },
  };
}

function ending({ db, tracing }: Context, find: Find): Pick<JobService, 'finish' | 'remove'> {
  const finish = together<{ id: string; token: string | null; actor: string }, RowOf<'finish_jobs'>>((all) =>
    db.move('finish_jobs', {
      ids: all.map((j) => j.id),
      tokens: all.map((j) => j.token),
      actors: all.map((j) => j.actor),
    }),
  );
  const remove = together<{ id: string; actor: string; alsoReserved: boolean }, RowOf<'delete_jobs'>>((all) =>
    db.move('delete_jobs', {
      ids: all.map((j) => j.id),
      actors: all.map((j) => j.actor),
      alsoReserved: all.map((j) => j.alsoReserved),
    }),
  );
  return {
    async finish(id, token, actor) {
      const finished = await finish({ id, token, actor });
      if (finished) {
        tracing?.saw('job', finished.id);
        return finished;
      }
      const existing = await find(id);
      if (token === null || isSettledBy(existing, token)) return existing;
      return explain(db, { id, token });
    },
    async remove(job, actor, alsoReserved) {
      const id = await idOf(find, job);
      const removed = await remove({ id, actor, alsoReserved });
      if (!removed) await find(id);
      return removed;
    },
  };
}

/** Shares a statement that names each job once; undefined: it did nothing to that one. */
const together = <In extends { id: string }, Out extends { id: string }>(run: (all: In[]) => Promise<Out[]>) =>
  share<In, Out | undefined>(
    async (all) => {
      const rows = new Map((await run(all)).map((row) => [row.id, row]));
      return all.map(({ id }) => rows.get(id));
    },
    { keys: ({ id }) => [id], max: MOST_TOGETHER },
  );

function holding(ctx: Context): Pick<JobService, 'touch' | 'release' | 'bury'> {
  const { db } = ctx;
  const release = together<Reservation & { delaySeconds: number; priority: number | undefined }, Item>((all) =>
    db.move('release_jobs', {
      ids: all.map((j) => j.id),
      tokens: all.map((j) => j.token),
      delays: all.map((j) => j.delaySeconds),
      priorities: all.map((j) => j.priority ?? null),
    }),
  );
  const bury = together<Reservation & { priority: number | undefined }, Item>((all) =>
    db.move('bury_jobs', {
      ids: all.map((j) => j.id),
      tokens: all.map((j) => j.token),
      priorities: all.map((j) => j.priority ?? null),
    }),
  );
  return {
    async touch(held) {
      return (await items.renew(ctx, 'job', { ...held, subject: null })) ?? explain(db, held);
    },
    async release(held, delaySeconds, priority) {
      return (await release({ ...held, delaySeconds, priority })) ?? explain(db, held, 'released');
    },
    async bury(held, priority) {
      return (await bury({ ...held, priority })) ?? explain(db, held, 'released');
    },
  };
}

/**
 * Why a token did nothing.
 * @param repeats how the reservation has ended where the call is a repeat, and gets the job as it is
 */
async function explain(db: Db, { id, token }: Reservation, repeats?: string): Promise<Item> {
  const [found] = await db.run('find_verdict', { kind: 'job', id, token });
  if (!found) return unknown(id);
  if (repeats !== undefined && found.named_why === repeats) return found;
  const { detail, code, ...fields } = refusalOf(found);
  throw new Problem(code, found.overdue ? 'the reservation ran out' : detail, fields);
}
