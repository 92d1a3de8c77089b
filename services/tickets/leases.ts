import type { Item } from '../../contract/items.ts';
import type { RowOf } from '../../db/pool.ts';
import { refusalOf } from '../../domain/refusals.ts';
import { asWaiting } from '../../domain/tickets.ts';
import * as items from '../items/items.ts';
import * as queues from '../items/queues.ts';
import * as rules from '../items/rules.ts';
import { type Context, Problem } from '../shared/service.ts';
import * as looks from './looks.ts';

/** A ticket, and the lease that an attempt named. */
export type Attempted = RowOf<'find_attempt'>;

/** An attempt at a ticket. Repeated because its answer was lost, it gets the same answer. */
interface Attempt {
  id: string;
  /** The caller's lease; null: an operator acts, and takes the ticket from its holder. */
  token: string | null;
  /** The only holder for whom the caller may act; null: any. */
  subject: string | null;
  /** Who acts where no lease says it. */
  actor: string;
}

/** A full lease again. @throws Problem `not_found`, `not_open`, `lease_lost` */
export async function renew(ctx: Context, id: string, token: string, subject: string | null): Promise<Item> {
  const item = await items.renew(ctx, 'ticket', { id, token, subject });
  if (item) return item;
  throw await rejection(ctx, await findAttempted(ctx, id, token, subject), { token, subject }, 'renew');
}

/** Gives a ticket back. @throws as `renew` */
export async function release(
  ctx: Context,
  attempt: Attempt,
  { unseen, ...how }: { delaySeconds: number; skip: boolean; unseen: boolean; reason?: string },
): Promise<Item> {
  const { id, token, subject } = attempt;
  const actor = actorOf(attempt, await findAttempted(ctx, id, token, subject));
  const release = { kind: 'ticket', id, token, subject, actor, undelivered: unseen, ...how };
  const rows = await ctx.db.move('release_item', release);
  return outcome(ctx, 'release', attempt, rows, (found) => found.named_why === 'released');
}

/** Moves a ticket to another queue; a live lease ends. @throws as `renew` */
export async function transfer(ctx: Context, attempt: Attempt, queue: string, reason?: string): Promise<Item> {
  const { id, token, subject } = attempt;
  const held = await findAttempted(ctx, id, token, subject);
  let rows: Item[] = [];
  if (held.ended_at === null && (token === null || held.lease_id === token)) {
    await queues.checkThere(ctx, 'ticket', [queue]);
    const transfer = { kind: 'ticket', id, token, subject, queue, reason, actor: actorOf(attempt, held) };
    rows = await ctx.db.transaction(async (tx) =>
      items.settleDue(tx, 'ticket', await tx.move('transfer_item', transfer)),
    );
  }
  const isRepeat = (found: Attempted) => found.named_why === 'transferred' && found.queue === queue;
  return outcome(ctx, 'transfer', attempt, rows, isRepeat);
}

/** Changes an open ticket, also while it is held; a holder whom it excludes now loses the lease. @throws Problem `not_found`, `not_open` */
export async function change(
  ctx: Context,
  id: string,
  { deadlineAt, ...fields }: { deadlineAt?: string | null },
  actor: string,
): Promise<Item> {
  // the event shows the change as every other time is shown
  const change = { ...fields, deadlineAt: deadlineAt ? new Date(deadlineAt).toISOString() : deadlineAt };
  const rows = await ctx.db.transaction(async (tx) => {
    const changed = await tx.move('change_item', { kind: 'ticket', id, change, actor });
    const excluded = changed.some(({ holder, exclude }) => holder !== null && exclude.includes(holder));
    if (!excluded) return changed;
    const end = { delaySeconds: 0, skip: false, undelivered: false, reason: 'excluded' };
    return [...changed, ...(await tx.move('release_item', { kind: 'ticket', id, actor, ...end }))];
  });
  return outcome(ctx, 'change', { id, token: null, subject: null, actor }, rows, () => false);
}

const actorOf = ({ token, actor }: Attempt, held: Item) => (token === null ? actor : (held.holder ?? actor));

/**
 * The outcome of an attempt: the changed row once its rules are evaluated, or why nothing changed.
 * @param isRepeat whether the attempt was made before with this lease, and its answer is the ticket as it is
 */
async function outcome(
  ctx: Context,
  name: string,
  { id, token, subject }: Attempt,
  rows: Item[],
  isRepeat: (found: Attempted) => boolean,
): Promise<Item> {
  const [item] = await rules.settled(ctx, rows);
  if (item) return token === null ? item : asWaiting(item);
  const found = await findAttempted(ctx, id, token, subject);
  if (token === null) throw refusal(found);
  if (isRepeat(found) && found.ended_at === null) return found;
  throw await rejection(ctx, found, { token, subject }, name);
}

/**
 * Reads the ticket of an attempt, and the lease that it named.
 * @param token null: none is needed
 * @throws Problem `not_found` for an unknown ticket, and for a reviewer's token that never was theirs
 */
export async function findAttempted({ db }: Context, id: string, token: string | null, subject: string | null) {
  const find = () => db.run('find_attempt', { kind: 'ticket', id, token });
  let [found] = await find();
  if (found?.overdue) {
    // its lease has run out and no clock has come by yet: do it now, so that the answer can say so
    await db.move('tick_items', { kind: 'ticket', ids: [id] });
    [found] = await find();
  }
  const unknown = new Problem('not_found', `there is no ticket ${id}`);
  if (!found) throw unknown;
  if (subject !== null && found.named_holder !== subject) throw unknown;
  return token === null ? found : asWaiting(found);
}

/** Why nothing can be done to a ticket by a call that names no lease. */
export function refusal(item: Item): Problem {
  const { code, detail, ...fields } = refusalOf({ ...item, named_holder: null, named_ended_at: null, named_why: null });
  return new Problem(code, code === 'lease_lost' && item.holder === null ? 'no one holds it' : detail, fields);
}

/**
 * The problem to answer with. A former holder's late attempt is also recorded in the ticket's events, once (S0.7).
 * @param subject a reviewer, who is not told who holds it now; null: any caller
 */
export async function rejection(
  ctx: Context,
  found: Attempted,
  { token, subject }: Pick<Attempt, 'token' | 'subject'>,
  attempt: string,
) {
  // whoever is at a blind look is not told here either
  const [seen = found] = subject === null ? [] : await looks.current(ctx, [found], subject);
  const { code, detail, ...fields } = refusalOf(
    subject === null ? found : { ...found, holder: null, ended_by: seen.ended_by, end_reason: seen.end_reason },
  );
  if (token !== null) await ctx.db.move('refuse_lease', { kind: 'ticket', id: found.id, token, attempt });
  return new Problem(code, detail, fields);
}
