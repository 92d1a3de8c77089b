import type { FeedEvent } from '../contract/feed.ts';
import type { GoldSettings } from '../contract/gold.ts';
import type { Callback, Change, Item, LookColumn, Popped, ShownTicket } from '../contract/items.ts';
import type { PushTarget } from '../contract/jobs.ts';
import type { Role } from '../contract/keys.ts';
import type { DELIVERED_KINDS, KEPT_KINDS } from '../contract/kinds.ts';
import type { Second } from '../contract/looks.ts';
import type { QueueSettings, Rule } from '../contract/queues.ts';
import type { ReviewRecord } from '../contract/reviews.ts';
import type { CoreState, Driven, Kind } from '../contract/snapshot.ts';
import type { Assist } from '../contract/suggestions.ts';
import type { NewTask, TemplateParams } from '../contract/tasks.ts';
import type { ReviewTarget } from '../contract/tickets.ts';
import type { Claimed, Rejection } from '../domain/cases.ts';
import type { Ballot } from '../domain/deciding.ts';
import type { Pair } from '../domain/quality.ts';
import type { ChangedLine, Change as ReviewChange } from '../domain/reviews.ts';
import type { Advanced, Completed, Pulled, PullReasons, Released } from './tasks.ts';

/** A line as followers read it. Without a version its workflow knows already, or the item is gone. */
type Line = { position: number; shard: number; seq: number; type: string; actor: string; at: Date } & (
  | (Change & { optional: boolean })
  | { version: null }
);

type Outcome = 'pending' | 'applied' | 'expired' | 'duplicate';

/**
 * Types that the database does not know: of JSON, and of text with fixed words. The key is `table.column`, or
 * `statement.column` for a computed column; null is not part of the type. `statement.*` narrows a whole row, as for
 * a function's result. One entry per line: `npm run statements` reads the keys.
 */
export interface Columns {
  'api_key.role': Role;
  'case_file.parties': { id: string; person?: string }[];
  'case_file.tally': Record<string, number>;
  'court.mode': 'claim' | 'assign' | 'both';
  'court.quality': { agreement: number; after: number };
  'court.fallback': { extendSeconds: number } | { court: string } | { queue: string };
  'court.invitation_callback': Callback;
  'delivery.kind': (typeof DELIVERED_KINDS)[number];
  'delivery.state': 'pending' | 'delivered' | 'failed';
  'delivery_start.kind': Driven;
  'erasure.kind': (typeof KEPT_KINDS)[number];
  'erasure.state': 'running' | 'done';
  'event.kind': Driven;
  'event.data': FeedEvent['data'];
  'item.kind': Kind;
  'item.state': CoreState;
  'item.automation': NonNullable<Item['automation']>;
  'item.callback': Callback | ReviewTarget;
  'item.look': LookColumn;
  'notice.kind': Kind;
  'notice.type': 'lease_lost' | 'changed' | 'invited';
  'notice.data': Record<string, unknown>;
  'parked.kind': Kind;
  'quality.pairs': Pair[];
  'queue.kind': Kind;
  'queue.escalations': QueueSettings['escalations'];
  'queue.callback': Callback;
  'queue.form': Record<string, unknown>;
  'queue.assist': Assist;
  'queue.rules': Rule[];
  'queue.second': Second;
  'queue.gold': GoldSettings;
  'queue.desk': Pick<QueueSettings, 'highlight' | 'guidelines'>;
  'queue.sync': 'subject';
  'queue.lease': QueueSettings['lease'];
  'queue.push': PushTarget;
  'queue.ids': 'reuse' | 'once';
  'queue.workflow': 'always' | 'when-needed';
  'resync.what': 'schedule' | 'delivery';
  'reviewer.exposure': Record<string, number>;
  'review.record': ReviewRecord;
  'review.callback': Callback;
  'review_callback.kind': 'text' | 'picture' | 'reply' | 'edit';
  'review_callback.outcome': Outcome;
  'review_callback.reason': 'older' | 'removed' | 'repeated';
  'stream_ticket.role': Role;
  'saved.kind': 'view' | 'macro' | 'defaults';
  'suggestion.mode': Assist['mode'];
  'task.type': NewTask['type'];
  'task.params': NewTask['params'];
  'task.dispatch': NewTask['dispatch'];
  'task.catch_up': NewTask['catchUp'];
  'task.callback': Callback;
  'task.state': 'active' | 'deleted';
  'task_template.params': TemplateParams;

