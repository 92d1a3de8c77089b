import type { NewCase as Content } from '../contract/cases.ts';
import type { CaseItem, Item } from '../contract/items.ts';
import { type Db, type Mover, only, type Queryable, type RowOf } from '../db/pool.ts';
import { type Claimed, claimReasons, type Looks, type Rejection, type Sight } from '../domain/cases.ts';
import { verdictOf } from '../domain/courts.ts';
import { refusalOf } from '../domain/refusals.ts';
import type { Runtime } from '../runtime/runtime.ts';
import { share } from './batching.ts';
import { addCases, type NewCase } from './cases-adding.ts';
import { escalateHung } from './cases-escalation.ts';
import type { Court, CourtService } from './courts.ts';
import type { ItemService } from './items.ts';
import { invalid, Problem, sameContent } from './problems.ts';
import type { QueueService } from './queues.ts';
import { whileBusy } from './retry.ts';
import { contentHash, newToken } from './tokens.ts';

export interface CaseFilter {
  court: string | undefined;
  /** A state of the core. */
  state: string | undefined;
  before: { createdAt: string; seq: number } | undefined;
}

/** What a call about a lease names. */
export interface Hold {
  id: string;
  token: string;
  /** The holder that the token must belong to; null: any. */
  subject: string | null;
}

export type Claim =
  | { item: CaseItem; token: string; expiresAt: Date; resumed: boolean }
  | { item: null; reasons: ReturnType<typeof claimReasons> };

/** What is done with cases (S2). */
export interface CaseService {
  /**
   * Adds a case, together with those that come at the same time.
   * @throws Problem `id_conflict` when the id stands for other content
   */
  add(court: Court, content: Content, id: string, actor: string): Promise<{ item: Pick<Item, 'id'>; created: boolean }>;
  /** @throws Problem `not_found` */
  get(id: string): Promise<CaseItem>;
  /** Newest first, without gold. */
  list(filter: CaseFilter, limit: number): Promise<CaseItem[]>;
  /** Newest first, those before the number `before`. @throws Problem `not_found` */
  votes(id: string, before: number | undefined, limit: number): Promise<RowOf<'case_votes'>[]>;
  /** What a juror, or whoever was given the token, has to do with a case, and what their view of it depends on. */
  sight(item: CaseItem, who: { juror?: string | null; token?: string }): Promise<[Sight, Looks] | undefined>;
  /**
   * Hands a juror a case of a court, one that they hold first. It is given back if the caller has gone meanwhile.
   * @throws Problem `not_found`
   */
  claim(court: string, juror: string, signal: AbortSignal): Promise<Claim>;
  /** @throws Problem when the vote is rejected, `unavailable` while others vote on the case all the time */
  vote(hold: Hold, option: string, comment: string | null): Promise<{ counted: boolean; item: CaseItem }>;
  /** Ends a hold; a repeated call has the same answer. @throws Problem when it is rejected */
  leave(hold: Hold, how: 'released' | 'skipped' | 'declined'): Promise<CaseItem>;
  /** Begins a full lease. @returns its end. @throws Problem when it is rejected */
  renew(hold: Hold): Promise<Date>;
  /** Ends an open case without a winner; a repeated call has the same answer. @throws Problem `not_found`, `not_open` */
  invalidate(id: string, reason: string, actor: string): Promise<CaseItem>;
  /** Takes a hung case where its court wants it; see services/cases-escalation.ts. */
  escalate(item: CaseItem): Promise<void>;
}

/** What it needs of other services. */
interface Needs {
  courts: CourtService;
  items: ItemService;
  queues: QueueService;
}

const CLAIM_RETRIES = { tries: 50, stepMs: 4, mostMs: 40 };
const VOTE_TRIES = 100;

