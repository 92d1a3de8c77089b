import type { CaseItem } from '../../contract/items.ts';
import { columnsOf, only, type Queryable, type RowOf } from '../../db/pool.ts';
import { caseView, type claimReasons, type Rejection } from '../../domain/cases.ts';
import { verdictOf, withVote } from '../../domain/courts.ts';
import { refusalOf } from '../../domain/refusals.ts';
import type { Gone } from '../../runtime/waiting.ts';
import * as items from '../items/items.ts';
import * as queues from '../items/queues.ts';
import { share, sharePerGroup, shareRows, whileBusy } from '../shared/batching.ts';
import { type Context, invalid, Problem, perContext } from '../shared/service.ts';
import { one } from '../shared/sets.ts';
import { contentHash, newToken } from '../shared/tokens.ts';
import { addCases, movedCases } from './adding.ts';
import * as courts from './courts.ts';
import { whyEmpty } from './sight.ts';

type Leaving = 'released' | 'skipped' | 'declined';

type Claim =
  | { item: CaseItem; token: string; expiresAt: Date; resumed: boolean }
  | { item: null; reasons: ReturnType<typeof claimReasons> };

const CLAIM_RETRIES = { tries: 50, stepMs: 4, mostMs: 40 };
const VOTE_TRIES = 100;
/** Few, because a shared statement locks the cases of all its calls. */
const MOST_TOGETHER = 32;

/**
 * Hands a juror a case of a court; one that they hold already comes first (S2.1, S2.4, S2.5). The case is given back if
 * the caller has disconnected meanwhile.
 * @throws Problem `not_found`
 */
export async function claim(ctx: Context, name: string, juror: string, signal: Gone): Promise<Claim> {
  const { db, metrics } = ctx;
  const settings = await courts.get(ctx, name);
  const court = settings.name;
  const token = newToken();
  // all candidates are locked by other claims; waiting for them could deadlock
  const claimed = await whileBusy(
    async () => only([await claimShared(ctx)(court, { juror, token })]),
    ({ outcome }) => outcome === 'busy',
    CLAIM_RETRIES,
  );
  if (claimed.id === null) {
    const found = only(await db.run('case_reasons', { court, juror }));
    const reasons = await whyEmpty(ctx, settings, juror, claimed.outcome, found);
    metrics.empty('case', court, firstReason(reasons));
    return { item: null, reasons };
  }
  const { id, outcome, expires_at: expiresAt } = claimed;
  ctx.tracing?.saw('case', id);
  const item = claimed.item ?? only(await db.run('get_cases', { ids: [id] }));
  // an answer that cannot be written to a closed connection is no hand-out
  if (outcome === 'held' && signal.aborted) await leaveCase(ctx, { id, token, subject: null }, 'released');
  else if (outcome === 'held') metrics.handedOut('case', court);
  return { item, token: claimed.token, expiresAt, resumed: outcome === 'resumed' };
}

/**
 * Casts a vote (S2.2, S2.3).
 * @returns `counted`: false for a late vote that is only recorded
 * @throws Problem when the vote is rejected, `unavailable` while others vote on the case all the time
 */
export async function vote(ctx: Context, hold: items.Hold, option: string, comment: string | null) {
  for (let tries = 0; tries < VOTE_TRIES; tries++) {
    const cast = await voteShared(ctx)({ ...hold, option, comment });
    ctx.tracing?.saw('case', hold.id);
    if (cast instanceof Problem) throw cast;
    const { outcome, counted, item } = cast;
    if (outcome === 'counted' || outcome === 'late' || outcome === 'repeated') return { counted, item };
    if (outcome !== 'again') throw await rejected(ctx, hold, outcome);
  }
  throw new Problem('unavailable', 'too many votes on this case at once, try again');
}

/** Ends a hold; a repeated call has the same answer. @throws Problem when it is rejected */
export async function leave(ctx: Context, hold: items.Hold, how: Leaving): Promise<CaseItem> {
  const { outcome, items } = await leaveCase(ctx, hold, how);
  if (outcome === 'done' || outcome === 'repeated') return only(items);
  throw await rejected(ctx, hold, outcome);
}

