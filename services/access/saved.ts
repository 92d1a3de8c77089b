import { only, type ParamsOf } from '../../db/pool.ts';
import type { SavedRow } from '../../db/statements.ts';
import { type Context, found } from '../shared/service.ts';

/** Saves something under a name of its owner, or replaces it. */
export const put = async ({ db }: Context, what: ParamsOf<'save'>): Promise<SavedRow> =>
  only(await db.run('save', what));

/** Those of a person, and those that are shared, newest first. */
export const list = ({ db }: Context, wanted: ParamsOf<'list_saved'>): Promise<SavedRow[]> =>
  db.lists.run('list_saved', wanted);

/** @throws Problem `not_found` */
export async function remove({ db }: Context, what: ParamsOf<'forget_saved'>): Promise<void> {
  found(await db.run('forget_saved', what), `${what.owner} has no ${what.kind} ${what.name}`);
}
