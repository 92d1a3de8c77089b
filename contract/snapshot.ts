// What crosses between Postgres, the followers of the log and the workflows. Types only: this file is seen by
// workflow code, whose bundle must stay free of libraries.

import type { KINDS } from './kinds.ts';

export type Kind = (typeof KINDS)[number];
/** What has a workflow. */
export type Driven = Kind | 'review';

/** States of the core; each kind has its own words for them (domain/kinds.ts). */
export type CoreState = 'delayed' | 'ready' | 'held' | 'buried' | 'settled' | 'invalidated' | 'expired' | 'dead';

/** An item's row as of one version. */
export interface Snapshot {
  version: number;
  /** Raised when PostgreSQL or Temporal came back in an older state; 0 where it is missing. */
  epoch?: number;
  state: CoreState;
  /** When something is due by itself; null: nothing is. */
  wakeAt: string | null;
  /** The same as milliseconds from the sending of this snapshot, by the database's clock. */
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
  /** Since the signal before, oldest first; at most the newest 20. */
  events: EventLine[];
}

/** What an operator asked for in the Temporal UI or CLI. */
export type Command =
  | { type: 'invalidate'; reason: string; by: string }
  | { type: 'reprioritize'; priority: number; by: string }
  | { type: 'release'; by: string }
  | { type: 'kick'; by: string }
  /** It makes no sense: there is only a line about it in the item's events. */
  | { type: 'refuse'; signal: string; reason: 'unknown_signal' | 'invalid_argument'; detail: string; by: string };

/** The argument of an item's workflow. */
export interface ItemInput {
  id: string;
  /** What it had to know when it was started. */
  startedWith?: StartedWith;
  /** Where it continues another run. */
  carried?: Carried;
}

interface StartedWith {
  message: Message;
  /** When the message was read, by the database's clock. */
  readAt: string;
  /** As in what an activity reads: a pacemaker is there. */
  graced: boolean;
}

/** The argument of a review's workflow. */
export interface ReviewInput {
  id: string;
  /** It ends as soon as nothing is left to do: others wait for the worker. */
  brief?: boolean;
}

/** The answer of a review's workflow to the `state` query. */
export interface ReviewRunView {
  version: number | null;
  state: 'applying' | 'delivering' | 'idle';
  /** Reviews sleep until something comes. */
  wakeAt: null;
  /** Callbacks whose outcome this run has seen to. */
  resolved: number;
  /** The delivery that comes next; null: the receiver knows everything. */
  telling: number | null;
}

/** What a run hands to the next one when it continues as new. Plain JSON, nothing else survives. */
interface Carried {
  snapshot: Snapshot;
  events: EventLine[];
  commands: Command[];
}

/** What an item's workflow ends with; null: the item was deleted meanwhile. */
export type ItemResult = Pick<ItemView, 'state' | 'version'>;

/** The answer to the `state` query. */
export interface ItemView {
  version: number | null;
  state: string | null;
  wakeAt: string | null;
  holder: string | null;
  events: EventLine[];
}

/** What workflows say to the worker that runs them, which passes it on to the follower in its process. */
export type FollowerSinks = {
  follower: {
    /** This run has done what it was last sent. */
    ran(): void;
  };
};
