import type { Item } from '../../contract/items.ts';
import type { Db, RowOf } from '../../db/pool.ts';
import { refusalOf } from '../../domain/refusals.ts';
import * as items from '../items/items.ts';
import * as queues from '../items/queues.ts';
import * as rules from '../items/rules.ts';
import type { Context } from '../shared/context.ts';
import { foreignToken, Problem } from '../shared/problems.ts';

/** A ticket, and the lease that an attempt named. */
export type Verdict = RowOf<'find_verdict'>;

/** An attempt at a ticket. */
interface Attempt {
  id: string;
  /** The caller's lease; null: an operator acts, and takes the ticket from its holder. */
  token: string | null;
  /** The only holder for whom the caller may act; null: any. */
  subject: string | null;
  /** Who acts where no lease says it. */
  actor: string;
}

/** What is done with open tickets. An attempt that is repeated because its answer was lost gets the same answer. */
export interface TicketLeases {
  /** A full lease again. @throws Problem `not_found`, `not_open`, `lease_lost` */
  renew(id: string, token: string, subject: string | null): Promise<Item>;
  /** Gives a ticket back. @throws as `renew` */
  release(attempt: Attempt, how: { delaySeconds: number; skip: boolean; reason?: string }): Promise<Item>;
  /** Moves a ticket to another queue; a live lease ends. @throws as `renew` */
  transfer(attempt: Attempt, queue: string, reason?: string): Promise<Item>;
  /** @throws Problem `not_found`, `not_open` */
  change(id: string, change: { deadlineAt?: string | null }, actor: string): Promise<Item>;
}

export function ticketLeases(ctx: Context): TicketLeases {
  const { db } = ctx;
  /** The outcome of an attempt with a lease that did `rows`, or nothing: it may be a repeated one. */
  const outcome = async (
    name: string,
    { id, token, subject }: Attempt,
    rows: Item[],
    isRepeat: (found: Verdict) => boolean,
  ) => {
    const [item] = await rules.settled(ctx, rows);
    if (item) return item;
    const found = await lookInto(db, id, token, subject);
    if (token !== null && isRepeat(found) && found.ended_at === null) return found;
    throw await rejection(db, found, token, name);
  };
  const actorOf = ({ token, actor }: Attempt, held: Item) => (token === null ? actor : (held.holder ?? actor));
  return {
    async renew(id, token, subject) {
      const item = await items.renew(ctx, 'ticket', { id, token, subject });
      if (item) return item;
      throw await rejection(db, await lookInto(db, id, token, subject), token, 'renew');
    },
    async release(attempt, how) {
      const { id, token, subject } = attempt;
      const actor = actorOf(attempt, await lookInto(db, id, token, subject));
      const release = { kind: 'ticket', id, token, subject, actor, undelivered: false, ...how };
      const rows = await db.move('release_item', release);
      return outcome('release', attempt, rows, (found) => found.named_why === 'released');
    },
    async transfer(attempt, queue, reason) {
      const { id, token, subject } = attempt;
      const held = await lookInto(db, id, token, subject);
      let rows: Item[] = [];
      if (held.ended_at === null && (token === null || held.lease_id === token)) {
        await queues.ensure(ctx, 'ticket', queue);
        const transfer = { kind: 'ticket', id, token, subject, queue, reason, actor: actorOf(attempt, held) };
        rows = await db.transaction(async (tx) =>
          items.settleDue(tx, 'ticket', await tx.move('transfer_item', transfer)),
        );
      }
      const moved = (found: Verdict) => found.named_why === 'transferred' && found.queue === queue;
      return outcome('transfer', attempt, rows, moved);
    },
    async change(id, { deadlineAt, ...fields }, actor) {
      // the event shows the change as every other time is shown
      const change = deadlineAt
        ? { ...fields, deadlineAt: new Date(deadlineAt).toISOString() }
        : { ...fields, deadlineAt };
      const [item] = await rules.settled(ctx, await db.move('change_item', { kind: 'ticket', id, change, actor }));
      if (item) return item;
      throw await rejection(db, await lookInto(db, id, null, null), null, 'change');
    },
  };
}

/**
 * Looks into an attempt that changed nothing.
 * @param token the lease that was named; null: none was needed
 * @throws Problem `not_found` for an unknown ticket, `forbidden` for another person's token
 */
export async function lookInto(db: Db, id: string, token: string | null, subject: string | null): Promise<Verdict> {
  const find = () => db.run('find_verdict', { kind: 'ticket', id, token });
  let [found] = await find();
  if (found?.overdue) {
    // its lease has run out and no clock has come by yet: do it now, so that the answer can say so
    await db.move('tick_items', { kind: 'ticket', ids: [id] });
    [found] = await find();
  }
  if (!found) throw new Problem('not_found', `there is no ticket ${id}`);
  if (subject !== null && found.named_holder !== null && found.named_holder !== subject) throw foreignToken();
  return found;
}

/** The problem to answer with. A former holder's late attempt is also recorded in the ticket's events, once (S0.7). */
export async function rejection(db: Db, found: Verdict, token: string | null, attempt: string): Promise<Problem> {
  const { code, detail, ...fields } = refusalOf(found);
  if (token !== null) await db.move('refuse_lease', { kind: 'ticket', id: found.id, token, attempt });
  return new Problem(code, detail, fields);
}
