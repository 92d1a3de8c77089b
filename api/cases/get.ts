import { Case, CaseFilter, Vote } from '../../contract/cases.ts';
import { Page, pageOf } from '../../contract/common.ts';
import type { CaseItem } from '../../contract/items.ts';
import { caseView, jurorView } from '../../domain/cases.ts';
import { coreState } from '../../domain/items.ts';
import { asReviewer } from '../../domain/tickets.ts';
import * as cases from '../../services/cases/cases.ts';
import { sight } from '../../services/cases/sight.ts';
import { type Context, Problem } from '../../services/shared/service.ts';
import { boundTo, type Caller } from '../auth.ts';
import { deliveryEndpoints } from '../deliveries.ts';
import { endpoint, ok } from '../endpoint.ts';
import { itemEndpoints } from '../items.ts';
import { caseById, listed, timePosition, viewOf } from '../views.ts';

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

type View = ReturnType<typeof caseView>;

/**
 * A case in the answer to a call of its juror. A reviewer's key sees the part that a juror needs, other keys the whole
 * case. Gold cases look like any other case to all of them.
 */
export async function viewForJuror(
  ctx: Context,
  caller: Caller,
  item: CaseItem,
  who: { juror?: string; token?: string },
): Promise<View> {
  const isReviewer = caller.role === 'reviewer';
  if (!isReviewer && item.gold === null) return caseView(item);
  const seen = await sight(ctx, item, { ...who, juror: boundTo(caller) ?? who.juror });
  if (!seen && isReviewer) throw unknown(item.id);
  const view = seen ? jurorView(item, ...seen) : caseView(item);
  return isReviewer ? forReviewer(view) : view;
}

/**
 * A case as the caller may read it at any time: with a juror's own key, one that they hold or have voted on.
 * @throws Problem `not_found`
 */
export async function viewFor(ctx: Context, caller: Caller, item: CaseItem): Promise<View> {
  if (caller.role !== 'reviewer') return caseView(item);
  const seen = await sight(ctx, item, { juror: boundTo(caller) });
  if (!seen || !(seen[0].holds || seen[0].option !== null)) throw unknown(item.id);
  return forReviewer(jurorView(item, ...seen));
}

/** Hides the fields that no decision needs, and those that could reveal gold. */
const forReviewer = (view: View): View => asReviewer({ ...view, parties: [], version: 0 });

// the same as for an id that does not exist, so that guessing ids reveals nothing
const unknown = (id: string) => new Problem('not_found', `there is no case ${id}`);
