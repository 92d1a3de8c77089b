import type { Item } from '../../contract/items.ts';
import { type Closing, closeItems } from '../../db/items.ts';
import { type Mover, only, type ParamsOf, type RowOf } from '../../db/pool.ts';
import type { QueueRow } from '../../db/statements.ts';
import { coreState } from '../../domain/items.ts';
import { fitTicket, formQueueOf } from '../items/forms.ts';
import * as queues from '../items/queues.ts';
import { batchesOf, pagesOf } from '../shared/batching.ts';
import { type Context, checkEntry, Problem } from '../shared/service.ts';
import { contentHash } from '../shared/tokens.ts';
import { refusal } from './leases.ts';
import { ownDecision } from './looks.ts';
import { decideSubjects } from './subjects.ts';

type Entry = Closing['items'][number];

/** What became of one ticket of a call that ends several. */
type Ending = { id: string; item: Item } | { id: string; problem: Problem };

interface OpenFilter {
  queue?: string;
  subject?: string;
  state?: 'delayed' | 'waiting' | 'held';
  createdBefore?: string;
  priorityBelow?: number;
}

interface Invalidation {
  queue: string;
  reason: string;
  actor: string;
}

/** Tickets that one statement ends. */
const BATCH = 1000;
const OPEN = ['delayed', 'ready', 'held'];
/** How often open tickets are gone through: one whose state changes meanwhile may be met the second time only. */
const PASSES = 3;

/**
 * Ends tickets from outside, in whatever open state they are; holders are notified (S0.4). The same ending by the same
 * caller again has the same answer.
 * @returns one for each entry, in their order
 */
export async function end(ctx: Context, wanted: Closing): Promise<Ending[]> {
  const { db } = ctx;
  const { problems, syncs } =
    wanted.state === 'settled'
      ? await misfits(ctx, wanted.items, wanted.actor)
      : { problems: new Map<Entry, Problem>(), syncs: false };
  const fit = firstById(wanted.items.filter((entry) => !problems.has(entry)));
  const closing = { ...wanted, items: fit };
  const close = (by: Mover) => closeItems(by, 'ticket', closing);
  const ids = fit.map(({ id }) => id);
  const ended = syncs ? (await db.transaction((tx) => decideSubjects(tx, ids, close))).ended : await close(db);
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
    return { id, problem: refusal(found) };
  });
}

/** Ends one. @throws Problem `not_found`, `not_open`, 422 where the decision doesn't fit the queue's form */
export async function endOne(
  ctx: Context,
  { id, result, ...wanted }: Omit<Closing, 'items'> & { id: string; result?: unknown },
): Promise<Item> {
  const [ending] = await end(ctx, { ...wanted, items: [{ id, result }] });
  if (ending === undefined) throw new Error('no ending');
  if ('problem' in ending) throw ending.problem;
  return ending.item;
}

/** @param dryRun changes nothing, and answers as if it had */
export async function invalidateByIds(ctx: Context, of: Invalidation, ids: string[], dryRun: boolean) {
  const unique = [...new Set(ids)].sort();
  let invalidated = 0;
  for (const some of batchesOf(unique, BATCH))
    invalidated += dryRun ? await countOpen(ctx, of.queue, some) : await invalidate(ctx, of, some);
  return { invalidated, skipped: unique.length - invalidated };
}

/** @param dryRun changes nothing, and answers as if it had */
export async function invalidateByFilter(
  ctx: Context,
  of: Invalidation,
  { state, subject, ...bounds }: OpenFilter,
  dryRun: boolean,
) {
  if (subject !== undefined) {
    const filter = { ...bounds, subject, queue: of.queue, ...(state && { state }) };
    const { ended, skipped } = await endSubject(ctx, { state: 'invalidated', ...of }, filter, dryRun);
    return { invalidated: ended, skipped };
  }
  const states = statesOf(state);
  const wanted = { kind: 'ticket', queue: of.queue, ...bounds };
  if (dryRun)
    return { invalidated: only(await ctx.db.lists.run('count_filtered', { ...wanted, states })).n, skipped: 0 };
  let [invalidated, skipped] = [0, 0];
  for (let pass = 0, more = true; pass < PASSES && more; pass++) {
    more = false;
    for (const state of states)
      for await (const rows of openTickets(ctx, { ...wanted, state })) {
        more = true;
        const ids = rows.map((row) => row.id);
        const done = await invalidate(ctx, of, ids);
        invalidated += done;
        skipped += rows.length - done;
      }
  }
  return { invalidated, skipped };
}

