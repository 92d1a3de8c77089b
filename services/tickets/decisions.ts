import type { Item, ShownTicket } from '../../contract/items.ts';
import { checkDecision, checkStatus } from '../items/forms.ts';
import * as items from '../items/items.ts';
import * as queues from '../items/queues.ts';
import type { Context } from '../shared/context.ts';
import { Problem } from '../shared/problems.ts';
import { contentHash, isSettledBy, newToken } from '../shared/tokens.ts';
import { type Attempted, findAttempted, rejection } from './leases.ts';
import { countHandOut, type Handed } from './tickets.ts';

interface Decision extends items.Hold {
  decision: unknown;
  /** Of the ticket as the decider saw it; left out: any. */
  version?: number;
  /** The decider's next ticket is asked for, with these skills. */
  next: boolean;
  skills: string[];
  /** Where to look for it, in order of preference; left out: in the ticket's queue. */
  queues?: string[];
}

/** How often the form may change while a decision is checked against it. */
const MAX_TRIES = 5;

/**
 * Decides a ticket that the caller holds. The same decision again has the same answer, the next ticket included.
 * @throws Problem `not_found`, `not_open`, `lease_lost`, `changed`, 422 where the decision doesn't fit the queue's form
 */
export async function decide(ctx: Context, wanted: Decision): Promise<{ item: ShownTicket; next: Handed | null }> {
  const { id, token, decision, subject, next: nextWanted, version: seen = null } = wanted;
  const hash = contentHash(decision);
  const result = JSON.stringify(decision);
  let formVersion: number | null = null;
  for (let tries = 1; ; tries++) {
    const settlement = { id, token, result, hash, subject, formVersion, nextWanted, seen };
    const item = await items.settle(ctx, 'ticket', settlement);
    if (item) return { item, next: nextWanted ? await claimNext(ctx, item, wanted) : null };
    const found = await findAttempted(ctx, id, token, subject);
    // also when the first call is still under way
    if (isRepeat(found, token, hash))
      return { item: found, next: found.next_wanted ? await claimNext(ctx, found, wanted) : null };
    const live = found.state === 'held' && found.lease_id === token;
    if (!live || tries > MAX_TRIES) throw await rejection(ctx, found, token, 'decide');
    if (seen !== null && found.content_version !== null && found.content_version > seen) throw changed(found);
    // with a live lease and what was seen, only the queue's form is in the way; it may change while it is checked
    formVersion = await fitForm(ctx, found, decision);
  }
}

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
async function fitForm(ctx: Context, item: Item, decision: unknown): Promise<number | null> {
  checkStatus(item, decision);
  const queue = await queues.get(ctx, 'ticket', item.queue);
  if (!queue?.form) return null;
  await checkDecision(ctx, queue.form, decision);
  return queue.settings_version;
}

const changed = ({ id, version }: Item) =>
  new Problem('changed', `ticket ${id} has changed since it was seen, and is at version ${version}`, { version });

const isRepeat = (item: Attempted, token: string, hash: string) =>
  isSettledBy(item, token) &&
  item.result_hash !== null &&
  Buffer.compare(item.result_hash, Buffer.from(hash, 'hex')) === 0;
