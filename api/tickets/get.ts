import { IdParam, Page, pageOf } from '../../contract/common.ts';
import { Ticket, TicketEvent, TicketFilter } from '../../contract/tickets.ts';
import { getItem, type Item, listItems } from '../../db/items.ts';
import { coreState } from '../../domain/items.ts';
import { ticketView } from '../../domain/tickets.ts';
import { Problem } from '../../services/problems.ts';
import type { Api } from '../api.ts';
import { type Caller, personOf } from '../auth.ts';
import { byId, deliveryEndpoints } from '../deliveries.ts';
import { endpoint, ok } from '../endpoint.ts';
import { eventPage } from '../events.ts';
import { page } from '../paging.ts';

/** @throws Problem `not_found` */
export async function findTicket(api: Api, id: string): Promise<Item> {
  const item = await getItem(api.runtime.db, 'ticket', id);
  if (!item) throw new Problem('not_found', `there is no ticket ${id}`);
  return item;
}

/** A ticket for its readers: the token is shown to the holder's own key only. */
const readable = (caller: Caller, item: Item) =>
  ticketView(item, caller.role === 'reviewer' && caller.subject === item.holder ? item.lease_id : null);

export const getTicket = endpoint({
  method: 'get',
  path: '/v1/tickets/{id}',
  tag: 'Tickets',
  summary: 'A ticket in whatever state it is',
  roles: ['producer', 'reviewer', 'agent'],
  params: IdParam,
  answers: { 200: Ticket },
  problems: ['not_found'],
  async handle({ api, caller, params: { id } }) {
    const item = await findTicket(api, id);
    if (caller.role === 'reviewer' && caller.subject !== null && item.exclude.includes(caller.subject))
      throw new Problem('not_found', `there is no ticket ${id}`);
    return ok(readable(caller, item));
  },
});

export const listTicketEvents = endpoint({
  method: 'get',
  path: '/v1/tickets/{id}/events',
  tag: 'Tickets',
  summary: "A ticket's whole history, oldest first",
  roles: ['producer', 'agent'],
  params: IdParam,
  query: Page,
  answers: { 200: pageOf(TicketEvent) },
  problems: ['not_found'],
  async handle({ api, params: { id }, query }) {
    await findTicket(api, id);
    return ok(await eventPage(api, 'ticket', id, query));
  },
});

export const listTickets = endpoint({
  method: 'get',
  path: '/v1/tickets',
  tag: 'Tickets',
  summary: 'Tickets, newest first; reviewer: who holds or decided them',
  roles: ['producer', 'reviewer', 'agent'],
  query: TicketFilter,
  answers: { 200: pageOf(Ticket) },
  async handle({ api, caller, query }) {
    const person = caller.role === 'reviewer' ? personOf(caller, query.reviewer) : query.reviewer;
    const position = query.cursor;
    const filter = {
      queue: query.queue,
      state: query.state && coreState('ticket', query.state),
      person,
      createdAfter: query.createdAfter,
      createdBefore: query.createdBefore,
      before: position && { createdAt: position[0], seq: position[1] },
    };
    const rows = await listItems(api.runtime.db.lists, 'ticket', filter, query.limit + 1);
    return ok(
      page(
        rows,
        query.limit,
        (i) => readable(caller, i),
        (i) => `${i.created_at.toISOString()}_${i.seq}`,
      ),
    );
  },
});

export const ticketDeliveries = deliveryEndpoints({
  kind: 'ticket',
  tag: 'Tickets',
  base: '/v1/tickets/{id}',
  ...byId,
});