  'assist_modes.mode': Assist['mode'];
  'add_items.*': Change & Pick<Item, 'kind' | 'settled_token' | 'rules_due_at' | 'ended_at' | 'run'>;
  'add_task.outcome': 'created' | 'exists' | 'limit' | 'no_template' | 'too_many';
  'apply_review.*': { resolved: number; more: boolean; version: number };
  'callback_outcomes.first_outcome': Outcome;
  'cases_to_judge.ballots': (Omit<Ballot, 'option'> & { option: string | null })[];
  'cases_to_judge.tally': Record<string, number>;
  'cast_votes.outcome': 'counted' | 'late' | 'repeated' | 'again' | Rejection;
  'change_task.outcome': 'changed' | 'again' | 'deleted' | 'not_found' | 'limit' | 'no_template' | 'too_many';
  'claim.*': ShownTicket;
  'claim_from.*': ShownTicket;
  'claim_cases.*': Claimed | { outcome: null; id: string };
  'claim_next.*': ShownTicket;
  'subject_context.last': { decision: unknown; at: string }[];
  'settle_items.*': ShownTicket;
  'settle_next.*': ShownTicket;
  'complete_tasks.*': Completed | Advanced;
  'court_stats.counts': Record<string, number>;
  'court_stats.gold': Record<string, number>;
  'decide_suggested.*': ShownTicket;
  'delete_court.outcome': 'deleted' | 'used' | 'not_found';
  'delete_queue.outcome': 'deleted' | 'used' | 'not_found' | `named by ${string}`;
  'delete_task.outcome': 'deleted' | 'repeated' | 'not_found';
  'delete_template.outcome': 'deleted' | 'used' | 'not_found';
  'delivery_counts.kind': Driven;
  'driven_part.kind': Kind;
  'dispatch_log.type': 'dispatched' | 'completed' | 'returned';
  'dispatch_log.data': { logId: string; uid: string; params?: NewTask['params']; result?: FeedEvent['data'] };
  'explain_juror.outcome': Claimed['outcome'];
  'explain_task.state': CoreState;
  'explain_user.reasons': PullReasons;
  'finished_run.state': 'settled';
  'finish_next.*': Popped;
  'finish_jobs.*': Change & Pick<Item, 'settled_token'>;
  'follow_callbacks.*': { position: null } | { position: number; shard: number; review_id: string; received_at: Date };
  'follow_log.*': { position: null } | Line;
  'kick_topic.kicked_from': 'buried' | 'delayed';
  'leave_case.outcome': 'done' | 'repeated' | Rejection;
  'needless_items.kind': Kind;
  'next_tasks.*': Pulled | Advanced;
  'release_task.*': Released;
  'template_version.params': TemplateParams;
  'own_gold.counts': Record<string, number>;
  'open_cases.ballots': Ballot[];
  'open_cases.tally': Record<string, number>;
  'pop_jobs.*': Popped;
  'push_topics.push': PushTarget;
  'queue_metrics.kind': Kind;
  'queue_stats.counts': Record<string, number>;
  'receive_callbacks.problem': 'no_review' | 'erased' | 'no_target' | 'too_far' | 'busy';
  'receive_callbacks.*': { received_at: Date };
  'renew_hold.*': { outcome: 'done'; expires_at: Date } | { outcome: Rejection; expires_at: null };
  'review_change.*': ReviewChange & { line: ChangedLine } & { callback: Callback | null };
  'review_log.*': { seq: number; applied_at: Date; outcome: Exclude<Outcome, 'pending'> | 'edited' };
  'review_record.record': ReviewRecord;
  'review_stores.index': Record<string, unknown>[];
  'review_stores.base': Record<string, unknown>;
  'suggestion_figures.bins': { suggested: number; judged: number; right: number }[];
  'suggestion_figures.agreements': { decision: unknown; judged: number; right: number }[];
  'sync_subjects.*': Change & Pick<Item, 'settled_token'>;
  'take_unpublished.*': { marked_kind: Driven; item_id: string } & (Change | { version: null });
}
