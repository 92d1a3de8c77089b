import { IdParam } from '../../contract/common.ts';
import { PutReview, Review } from '../../contract/reviews.ts';
import { getReview, putReview, type Target } from '../../db/reviews.ts';
import { Problem } from '../../services/problems.ts';
import { checkUrl } from '../deliveries.ts';
import { answer, endpoint, LARGE_BODY } from '../endpoint.ts';
import { viewOf } from './get.ts';

export const putReviewEndpoint = endpoint({
  method: 'put',
  path: '/v1/reviews/{id}',
  tag: 'Reviews',
  summary: "The author's review: created, or edited in its place among the callbacks",
  roles: ['producer'],
  params: IdParam,
  body: PutReview,
  bodyLimit: LARGE_BODY,
  answers: { 200: Review, 201: Review },
  problems: ['id_conflict'],
  async handle({ api, caller, params: { id }, body }) {
    checkUrl(api, 'callback.url', body.callback?.url);
    const { db, wakeAll } = api.runtime;
    const put = await putReview(db, id, targetsOf(body), body.body, body.callback, caller.actor).catch(taken);
    // what had come before has been applied on the way
    wakeAll(`review/${id}`);
    const row = await getReview(db, id);
    if (!row) throw new Error(`review ${id} is gone`);
    return answer(put.created ? 201 : 200, viewOf(row));
  },
});

function targetsOf({ text, pictures, replies }: PutReview): Target[] {
  return [
    { kind: 'text', id: '', position: 0, status: text.status },
    ...pictures.map((p, position) => ({ kind: 'picture' as const, position, ...p })),
    ...replies.map((r, position) => ({ kind: 'reply' as const, position, ...r })),
  ];
}

function taken(error: { constraint?: string; detail?: string }): never {
  if (error.constraint !== 'review_picture') throw error;
  const [, picture] = /=\((.*)\)/.exec(error.detail ?? '') ?? [];
  throw new Problem('id_conflict', `picture ${picture} is in another review`);
}
