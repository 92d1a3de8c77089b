import type { CoreState, Driven, Kind } from './snapshot.ts';

// Types only: items as the database returns them.

/** A receiver over HTTP, to which messages are signed. */
export interface SignedCallback {
  url: string;
  secret: string;
}

/** A workflow has no secret; its URL is Docket's own (contract/callbacks.ts). */
export type Callback = SignedCallback | { url: string; secret?: undefined };

/** A callback without a URL: the decision is applied to a review as an audit's callback. */
export interface ReviewTarget {
  review: string;
  kind: 'text' | 'picture' | 'reply';
  targetId?: string;
}

/** A second look, as the ticket that it is about keeps it. */
interface LookEntry {
  id: string;
  causes: ('appeal' | 'check' | 'overturn')[];
  /** While it is open, that of its opening. */
  state: string;
  outcome: 'upheld' | 'overturned' | 'none' | null;
}

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
  standing?: { decision: unknown; by: string; at: string; ticket: string };
  gold?: string;
  /** Of a copy: its number in lists, which says nothing of when it was made. */
  seq?: number;
  /** The copy has ended because its holder skipped or transferred it, to whom it goes on waiting. */
  passed?: true;
}

/** A row of `item`. Times are the database's. */
export interface Item {
  kind: Kind;
  id: string;
  queue: string;
  seq: number;
  /** Jobs: how often this id has begun. */
  run: number;
  state: CoreState;
  priority: number;
  body: unknown;
  content_hash: Uint8Array;
  requires: string[];
  /** As sent; null: added before queues had rules. */
  base_priority: number | null;
  base_requires: string[] | null;
  /** Its priority was set by hand, which takes precedence over rules. */
  manual_priority: boolean;
  /** Not handed out until its queue's rules were evaluated. */
  rules_due_at: Date | null;
  exclude: string[];
  skipped: string[];
  callback: Callback | ReviewTarget | null;
  version: number;
  attempts: number;
  created_at: Date;
  available_at: Date;
  deadline_at: Date | null;
  wake_at: Date | null;
  lease_id: string | null;
  holder: string | null;
  granted_at: Date | null;
  expires_at: Date | null;
  ended_at: Date | null;
  ended_by: string | null;
  end_reason: string | null;
  result: unknown;
  result_hash: Uint8Array | null;
  /** Hash of the token that settled it. */
  settled_token: Uint8Array | null;
  next_id: string | null;
  delivery_pending: boolean;
  lease_seconds: number | null;
  delay_seconds: number;
  body_bytes: number | null;
  /** The version that last changed its body or requirements; null: none since it was added. */
  content_version: number | null;
  /** All of its content is gone. */
  erased: boolean;
  category: string | null;
  own_category: boolean;
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
  /** For items that several may hold: how many more may hold it. */
  capacity: number | null;
  /** Its workflow has to invite jurors. */
  lacks_jurors: boolean;
  event_seq: number;
  last_event: string;
  last_actor: string;
  updated_at: Date;
}

/** The columns that a workflow needs, as of one version. Without the body, because they are kept until they are published. */
export type Change = { kind: Driven } & Pick<
  Item,
  | 'id'
  | 'queue'
  | 'state'
  | 'version'
  | 'wake_at'
  | 'holder'
  | 'delivery_pending'
  | 'event_seq'
  | 'last_event'
  | 'last_actor'
  | 'updated_at'
  | 'lacks_jurors'
>;

/** A job that a pop hands out. */
export type Popped = Change &
  Pick<
    Item,
    'seq' | 'body' | 'available_at' | 'lease_id' | 'expires_at' | 'attempts' | 'lease_seconds' | 'settled_token'
  >;

/** The columns of a ticket that answers show, and those that are published. */
export type ShownTicket = Change &
  Pick<
    Item,
    | 'priority'
    | 'body'
    | 'requires'
    | 'rules_due_at'
    | 'exclude'
    | 'category'
    | 'for_person'
    | 'for_until'
    | 'attempts'
    | 'created_at'
    | 'available_at'
    | 'deadline_at'
    | 'lease_id'
    | 'granted_at'
    | 'expires_at'
    | 'ended_at'
    | 'ended_by'
    | 'end_reason'
    | 'result'
    | 'settled_token'
    | 'subject'
    | 'synced_with'
    | 'look'
    | 'automation'
    | 'erased'
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
