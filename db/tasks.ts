import type { Item } from '../contract/items.ts';
import type { NewTask } from '../contract/tasks.ts';

/** A call of `next_tasks`. */
export interface Pull {
  /** The user's name without its prefix. */
  person: string;
  /** As the client calls itself. */
  uid: string;
  exclude: string[];
  /** The log id of the dispatch that it may get. */
  token: string;
  /** Whether to find out why there is nothing. */
  explain: boolean;
}

/** Due occurrences of a client's executors, by why it gets none of them. */
export type PullReasons = Record<'excluded' | 'done' | 'taken' | 'passed' | 'tooOld' | 'notYet', number>;

/** Why there is nothing for a client. */
interface Prospect {
  /** The executors that the client pulls from. */
  queues: string[];
  nextAt?: string | null;
  reasons?: PullReasons;
}

type Handed<O> = { outcome: O; log_id: string; given: NewTask['params'] } & Item;

/** An occurrence that time changed before the calls were answered. */
export type Advanced = { outcome: 'advanced' } & Item;

export type Pulled = { person: string } & (
  | Handed<'redo'>
  | Handed<'dispatched'>
  | { outcome: 'busy'; given: null }
  | { outcome: 'none'; given: Prospect }
);

/** A completion for `complete_tasks`. */
export interface Completion {
  person: string;
  /** The log id. */
  token: string;
  result: unknown;
  /** SHA-256 of the result, hex. */
  hash: string;
}

export type Released =
  | ({ outcome: 'released'; log_id: string; released_at: Date } & Item)
  | { outcome: 'repeated'; log_id: string; released_at: Date }
  | { outcome: 'stale'; current: string | null }
  | Advanced;

export type Completed = { token: string } & (
  | ({ outcome: 'completed'; completed_at: Date } & Item)
  | { outcome: 'repeated'; completed_at: Date }
  | { outcome: 'settled'; completed_at: Date }
  | { outcome: 'stale'; completed_at: Date | null; current: string | null }
);
