import { Page, pageOf } from '../../contract/common.ts';
import { ChangeMembers, Group, GroupSummary, NewGroupParam, PutGroup } from '../../contract/tasks.ts';
import type { TaskGroupRow } from '../../db/statements.ts';
import * as groups from '../../services/tasks/groups.ts';
import { endpoint, LARGE_BODY, ok } from '../endpoint.ts';
import { groupById, knownGroup, listed, viewOf } from '../views.ts';

const fields = viewOf(GroupSummary);
const summary = (group: TaskGroupRow) => ({ ...fields(group), id: group.given_as });
const view = (group: groups.GroupWithMembers) => ({ ...summary(group), members: group.members });

export const putGroupEndpoint = endpoint('putGroup', 'PUT /v1/groups/{gid}', {
  ...groupById,
  params: NewGroupParam,
  summary: 'Replace the users of a group; acts from their next pull on',
  roles: ['producer', 'supervisor'],
  body: PutGroup,
  bodyLimit: LARGE_BODY,
  answers: { 200: Group },
  handle: async ({ ctx, params: { gid }, body }) => ok(view(await groups.put(ctx, gid, body.members))),
});

export const changeMembersEndpoint = endpoint('updateGroupMembers', 'POST /v1/groups/{gid}/members', {
  ...knownGroup,
  summary: 'Add users to a group, and remove others',
  roles: ['producer', 'supervisor'],
  body: ChangeMembers,
  bodyLimit: LARGE_BODY,
  answers: { 200: Group },
  handle: async ({ ctx, params: { gid }, body: { add, remove } }) =>
    ok(view(await groups.change(ctx, gid, add, remove))),
});

export const getGroupEndpoint = endpoint('getGroup', 'GET /v1/groups/{gid}', {
  ...knownGroup,
  summary: 'A group and its members',
  roles: ['producer', 'agent', 'supervisor'],
  answers: { 200: Group },
  handle: async ({ ctx, params: { gid } }) => ok(view(await groups.find(ctx, gid))),
});

export const listGroupsEndpoint = endpoint('listGroups', 'GET /v1/groups', {
  tag: 'Tasks',
  summary: 'Groups without their members, newest first',
  roles: ['producer', 'agent', 'supervisor'],
  scope: { list: 'id' },
  query: Page,
  answers: { 200: pageOf(GroupSummary) },
  handle: ({ ctx, query: { limit, cursor } }) =>
    listed(groups.list(ctx, cursor, limit + 1), limit, summary, (g) => g.seq),
});
