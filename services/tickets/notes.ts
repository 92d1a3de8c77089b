import type { RowOf } from '../../db/pool.ts';
import { type Context, erased } from '../shared/service.ts';

type Note = RowOf<'item_notes'>;

/**
 * Leaves a note on a ticket in whatever state it is; the same words by the same person are the same note.
 * @throws Problem `erased`
 */
export async function add({ db }: Context, id: string, actor: string, text: string): Promise<Note> {
  await db.move('leave_note', { kind: 'ticket', id, actor, text });
  const [note] = await db.run('item_notes', { kind: 'ticket', id, actor, text, after: 0, limit: 1 });
  if (!note) throw erased(`ticket ${id}`);
  return note;
}

/** A ticket's notes behind the note numbered `after`, oldest first. @param actor only theirs */
export const list = ({ db }: Context, id: string, actor: string | undefined, after: number, limit: number) =>
  db.run('item_notes', { kind: 'ticket', id, actor, after, limit });
