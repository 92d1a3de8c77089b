import type { Item } from '../../contract/items.ts';
import { Ticket } from '../../contract/tickets.ts';
import { ticketView } from '../../domain/tickets.ts';
import type { Context } from '../../services/shared/context.ts';
import * as drafts from '../../services/tickets/drafts.ts';
import * as looks from '../../services/tickets/looks.ts';
import * as tickets from '../../services/tickets/tickets.ts';
import { boundTo, type Caller } from '../auth.ts';
import { deliveryEndpoints } from '../deliveries.ts';
import { endpoint, ok } from '../endpoint.ts';
import { itemEndpoints } from '../items.ts';
import { ticketById } from '../resources.ts';
import { asSeenBy } from '../views.ts';
import { withSuggestions } from './suggested.ts';

/** A ticket as its caller may see it: only the holder's own key sees the token. */
export const readable = (caller: Caller, item: Item, draft?: unknown) =>
  asSeenBy(caller, isHolder(caller, item) ? ticketView(item, item.lease_id, draft) : ticketView(item));
const isHolder = (caller: Caller, { holder }: Item) => holder !== null && boundTo(caller) === holder;

/** Who may be at a blind look: a reviewer, or an agent for anyone; undefined: nobody, the caller is of the staff. */
export const personOfLook = (caller: Caller) =>
  caller.role === 'reviewer' || caller.role === 'agent' ? boundTo(caller) : undefined;
/** For whom a ticket is read that they may decide. */
const decider = ({ role, subject }: Caller, { holder }: Item) =>
  role === 'reviewer' ? subject : role === 'agent' || role === 'admin' ? holder : null;

/** @throws Problem `not_found`, also for a reviewer who may not know of it */
export const visibleTicket = (ctx: Context, caller: Caller, id: string): Promise<Item> =>
  tickets.findKnown(ctx, id, boundTo(caller));

/** Whether the caller is at a blind look at this ticket, and is not told by whom it was decided. */
export async function isBlinded(ctx: Context, caller: Caller, item: Item): Promise<boolean> {
  const [seen = item] = await looks.current(ctx, [item], personOfLook(caller));
  return item.ended_by !== null && seen.ended_by === null;
}

export const getTicket = endpoint('getTicket', 'GET /v1/tickets/{id}', {
  ...ticketById,
  summary: 'A ticket in any state',
  roles: ['producer', 'reviewer', 'agent', 'supervisor'],
  answers: { 200: Ticket },
  async handle({ ctx, caller, params: { id } }) {
    const item = await visibleTicket(ctx, caller, id);
    const own = isHolder(caller, item) ? await drafts.get(ctx, id, item.holder ?? '') : undefined;
    const [current = item] = await looks.current(ctx, [item], personOfLook(caller));
    const shown = readable(caller, current, own?.draft);
    const [ticket = shown] = await withSuggestions(ctx, [shown], decider(caller, item));
    return ok(ticket);
  },
});

const shown = { ...ticketById, one: 'a ticket', operations: 'Ticket', base: '/v1/tickets/{id}', find: tickets.find };
export const oneTicket = [...itemEndpoints('ticket', shown), ...deliveryEndpoints('ticket', shown)];
