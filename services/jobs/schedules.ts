import { createHash } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import * as temporal from '@temporalio/client';
import { NamespaceNotFoundError } from '@temporalio/common';
import type { NewJob, ScheduleSettings } from '../../contract/jobs.ts';
import { only, type Queryable } from '../../db/pool.ts';
import type { ScheduleRow } from '../../db/statements.ts';
import { nextFirings } from '../../domain/firings.ts';
import { URGENT_TASK_QUEUE } from '../../runtime/followers/publisher.ts';
import { inBatches } from '../shared/batching.ts';
import { type Context, found, invalid, isInvalidArgument, Problem, unreachable } from '../shared/service.ts';
import { contentHash } from '../shared/tokens.ts';
import * as jobs from './jobs.ts';

/** The doctor has no other parts of a context. */
type Stores = Pick<Context, 'db' | 'client'>;

const TIMEOUT_MS = 10_000;
/** To find out which are paused; these are shown without. */
const LOOK_MS = 3_000;
/** Schedules that one query names. */
const MOST_TOGETHER = 50;
/** Firings that are shown ahead. */
const NEXT = 5;
/** Changes at once in one process: each keeps a connection of the pool while Temporal answers. */
const MOST_AT_ONCE = 4;
/** Temporal's own prefix and the instant that it appends make 44 more; where little is allowed, it is 255. */
const MAX_ID_BYTES = 200;
/** How all ids of Docket's schedules begin. */
export const SCHEDULE_PREFIX = 'schedule/';

let underWay = 0;
const waiting: (() => void)[] = [];

/** A schedule's name in Temporal, with the topic up to the first slash; one that would be too long is replaced by a hash. */
const nameOf = (topic: string, name: string): string => {
  const plain = `${topic.replaceAll(/[%/]/g, encodeURIComponent)}/${name}`;
  if (Buffer.byteLength(plain) <= MAX_ID_BYTES) return plain;
  return `sha256-${createHash('sha256').update(plain).digest('hex')}`;
};

/** Its id in Temporal. */
export const scheduleId = (topic: string, name: string): string => `${SCHEDULE_PREFIX}${nameOf(topic, name)}`;

const failed = ({ log }: Context, error: unknown): never => {
  throw error instanceof temporal.ServiceError || error instanceof NamespaceNotFoundError
    ? unreachable(log, error)
    : error;
};

/**
 * Creates or changes a periodic job (S3.7), in the database and in Temporal: both, or neither.
 * @throws Problem `invalid_request` when Temporal does not accept the rhythm, `unavailable` when it cannot be reached
 */
export async function put(
  ctx: Context,
  topic: string,
  name: string,
  { TTR: ttr, ...settings }: ScheduleSettings,
): Promise<ScheduleRow> {
  try {
    return await change(ctx, topic, name, async (tx) => {
      // first, because it says what Temporal is to be brought to; undone when that fails
      const row = only(await tx.run('put_schedule', { topic, name, ttr, ...settings }));
      await bringTo(ctx.client, row);
      return row;
    });
  } catch (error) {
    // the SDK's way of saying that the server did not understand the rhythm
    if (!(error instanceof TypeError)) return failed(ctx, error);
    throw invalid(settings.cron === undefined ? 'everySeconds' : 'cron', `is not understood: ${error.message}`);
  }
}

/** @throws Problem `not_found` */
export const find = async ({ db }: Context, topic: string, name: string): Promise<ScheduleRow> =>
  found(await db.run('get_schedule', { topic, name }), `topic ${topic} has no schedule ${name}`);

/**
 * Looks up the plans of these schedules. What is paused stands in Temporal's visibility store, which is a second late: to
 * look at schedules themselves would hold up their changes.
 * @returns of a row the next firings, and whether an operator has paused it; null: not known
 */
export async function plansOf({ client }: Context, rows: ScheduleRow[]) {
  const paused = new Map<string, boolean>();
  const look = async (ids: string[]) => {
    const query = `ScheduleId in (${ids.map((id) => `'${id.replaceAll("'", "''")}'`).join()})`;
    for await (const { scheduleId: id, state } of client.schedule.list({ query })) paused.set(id, state.paused);
    return ids;
  };
  const ids = rows.map(({ topic, name }) => scheduleId(topic, name));
  const looking = client.withDeadline(Date.now() + LOOK_MS, () => inBatches(ids, MOST_TOGETHER, look));
  const isKnown = await looking.then(() => true).catch(() => false);
  return (row: ScheduleRow) => {
    const id = scheduleId(row.topic, row.name);
    // its query does not find this sign; what it does not find else has just been made
    const unseen = isKnown && !id.includes('"') ? false : null;
    const next = nextFirings(row, new Date(), NEXT);
    return { nextAt: next?.map((at) => at.toISOString()) ?? null, paused: paused.get(id) ?? unseen };
  };
}

/** Newest first. @param before the position in the list to continue after */
export const list = ({ db }: Context, topic: string, before: number | null, limit: number) =>
  db.lists.run('list_schedules', { topic, before, limit });

/** Ends a periodic job. @returns false: there was none. @throws Problem `unavailable` when Temporal cannot be reached */
export async function remove(ctx: Context, topic: string, name: string): Promise<boolean> {
  try {
    return await change(ctx, topic, name, async (tx) => {
      const rows = await tx.run('delete_schedule', { topic, name });
      await removeFrom(ctx.client, scheduleId(topic, name));
      return rows.length > 0;
    });
  } catch (error) {
    return failed(ctx, error);
  }
}

