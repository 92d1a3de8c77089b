import type { Item, ShownTicket } from '../../contract/items.ts';
import { type Settlement, settleItems } from '../../db/items.ts';
import { type Mover, only } from '../../db/pool.ts';
import type { QueueRow } from '../../db/statements.ts';
import { checkDecision, checkStatus } from '../items/forms.ts';
import * as items from '../items/items.ts';
import * as queues from '../items/queues.ts';
import type { Context } from '../shared/context.ts';
import { Problem } from '../shared/problems.ts';
import { contentHash, isSettledBy, newToken } from '../shared/tokens.ts';
import { type Attempted, findAttempted, rejection } from './leases.ts';
import { decideSubjects } from './subjects.ts';
import { countHandOut, type Handed } from './tickets.ts';

interface Decision extends items.Hold {
  decision: unknown;
  /** Of the ticket as the decider saw it; left out: any. */
  version?: number;
  /** The decider's next ticket is asked for, with these skills. */
  next: boolean;
  skills: string[];
  /** Where to look for it, in order of preference; empty: in the ticket's queue. */
  queues: string[];
}

interface Decided {
  item: ShownTicket;
  next: Handed | null;
  /** How many others of its subject were decided with it. */
  synced: number;
}

/** How often the queue's settings may change while a decision is checked against them. */
const MAX_TRIES = 5;

/**
 * Decides a ticket that the caller holds. The same decision again has the same answer, the next ticket included.
 * @throws Problem `not_found`, `not_open`, `lease_lost`, `changed`, 422 where the decision doesn't fit the queue's form
 */
export async function decide(ctx: Context, wanted: Decision): Promise<Decided> {
  const { id, token, decision, subject, next: nextWanted, version: seen = null } = wanted;
  const hash = contentHash(decision);
  const result = JSON.stringify(decision);
  let formVersion: number | null = null;
  let syncs = false;
  for (let tries = 1; ; tries++) {
    const settlement = { id, token, result, hash, subject, formVersion, nextWanted, seen };
    const [item, synced] = syncs
      ? await settleSubject(ctx, settlement)
      : [await items.settle(ctx, 'ticket', settlement), 0];
    if (item) return { item, next: nextWanted ? await claimNext(ctx, item, wanted) : null, synced };
    const found = await findAttempted(ctx, id, token, subject);
    // also when the first call is still under way
    if (isRepeat(found, token, hash)) {
      const next = found.next_wanted ? await claimNext(ctx, found, wanted) : null;
      return { item: found, next, synced: await countSynced(ctx, found) };
    }
    const live = found.state === 'held' && found.lease_id === token;
    if (!live || tries > MAX_TRIES) throw await rejection(ctx, found, token, 'decide');
    if (seen !== null && found.content_version !== null && found.content_version > seen) throw changed(found);
    // with a live lease and what was seen, only the queue's settings are in the way; they may change meanwhile
    const queue = await queues.get(ctx, 'ticket', found.queue);
    formVersion = await fitForm(ctx, found, queue, decision);
    syncs = queue?.sync === 'subject';
  }
}

async function settleSubject(ctx: Context, settlement: Settlement): Promise<[ShownTicket | undefined, number]> {
  const settle = (tx: Mover) => settleItems(tx, 'ticket', [settlement], true);
  const { ended, synced } = await decideSubjects(ctx, [settlement.id], settle);
  return [ended[0], synced];
}

const countSynced = async ({ db }: Context, { id, subject }: Item): Promise<number> =>
  subject === null ? 0 : only(await db.run('count_synced', { id, subject })).n;

/** The decider's next new ticket; asked for again, the same (S0.8). */
async function claimNext(
  ctx: Context,
  { id, ended_by: decider }: ShownTicket,
  { token: follows, skills, queues }: Decision,
): Promise<Handed | null> {
  if (decider === null) return null;
  const token = newToken();
  const isNew = (row: ShownTicket) => row.lease_id === token;
  const moved = (rows: ShownTicket[]) => rows.filter(isNew);
  const [item] = await ctx.db.move('claim_next', { kind: 'ticket', id, token, skills, queues, follows }, { moved });
  if (!item) return null;
  if (isNew(item)) countHandOut(ctx, item);
  // asked for again later, the ticket may have another holder by now, whose token is not for this caller
  return { item, token: item.holder === decider ? item.lease_id : null, isNew: isNew(item) };
}

/** @returns the version of the settings whose form the decision fits; null without a form */
async function fitForm(
  ctx: Context,
  item: Item,
  queue: QueueRow | undefined,
  decision: unknown,
): Promise<number | null> {
  checkStatus(item, decision);
  if (!queue?.form) return null;
  await checkDecision(ctx, queue, queue.form, decision);
  return queue.settings_version;
}

const changed = ({ id, version }: Item) =>
  new Problem('changed', `ticket ${id} has changed since it was seen, and is at version ${version}`, { version });

const isRepeat = (item: Attempted, token: string, hash: string) =>
  isSettledBy(item, token) &&
  item.result_hash !== null &&
  Buffer.compare(item.result_hash, Buffer.from(hash, 'hex')) === 0;
