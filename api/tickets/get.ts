import { z } from '@hono/zod-openapi';
import { Page, pageOf } from '../../contract/common.ts';
import type { Item } from '../../contract/items.ts';
import { AddNote, Draft, DraftFilter, Note, PutDraft, Ticket, TicketContext } from '../../contract/tickets.ts';
import type { RowOf } from '../../db/pool.ts';
import { ticketView } from '../../domain/tickets.ts';
import type { Context } from '../../services/shared/service.ts';
import * as drafts from '../../services/tickets/drafts.ts';
import * as looks from '../../services/tickets/looks.ts';
import * as notes from '../../services/tickets/notes.ts';
import { contextOf } from '../../services/tickets/subjects.ts';
import * as tickets from '../../services/tickets/tickets.ts';
import { boundTo, type Caller, personOf } from '../auth.ts';
import { deliveryEndpoints } from '../deliveries.ts';
import { answer, endpoint, ok } from '../endpoint.ts';
import { itemEndpoints } from '../items.ts';
import { asSeenBy, listed, ticketById } from '../views.ts';
import { withSuggestions } from './suggestions.ts';

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

export const getTicketContext = endpoint('getTicketContext', 'GET /v1/tickets/{id}/context', {
  ...ticketById,
  summary:
    "For its holder: how many other tickets of the subject there are in the key's queues, and the last decisions",
  roles: ['reviewer', 'agent', 'supervisor'],
  query: DraftFilter,
  answers: { 200: TicketContext },
  async handle({ ctx, caller, params: { id }, query: { reviewer } }) {
    const item = await visibleTicket(ctx, caller, id);
    return ok(await contextOf(ctx, item, boundTo(caller) ?? reviewer, caller.queues));
  },
});

export const putDraft = endpoint('putTicketDraft', 'PUT /v1/tickets/{id}/draft', {
  ...ticketById,
  summary: 'Keep what the holder has filled in of a decision, at most 64 KB; only its writer sees it',
  roles: ['reviewer', 'agent'],
  body: PutDraft,
  answers: { 204: z.undefined() },
  problems: ['not_found', 'not_open', 'lease_lost', 'payload_too_large'],
  async handle({ ctx, caller, params: { id }, body: { token, draft } }) {
    await drafts.put(ctx, { id, token, subject: boundTo(caller) }, draft);
    return answer(204, undefined);
  },
});

export const getDraft = endpoint('getTicketDraft', 'GET /v1/tickets/{id}/draft', {
  ...ticketById,
  summary: "The caller's own draft, until a day after their lease; 204: there is none, or it has ended",
  roles: ['reviewer', 'agent'],
  query: DraftFilter,
  answers: { 200: Draft, 204: z.undefined() },
  async handle({ ctx, caller, params: { id }, query: { reviewer } }) {
    await visibleTicket(ctx, caller, id);
    const found = await drafts.get(ctx, id, personOf(caller, reviewer));
    return found ? ok({ draft: found.draft, at: found.at.toISOString() }) : answer(204, undefined);
  },
});

const noteView = ({ seq, actor, at, text }: RowOf<'item_notes'>) => ({ seq, by: actor, at: at.toISOString(), text });

export const addNote = endpoint('addTicketNote', 'POST /v1/tickets/{id}/notes', {
  ...ticketById,
  summary: 'Leave a note on a ticket in any state; the same words by the same person are one note',
  roles: ['producer', 'reviewer', 'agent', 'supervisor'],
  body: AddNote,
  answers: { 201: Note },
  problems: ['not_found', 'erased'],
  async handle({ ctx, caller, params: { id }, body: { text, reviewer } }) {
    await visibleTicket(ctx, caller, id);
    const by = personOf(caller, reviewer ?? caller.actor);
    return answer(201, noteView(await notes.add(ctx, id, by, text)));
  },
});

export const listNotes = endpoint('listTicketNotes', 'GET /v1/tickets/{id}/notes', {
  ...ticketById,
  summary: 'The notes on a ticket, oldest first',
  roles: ['producer', 'reviewer', 'agent', 'supervisor'],
  query: Page,
  answers: { 200: pageOf(Note) },
  async handle({ ctx, caller, params: { id }, query: { limit, cursor } }) {
    const item = await visibleTicket(ctx, caller, id);
    const author = (await isBlinded(ctx, caller, item)) ? caller.actor : undefined;
    return listed(notes.list(ctx, id, author, cursor ?? 0, limit + 1), limit, noteView, ({ seq }) => seq);
  },
});