/** Adds the job of one firing; its id, also its key, is made of schedule and instant, so it is one run. */
export async function addFiring(ctx: Context, topic: string, name: string, at: string): Promise<void> {
  const [row] = await ctx.db.run('get_schedule', { topic, name });
  if (!row) return;
  const { body, ttr: TTR, priority } = row;
  const id = firingId(topic, name, at);
  const job = { topic, id, key: id, delay: 0, TTR, body, priority } as NewJob;
  await jobs.add(ctx, job, 'schedule').catch((error: unknown) => {
    // added by an earlier release, and the schedule was changed since
    if (!(error instanceof Problem && error.code === 'id_conflict')) throw error;
  });
}

/** `topic:name@instant` where that is an id and no other schedule's; else, as where it is too long, a hash of it. */
function firingId(topic: string, name: string, at: string): string {
  const plain = `${topic}:${name}@${at}`;
  const isPlain = /^[A-Za-z0-9._:~@-]{1,200}$/.test(plain) && !topic.includes(':');
  return isPlain ? plain : `schedule-${contentHash([topic, name]).slice(0, 32)}@${at}`;
}

/** Brings Temporal to what the row says, and makes up for firings of the last hour that may be missing. */
export const syncSchedule = ({ db, client }: Stores, topic: string, name: string): Promise<void> =>
  locked(db, topic, name, async (tx) => {
    const [row] = await tx.run('schedule_to_sync', { topic, name });
    if (!row) return removeFrom(client, scheduleId(topic, name));
    // a firing's job is named after its instant, so those that were made are not made again
    await bringTo(client, row, { start: row.missed_from, end: row.missed_to });
  });

/**
 * Changes a schedule under its lock. The mark is there before Temporal is called and goes with the commit: whatever
 * happens in between, Temporal is brought to the row in the end.
 */
async function change<T>({ db }: Stores, topic: string, name: string, work: (tx: Queryable) => Promise<T>): Promise<T> {
  const marks = await db.run('mark_resync', { what: 'schedule', parent: topic, name });
  return locked(db, topic, name, async (tx) => {
    const result = await work(tx);
    await tx.run('unmark_resync', { ids: marks.map((mark) => mark.id) });
    return result;
  });
}

async function locked<T>(
  db: Context['db'],
  topic: string,
  name: string,
  work: (tx: Queryable) => Promise<T>,
): Promise<T> {
  if (underWay >= MOST_AT_ONCE) await new Promise<void>((free) => waiting.push(free));
  else underWay++;
  try {
    return await db.transaction(async (tx) => {
      await tx.run('lock_schedule', { topic, name });
      return work(tx);
    });
  } finally {
    const next = waiting.shift();
    if (next) next();
    else underWay--;
  }
}

type Rhythm = Pick<ScheduleRow, 'topic' | 'name' | 'every_seconds' | 'cron' | 'timezone'>;

/** Firings may overlap: each only adds a job. What was missed in the last hour is caught up. */
async function bringTo(
  client: temporal.Client,
  { topic, name, every_seconds, cron, timezone }: Rhythm,
  missed?: { start: Date; end: Date },
): Promise<void> {
  const id = nameOf(topic, name);
  const { schedule: schedules } = client;
  const options = {
    scheduleId: `${SCHEDULE_PREFIX}${id}`,
    spec:
      cron === null ? { intervals: [{ every: (every_seconds ?? 0) * 1000 }] } : { cronExpressions: [cron], timezone },
    action: {
      type: 'startWorkflow',
      workflowType: 'periodic',
      workflowId: `periodic/${id}`,
      taskQueue: URGENT_TASK_QUEUE,
      args: [topic, name],
    },
    policies: { overlap: temporal.ScheduleOverlapPolicy.ALLOW_ALL, catchupWindow: '1h' },
    ...(missed && { state: { backfill: [{ ...missed, overlap: temporal.ScheduleOverlapPolicy.ALLOW_ALL }] } }),
  } satisfies temporal.ScheduleOptions;
  await client.withDeadline(Date.now() + TIMEOUT_MS, async () => {
    try {
      await schedules.create(options);
    } catch (error) {
      if (!(error instanceof temporal.ScheduleAlreadyRunning)) throw error;
      const { spec, action, policies } = options;
      // what an operator paused stays paused
      await schedules.getHandle(options.scheduleId).update((known) => ({ ...known, spec, action, policies }));
    }
  });
  // earlier releases took names as they are, so that it may be another's by now
  if (id !== `${topic}/${name}`) await removeFrom(client, `${SCHEDULE_PREFIX}${topic}/${name}`, [topic, name]);
}

/** @param of only if it is this topic's schedule of this name */
async function removeFrom(client: temporal.Client, id: string, of?: [topic: string, name: string]): Promise<void> {
  const handle = client.schedule.getHandle(id);
  try {
    await client.withDeadline(Date.now() + TIMEOUT_MS, async () => {
      if (!of || isDeepStrictEqual((await handle.describe()).action.args, of)) await handle.delete();
    });
  } catch (error) {
    if (!(error instanceof temporal.ScheduleNotFoundError || isInvalidArgument(error))) throw error;
  }
}
