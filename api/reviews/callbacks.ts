import type { z } from '@hono/zod-openapi';
import * as contract from '../../contract/reviews.ts';
import type { RowOf } from '../../db/pool.ts';
import * as reviews from '../../services/reviews/reviews.ts';
import { invalid, Problem } from '../../services/shared/problems.ts';
import { newId } from '../../services/shared/tokens.ts';
import type { Caller } from '../auth.ts';
import { answer, endpoint } from '../endpoint.ts';
import { reviewById } from '../resources.ts';

export const reviewCallback = endpoint('addReviewCallback', 'POST /v1/reviews/{id}/callbacks', {
  ...reviewById,
  summary: 'Receive the callback of an audit of the text, a picture or a reply; or several, all of them or none',
  roles: ['producer', 'agent', 'supervisor'],
  body: contract.SentCallbacks,
  document: contract.OneOrSeveralCallbacks,
  problems: ['not_found', 'erased'],
  answers: {
    200: contract.CallbackAnswer.or(contract.CallbackResults),
    202: contract.CallbackAnswer.or(contract.CallbackResults),
  },
  async handle({ ctx, caller, params: { id }, body, signal }) {
    if (!('callbacks' in body)) {
      const callback = callbackOf(caller, id, body);
      return answered(callback.id, await reviews.receive(ctx, callback, body.waitSeconds, signal));
    }
    const all = body.callbacks.map((sent) => callbackOf(caller, id, sent));
    const known = await reviews.receiveAll(ctx, all, body.waitSeconds, signal);
    const results = all.map((callback, n) => view(callback.id, known?.[n]));
    return answer(known ? 200 : 202, { results });
  },
});

export const pictureCallback = endpoint('addPictureCallback', 'POST /v1/pictures/{pictureId}/callbacks', {
  tag: 'Reviews',
  summary: 'The same where only the id of the picture is known',
  roles: ['producer', 'agent', 'supervisor'],
  scope: 'unbound',
  params: contract.PictureParam,
  body: contract.PictureCallback,
  answers: { 200: contract.CallbackAnswer, 202: contract.CallbackAnswer },
  problems: ['not_found', 'erased'],
  async handle({ ctx, caller, params: { pictureId }, body, signal }) {
    if ((body.targetId ?? pictureId) !== pictureId)
      throw invalid('targetId', 'is another picture than that of the path');
    const id = await reviews.ofPicture(ctx, pictureId);
    if (id === undefined) throw new Problem('not_found', `there is no picture ${pictureId}`);
    const callback = callbackOf(caller, id, { ...body, targetId: pictureId });
    return answered(callback.id, await reviews.receive(ctx, callback, body.waitSeconds, signal));
  },
});

type Sent = Pick<z.output<typeof contract.PictureCallback>, 'status' | 'targetId' | 'auditTime' | 'callbackId'> &
  Pick<reviews.NewCallback, 'kind'>;

const callbackOf = (caller: Caller, review: string, sent: Sent): reviews.NewCallback => ({
  review,
  id: sent.callbackId ?? newId(),
  kind: sent.kind,
  target: sent.kind === 'text' ? '' : (sent.targetId ?? ''),
  status: sent.status,
  auditTime: sent.auditTime ?? null,
  actor: caller.actor,
});

type Known = RowOf<'callback_outcomes'> | undefined;

/** @param known undefined: its outcome is not known yet */
function view(callbackId: string, known: Known) {
  if (!known) return { callbackId, outcome: 'pending' as const };
  const { outcome, first_outcome } = known;
  return { callbackId, outcome, ...(first_outcome !== null && { first: { outcome: first_outcome } }) };
}

const answered = (callbackId: string, known: Known) => answer(known ? 200 : 202, view(callbackId, known));
