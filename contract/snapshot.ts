import type { KINDS } from './kinds.ts';

// Messages between PostgreSQL, the followers of the log and the workflows. Types only, because workflow code imports this
// file and its bundle must stay free of libraries.

export type Kind = (typeof KINDS)[number];
/** The kinds that have workflows. */
export type Driven = Kind | 'review';

/** States of the core; each kind has its own words for them (domain/kinds.ts). */
export type CoreState = 'delayed' | 'ready' | 'held' | 'buried' | 'settled' | 'invalidated' | 'expired' | 'dead';

/** An item's row as of one version. */
export interface Snapshot {
  version: number;
  /** Raised when PostgreSQL or Temporal came back in an older state; 0 where it is missing. */
  epoch?: number;
  state: CoreState;
  /** When the next transition is due by time; null: none is. */
  wakeAt: string | null;
  /** `wakeAt` in milliseconds after this snapshot was sent, by the database's clock. */
  wakeInMs: number | null;
  holder: string | null;
  /** Final; its callback has not been delivered. */
  telling: boolean;
  /** There are jurors to invite. */
  inviting?: boolean;
}

export interface EventLine {
  seq: number;
  type: string;
  actor: string;
  at: string;
}

/** The payload of every signal that a follower of the log sends. */
export interface Message {
  snapshot: Snapshot;
  /** Events since the previous signal, oldest first; at most the newest 20. */
  events: EventLine[];
}

/** A command that an operator gave in the Temporal UI or CLI. */
export type Command = { /** What its workflow knew when the command came. */ version?: number } & (
  | { type: 'invalidate'; reason: string; by: string }
  | { type: 'reprioritize'; priority: number; by: string }
  | { type: 'release'; by: string }
  | { type: 'kick'; by: string }
  /** An invalid command: it only adds an event to the item's history. */
  | { type: 'refuse'; signal: string; reason: 'unknown_signal' | 'invalid_argument'; detail: string; by: string }
);

export interface ItemInput {
  id: string;
  /** The message with which it was started. */
  startedWith?: StartedWith;
  /** The state of the run that it continues. */
  carried?: Carried;
}

interface StartedWith {
  message: Message;
  /** When the message was read, by the database's clock. */
  readAt: string;
  /** Whether a pacemaker is running, as in the snapshots that activities read. */
  graced: boolean;
}

export interface ReviewInput {
  id: string;
  /** Ends as soon as nothing is left to do, because others wait for the worker. */
  brief?: boolean;
}

/** The answer of a review's workflow to the `state` query. */
export interface ReviewRunView {
  version: number | null;
  state: 'applying' | 'delivering' | 'idle';
  /** Reviews wait for signals only. */
  wakeAt: null;
  /** Number of callbacks that this run has resolved. */
  resolved: number;
  /** The next delivery; null: the receiver is up to date. */
  telling: number | null;
}

/** State that a run passes to the next one when it continues as new, as plain JSON. */
interface Carried {
  snapshot: Snapshot;
  events: EventLine[];
  commands: Command[];
}

/** The result of an item's workflow; null: the item was deleted meanwhile. */
export type ItemResult = Pick<ItemView, 'state' | 'version'>;

/** The answer to the `state` query. */
export interface ItemView {
  version: number | null;
  state: string | null;
  wakeAt: string | null;
  holder: string | null;
  events: EventLine[];
}

/** Messages of workflows to their worker, which passes them to the follower in its process. */
export type FollowerSinks = {
  follower: {
    /** This run has processed its last signal. */
    ran(): void;
  };
};

// Types only: workflow code imports this file.

/** What a workflow waits for: the end of an item, or of one run of a job (B.1). */
export interface Awaited {
  kind: 'ticket' | 'case' | 'job';
  id: string;
  run: number;
  /** Of the item when the wait began. */
  version: number;
  /** What a cancelled caller wants: its wait ends, or the item. */
  onCancel: 'leave' | 'withdraw';
  /** Who asked for it. */
  actor: string;
}

/** How it ended: `state` and the rest by its kind, as the contract of the Nexus operations says. */
export interface Outcome {
  state: string;
  [field: string]: unknown;
}
