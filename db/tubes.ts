import type { CoreState } from '../contract/snapshot.ts';
import type { Reservation } from './jobs.ts';
import type { Mover, Queryable } from './pool.ts';

// What only beanstalkd's protocol asks (S3.8). See db/queries/tubes.sql.

/** `undelivered`: the answer never reached the client, so it wasn't an attempt. */
export const returnJobs = (db: Mover, jobs: Reservation[], undelivered: boolean) =>
  db.move('return_jobs', [jobs.map((j) => j.id), jobs.map((j) => j.token), undelivered]);

/** Times in seconds. */
export interface JobStats {
  seq: number;
  queue: string;
  state: CoreState;
  priority: number;
  attempts: number;
  delay_seconds: number;
  lease_seconds: number;
  age: number;
  time_left: number;
  timeouts: number;
  releases: number;
  buries: number;
  kicks: number;
}

export async function jobStats(db: Queryable, number: number): Promise<JobStats | undefined> {
  return (await db.run<JobStats>('job_stats', [number]))[0];
}

/** Per topic: how many jobs in each state, and as `lease_expired` how many reservations have run out. */
export async function topicCounts(db: Queryable, topic: string | null): Promise<Map<string, Record<string, number>>> {
  const counts = new Map<string, Record<string, number>>();
  for (const { queue, what, n } of await db.run<{ queue: string; what: string; n: number }>('topic_counts', [topic])) {
    const of = counts.get(queue) ?? {};
    of[what] = n;
    counts.set(queue, of);
  }
  return counts;
}

export async function urgentJobs(db: Queryable, topic: string | null): Promise<number> {
  return (await db.run<{ n: number }>('urgent_jobs', [topic]))[0]?.n ?? 0;
}

/** Seconds in all and left; undefined: not paused. */
export async function topicPause(db: Queryable, topic: string): Promise<{ seconds: number; left: number } | undefined> {
  return (await db.run<{ seconds: number; left: number }>('topic_pause', [topic]))[0];
}

/** Whether a topic has open jobs; one without them is no longer paused afterwards. */
export async function openTube(db: Queryable, topic: string): Promise<boolean> {
  return (await db.run<{ any: boolean }>('open_tube', [topic]))[0]?.any ?? false;
}
