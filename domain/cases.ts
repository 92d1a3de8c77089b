import type { CaseItem } from '../contract/items.ts';
import { withVote } from './courts.ts';
import type { Judgement, Tally } from './deciding.ts';
import { defineKind, stays, untilItsEnd, wordIn } from './kind.ts';
import { asDecided, OF_LOOKS } from './tickets.ts';

const DAY_MS = 86_400_000;

const words = { ready: 'open', settled: 'decided', expired: 'hung', invalidated: 'invalidated' } as const;

/** Why a holder's call was rejected. */
export type Rejection =
  | 'not_found'
  | 'foreign'
  | 'not_invited'
  | 'not_open'
  | 'lease_lost'
  | 'already_voted'
  | 'conflict_of_interest'
  | 'forbidden';

export type Claimed = { juror: string } & (
  | { outcome: 'held' | 'resumed'; id: string; token: string; expires_at: Date }
  | { outcome: 'busy' | 'notEligible' | 'fatigue' | 'windowFull' | 'none'; id: null; token: null; expires_at: null }
);

/** Open cases of a court, by the reason that excludes a juror from them. */
type Excluded = Record<'no_votes_left' | 'voted' | 'party' | 'skipped' | 'open', number>;

/** A juror's relation to a case. */
export interface Sight {
  /** When it was first shown to them. */
  shown_at: Date;
  holds: boolean;
  /** Their vote, if they have voted. */
  option: string | null;
  voted_at: Date | null;
  now: Date;
  /** 0…1, always the same for this juror and case. */
  luck: number;
}

/** The properties of a court on which a juror's view of a case depends. */
export interface Looks {
  judge(tally: Tally): Judgement;
  deadlineSeconds: number | null;
  courtSince: Date;
}

/** A case as the API shows it to callers with access to all of it. */
export function caseView(item: CaseItem) {
  const ended = item.ended_at?.toISOString() ?? null;
  const decided = item.state === 'settled';
  return {
    id: item.id,
    court: item.queue,
    state: wordIn(words, item.state),
    parties: item.parties,
    body: item.body,
    tally: fullTally(item, item.tally),
    votesLeft: item.votes_left,
    winner: item.winner,
    holds: item.holds,
    wasted: item.wasted,
    version: item.version,
    createdAt: item.created_at.toISOString(),
    deadlineAt: item.deadline_at?.toISOString() ?? null,
    decidedAt: decided ? ended : null,
    endedAt: ended,
    endReason: item.end_reason,
    of: item.look?.of ?? null,
    looks: (item.look?.looks ?? []).map(({ id, causes, outcome, state }) => {
      return { id, causes, state: outcome === null ? 'open' : state, outcome };
    }),
    standing: standingOf(item),
    ...(item.erased && { erased: true }),
  };
}

/** The verdict that counts; null: there is none. */
function standingOf({ id, state, look, winner, ended_by: by, ended_at }: CaseItem) {
  if (state !== 'settled' || by === null || ended_at === null) return null;
  if (!look?.standing) return { winner, by, at: ended_at.toISOString(), case: id };
  const { decision, ticket, ...how } = look.standing;
  return { winner: (decision as { winner: string } | null)?.winner ?? null, ...how, case: ticket };
}

/**
 * Why a claim found nothing, as numbers of open cases; a reason that concerns the juror or the court counts for all of them.
 * @param gold that the juror has met and takes for open
 * @param mode of the court: one that assigns hands out nothing to claims
 */
export function claimReasons(
  outcome: Claimed['outcome'],
  found: Excluded,
  gold: Pick<Excluded, 'open' | 'voted' | 'skipped'>,
  mode: 'claim' | 'assign' | 'both',
) {
  const open = found.open + gold.open;
  const most = Math.max(1, open);
  const all = (why: Claimed['outcome']) => (outcome === why ? most : 0);
  const reasons = {
    noVotesLeft: found.no_votes_left,
    voted: found.voted + gold.voted,
    party: found.party,
    skipped: found.skipped + gold.skipped,
    windowFull: all('windowFull'),
    notEligible: all('notEligible'),
    fatigue: all('fatigue'),
    assigned: mode === 'assign' ? most : 0,
  };
  const unexplained = Object.values(reasons).every((n) => n === 0);
  return { ...reasons, none: open === 0 || unexplained ? 1 : 0 };
}

const fullTally = ({ options }: CaseItem, tally: Tally): Tally => ({
  ...Object.fromEntries(options.map((option) => [option, 0])),
  ...tally,
});

/**
 * A case as its juror sees it: without the votes of others until it has ended and the juror has voted. Gold looks the
 * same as any other case: it has the age, the deadline and the end that a case of the court could have.
 */