const statesOf = (state: OpenFilter['state']) => (state ? [coreState('ticket', state) ?? state] : OPEN);

/** Ends the open tickets of a subject, in one queue or in all (S0.4). @param dryRun changes nothing, and answers as if it had */
export async function endSubject(
  ctx: Context,
  { result, ...closing }: Omit<Closing, 'items'> & { result?: unknown },
  { state, ...filter }: OpenFilter & { subject: string },
  dryRun: boolean,
) {
  const ids: string[] = [];
  const read = (last?: RowOf<'open_of_subject'>) => {
    const after = { afterQueue: last?.queue ?? '', afterSeq: last?.seq ?? 0 };
    return ctx.db.run('open_of_subject', { ...filter, states: statesOf(state), ...after, limit: BATCH });
  };
  for await (const rows of pagesOf(read, BATCH)) ids.push(...rows.map(({ id }) => id));
  let ended = 0;
  for (const some of batchesOf(ids, BATCH)) {
    const items = some.map((id) => ({ id, result }));
    if (!dryRun) ended += (await end(ctx, { ...closing, items })).filter((e) => 'item' in e).length;
    else if (closing.state === 'invalidated') ended += items.length;
    else ended += items.length - (await misfits(ctx, items, closing.actor)).problems.size;
  }
  return { ended, skipped: ids.length - ended };
}

async function invalidate(ctx: Context, { queue, ...why }: Invalidation, ids: string[]): Promise<number> {
  const endings = await end(ctx, { state: 'invalidated', items: ids.map((id) => ({ id })), queue, ...why });
  return endings.filter((e) => 'item' in e && e.item.queue === queue).length;
}

const countOpen = async ({ db }: Context, queue: string, ids: string[]): Promise<number> =>
  only(await db.lists.run('count_open', { kind: 'ticket', queue, ids })).n;

const openTickets = ({ db }: Context, wanted: Omit<ParamsOf<'filter_items'>, 'afterAt' | 'afterSeq' | 'limit'>) =>
  pagesOf<RowOf<'filter_items'>>((last) => {
    const after = { afterAt: last?.at ?? '-infinity', afterSeq: last?.seq ?? 0 };
    return db.run('filter_items', { ...wanted, ...after, limit: BATCH });
  }, BATCH);

function isSameEnding(found: Item, { state, actor, reason }: Closing, result: unknown): boolean {
  if (found.state !== state || found.ended_by !== actor || found.end_reason !== reason) return false;
  return state === 'invalidated' || contentHash(found.result) === contentHash(result);
}

/**
 * Decisions that don't fit the form of their ticket's queue, or the review they go into, or that are a second look at the
 * caller's own; and whether any decides others.
 */
async function misfits(
  ctx: Context,
  entries: Entry[],
  person: string,
): Promise<{ problems: Map<Entry, Problem>; syncs: boolean }> {
  const found = new Map<Entry, Problem>();
  const known = new Map<string, QueueRow | undefined>();
  const ids = [...new Set(entries.map((entry) => entry.id))];
  const rows = await ctx.db.run('get_items', { kind: 'ticket', ids });
  const tickets = new Map(rows.map((row) => [row.id, row]));
  const looks = rows.some((row) => row.look?.of) ? await ctx.db.run('has_decided', { ids, person }) : [];
  const own = new Set(looks.map(({ id }) => id));
  for (const entry of entries) {
    const item = tickets.get(entry.id);
    if (!item) continue;
    const name = formQueueOf(item);
    if (!known.has(name)) known.set(name, await queues.get(ctx, 'ticket', name));
    const queue = known.get(name);
    const decision = entry.result;
    try {
      if (own.has(item.id)) throw ownDecision(item.id);
      checkEntry('decision', decision);
      await fitTicket(ctx, item, queue, decision);
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      found.set(entry, error);
    }
  }
  const syncs = rows.some((row) => row.subject !== null && !row.look && known.get(row.queue)?.sync === 'subject');
  return { problems: found, syncs };
}

function firstById(entries: Entry[]): Entry[] {
  const seen = new Set<string>();
  return entries.filter(({ id }) => !seen.has(id) && seen.add(id));
}
