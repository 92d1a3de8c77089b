import {
  AuditCallback,
  CallbackAnswer,
  PictureCallback,
  PictureParam,
  type AuditCallback as Sent,
} from '../../contract/reviews.ts';
import type { Gone } from '../../runtime/waiting.ts';
import * as reviews from '../../services/reviews/reviews.ts';
import type { Context } from '../../services/shared/context.ts';
import { invalid, Problem } from '../../services/shared/problems.ts';
import { newId } from '../../services/shared/tokens.ts';
import type { Caller } from '../auth.ts';
import { answer, endpoint, ok } from '../endpoint.ts';
import { reviewById } from '../resources.ts';

export const reviewCallback = endpoint('addReviewCallback', 'POST /v1/reviews/{id}/callbacks', {
  ...reviewById,
  summary: 'Receive the callback of an audit of the text, a picture or a reply',
  roles: ['producer', 'agent'],
  body: AuditCallback,
  answers: { 200: CallbackAnswer, 202: CallbackAnswer },
  handle: ({ ctx, caller, params: { id }, body, signal }) => receive(ctx, caller, id, body, signal),
});

export const pictureCallback = endpoint('addPictureCallback', 'POST /v1/pictures/{pictureId}/callbacks', {
  tag: 'Reviews',
  summary: 'The same where only the id of the picture is known',
  roles: ['producer', 'agent'],
  scope: 'unbound',
  params: PictureParam,
  body: PictureCallback,
  answers: { 200: CallbackAnswer, 202: CallbackAnswer },
  problems: ['not_found'],
  async handle({ ctx, caller, params: { pictureId }, body, signal }) {
    if ((body.targetId ?? pictureId) !== pictureId)
      throw invalid('targetId', 'is another picture than that of the path');
    const id = await reviews.ofPicture(ctx, pictureId);
    if (id === undefined) throw new Problem('not_found', `there is no picture ${pictureId}`);
    return receive(ctx, caller, id, { ...body, targetId: pictureId }, signal);
  },
});

/** Stores a callback, and waits for its outcome as long as the caller asks for (S1.2, S1.6). */
async function receive(ctx: Context, caller: Caller, review: string, sent: Sent, signal: Gone) {
  const callbackId = sent.callbackId ?? newId();
  const callback = {
    review,
    id: callbackId,
    kind: sent.kind,
    target: sent.kind === 'text' ? '' : (sent.targetId ?? ''),
    status: sent.status,
    auditTime: sent.auditTime ?? null,
    actor: caller.actor,
  };
  const known = await reviews.receive(ctx, callback, sent.waitSeconds, signal);
  if (!known) return answer(202, { callbackId, outcome: 'pending' as const });
  const { outcome, first_outcome } = known;
  return ok({ callbackId, outcome, ...(first_outcome !== null && { first: { outcome: first_outcome } }) });
}