export function jurorView(item: CaseItem, sight: Sight, looks: Looks): ReturnType<typeof caseView> {
  const whole = caseView(item);
  const isGold = item.gold !== null;
  const { option, holds } = sight;
  if (!isGold && option !== null && item.ended_at !== null) return { ...whole, wasted: 0 };
  const tally: Tally = option === null ? {} : { [option]: 1 };
  const { votesLeft } = looks.judge(tally);
  const blind: ReturnType<typeof caseView> = {
    ...{ ...whole, state: 'open', winner: null, decidedAt: null, endedAt: null, endReason: null },
    ...{ looks: [], standing: null },
    ...{ tally: fullTally(item, tally), votesLeft, holds: holds ? 1 : 0, wasted: 0 },
  };
  if (!isGold) return blind;
  const seen = { ...blind, ...goldTimes(sight, looks) };
  const end = option === null ? null : goldEnd(item, option, sight, looks, seen.deadlineAt);
  if (end !== null && item.ended_at !== null && item.ended_at < end.at)
    return { ...seen, state: whole.state, endedAt: whole.endedAt, endReason: whole.endReason };
  if (end === null || end.at > sight.now) return seen;
  const at = end.at.toISOString();
  return {
    ...{ ...seen, state: end.winner === null ? 'hung' : 'decided', winner: end.winner, votesLeft: end.votesLeft },
    ...{ tally: fullTally(item, end.tally), decidedAt: end.winner === null ? null : at, endedAt: at },
    endReason: end.winner === null ? 'nobody can win any more' : null,
    standing: end.winner === null ? null : { winner: end.winner, by: 'court', at, case: item.id },
  };
}

/** Creation time and deadline of a gold case, as its juror sees them. */
function goldTimes({ shown_at, luck }: Sight, { deadlineSeconds, courtSince }: Looks) {
  const lifeMs = deadlineSeconds === null ? DAY_MS : (deadlineSeconds * 1000) / 2;
  const ageMs = luck * Math.min(DAY_MS, lifeMs, Math.max(0, shown_at.getTime() - courtSince.getTime()));
  const createdMs = Math.floor(shown_at.getTime() - ageMs);
  return {
    createdAt: new Date(createdMs).toISOString(),
    deadlineAt: deadlineSeconds === null ? null : new Date(createdMs + deadlineSeconds * 1000).toISOString(),
  };
}

/** A case with a known answer. */
type Known = Pick<CaseItem, 'gold' | 'options'>;

/**
 * Whether gold that a juror has met would still be open if it were a case like any other. Without their vote it is decided by
 * those of others.
 */
export function seemsOpen(item: Known, sight: Sight, looks: Looks): boolean {
  const { option, voted_at, shown_at, now } = sight;
  const { deadlineAt } = goldTimes(sight, looks);
  const voted = { ...sight, voted_at: voted_at ?? shown_at };
  return goldEnd(item, option ?? item.options[0] ?? '', voted, looks, deadlineAt).at > now;
}

/** The end of a gold case for its juror: with their vote where that decides, else later, when most others find its answer. */
function goldEnd(item: Known, option: string, { luck, voted_at }: Sight, looks: Looks, deadlineAt: string | null) {
  const votedMs = voted_at?.getTime() ?? 0;
  let tally: Tally = { [option]: 1 };
  let judged = looks.judge(tally);
  if (judged.winner !== null || judged.hung) return { ...judged, tally, at: new Date(votedMs) };
  const answer = item.gold ?? option;
  const others = item.options.filter((one) => one !== answer);
  for (let n = 1; judged.winner === null && !judged.hung; n++) {
    const chance = (luck * 7_919 * n + n * 0.618) % 1;
    const next = chance < 0.2 ? (others[n % others.length] ?? answer) : answer;
    tally = withVote(tally, next);
    judged = looks.judge(tally);
  }
  const latestMs = deadlineAt === null ? votedMs + DAY_MS : Date.parse(deadlineAt);
  return { ...judged, tally, at: new Date(votedMs + (0.1 + 0.8 * luck) * Math.max(0, latestMs - votedMs)) };
}

export const courtCase = defineKind({
  title: 'Cases',
  words,
  lifecycle: {
    none: { created: 'ready' },
    ready: {
      ...stays('ready', 'claimed', 'invited', 'voted', 'released', 'skipped', 'declined', 'reclaimed'),
      ...stays('ready', 'extended', 'changed', 'parked', 'refused'),
      decided: 'settled',
      hung: 'expired',
      invalidated: 'invalidated',
    },
    settled: stays('settled', 'delivered', 'delivery_failed', 'refused', 'erased', ...OF_LOOKS),
    expired: stays('expired', 'escalated', 'delivered', 'delivery_failed', 'refused', 'erased'),
    invalidated: stays('invalidated', 'delivered', 'delivery_failed', 'refused', 'erased'),
  },
  leased: 'several',
  workflow: untilItsEnd('courtCase'),
  signals: { invalidate: 'invalidate' },
  court: true,
  clock: 'advance_cases',
  exhausted: null,
  overdue: null,
  order: 'age',
  quiet: ['created', 'claimed'],
  frees: () => 1,
  outcome: (item) => caseView(asDecided(item as CaseItem)),
});
