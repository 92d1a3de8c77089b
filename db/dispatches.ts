import type { Item } from '../contract/items.ts';
import type { NewTask } from '../contract/tasks.ts';
import type { Mover, Queryable } from './pool.ts';

export interface Pull {
  /** The name that counts. */
  person: string;
  /** As the client calls itself. */
  uid: string;
  exclude: string[];
  /** The log id of what may be handed out. */
  token: string;
  /** Whether to find out why there is nothing. */
  explain: boolean;
}

export interface Prospect {
  /** The executors that the client pulls from. */
  queues: string[];
  nextAt?: string | null;
  reasons?: { excluded: number; done: number; taken: number; passed: number; notYet: number };
}

type Handed<O> = { outcome: O; log_id: string; given: NewTask['params'] } & Item;

/** What time had to do with before anybody could be answered. */
export type Advanced = { outcome: 'advanced' } & Item;

export type Pulled = { person: string } & (
  | Handed<'redo'>
  | Handed<'dispatched'>
  | { outcome: 'busy'; given: null }
  | { outcome: 'none'; given: Prospect }
);

/** See db/functions/dispatches.sql; no person twice. */
export const nextTasks = (db: Mover, pulls: Pull[]) =>
  db.move<Pulled | Advanced>('next_tasks', [JSON.stringify(pulls)], {
    moved: (rows) => rows.filter((row) => row.outcome === 'dispatched' || row.outcome === 'advanced'),
  });

export interface Completion {
  person: string;
  /** The log id. */
  token: string;
  result: unknown;
  /** SHA-256 of the result, hex. */
  hash: string;
}

export type Completed = { token: string } & (
  | ({ outcome: 'completed'; completed_at: Date } & Item)
  | { outcome: 'repeated'; completed_at: Date }
  | { outcome: 'settled'; completed_at: Date }
  | { outcome: 'stale'; completed_at: Date | null; current: string | null }
);

/** See db/functions/dispatches.sql; no token twice. */
export const completeTasks = (db: Mover, all: Completion[]) =>
  db.move<Completed | Advanced>('complete_tasks', [JSON.stringify(all)], {
    moved: (rows) => rows.filter((row) => row.outcome === 'completed' || row.outcome === 'advanced'),
  });

export interface DispatchLogRow {
  item_id: string;
  seq: number;
  type: 'dispatched' | 'completed' | 'returned';
  at: Date;
  /** The same time in microseconds. */
  place: number;
  data: { logId: string; uid: string; params: Record<string, unknown>; result?: unknown };
}

export interface DispatchLogFilter {
  person: string | undefined;
  taskId: string | undefined;
  from: string | undefined;
  /** Time in microseconds, item and seq of the last line before. */
  after: [number, string, number] | undefined;
}

const EVER = '-infinity';

export function dispatchLog(db: Queryable, f: DispatchLogFilter, limit: number): Promise<DispatchLogRow[]> {
  const values = [f.taskId, f.from ?? EVER, f.after?.[0], f.after?.[1], f.after?.[2], limit];
  return f.person === undefined
    ? db.run<DispatchLogRow>('dispatch_log', values)
    : db.run<DispatchLogRow>('dispatch_log_of_user', [...values, f.person]);
}

const MAX_COMPLETIONS = 100;

/** An occurrence's newest completions, oldest first; the last one with its result. */
export const completionsOf = (db: Queryable, itemId: string) =>
  db.run<{ uid: string; logId: string; result: unknown; completedAt: string }>('completions_of', [
    itemId,
    MAX_COMPLETIONS,
  ]);
