import type { Rule } from '../contract/queues.ts';
import type { Item, Kind } from './items.ts';
import type { Move, Mover, Queryable } from './pool.ts';

export interface Escalation {
  afterSeconds: number;
  priority: number;
}

/** A row of `queue`. */
export interface Queue {
  kind: Kind;
  name: string;
  paused: boolean;
  lease_seconds: number;
  level_seconds: number | null;
  escalations: Escalation[];
  reclaimed_first: boolean;
  max_held: number;
  max_attempts: number | null;
  deadline_seconds: number | null;
  callback: { url: string; secret: string } | null;
  form: Record<string, unknown> | null;
  rules: Rule[];
  push: { url: string; secret: string; concurrency: number } | null;
  settings_version: number;
  refresh_pending: boolean;
  created_at: Date;
  updated_at: Date;
  /** Its place in lists, newest first. */
  seq: number;
}

export type QueueSettings = Pick<
  Queue,
  | 'lease_seconds'
  | 'level_seconds'
  | 'escalations'
  | 'reclaimed_first'
  | 'max_held'
  | 'max_attempts'
  | 'deadline_seconds'
  | 'callback'
  | 'form'
  | 'rules'
>;

export interface QueueStats {
  counts: Record<string, number>;
  oldest_waiting_seconds: number | null;
  claims_per_minute: number;
}

export interface ClaimReasons {
  delayed: number;
  held: number;
  excluded: number;
  skills: number;
  skipped: number;
  paused: number;
  max_held: number;
  /** Seconds until something may become free by itself; null: nothing will. */
  retry_after: number | null;
}

export interface Claim {
  kind: Kind;
  queue: string;
  /** Distinct; with more than one, `count` is 1 and `skills` empty. */
  persons: string[];
  /** `count` for each person, in their order. */
  tokens: string[];
  count: number;
  skills: string[];
  resume: boolean;
}

export interface NextClaim {
  kind: Kind;
  queue: string;
  person: string;
  token: string;
  skills: string[];
  /** The token whose decision asks for it. */
  follows: string;
}

const REFRESH_BATCH = 2000;

export const ensureQueue = (db: Queryable, kind: Kind, name: string) => db.run('ensure_queue', [kind, name]);

export async function getQueue(db: Queryable, kind: Kind, name: string): Promise<Queue | undefined> {
  return (await db.run<Queue>('get_queue', [kind, name]))[0];
}

export const listQueues = (db: Queryable, kind: Kind, before: number | null, limit: number) =>
  db.run<Queue>('list_queues', [kind, before, limit]);

export async function deleteQueue(db: Queryable, kind: Kind, name: string): Promise<'deleted' | 'used' | 'not_found'> {
  const [row] = await db.run<{ outcome: 'deleted' | 'used' | 'not_found' }>('delete_queue', [kind, name]);
  if (!row) throw new Error('delete_queue returned no row');
  return row.outcome;
}

export async function putQueue(db: Queryable, kind: Kind, name: string, s: QueueSettings): Promise<Queue> {
  const [queue] = await db.run<Queue>('put_queue', [
    kind,
    name,
    s.lease_seconds,
    s.level_seconds,
    JSON.stringify(s.escalations),
    s.reclaimed_first,
    s.max_held,
    s.max_attempts,
    s.deadline_seconds,
    s.callback && JSON.stringify(s.callback),
    s.form && JSON.stringify(s.form),
    JSON.stringify(s.rules),
  ]);
  if (!queue) throw new Error('put_queue returned no row');
  return queue;
}

export async function pauseQueue(db: Queryable, kind: Kind, name: string, paused: boolean): Promise<Queue | undefined> {
  return (await db.run<Queue>('pause_queue', [kind, name, paused]))[0];
}

/** What was held before is resumed, and has not moved. */
const granted = (tokens: string[]): Move<Item> => {
  const given = new Set<string | null>(tokens);
  return { moved: (rows) => rows.filter((row) => given.has(row.lease_id)) };
};

/** See db/functions/claim.sql. */
export const claimItems = (db: Mover, c: Claim) =>
  db.move('claim', [c.kind, c.queue, c.persons, c.tokens, c.count, c.skills, c.resume], granted(c.tokens));

/** The one item that a decision asked for as its next, or nothing, however often it is asked. */
export const claimNextItem = (db: Mover, c: NextClaim) =>
  db.move('claim_next', [c.kind, c.queue, c.person, c.token, c.skills, c.follows], granted([c.token]));

export async function claimReasons(
  db: Queryable,
  kind: Kind,
  queue: string,
  person: string,
  skills: string[],
): Promise<ClaimReasons> {
  const [row] = await db.run<ClaimReasons>('claim_reasons', [kind, queue, person, skills]);
  if (!row) throw new Error('claim_reasons returned no row');
  return row;
}

export async function itemsAhead(db: Queryable, item: Item, person: string, skills: string[]): Promise<number> {
  // rank leaves the range of a double, so it is read again by the database instead of being passed
  const [row] = await db.run<{ n: number }>('items_ahead', [item.kind, item.queue, item.id, person, skills]);
  return row?.n ?? 0;
}

export async function queueStats(db: Queryable, kind: Kind, name: string): Promise<QueueStats> {
  const [row] = await db.run<QueueStats>('queue_stats', [kind, name]);
  if (!row) throw new Error('queue_stats returned no row');
  return row;
}

/** Queues whose settings have to be applied once more; this process has them to itself for ten minutes. */
export const takeRefresh = (db: Queryable) => db.run<{ kind: Kind; name: string }>('take_refresh');

export interface RefreshedBatch {
  /** Where the walk goes on. */
  created_at: string;
  seq: number;
  /** Items for which something is due at once. */
  due: string[];
  /** Those whose rules are to be evaluated. */
  ruled: string[];
}

/** One batch of a queue's open items under its present settings; undefined at the end of the walk. */
export async function refreshItems(
  db: Mover,
  kind: Kind,
  name: string,
  last: Pick<RefreshedBatch, 'created_at' | 'seq'>,
): Promise<RefreshedBatch | undefined> {
  const values = [kind, name, last.created_at, last.seq, REFRESH_BATCH];
  return (await db.move<RefreshedBatch>('refresh_items', values, { moved: () => [] }))[0];
}

/** Only if the settings are still those of that version. */
export const refreshDone = (db: Queryable, q: Pick<Queue, 'kind' | 'name' | 'settings_version'>) =>
  db.run('refresh_done', [q.kind, q.name, q.settings_version]);
