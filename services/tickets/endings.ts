import type { Item, ShownTicket } from '../../contract/items.ts';
import { type Closing, closeItems } from '../../db/items.ts';
import { type Db, only, type ParamsOf } from '../../db/pool.ts';
import type { QueueRow } from '../../db/statements.ts';
import { coreState } from '../../domain/items.ts';
import { refusalOf } from '../../domain/refusals.ts';
import { waitedSeconds } from '../../runtime/metrics.ts';
import { checkDecision, checkStatus } from '../items/forms.ts';
import * as items from '../items/items.ts';
import * as queues from '../items/queues.ts';
import type { Context } from '../shared/context.ts';
import { checkEntry, Problem } from '../shared/problems.ts';
import { contentHash, isSettledBy, newToken } from '../shared/tokens.ts';
import { lookInto, rejection, type Verdict } from './leases.ts';

/** A ticket that a claim or a decision hands to its caller. */
export interface Handed {
  item: ShownTicket;
  /** Of the lease, if it is the caller's. */
  token: string | null;
  /** Not handed out before. */
  isNew: boolean;
}

interface Decision {
  id: string;
  token: string;
  decision: unknown;
  /** Only this holder may decide; null: any caller with the token. */
  subject: string | null;
  /** The decider's next ticket is asked for, with these skills. */
  next: boolean;
  skills: string[];
}

type Entry = Closing['items'][number];

/** What became of one ticket of a call that ends several. */
type Ending = { id: string; item: Item } | { id: string; problem: Problem };

/** Open tickets of a queue. */
interface OpenFilter {
  state?: 'delayed' | 'waiting' | 'held';
  createdBefore?: string;
  priorityBelow?: number;
}

interface Invalidation {
  queue: string;
  reason: string;
  actor: string;
}

interface Invalidated {
  invalidated: number;
  skipped: number;
}

/** What ends tickets. The same ending by the same caller again is the same answer. */
export interface TicketEndings {
  /** @throws Problem `not_found`, `not_open`, `lease_lost`, 422 where the decision doesn't fit the queue's form */
  decide(decision: Decision): Promise<{ item: ShownTicket; next: Handed | null }>;
  /** Ends tickets from outside, in whatever open state they are; holders are notified (S0.4). */
  end(wanted: Closing): Promise<Ending[]>;
  /** Ends one. @throws Problem `not_found`, `not_open`, 422 where the decision doesn't fit the queue's form */
  endOne(wanted: Omit<Closing, 'items'> & { id: string; result?: unknown }): Promise<Item>;
  /** @param dryRun changes nothing, and answers as if it had */
  invalidateByIds(of: Invalidation, ids: string[], dryRun: boolean): Promise<Invalidated>;
  invalidateByFilter(of: Invalidation, filter: OpenFilter, dryRun: boolean): Promise<Invalidated>;
}

/** How often the form may change while a decision is checked against it. */
const MAX_TRIES = 5;
/** Tickets that one statement ends. */
const BATCH = 1000;
const OPEN = ['delayed', 'ready', 'held'];
/** How often open tickets are gone through: one whose state changes meanwhile may be met the second time only. */
const PASSES = 3;

export function ticketEndings(runtime: Context): TicketEndings {
  const { db } = runtime;
  const end = (wanted: Closing) => endTickets(runtime, wanted);
  const invalidate = async ({ queue, ...why }: Invalidation, ids: string[]) => {
    const endings = await end({ state: 'invalidated', items: ids.map((id) => ({ id })), queue, ...why });
    return endings.filter((e) => 'item' in e && e.item.queue === queue).length;
  };
  const countOpen = async (queue: string, ids: string[]) =>
    only(await db.lists.run('count_open', { kind: 'ticket', queue, ids })).n;
  return {
    decide: (decision) => decide(runtime, decision),
    end,
    async endOne({ id, result, ...wanted }) {
      const [ending] = await end({ ...wanted, items: [{ id, result }] });
      if (ending === undefined) throw new Error('no ending');
      if ('problem' in ending) throw ending.problem;
      return ending.item;
    },
    async invalidateByIds(of, ids, dryRun) {
      const unique = [...new Set(ids)].sort();
      let invalidated = 0;
      for (let at = 0; at < unique.length; at += BATCH) {
        const some = unique.slice(at, at + BATCH);
        invalidated += dryRun ? await countOpen(of.queue, some) : await invalidate(of, some);
      }
      return { invalidated, skipped: unique.length - invalidated };
    },
    async invalidateByFilter(of, filter, dryRun) {
      const { queue } = of;
      const { state, ...bounds } = filter;
      const states = state ? [coreState('ticket', state) ?? state] : OPEN;
      const wanted = { kind: 'ticket', queue, ...bounds };
      if (dryRun)
        return { invalidated: only(await db.lists.run('count_filtered', { ...wanted, states })).n, skipped: 0 };
      let [invalidated, skipped] = [0, 0];
      for (let pass = 0; pass < PASSES; pass++) {
        let found = 0;
        for await (const ids of openTickets(db, wanted, states)) {
          found += ids.length;
          const done = await invalidate(of, ids);
          invalidated += done;
          skipped += ids.length - done;
        }
        if (found === 0) break;
      }
      return { invalidated, skipped };
    },
  };
}

/** Ids of open tickets in batches, one state after the other. */
async function* openTickets(
  db: Db,
  wanted: Omit<ParamsOf<'filter_items'>, 'state' | 'afterAt' | 'afterSeq' | 'limit'>,
  states: string[],
): AsyncGenerator<string[]> {
  for (const state of states) {
    let place = { afterAt: '-infinity', afterSeq: 0 };
    for (let more = true; more; ) {
      const rows = await db.run('filter_items', { ...wanted, state, ...place, limit: BATCH });
      const last = rows.at(-1);
      if (last) yield rows.map((row) => row.id);
      if (last) place = { afterAt: last.at, afterSeq: last.seq };
      more = rows.length === BATCH;
    }
  }
}

