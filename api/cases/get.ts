import { Case, CaseFilter, Vote } from '../../contract/cases.ts';
import { Page, pageOf } from '../../contract/common.ts';
import { caseView } from '../../domain/cases.ts';
import { coreState } from '../../domain/items.ts';
import * as cases from '../../services/cases/cases.ts';
import { deliveryEndpoints } from '../deliveries.ts';
import { endpoint, ok } from '../endpoint.ts';
import { itemEndpoints } from '../items.ts';
import { listed, timePosition } from '../paging.ts';
import { caseById } from '../resources.ts';
import { viewOf } from '../views.ts';
import { viewFor } from './view.ts';

export const getCaseEndpoint = endpoint('getCase', 'GET /v1/cases/{id}', {
  ...caseById,
  summary:
    'A case in any state; reviewers see those that they hold or have voted on, before the end without the votes of others',
  roles: ['producer', 'reviewer', 'agent', 'supervisor'],
  answers: { 200: Case },
  handle: async ({ ctx, caller, params: { id } }) => ok(await viewFor(ctx, caller, await cases.get(ctx, id))),
});

export const listCasesEndpoint = endpoint('listCases', 'GET /v1/cases', {
  tag: 'Cases',
  summary: 'Cases, newest first; gold is not among them',
  roles: ['producer', 'agent', 'supervisor'],
  scope: { list: 'court', queue: ({ query }) => query.court },
  query: CaseFilter,
  answers: { 200: pageOf(Case) },
  async handle({ ctx, query: { court, state, cursor, limit } }) {
    const filter = { court, state: state && coreState('case', state), before: cursor };
    return listed(cases.list(ctx, filter, limit + 1), limit, caseView, (one) => timePosition(one.created_at, one));
  },
});

export const listVotes = endpoint('listVotes', 'GET /v1/cases/{id}/votes', {
  ...caseById,
  summary: 'Its votes, newest first; late votes that were recorded do not count',
  roles: ['producer', 'agent', 'supervisor'],
  query: Page,
  answers: { 200: pageOf(Vote) },
  handle: ({ ctx, params: { id }, query: { limit, cursor } }) =>
    listed(cases.votes(ctx, id, cursor, limit + 1), limit, viewOf(Vote), (vote) => vote.seq),
});

const shown = { ...caseById, one: 'a case', operations: 'Case', base: '/v1/cases/{id}', find: cases.get };
export const oneCase = [...itemEndpoints('case', shown), ...deliveryEndpoints('case', shown)];
