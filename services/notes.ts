import { type Db, only, type RowOf } from '../db/pool.ts';

type Note = RowOf<'item_notes'>;

/** What people leave on tickets for those who see them next. */
export const noteService = (db: Db) => ({
  /** In whatever state the ticket is; the same words by the same person are the same note. */
  async add(id: string, actor: string, text: string): Promise<Note> {
    await db.move('leave_note', { kind: 'ticket', id, actor, text });
    return only(await db.run('item_notes', { kind: 'ticket', id, actor, text, after: 0, limit: 1 }));
  },
  /** Oldest first, behind a note's number. */
  list: (id: string, after: number, limit: number): Promise<Note[]> =>
    db.run('item_notes', { kind: 'ticket', id, after, limit }),
});
