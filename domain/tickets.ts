import type { Item, ShownTicket } from '../contract/items.ts';
import type { Suggestion } from '../contract/suggestions.ts';
import { defineKind, stays, untilItsEnd, wordIn } from './kind.ts';

const words = {
  delayed: 'delayed',
  ready: 'waiting',
  held: 'held',
  settled: 'decided',
  invalidated: 'invalidated',
  expired: 'expired',
  dead: 'dead',
} as const;

/**
 * A ticket as the API shows it.
 * @param token the lease's token: only for its holder
 * @param draft of the holder, with the token; left out: there is none
 */
export function ticketView(item: ShownTicket, token: string | null = null, draft?: unknown) {
  const { end_reason: reason, ended_by: by, ended_at } = item;
  return {
    id: item.id,
    queue: item.queue,
    state: wordIn(words, item.state),
    priority: item.priority,
    body: item.body,
    subject: item.subject,
    requires: item.requires,
    exclude: item.exclude,
    category: item.category,
    for: item.for_person,
    forUntil: item.for_until?.toISOString() ?? null,
    attempts: item.attempts,
    version: item.version,
    createdAt: item.created_at.toISOString(),
    availableAt: item.available_at.toISOString(),
    deadlineAt: item.deadline_at?.toISOString() ?? null,
    lease:
      item.holder !== null && item.granted_at && item.expires_at
        ? {
            reviewer: item.holder,
            grantedAt: item.granted_at.toISOString(),
            expiresAt: item.expires_at.toISOString(),
            token,
            ...(draft !== undefined && { draft }),
          }
        : null,
    syncedWith: item.synced_with,
    decision: item.state === 'settled' ? item.result : null,
    decidedBy: item.state === 'settled' ? item.ended_by : null,
    decidedAt: item.state === 'settled' ? (item.ended_at?.toISOString() ?? null) : null,
    reason: item.state === 'settled' ? item.end_reason : null,
    invalidation:
      item.state === 'invalidated' && reason !== null && by !== null && ended_at !== null
        ? { reason, by, at: ended_at.toISOString() }
        : null,
    of: item.look?.of ?? null,
    looks: (item.look?.looks ?? []).map(({ id, causes, state, outcome }) => ({ id, causes, state, outcome })),
    standing: standingOf(item),
    // not shown where the decision is not
    automation: (item.ended_by === null ? null : item.automation) ?? ('none' as const),
    suggestion: null as Suggestion | null,
    ...(item.erased && { erased: true }),
  };
}

/** The decision that counts; null: there is none, or it is not shown. */
function standingOf({ id, state, look, automation, result: decision, ended_by: by, ended_at }: ShownTicket) {
  if (state !== 'settled' || by === null || ended_at === null) return null;
  // whoever looks is shown no suggestion
  if (look?.standing) return { ...look.standing, automation: 'none' as const };
  return { decision, by, at: ended_at.toISOString(), ticket: id, automation: automation ?? ('none' as const) };
}

/** A decided ticket as it was by the first decision. */
export const asDecided = <T extends Pick<ShownTicket, 'look' | 'version'>>(item: T): T =>
  item.look?.looks ? { ...item, version: item.look.version ?? item.version, look: null } : item;

/** A ticket as reviewers see it, who do not learn which of their decisions are looked at unless one is overturned. */
export const asReviewer = <V extends { looks: { outcome: string | null }[] }>(view: V): V => ({
  ...view,
  looks: view.looks.filter(({ outcome }) => outcome === 'overturned'),
});

/** A copy of gold that was skipped or transferred, as its holder sees it: it goes on waiting, like any ticket. */
export const asWaiting = <T extends Pick<Item, 'look' | 'state' | 'available_at'> & Partial<Item>>(item: T): T =>
  item.look?.passed
    ? {
        ...item,
        state: item.available_at > new Date() ? 'delayed' : 'ready',
        ...{ ended_at: null, ended_by: null, end_reason: null },
      }
    : item;

/** A ticket as it is handed to its holder, again or for the first time. */
export const handedView = (item: ShownTicket, token: string | null, resumed: boolean, draft?: unknown) =>
  Object.assign(ticketView(item, token, draft), { resumed });

interface QueueCounts {
  /** By state of the core; `lease_expired`: number of leases that have run out. */
  counts: Record<string, number>;
  oldest_waiting_seconds: number | null;
  claims_per_minute: number;
}

/** A queue's tickets by state, as the API shows them. */
export function queueStatsView({ counts, oldest_waiting_seconds, claims_per_minute }: QueueCounts) {
  const byState = Object.entries(words).map(([state, word]) => [word, counts[state] ?? 0]);
  return {
    ...(Object.fromEntries(byState) as Record<(typeof words)[keyof typeof words], number>),
    oldestWaitingSeconds: oldest_waiting_seconds,
    claimsPerMinute: claims_per_minute,
    leaseExpiries: counts.lease_expired ?? 0,
  };
}

/** Events that leave the state of a ticket as it is. */
const whileOpen = ['changed', 'escalated', 'overdue', 'parked', 'refused', 'noted'] as const;
const afterEnd = ['delivered', 'delivery_failed', 'refused', 'noted', 'erased'] as const;
export const OF_LOOKS = ['upheld', 'overturned', 'look_ended'] as const;
/** A copy of gold that is passed on has ended. */
const passed = { transferred: ['ready', 'invalidated'] } as const;

const ends = { decided: 'settled', synced: 'settled', invalidated: 'invalidated', expired: 'expired' } as const;

/** A moderation ticket. */
export const ticket = defineKind({
  title: 'Tickets',
  words,
  lifecycle: {
    none: { created: ['ready', 'delayed'] },
    delayed: {
      available: 'ready',
      ...ends,
      transferred: ['delayed', 'invalidated'],
      ...stays('delayed', ...whileOpen),
    },
    ready: { claimed: 'held', ...ends, ...passed, ...stays('ready', ...whileOpen) },
    held: {
      released: ['ready', 'delayed'],
      skipped: ['ready', 'delayed', 'invalidated'],
      reclaimed: 'ready',
      ...passed,
      dead: 'dead',
      ...ends,
      ...stays('held', ...whileOpen),
    },
    settled: stays('settled', ...afterEnd, ...OF_LOOKS, 'disputed'),
    invalidated: stays('invalidated', ...afterEnd),
    expired: stays('expired', ...afterEnd),
    dead: stays('dead', ...afterEnd),
  },
  leased: 'one',
  workflow: untilItsEnd('ticket'),
  signals: { invalidate: 'invalidate', release: 'release', reprioritize: 'reprioritize' },
  court: false,
  clock: 'advance_items',
  exhausted: 'dead',
  overdue: 'expired',
  order: 'age',
  quiet: ['created', 'available', 'claimed'],
  frees: () => 1,
  outcome: (item) => ticketView(asDecided(item)),
});
