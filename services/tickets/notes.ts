import { only, type RowOf } from '../../db/pool.ts';
import type { Context } from '../shared/context.ts';

type Note = RowOf<'item_notes'>;

/** Leaves a note on a ticket in whatever state it is; the same words by the same person are the same note. */
export async function add({ db }: Context, id: string, actor: string, text: string): Promise<Note> {
  await db.move('leave_note', { kind: 'ticket', id, actor, text });
  return only(await db.run('item_notes', { kind: 'ticket', id, actor, text, after: 0, limit: 1 }));
}

/** A ticket's notes behind the note numbered `after`, oldest first. */
export const list = ({ db }: Context, id: string, after: number, limit: number): Promise<Note[]> =>
  db.run('item_notes', { kind: 'ticket', id, after, limit });
