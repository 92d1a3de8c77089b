import { Deleted, Page, pageOf } from '../../contract/common.ts';
import { NewReviewerParam, PutReviewer, Reviewer, ReviewerParam } from '../../contract/reviewers.ts';
import * as reviewers from '../../services/tickets/reviewers.ts';
import { deleted, endpoint, ok } from '../endpoint.ts';
import { listed, viewOf } from '../views.ts';

const view = viewOf(Reviewer);
/** All queues go by the register. */
const shared = { tag: 'Reviewers' as const, scope: 'unbound' as const, roles: ['supervisor' as const] };

export const putReviewer = endpoint('putReviewer', 'PUT /v1/reviewers/{name}', {
  ...shared,
  summary: 'Register a reviewer, or replace all that the register says of them; acts at once',
  params: NewReviewerParam,
  body: PutReviewer,
  answers: { 200: Reviewer },
  handle: async ({ ctx, params: { name }, body }) => ok(view(await reviewers.put(ctx, name, body))),
});

export const getReviewer = endpoint('getReviewer', 'GET /v1/reviewers/{name}', {
  ...shared,
  summary: 'What the register says of a name',
  params: ReviewerParam,
  answers: { 200: Reviewer },
  problems: ['not_found'],
  handle: async ({ ctx, params: { name } }) => ok(view(await reviewers.find(ctx, name))),
});

export const listReviewers = endpoint('listReviewers', 'GET /v1/reviewers', {
  ...shared,
  summary: 'The register, newest first',
  query: Page,
  answers: { 200: pageOf(Reviewer) },
  handle: ({ ctx, query: { limit, cursor } }) =>
    listed(reviewers.list(ctx, cursor, limit + 1), limit, view, ({ seq }) => seq),
});

export const deleteReviewer = endpoint('deleteReviewer', 'DELETE /v1/reviewers/{name}', {
  ...shared,
  summary: 'Remove a name from the register; what was counted today stays counted',
  params: ReviewerParam,
  answers: { 200: Deleted },
  problems: ['not_found'],
  handle: ({ ctx, params: { name } }) => deleted(reviewers.remove(ctx, name)),
});
