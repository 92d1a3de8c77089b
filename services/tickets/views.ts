import { only, type ParamsOf } from '../../db/pool.ts';
import type { SavedViewRow } from '../../db/statements.ts';
import type { Context } from '../shared/context.ts';
import { found } from '../shared/problems.ts';

/** Saves a filter of the list of tickets under a name, or replaces it. */
export const put = async ({ db }: Context, view: ParamsOf<'put_view'>): Promise<SavedViewRow> =>
  only(await db.run('put_view', view));

/** Those of a person, and those that are shared, newest first. */
export const list = ({ db }: Context, owner: string, before: number | undefined, limit: number) =>
  db.lists.run('list_views', { owner, before, limit });

/** @throws Problem `not_found` */
export async function remove({ db }: Context, owner: string, name: string): Promise<void> {
  found(await db.run('delete_view', { owner, name }), `${owner} has no view ${name}`);
}
