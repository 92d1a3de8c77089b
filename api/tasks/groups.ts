import { Page, pageOf } from '../../contract/common.ts';
import { ChangeMembers, Group, GroupParam, GroupSummary, PutGroup } from '../../contract/tasks.ts';
import {
  type GroupRow,
  type GroupWithMembers,
  getGroup,
  listGroups,
  type Member,
  putGroup,
  removeMembers,
} from '../../db/tasks.ts';
import { groupOfGid, personOfUid } from '../../domain/tasks.ts';
import { Problem } from '../../services/problems.ts';
import type { Api } from '../api.ts';
import { endpoint, LARGE_BODY, ok } from '../endpoint.ts';
import { page } from '../paging.ts';

const summary = (g: GroupRow) => ({
  id: g.given_as,
  size: g.size,
  createdAt: g.created_at.toISOString(),
  updatedAt: g.updated_at.toISOString(),
});

const view = (g: GroupWithMembers) => ({ ...summary(g), members: g.members });

/** Each user once, by the name that counts; always in the same order, so that two calls don't wait for each other. */
const membersOf = (sent: string[]): Member[] =>
  [...new Map(sent.map((uid) => [personOfUid(uid), uid]))].sort(([a], [b]) => (a < b ? -1 : 1));

/** @throws Problem `not_found` */
async function findGroup(api: Api, gid: string): Promise<GroupWithMembers> {
  const row = await getGroup(api.runtime.db, groupOfGid(gid));
  if (!row) throw new Problem('not_found', `there is no group ${gid}`);
  return row;
}

/** Those who wait for work may have become members: they look again (S4.3). */
function wake(api: Api, members: Member[]): void {
  for (const [person] of members) api.runtime.wakeAll(`task/uid_${person}`);
}

export const putGroupEndpoint = endpoint({
  method: 'put',
  path: '/v1/groups/{gid}',
  tag: 'Tasks',
  summary: 'A group of users; it counts from their next pull on',
  roles: ['producer'],
  params: GroupParam,
  body: PutGroup,
  bodyLimit: LARGE_BODY,
  answers: { 200: Group },
  async handle({ api, params: { gid }, body }) {
    const members = membersOf(body.members);
    await api.runtime.db.transaction((tx) => putGroup(tx, groupOfGid(gid), gid, members, true));
    wake(api, members);
    return ok(view(await findGroup(api, gid)));
  },
});

export const changeMembersEndpoint = endpoint({
  method: 'post',
  path: '/v1/groups/{gid}/members',
  tag: 'Tasks',
  summary: 'Users come to a group, others leave it',
  roles: ['producer'],
  params: GroupParam,
  body: ChangeMembers,
  bodyLimit: LARGE_BODY,
  answers: { 200: Group },
  problems: ['not_found'],
  async handle({ api, params: { gid }, body: { add, remove } }) {
    const { given_as } = await findGroup(api, gid);
    const added = membersOf(add);
    const removed = membersOf(remove).map(([person]) => person);
    await api.runtime.db.transaction(async (tx) => {
      await putGroup(tx, groupOfGid(gid), given_as, added, false);
      await removeMembers(tx, groupOfGid(gid), removed);
    });
    wake(api, added);
    return ok(view(await findGroup(api, gid)));
  },
});

export const getGroupEndpoint = endpoint({
  method: 'get',
  path: '/v1/groups/{gid}',
  tag: 'Tasks',
  summary: 'A group and its members',
  roles: ['producer', 'agent'],
  params: GroupParam,
  answers: { 200: Group },
  problems: ['not_found'],
  handle: async ({ api, params: { gid } }) => ok(view(await findGroup(api, gid))),
});

export const listGroupsEndpoint = endpoint({
  method: 'get',
  path: '/v1/groups',
  tag: 'Tasks',
  summary: 'Groups without their members, newest first',
  roles: ['producer', 'agent'],
  query: Page,
  answers: { 200: pageOf(GroupSummary) },
  async handle({ api, query: { limit, cursor } }) {
    const rows = await listGroups(api.runtime.db.lists, cursor ?? null, limit + 1);
    return ok(page(rows, limit, summary, (g) => g.seq));
  },
});