/** A ticket that was not handed out before is on its way to its reviewer. */
export function countHandOut({ metrics, tracing }: Context, item: ShownTicket): void {
  metrics.handedOut('ticket', item.queue, waitedSeconds(item));
  tracing?.saw('ticket', item.id);
}

async function decide(runtime: Context, { id, token, decision, subject, next: nextWanted, skills }: Decision) {
  const { db } = runtime;
  const hash = contentHash(decision);
  const result = JSON.stringify(decision);
  /** The decider's next new ticket; asked for again, the same (S0.8). */
  const nextOf = async (decided: ShownTicket): Promise<Handed | null> => {
    if (decided.ended_by === null) return null;
    const claim = { kind: 'ticket', id, token: newToken(), skills, follows: token };
    const isNew = (row: ShownTicket) => row.lease_id === claim.token;
    const [item] = await db.move('claim_next', claim, { moved: (rows) => rows.filter(isNew) });
    if (item && isNew(item)) countHandOut(runtime, item);
    // asked for again later, the ticket may have another holder by now, whose token is not for this caller
    return item ? { item, token: item.holder === decided.ended_by ? item.lease_id : null, isNew: isNew(item) } : null;
  };
  /** @returns the version of the settings whose form the decision fits; null without a form */
  const fitForm = async (item: Item): Promise<number | null> => {
    checkStatus(item, decision);
    const queue = await queues.get(runtime, 'ticket', item.queue);
    if (!queue?.form) return null;
    await checkDecision(runtime, queue.form, decision);
    return queue.settings_version;
  };
  let formVersion: number | null = null;
  for (let tries = 1; ; tries++) {
    const settlement = { id, token, result, hash, subject, formVersion, nextWanted };
    const item = await items.settle(runtime, 'ticket', settlement);
    if (item) return { item, next: nextWanted ? await nextOf(item) : null };
    const found = await lookInto(db, id, token, subject);
    // the same answer as the first time, the next ticket included; also when the first call is still under way
    if (isRepeat(found, token, hash)) return { item: found, next: found.next_wanted ? await nextOf(found) : null };
    // with a live lease, only the queue's form is in the way; it may change while it is checked
    const live = found.state === 'held' && found.lease_id === token;
    if (!live || tries > MAX_TRIES) throw await rejection(db, found, token, 'decide');
    formVersion = await fitForm(found);
  }
}

const isRepeat = (item: Verdict, token: string, hash: string) =>
  isSettledBy(item, token) &&
  item.result_hash !== null &&
  Buffer.compare(item.result_hash, Buffer.from(hash, 'hex')) === 0;

async function endTickets(runtime: Context, wanted: Closing): Promise<Ending[]> {
  const { db } = runtime;
  const problems = wanted.state === 'settled' ? await misfits(runtime, wanted.items) : new Map<Entry, Problem>();
  const fit = firstById(wanted.items.filter((entry) => !problems.has(entry)));
  const ended = await closeItems(db, 'ticket', { ...wanted, items: fit });
  const done = new Map(ended.map((i) => [i.id, i]));
  const missed = fit.filter((i) => !done.has(i.id)).map((i) => i.id);
  const rows = missed.length > 0 ? await db.run('get_items', { kind: 'ticket', ids: missed }) : [];
  const left = new Map(rows.map((i) => [i.id, i]));
  return wanted.items.map((entry) => {
    const { id, result } = entry;
    const problem = problems.get(entry);
    if (problem) return { id, problem };
    // an id that is given twice is ended by its first entry; the other one is a repetition or comes too late
    const found = done.get(id) ?? left.get(id);
    if (!found) return { id, problem: new Problem('not_found', `there is no ticket ${id}`) };
    if (isSameEnding(found, wanted, result)) return { id, item: found };
    const named = { named_holder: null, named_ended_at: null, named_why: null };
    const { code, detail, ...fields } = refusalOf({ ...found, ...named });
    return { id, problem: new Problem(code, detail, fields) };
  });
}

function isSameEnding(found: Item, { state, actor, reason }: Closing, result: unknown): boolean {
  if (found.state !== state || found.ended_by !== actor || found.end_reason !== reason) return false;
  return state === 'invalidated' || contentHash(found.result) === contentHash(result);
}

/** Decisions that don't fit the form of their ticket's queue, or the review they go into. */
async function misfits(runtime: Context, entries: Entry[]): Promise<Map<Entry, Problem>> {
  const { db } = runtime;
  const found = new Map<Entry, Problem>();
  const known = new Map<string, QueueRow | undefined>();
  const ids = [...new Set(entries.map((entry) => entry.id))];
  const rows = await db.run('get_items', { kind: 'ticket', ids });
  const tickets = new Map(rows.map((row) => [row.id, row]));
  for (const entry of entries) {
    const item = tickets.get(entry.id);
    if (!item) continue;
    if (!known.has(item.queue)) known.set(item.queue, await queues.get(runtime, 'ticket', item.queue));
    const form = known.get(item.queue)?.form;
    const decision = entry.result;
    try {
      checkEntry('decision', decision);
      checkStatus(item, decision);
      if (form) await checkDecision(runtime, form, decision);
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      found.set(entry, error);
    }
  }
  return found;
}

function firstById(entries: Entry[]): Entry[] {
  const seen = new Set<string>();
  return entries.filter(({ id }) => !seen.has(id) && seen.add(id));
}
