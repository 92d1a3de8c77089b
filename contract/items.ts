import type { z } from '@hono/zod-openapi';
import type * as common from './common.ts';
import type { Look } from './looks.ts';
import type { CoreState, Driven, Kind } from './snapshot.ts';
import type { ReviewTarget } from './tickets.ts';

// Types only: items as the database returns them.

/** A receiver over HTTP, to which messages are signed. */
export type SignedCallback = z.infer<typeof common.SignedCallback>;

/** A workflow has no secret; its URL is Docket's own (contract/common.ts). */
export type Callback = SignedCallback | { url: string; secret?: undefined };

/** A second look, as the ticket that it is about keeps it. While it is open, its state is that of its opening. */
type LookEntry = z.infer<typeof Look>;

/** Of a look: what it is about. Of what was looked at: its looks, and what they came to. Of a copy of gold: which. */
export interface LookColumn {
  of?: { id: string; cause: LookEntry['causes'][number] };
  /** The queue whose form and settings count for a look: that of what it is about. */
  queue?: string;
  /** Who may not be at a look: all who decided before. */
  deciders?: string[];
  looks?: LookEntry[];
  /** The version of the first decision; left out: no look has ended. */
  version?: number;
  /** Left out: the first decision counts. */
  standing?: { decision: unknown; by: string; at: string; ticket: string; reason?: string };
  gold?: string;
  /** Of a copy: its number in lists, which says nothing of when it was made. */
  seq?: number;
  /** The copy has ended because its holder skipped or transferred it, to whom it goes on waiting. */
  passed?: true;
}

/** The columns that a workflow needs, as of one version. Without the body, because they are kept until they are published. */
export interface Change {
  kind: Driven;
  id: string;
  queue: string;
  state: CoreState;
  version: number;
  wake_at: Date | null;
  holder: string | null;
  delivery_pending: boolean;
  /** Its workflow has to invite jurors. */
  lacks_jurors: boolean;
  event_seq: number;
  last_event: string;
  last_actor: string;
  updated_at: Date;
}

/** The columns of a ticket that answers show, and those that are published. */
export interface ShownTicket extends Change {
  priority: number;
  body: unknown;
  requires: string[];
  /** Not handed out until its queue's rules were evaluated. */
  rules_due_at: Date | null;
  exclude: string[];
  attempts: number;
  created_at: Date;
  available_at: Date;
  deadline_at: Date | null;
  lease_id: string | null;
  granted_at: Date | null;
  expires_at: Date | null;
  ended_at: Date | null;
  ended_by: string | null;
  end_reason: string | null;
  result: unknown;
  /** Hash of the token that settled it. */
  settled_token: Uint8Array | null;
  /** All of its content is gone. */
  erased: boolean;
  category: string | null;
  /** Nobody else gets it until `for_until`; null there: ever. */
  for_person: string | null;
  for_until: Date | null;
  /** Tickets: what it is about. */
  subject: string | null;
  /** The ticket whose decision decided this one, too. */
  synced_with: string | null;
  look: LookColumn | null;
  /** The part that a model had in its decision; null: none. */
  automation: 'partial' | 'full' | null;
}

/** A row of `item`. Times are the database's. */
export interface Item extends ShownTicket {
  kind: Kind;
  seq: number;
  /** Jobs: how often this id has begun. */
  run: number;
  content_hash: Uint8Array;
  /** As sent; null: added before queues had rules. */
  base_priority: number | null;
  base_requires: string[] | null;
  /** Its priority was set by hand, which takes precedence over rules. */
  manual_priority: boolean;
  skipped: string[];
  callback: Callback | ReviewTarget | null;
  result_hash: Uint8Array | null;
  next_id: string | null;
  lease_seconds: number | null;
  delay_seconds: number;
  body_bytes: number | null;
  /** The version that last changed its body or requirements; null: none since it was added. */
  content_version: number | null;
  own_category: boolean;
  /** For items that several may hold: how many more may hold it. */
  capacity: number | null;
}

/** A job that a pop hands out. */
export type Popped = Change &
  Pick<
    Item,
    'seq' | 'body' | 'available_at' | 'lease_id' | 'expires_at' | 'attempts' | 'lease_seconds' | 'settled_token'
  >;

/** A case: its item, with the columns that only cases have. */
export interface CaseItem extends Item {
  parties: { id: string; person?: string }[];
  /** Counted votes by option; options without votes may be missing. */
  tally: Record<string, number>;
  votes: number;
  votes_left: number;
  stage: number;
  holds: number;
  wasted: number;
  winner: string | null;
  /** The known answer of a gold case. */
  gold: string | null;
  /** The options of its court. */
  options: string[];
}

/** A completed dispatch of a task. */
export interface Completion {
  uid: string;
  logId: string;
  result: unknown;
  completedAt: string;
}
