import { PutReview, Review } from '../../contract/reviews.ts';
import * as reviews from '../../services/reviews/reviews.ts';
import { checkCallback } from '../../services/shared/callbacks.ts';
import { answer, endpoint, LARGE_BODY } from '../endpoint.ts';
import { reviewById } from '../resources.ts';
import { reviewOf } from './get.ts';

export const putReviewEndpoint = endpoint('putReview', 'PUT /v1/reviews/{id}', {
  ...reviewById,
  summary: "The author's review: created, or edited in its place among the callbacks",
  roles: ['producer', 'supervisor'],
  body: PutReview,
  bodyLimit: LARGE_BODY,
  answers: { 200: Review, 201: Review },
  problems: ['id_conflict', 'erased'],
  async handle({ api, ctx, caller, params: { id }, body }) {
    checkCallback(api.ctx, 'callback', body.callback);
    const review = { id, targets: targetsOf(body), body: body.body, callback: body.callback, actor: caller.actor };
    const { row, created } = await reviews.put(ctx, review);
    return answer(created ? 201 : 200, reviewOf(row));
  },
});

function targetsOf({ text, pictures, replies }: PutReview): reviews.Target[] {
  return [
    { kind: 'text', id: '', position: 0, status: text.status },
    ...pictures.map((p, position) => ({ kind: 'picture' as const, position, ...p })),
    ...replies.map((r, position) => ({ kind: 'reply' as const, position, ...r })),
  ];
}
