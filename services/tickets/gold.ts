import type { PutGoldTickets } from '../../contract/gold.ts';
import type { Item } from '../../contract/items.ts';
import { fitForm } from '../items/forms.ts';
import * as items from '../items/items.ts';
import * as queues from '../items/queues.ts';
import { type Context, erased, Problem } from '../shared/service.ts';

/**
 * Replaces a queue's tickets with known answers, all or nothing. Who has been handed one is not handed it again, also when
 * it comes back.
 * @throws Problem `not_found`, 422 for an answer that does not fit the queue's form
 */
export async function put(ctx: Context, name: string, tickets: PutGoldTickets['tickets']): Promise<void> {
  const queue = await queues.find(ctx, 'ticket', name);
  for (const [n, { answer }] of tickets.entries()) await fitForm(ctx, queue, answer, `tickets.${n}.answer`);
  await ctx.db.run('put_gold', { queue: name, tickets });
  ctx.wakeAll(`ticket/${name}`);
}

/** A queue's gold behind the number `after`, with what came of it. */
export const list = ({ db }: Context, queue: string, after: number, limit: number) =>
  db.lists.run('list_gold', { queue, after, limit });

/**
 * Notes that who decided a ticket disputes it, once: its question, or, of gold, what its answer is said to be.
 * @throws Problem `not_found`; `forbidden` for a decision of another; `erased`
 */
export async function dispute(ctx: Context, item: Item, person: string, reason: string): Promise<Item> {
  const { id, state, ended_by: decider } = item;
  if (item.erased) throw erased(`ticket ${id}`);
  if (state !== 'settled') throw new Problem('not_final', `ticket ${id} is not decided`);
  if (decider !== person) throw new Problem('forbidden', `ticket ${id} was not decided by ${person}`);
  const [disputed] = await ctx.db.move('dispute_ticket', { id, person, reason });
  return disputed ?? (await items.get(ctx, 'ticket', id)) ?? item;
}