export function caseService({ db }: Runtime, needs: Needs): CaseService {
  const { courts } = needs;
  const addTogether = share<NewCase, Item | undefined>(
    async (cases) => {
      const added = new Map((await addCases(db, cases)).map((item) => [item.id, item]));
      return cases.map(({ id }) => added.get(id));
    },
    { keys: ({ id }) => [id] },
  );
  const get = async (id: string) => {
    const [item] = await db.run('get_cases', { ids: [id] });
    if (!item) throw notFound(id);
    return item;
  };
  const leave = async (hold: Hold, how: 'released' | 'skipped' | 'declined') => {
    const read = readOnce();
    const [left] = await db.move('leave_case', { ...hold, how }, { moved: () => read.moved([hold.id]) });
    return { outcome: left?.outcome, item: read.find(hold.id) };
  };

  return {
    async add(court, { parties, body, deadlineSeconds = null, callback = null }, id, actor) {
      const content = { parties, body, deadlineSeconds, callback };
      const hash = contentHash({ court: court.name, ...content });
      const item = await addTogether({ id, court, ...content, gold: null, hash, actor });
      if (item) return { item, created: true };
      const [existing] = await db.run('get_items', { kind: 'case', ids: [id] });
      return { item: sameContent(existing, 'case', id, hash), created: false };
    },
    get,
    list: ({ before, ...filter }, limit) =>
      db.lists.run('list_cases', { ...filter, beforeCreatedAt: before?.createdAt, beforeSeq: before?.seq, limit }),
    async votes(id, before, limit) {
      await get(id);
      return db.lists.run('case_votes', { id, before, limit });
    },
    async sight({ id, queue }, who) {
      const [sight] = await db.run('case_sight', { id, ...who });
      if (!sight) return undefined;
      const court = await courts.get(queue);
      const { deadline_seconds: deadlineSeconds, created_at: courtSince } = court;
      return [sight, { judge: (tally) => verdictOf(court, tally, 0), deadlineSeconds, courtSince }];
    },
    async claim(name, juror, signal) {
      const { name: court } = await courts.get(name);
      const token = newToken();
      const read = readOnce();
      const moved = ([row]: Claimed[]) =>
        read.moved(row?.outcome === 'held' ? [row.id, ...row.changed] : (row?.changed ?? []));
      // all candidates are locked by other claims; waiting for them could deadlock
      const claimed = await whileBusy(
        async () => only(await db.move('claim_case', { court, juror, token }, { moved })),
        ({ outcome }) => outcome === 'busy',
        CLAIM_RETRIES,
      );
      if (claimed.id === null) {
        const found = only(await db.run('case_reasons', { court, juror }));
        return { item: null, reasons: claimReasons(claimed.outcome, found) };
      }
      const resumed = claimed.outcome === 'resumed';
      const item = read.find(claimed.id) ?? (await get(claimed.id));
      // an answer that cannot be written to a closed connection is no hand-out
      if (!resumed && signal.aborted) await leave({ id: item.id, token, subject: null }, 'released');
      return { item, token: claimed.token, expiresAt: claimed.expires_at, resumed };
    },
    async vote(hold, option, comment) {
      const { id } = hold;
      // judged before it is cast, and cast only if nothing has changed meanwhile: the strategies stay in one place
      for (let tries = 0; tries < VOTE_TRIES; tries++) {
        const [found] = await db.run('case_to_judge', { id });
        if (!found) throw notFound(id);
        const { options, votes, stage, settings_version: settingsVersion } = found;
        if (!options.includes(option)) throw invalid('option', `must be one of ${options.join(', ')}`);
        const verdict = verdictOf(found, withOneMore(found.tally, option), stage);
        const vote = { ...hold, option, comment, votes, settingsVersion, verdict };
        const read = readOnce();
        const moved = ([row]: RowOf<'cast_vote'>[]) => read.moved(row?.outcome === 'again' ? [] : [id]);
        const { outcome, counted } = only(await db.move('cast_vote', vote, { moved }));
        if (outcome === 'again') continue;
        const item = read.find(id);
        if (!item) throw notFound(id);
        if (outcome !== 'counted' && outcome !== 'late' && outcome !== 'repeated') throw await rejected(db, hold, outcome);
        return { counted, item };
      }
      throw new Problem('unavailable', 'too many votes on this case at once, try again');
    },
    async leave(hold, how) {
      const { outcome, item } = await leave(hold, how);
      if (outcome === undefined || !item) throw notFound(hold.id);
      if (outcome !== 'done' && outcome !== 'repeated') throw await rejected(db, hold, outcome);
      return item;
    },
    async renew(hold) {
      const moved = ([row]: RowOf<'renew_hold'>[]) => ({ kind: 'case' as const, ids: row?.outcome === 'done' ? [] : [hold.id] });
      const renewed = only(await db.move('renew_hold', hold, { moved }));
      if (renewed.outcome !== 'done') throw await rejected(db, hold, renewed.outcome);
      return renewed.expires_at;
    },
    async invalidate(id, reason, actor) {
      const closed = await closeCases(db, [id], reason, actor);
      const item = await get(id);
      const same = item.state === 'invalidated' && item.ended_by === actor && item.end_reason === reason;
      if (closed.length === 0 && !same) throw await rejected(db, { id }, 'not_open');
      return item;
    },
    escalate: (item) => escalateHung(db, needs, item),
  };
}

const notFound = (id: string) => new Problem('not_found', `there is no case ${id}`);

const withOneMore = (tally: Record<string, number>, option: string) => ({
  ...tally,
  [option]: (Object.hasOwn(tally, option) ? (tally[option] ?? 0) : 0) + 1,
});

/** @returns the ids that were open */
export async function closeCases(db: Mover, ids: string[], reason: string, actor: string): Promise<string[]> {
  const idsOf = (rows: { id: string }[]) => rows.map((row) => row.id);
  return idsOf(await db.move('close_cases', { ids, reason, actor }, { moved: (rows) => ({ kind: 'case', ids: idsOf(rows) }) }));
}

/** Reads cases that a transaction has moved once, for what follows its commit and for the answer. */
function readOnce() {
  let items: CaseItem[] = [];
  const read = (ids: string[]) => async (db: Queryable) => {
    items = await db.run('get_cases', { ids });
    return items;
  };
  return {
    moved: (ids: string[]) => (ids.length === 0 ? [] : read(ids)),
    find: (id: string) => items.find((item) => item.id === id),
  };
}

const DETAILS: Partial<Record<Rejection, string>> = {
  already_voted: 'this person has voted on the case',
  conflict_of_interest: 'this person is a party of the case',
  forbidden: 'this juror is not eligible in this court any more',
};

/** The problem to answer with when a call changed nothing. */
async function rejected(db: Db, { id, token }: { id: string; token?: string }, why: Rejection): Promise<Problem> {
  switch (why) {
    case 'not_found':
      return notFound(id);
    case 'foreign':
      return new Problem('forbidden', 'this token was given to somebody else');
    case 'not_invited':
      return new Problem('invalid_request', 'token: is not of an invitation', {
        errors: [{ path: 'token', message: 'is not of an invitation; release gives a claimed case back' }],
      });
    case 'not_open':
    case 'lease_lost': {
      const [found] = await db.run('find_verdict', { kind: 'case', id, token });
      if (!found) return notFound(id);
      const { code, detail, ...fields } = refusalOf({ ...found, holder: found.named_holder });
      return new Problem(code, detail, fields);
    }
    default:
      return new Problem(why, DETAILS[why] ?? why);
  }
}
