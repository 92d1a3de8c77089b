import { createHash } from 'node:crypto';
import {
  type Client,
  ScheduleAlreadyRunning,
  ScheduleNotFoundError,
  type ScheduleOptions,
  ScheduleOverlapPolicy,
} from '@temporalio/client';
import type { Db, Queryable } from '../db/pool.ts';
import { lockSchedule, markResync, scheduleToSync, unmarkResync } from '../db/reconcile.ts';
import * as rows from '../db/schedules.ts';
import { URGENT_TASK_QUEUE } from '../runtime/outbox/publisher.ts';

export interface ScheduleStores {
  db: Db;
  client: Client;
}

const TIMEOUT_MS = 10_000;
/** Changes at once in one process: each keeps a connection of the pool while Temporal answers. */
const MOST_AT_ONCE = 4;
/** Temporal's own prefix and the instant that it appends make 44 more; where little is allowed, it is 255. */
const MAX_ID_BYTES = 200;

let underWay = 0;
const waiting: (() => void)[] = [];

/** A schedule's name in Temporal; one that would be too long for its ids is replaced by a hash. */
const nameOf = (topic: string, name: string): string => {
  const plain = `${topic}/${name}`;
  if (Buffer.byteLength(plain) <= MAX_ID_BYTES) return plain;
  return `sha256-${createHash('sha256').update(plain).digest('hex')}`;
};

export const scheduleId = (topic: string, name: string) => `schedule/${nameOf(topic, name)}`;

/**
 * Creates or changes a periodic job, in the database and in Temporal: both, or neither.
 * @throws TypeError when Temporal does not accept the rhythm, another error when it cannot be reached
 */
export const putSchedule = (stores: ScheduleStores, wanted: rows.NewSchedule): Promise<rows.Schedule> =>
  change(stores, wanted.topic, wanted.name, async (tx) => {
    // first, because it tells what Temporal is to be brought to; undone when that fails
    const row = await rows.putSchedule(tx, wanted);
    await bringTo(stores.client, row);
    return row;
  });

/**
 * Ends a periodic job.
 * @returns false: there was none
 * @throws when Temporal cannot be reached
 */
export const deleteSchedule = (stores: ScheduleStores, topic: string, name: string): Promise<boolean> =>
  change(stores, topic, name, async (tx) => {
    const existed = await rows.deleteSchedule(tx, topic, name);
    await remove(stores.client, scheduleId(topic, name));
    return existed;
  });

/** Brings Temporal to what the row says, and makes up for firings of the last hour that may be missing. */
export const syncSchedule = (stores: ScheduleStores, topic: string, name: string): Promise<void> =>
  locked(stores.db, topic, name, async (tx) => {
    const row = await scheduleToSync(tx, topic, name);
    if (!row) return remove(stores.client, scheduleId(topic, name));
    // a firing's job is named after its instant, so those that were made are not made again
    await bringTo(stores.client, row, { start: row.missed_from, end: row.missed_to });
  });

/**
 * Changes a schedule under its lock. The mark is there before Temporal is called and goes with the commit: whatever
 * happens in between, Temporal is brought to the row in the end.
 */
async function change<T>(
  { db }: ScheduleStores,
  topic: string,
  name: string,
  work: (tx: Queryable) => Promise<T>,
): Promise<T> {
  const mark = await markResync(db, 'schedule', topic, name);
  return locked(db, topic, name, async (tx) => {
    const result = await work(tx);
    await unmarkResync(tx, [mark]);
    return result;
  });
}

async function locked<T>(db: Db, topic: string, name: string, work: (tx: Queryable) => Promise<T>): Promise<T> {
  if (underWay >= MOST_AT_ONCE) await new Promise<void>((free) => waiting.push(free));
  else underWay++;
  try {
    return await db.transaction(async (tx) => {
      await lockSchedule(tx, topic, name);
      return work(tx);
    });
  } finally {
    const next = waiting.shift();
    if (next) next();
    else underWay--;
  }
}

type Rhythm = Pick<rows.Schedule, 'topic' | 'name' | 'every_seconds' | 'cron' | 'timezone'>;

/** Firings may overlap: each only adds a job. What was missed in the last hour is caught up. */
async function bringTo(
  client: Client,
  { topic, name, every_seconds, cron, timezone }: Rhythm,
  missed?: { start: Date; end: Date },
): Promise<void> {
  const id = nameOf(topic, name);
  const { schedule: schedules } = client;
  const options = {
    scheduleId: `schedule/${id}`,
    spec:
      cron === null ? { intervals: [{ every: (every_seconds ?? 0) * 1000 }] } : { cronExpressions: [cron], timezone },
    action: {
      type: 'startWorkflow',
      workflowType: 'periodic',
      workflowId: `periodic/${id}`,
      taskQueue: URGENT_TASK_QUEUE,
      args: [topic, name],
    },
    policies: { overlap: ScheduleOverlapPolicy.ALLOW_ALL, catchupWindow: '1h' },
    ...(missed && { state: { backfill: [{ ...missed, overlap: ScheduleOverlapPolicy.ALLOW_ALL }] } }),
  } satisfies ScheduleOptions;
  await client.withDeadline(Date.now() + TIMEOUT_MS, async () => {
    try {
      await schedules.create(options);
    } catch (error) {
      if (!(error instanceof ScheduleAlreadyRunning)) throw error;
      const { spec, action, policies } = options;
      // what an operator paused stays paused
      await schedules.getHandle(options.scheduleId).update((known) => ({ ...known, spec, action, policies }));
    }
  });
  // until long names were hashed, they were ids as they are
  if (id !== `${topic}/${name}`) await remove(client, `schedule/${topic}/${name}`);
}

async function remove(client: Client, id: string): Promise<void> {
  try {
    await client.withDeadline(Date.now() + TIMEOUT_MS, () => client.schedule.getHandle(id).delete());
  } catch (error) {
    if (!(error instanceof ScheduleNotFoundError || isInvalid(error))) throw error;
  }
}

/** gRPC: INVALID_ARGUMENT. Temporal can have no schedule of an id that it refuses. */
const isInvalid = (error: unknown) => ((error as Error).cause as { code?: number } | undefined)?.code === 3;
