import type { Mover, RowOf } from '../../db/pool.ts';
import { groupOfGid, personOfUid } from '../../domain/tasks.ts';
import type { Runtime } from '../../runtime/runtime.ts';
import { found } from '../shared/problems.ts';

export type GroupWithMembers = RowOf<'get_group'>;

/** A member by the name that counts, and as it was sent. */
type Member = [person: string, givenAs: string];

/** Each user once; always in the same order, so that two calls don't wait for each other. */
const membersOf = (sent: string[]): Member[] =>
  [...new Map(sent.map((uid) => [personOfUid(uid), uid]))].sort(([a], [b]) => (a < b ? -1 : 1));

/** Groups of users, who pull each other's tasks. Members are named as they were sent. */
export function groupService({ db, wakeAll }: Runtime) {
  /** @throws Problem `not_found` */
  const find = async (gid: string): Promise<GroupWithMembers> =>
    found(await db.run('get_group', { id: groupOfGid(gid) }), `there is no group ${gid}`);
  /** Users who wait for work may have become members: they look again (S4.3). */
  const wake = (members: Member[]) => {
    for (const [person] of members) wakeAll(`task/uid_${person}`);
  };
  return {
    find,
    /** Makes the group, or replaces its members. */
    async put(gid: string, sent: string[]): Promise<GroupWithMembers> {
      const members = membersOf(sent);
      await db.transaction((tx) => putMembers(tx, groupOfGid(gid), gid, members, true));
      wake(members);
      return find(gid);
    },
    /** @throws Problem `not_found` */
    async change(gid: string, add: string[], remove: string[]): Promise<GroupWithMembers> {
      const { id, given_as } = await find(gid);
      const added = membersOf(add);
      const persons = membersOf(remove).map(([person]) => person);
      await db.transaction(async (tx) => {
        await putMembers(tx, id, given_as, added, false);
        await tx.run('remove_members', { id, persons });
        await tx.run('count_members', { id });
      });
      wake(added);
      return find(gid);
    },
    /** Newest first; `before`: the last one of the page before. */
    list: (before: number | undefined, limit: number) => db.lists.run('list_groups', { before, limit }),
  };
}

/** @param only all other members are removed */
async function putMembers(tx: Mover, id: string, givenAs: string, members: Member[], only: boolean): Promise<void> {
  await tx.run('put_group', { id, givenAs });
  const [persons, names] = [members.map(([person]) => person), members.map(([, sent]) => sent)];
  await tx.run('put_members', { id, persons, givenAs: names, only });
  await tx.run('count_members', { id });
}