/** Renews a hold for a full lease. @returns its new end. @throws Problem when it is rejected */
export async function renew(ctx: Context, hold: items.Hold): Promise<Date> {
  const moved = movedCases(({ outcome }: RowOf<'renew_hold'>) => (outcome === 'done' ? null : hold.id));
  const renewed = only(await ctx.db.move('renew_hold', hold, { moved }));
  if (renewed.outcome === 'done') return renewed.expires_at;
  throw await rejected(ctx, hold, renewed.outcome);
}

/** Reasons for an empty claim by precedence: those about the juror before those about single cases. */
const REASONS = [
  'notEligible',
  'fatigue',
  'assigned',
  'windowFull',
  'voted',
  'party',
  'skipped',
  'noVotesLeft',
] as const;
const firstReason = (reasons: ReturnType<typeof claimReasons>) => REASONS.find((name) => reasons[name] > 0) ?? 'none';

const claimShared = perContext((ctx) => sharePerGroup((court) => claimsOf(ctx, court)));

/** Claims in a court; concurrent ones share a statement. */
const claimsOf = ({ db }: Context, court: string) =>
  shareRows(
    async (claims: { juror: string; token: string }[]) => {
      const read = readOnce();
      const moved = (rows: RowOf<'claim_cases'>[]) =>
        read.moved(rows.flatMap(({ outcome, id }) => (outcome === 'held' || outcome === null ? [id] : [])));
      const wanted = columnsOf(claims, { jurors: 'juror', tokens: 'token' });
      const rows = await db.move('claim_cases', { court, ...wanted }, { moved });
      const answers = rows.filter((row) => row.outcome !== null);
      return answers.map((answer) => ({ ...answer, item: read.items().find(({ id }) => id === answer.id) }));
    },
    { call: ({ juror }) => juror, row: ({ juror }) => juror, keys: ({ juror }) => [juror], max: MOST_TOGETHER },
  );

interface Vote extends items.Hold {
  option: string;
  comment: string | null;
}

type Cast = Problem | { outcome: RowOf<'cast_votes'>['outcome']; counted: boolean; item: CaseItem };

/**
 * Concurrent votes on several cases share a statement. Strategies are TypeScript, so a vote is judged before it is
 * cast, and cast only if its case has not changed meanwhile.
 */
const voteShared = perContext(({ db }) =>
  share<Vote, Cast>(
    async (all) => {
      const found = new Map(
        (await db.run('cases_to_judge', columnsOf(all, { ids: 'id', tokens: 'token' }))).map((row) => [row.id, row]),
      );
      const judged = all.map((vote) => judge(vote, found.get(vote.id)));
      const sent = judged.filter((vote) => !(vote instanceof Problem));
      const read = readOnce();
      const moved = (rows: RowOf<'cast_votes'>[]) =>
        read.moved(rows.filter(({ outcome }) => outcome !== 'again').map(({ id }) => id));
      const rows = sent.length > 0 ? await db.move('cast_votes', { votes: sent }, { moved }) : [];
      return judged.map((vote) => {
        if (vote instanceof Problem) return vote;
        const { outcome, counted } = only(rows.filter(({ id }) => id === vote.id));
        const item = read.items().find(({ id }) => id === vote.id);
        return { outcome, counted, item: item as CaseItem };
      });
    },
    { keys: ({ id }) => [id], max: MOST_TOGETHER },
  ),
);

/** A vote with the verdict that it would lead to. */
function judge(vote: Vote, found: RowOf<'cases_to_judge'> | undefined) {
  if (!found) return caseNotFound(vote.id);
  const { options, votes, stage, settings_version: settingsVersion } = found;
  if (!options.includes(vote.option)) return invalid('option', `must be one of ${options.join(', ')}`);
  const ballots = found.ballots?.map((ballot) => ({ ...ballot, option: ballot.option ?? vote.option }));
  const verdict = verdictOf(found, withVote(found.tally, vote.option), stage, ballots);
  return { ...vote, votes, settingsVersion, verdict };
}

async function leaveCase({ db }: Context, hold: items.Hold, how: Leaving) {
  const read = readOnce();
  const left = await db.move('leave_case', { ...hold, how }, { moved: () => read.moved([hold.id]) });
  return { ...only(left), items: read.items() };
}

