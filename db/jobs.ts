import type { Item } from '../contract/items.ts';
import type { Mover, Queryable } from './pool.ts';
import type { Queue } from './queues.ts';

// Jobs are items of kind `job` in queues called topics. What they share with the other designs is in
// items.ts; here is what only the delay queue does (S3). See db/queries/jobs.sql.

export interface Pop {
  topics: string[];
  token: string;
  holder: string;
}

/** One job for each pop, as far as there are any; all pops name the same topics. */
export const popJobs = (db: Mover, pops: Pop[], maxBytes: number | null) =>
  db.move('pop_jobs', [pops[0]?.topics ?? [], pops.map((p) => p.token), pops.map((p) => p.holder), maxBytes]);

export const reserveJob = (db: Mover, number: number, token: string, holder: string, maxBytes: number | null) =>
  db.move('reserve_job', [number, token, holder, maxBytes]);

export interface Finish {
  id: string;
  /** null: whatever reservation is current, or none. */
  token: string | null;
  /** Who says so, where nobody has reserved it. */
  actor: string;
}

export const finishJobs = (db: Mover, jobs: Finish[]) =>
  db.move('finish_jobs', [jobs.map((j) => j.id), jobs.map((j) => j.token), jobs.map((j) => j.actor)]);

export const deleteJobs = (db: Mover, jobs: { id: string; actor: string }[], alsoReserved: boolean) =>
  db.move('delete_jobs', [jobs.map((j) => j.id), jobs.map((j) => j.actor), alsoReserved]);

export interface Reservation {
  id: string;
  token: string;
}

export const releaseJobs = (db: Mover, jobs: Reservation[], delaySeconds: number, priority: number | null) =>
  db.move('release_jobs', [jobs.map((j) => j.id), jobs.map((j) => j.token), delaySeconds, priority]);

export const buryJob = (db: Mover, { id, token }: Reservation, priority: number | null) =>
  db.move('bury_job', [id, token, priority]);

/** Which jobs a kick of several statements goes on with: those that were in this state when it began. */
export interface KickedFrom {
  state: 'buried' | 'delayed';
  since: Date;
}

export interface Kick {
  topic: string;
  count: number;
  actor: string;
  /** What the first statement answered; null for that one. */
  begun: KickedFrom | null;
}

export async function kickTopic(
  db: Mover,
  { topic, count, actor, begun }: Kick,
): Promise<{ rows: Item[]; from: KickedFrom | null }> {
  const values = [topic, count, actor, begun?.state ?? null, begun?.since ?? null];
  const rows = await db.move<Item & { kicked_from: KickedFrom['state'] }>('kick_topic', values);
  const [first] = rows;
  // a Date has milliseconds, the database's clock has more
  const from = first ? { state: first.kicked_from, since: new Date(first.updated_at.getTime() + 1) } : null;
  return { rows, from };
}

export const kickJob = (db: Mover, id: string, actor: string) => db.move('kick_job', [id, actor]);

const first = async (rows: Promise<Item[]>): Promise<Item | undefined> => (await rows)[0];

export const jobByNumber = (db: Queryable, number: number) => first(db.run<Item>('job_by_number', [number]));
export const peekReady = (db: Queryable, topic: string) => first(db.run<Item>('peek_ready', [topic]));
export const peekDelayed = (db: Queryable, topic: string) => first(db.run<Item>('peek_delayed', [topic]));
export const peekBuried = (db: Queryable, topic: string) => first(db.run<Item>('peek_buried', [topic]));

export interface TopicSettings {
  max_attempts: number | null;
  paused: boolean;
  push: object | null;
}

export async function putTopic(db: Queryable, name: string, s: TopicSettings): Promise<Queue> {
  const [row] = await db.run<Queue>('put_topic', [name, s.max_attempts, s.paused, s.push && JSON.stringify(s.push)]);
  if (!row) throw new Error('put_topic returned no row');
  return row;
}

/** For so many seconds; 0 ends a pause. */
export async function pauseTopic(db: Queryable, name: string, seconds: number): Promise<Queue | undefined> {
  return (await db.run<Queue>('pause_topic', [name, seconds]))[0];
}

export interface PushTarget {
  url: string;
  secret: string;
  concurrency: number;
}

export const popToPush = (db: Mover, topic: string, tokens: string[], limit: number) =>
  db.move('pop_to_push', [topic, tokens, limit]);

export const pushTopics = (db: Queryable) => db.run<{ name: string; push: PushTarget }>('push_topics');
