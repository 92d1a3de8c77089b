import type { PutReviewer } from '../../contract/reviewers.ts';
import { only } from '../../db/pool.ts';
import type { ReviewerRow } from '../../db/statements.ts';
import * as queues from '../items/queues.ts';
import { type Context, found } from '../shared/service.ts';

/** Waiters of so many queues look again at once after a change; the slow poll serves the others. */
const MOST_WOKEN = 500;

const missing = (name: string) => `${name} is not in the register of reviewers`;

/** Registers a reviewer (S0.8), or replaces what the register says of them. Counts of the day stay. */
export async function put(ctx: Context, name: string, entry: PutReviewer): Promise<ReviewerRow> {
  const reviewer = only(await ctx.db.run('put_reviewer', { name, ...entry }));
  await wake(ctx);
  return reviewer;
}

/** @throws Problem `not_found` */
export const find = async ({ db }: Context, name: string): Promise<ReviewerRow> =>
  found(await db.run('get_reviewer', { name }), missing(name));

/** Newest first, behind the one numbered `before`. */
export const list = ({ db }: Context, before: number | undefined, limit: number): Promise<ReviewerRow[]> =>
  db.lists.run('list_reviewers', { before, limit });

/** @throws Problem `not_found` */
export async function remove(ctx: Context, name: string): Promise<void> {
  found(await ctx.db.run('delete_reviewer', { name }), missing(name));
  await wake(ctx);
}

/** Who waits may get something now, and what was for them alone may go to others. */
async function wake(ctx: Context): Promise<void> {
  for (const { name } of await queues.list(ctx, 'ticket', undefined, MOST_WOKEN)) ctx.wakeAll(`ticket/${name}`);
}
