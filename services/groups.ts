import type { Mover, RowOf } from '../db/pool.ts';
import type { TaskGroupRow } from '../db/statements.ts';
import { groupOfGid, personOfUid } from '../domain/tasks.ts';
import type { Runtime } from '../runtime/runtime.ts';
import { Problem } from './problems.ts';

export type GroupWithMembers = RowOf<'get_group'>;

/** Groups of users, who pull each other's tasks. Members are named as they were sent. */
export interface GroupService {
  /** Makes the group, or replaces its members. */
  put(gid: string, members: string[]): Promise<GroupWithMembers>;
  /** @throws Problem `not_found` */
  change(gid: string, add: string[], remove: string[]): Promise<GroupWithMembers>;
  /** @throws Problem `not_found` */
  find(gid: string): Promise<GroupWithMembers>;
  /** Newest first; `before`: the last one of the page before. */
  list(before: number | undefined, limit: number): Promise<TaskGroupRow[]>;
}

/** A member by the name that counts, and as it was sent. */
type Member = [person: string, givenAs: string];

/** Each user once; always in the same order, so that two calls don't wait for each other. */
const membersOf = (sent: string[]): Member[] =>
  [...new Map(sent.map((uid) => [personOfUid(uid), uid]))].sort(([a], [b]) => (a < b ? -1 : 1));

export function groupService({ db, wakeAll }: Runtime): GroupService {
  const find = async (gid: string): Promise<GroupWithMembers> => {
    const [group] = await db.run('get_group', { id: groupOfGid(gid) });
    if (!group) throw new Problem('not_found', `there is no group ${gid}`);
    return group;
  };
  /** Users who wait for work may have become members: they look again (S4.3). */
  const wake = (members: Member[]) => {
    for (const [person] of members) wakeAll(`task/uid_${person}`);
  };
  return {
    async put(gid, sent) {
      const members = membersOf(sent);
      await db.transaction((tx) => putMembers(tx, groupOfGid(gid), gid, members, true));
      wake(members);
      return find(gid);
    },
    async change(gid, add, remove) {
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
    find,
    list: (before, limit) => db.lists.run('list_groups', { before, limit }),
  };
}

/** @param only all other members are removed */
async function putMembers(tx: Mover, id: string, givenAs: string, members: Member[], only: boolean): Promise<void> {
  await tx.run('put_group', { id, givenAs });
  const [persons, names] = [members.map(([person]) => person), members.map(([, sent]) => sent)];
  await tx.run('put_members', { id, persons, givenAs: names, only });
  await tx.run('count_members', { id });
}