export const noCase = (id: string) => `there is no case ${id}`;
const caseNotFound = (id: string) => new Problem('not_found', noCase(id));

/** Reads the cases that a transaction moved, once both for publishing them and for the answer. */
function readOnce() {
  let items: CaseItem[] = [];
  const read = (ids: string[]) => async (db: Queryable) => {
    items = await db.run('get_cases', { ids });
    return items;
  };
  return {
    moved: (ids: string[]) => (ids.length === 0 ? [] : read(ids)),
    items: () => items,
  };
}

const DETAILS: Partial<Record<Rejection, string>> = {
  already_voted: 'this person has voted on the case',
  conflict_of_interest: 'this person is a party of the case',
  forbidden: 'this juror is not eligible in this court any more',
};

/** The problem to answer with when a call changed nothing. */
export async function rejected(
  { db }: Context,
  { id, token, subject = null }: { id: string; token?: string; subject?: string | null },
  why: Rejection,
): Promise<Problem> {
  switch (why) {
    case 'not_found':
    case 'foreign':
      return caseNotFound(id);
    case 'not_invited':
      return new Problem('invalid_request', 'token: is not of an invitation', {
        errors: [{ path: 'token', message: 'is not of an invitation; release gives a claimed case back' }],
      });
    case 'not_open':
    case 'lease_lost': {
      const [found] = await db.run('find_attempt', { kind: 'case', id, token });
      // to a juror whose the token never was, the case is as an unknown one
      if (!found || (subject !== null && found.named_holder !== subject)) return caseNotFound(id);
      const { code, detail, ...fields } = refusalOf({ ...found, holder: found.named_holder });
      return new Problem(code, detail, fields);
    }
    default:
      return new Problem(why, DETAILS[why] ?? why);
  }
}

const actor = 'system';

/**
 * Brings a hung case to the court of appeal or the queue of tickets that its court names (S2.7); once, because the id
 * of the new case or ticket is derived from the case's.
 * @returns null once it is there; undefined: its court names neither; a text: why it could not be brought there
 */
export async function escalateHung(ctx: Context, item: CaseItem): Promise<string | null | undefined> {
  const { db } = ctx;
  const [court] = await db.run('get_court', { name: item.queue, deleted: true });
  const fallback = court?.fallback;
  if (!fallback || 'extendSeconds' in fallback) return undefined;
  const id = followUpId(item);
  const note = (type: string, data: object) => db.move('note_item', { kind: 'case', id: item.id, type, actor, data });
  if ('queue' in fallback) {
    if (await ask(ctx, item, fallback.queue, id)) await note('escalated', { ...fallback, id });
    return null;
  }
  const [appeals] = await db.run('get_court', { name: fallback.court, deleted: false });
  if (!appeals) {
    await note('refused', { attempt: 'escalate', reason: 'not_found', ...fallback });
    return `there is no court ${fallback.court}`;
  }
  if ((await appeal(ctx, item, appeals, id)).length > 0) await note('escalated', { ...fallback, id });
  return null;
}

/** `case~court`, or a hash of it where that is too long for an id: cut off, it could be the case's own id. */
function followUpId({ id, queue }: CaseItem): string {
  const plain = `${id}~${queue}`;
  return plain.length <= 200 ? plain : `hung-${contentHash([id, queue]).slice(0, 64)}`;
}

function appeal({ db }: Context, { parties, body, callback }: CaseItem, court: courts.Court, id: string) {
  const hash = contentHash({ court: court.name, parties, body });
  return addCases(db, [{ id, court, parties, body, callback, deadlineSeconds: null, gold: null, hash, actor }]);
}

/** Adds a ticket with the case, for people who are not its parties. */
async function ask(ctx: Context, item: CaseItem, queue: string, id: string) {
  await queues.ensure(ctx, 'ticket', queue);
  const body = { case: caseView(item) };
  const ticket = { id, queue, body, hash: contentHash(body), priority: 0, delaySeconds: 0, actor };
  return one(await items.add(ctx, 'ticket', [{ ...ticket, exclude: item.parties.map((p) => p.id) }]));
}
