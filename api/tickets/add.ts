import { BatchResults, NewTicket, NewTickets, Ticket, TicketBatch } from '../../contract/tickets.ts';
import { ticketView } from '../../domain/tickets.ts';
import * as items from '../../services/items/items.ts';
import { checkCallback } from '../../services/shared/checks.ts';
import { Problem } from '../../services/shared/service.ts';
import * as tickets from '../../services/tickets/tickets.ts';
import { addBatch, batchResult, checkedEntry, wantedId } from '../adding.ts';
import type { Api } from '../api.ts';
import type { Caller } from '../auth.ts';
import { answer, endpoint, LARGE_BODY, ok } from '../endpoint.ts';
import { queueByName } from '../views.ts';

export const addTicketEndpoint = endpoint('addTicket', 'POST /v1/queues/{queue}/tickets', {
  ...queueByName,
  tag: 'Tickets',
  summary: 'Add a ticket; the same id and content again is the same ticket',
  roles: ['producer', 'supervisor'],
  body: NewTicket,
  takesKey: true,
  answers: { 200: Ticket, 201: Ticket },
  problems: ['id_conflict', 'erased'],
  async handle({ api, caller, params: { queue }, body, header }) {
    const id = wantedId(body.id, caller, 'ticket', header('idempotency-key'));
    const ticket = checkTarget(api, caller, body);
    const { item, created } = await tickets.add(api.ctx, queue, ticket, caller.actor, id);
    return answer(created ? 201 : 200, ticketView(item));
  },
});

export const addTicketBatch = endpoint('addTickets', 'POST /v1/queues/{queue}/tickets/batch', {
  ...queueByName,
  tag: 'Tickets',
  summary: 'Add up to 1,000 tickets; each has its own outcome, in order',
  roles: ['producer', 'supervisor'],
  body: TicketBatch,
  document: NewTickets,
  bodyLimit: LARGE_BODY,
  checksEntries: true,
  answers: { 200: BatchResults },
  async handle({ api, caller, params: { queue }, body }) {
    const check = (sent: unknown) => checkTarget(api, caller, checkedEntry(NewTicket, 'ticket', sent));
    const add = (all: NewTicket[]) => tickets.addAll(api.ctx, queue, all, caller.actor, items.add);
    return ok({ results: (await addBatch(body.tickets, check, add)).map(batchResult) });
  },
});

/** @returns the ticket, whose callback this caller may name @throws Problem 422, `forbidden` */
function checkTarget(api: Api, { queues }: Caller, ticket: NewTicket): NewTicket {
  const { callback } = ticket;
  if (callback && 'url' in callback) checkCallback(api.ctx, 'callback', callback);
  // reviews belong to no queue, so a bound key may not reach them through its tickets either
  if (callback && 'review' in callback && queues !== null)
    throw new Problem('forbidden', 'this key is for some queues only, and reviews are of none');
  return ticket;
}
