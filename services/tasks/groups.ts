import type { Mover, RowOf } from '../../db/pool.ts';
import { groupOfGid, personOfUid } from '../../domain/tasks.ts';
import { type Context, found } from '../shared/service.ts';

export type GroupWithMembers = RowOf<'get_group'>;

/** A member by its normalised name, and by the name that was sent. */
type Member = [person: string, givenAs: string];

/** Each user once, in the same order in all calls, so that two of them cannot deadlock. */
const membersOf = (sent: string[]): Member[] =>
  [...new Map(sent.map((uid) => [personOfUid(uid), uid]))].sort(([a], [b]) => (a < b ? -1 : 1));

/** A group with its members, named as they were sent. @throws Problem `not_found` */
export const find = async ({ db }: Context, gid: string): Promise<GroupWithMembers> =>
  found(await db.run('get_group', { id: groupOfGid(gid) }), `there is no group ${gid}`);

/** Creates the group, or replaces its members. */
export async function put(ctx: Context, gid: string, sent: string[]): Promise<GroupWithMembers> {
  const members = membersOf(sent);
  await ctx.db.transaction((tx) => putMembers(tx, groupOfGid(gid), gid, members, true));
  wake(ctx, members);
  return find(ctx, gid);
}

/** Adds and removes members. @throws Problem `not_found` */
export async function change(ctx: Context, gid: string, add: string[], remove: string[]): Promise<GroupWithMembers> {
  const { id, given_as } = await find(ctx, gid);
  const added = membersOf(add);
  const persons = membersOf(remove).map(([person]) => person);
  await ctx.db.transaction(async (tx) => {
    await putMembers(tx, id, given_as, added, false);
    await tx.run('remove_members', { id, persons });
    await tx.run('count_members', { id });
  });
  wake(ctx, added);
  return find(ctx, gid);
}

/** Newest first, those before the number `before`. */
export const list = ({ db }: Context, before: number | undefined, limit: number) =>
  db.lists.run('list_groups', { before, limit });

/** Wakes users who wait for work: new members may pull the group's tasks (S4.3). */
function wake({ wakeAll }: Context, members: Member[]): void {
  for (const [person] of members) wakeAll(`task/uid_${person}`);
}

/** @param only whether all other members are removed */
async function putMembers(tx: Mover, id: string, givenAs: string, members: Member[], only: boolean): Promise<void> {
  await tx.run('put_group', { id, givenAs });
  const [persons, names] = [members.map(([person]) => person), members.map(([, sent]) => sent)];
  await tx.run('put_members', { id, persons, givenAs: names, only });
  await tx.run('count_members', { id });
}
