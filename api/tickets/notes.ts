import { Page, pageOf } from '../../contract/common.ts';
import { AddNote, Note } from '../../contract/tickets.ts';
import type { RowOf } from '../../db/pool.ts';
import * as notes from '../../services/tickets/notes.ts';
import { personOf } from '../auth.ts';
import { answer, endpoint } from '../endpoint.ts';
import { listed } from '../paging.ts';
import { ticketById } from '../resources.ts';
import { isBlinded, visibleTicket } from './get.ts';

const view = ({ seq, actor, at, text }: RowOf<'item_notes'>) => ({ seq, by: actor, at: at.toISOString(), text });

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
    return answer(201, view(await notes.add(ctx, id, by, text)));
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
    return listed(notes.list(ctx, id, author, cursor ?? 0, limit + 1), limit, view, ({ seq }) => seq);
  },
});
