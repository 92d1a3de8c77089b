import { IdParam } from '../../contract/common.ts';
import {
  AuditCallback,
  CallbackAnswer,
  PictureCallback,
  PictureParam,
  type AuditCallback as Sent,
} from '../../contract/reviews.ts';
import {
  type CallbackOutcome,
  callbackOutcome,
  type NewCallback,
  type Received,
  reviewOfPicture,
} from '../../db/reviews.ts';
import { invalid, Problem } from '../../services/problems.ts';
import { whileBusy } from '../../services/retry.ts';
import { newId } from '../../services/tokens.ts';
import type { Api } from '../api.ts';
import type { Caller } from '../auth.ts';
import { answer, endpoint, ok } from '../endpoint.ts';

/** About twenty seconds: an edit may have thousands of targets. */
const PATIENCE = { tries: 400, stepMs: 2, mostMs: 100 };

export const reviewCallback = endpoint({
  method: 'post',
  path: '/v1/reviews/{id}/callbacks',
  tag: 'Reviews',
  summary: 'What an audit said about the text, a picture or a reply',
  roles: ['producer', 'agent'],
  params: IdParam,
  body: AuditCallback,
  answers: { 200: CallbackAnswer, 202: CallbackAnswer },
  problems: ['not_found'],
  handle: ({ api, caller, params: { id }, body, signal }) => receive(api, caller, id, body, signal),
});

export const pictureCallback = endpoint({
  method: 'post',
  path: '/v1/pictures/{pictureId}/callbacks',
  tag: 'Reviews',
  summary: 'The same where only the picture is known',
  roles: ['producer', 'agent'],
  params: PictureParam,
  body: PictureCallback,
  answers: { 200: CallbackAnswer, 202: CallbackAnswer },
  problems: ['not_found'],
  async handle({ api, caller, params: { pictureId }, body, signal }) {
    if ((body.targetId ?? pictureId) !== pictureId)
      throw invalid('targetId', 'is another picture than that of the path');
    const id = await reviewOfPicture(api.runtime.db, pictureId);
    if (id === undefined) throw new Problem('not_found', `there is no picture ${pictureId}`);
    return receive(api, caller, id, { ...body, targetId: pictureId }, signal);
  },
});

/** Keeps a callback, and waits for what becomes of it as long as the caller wants to (S1.2, S1.6). */
async function receive(api: Api, caller: Caller, review: string, sent: Sent, signal: AbortSignal) {
  const callback: NewCallback = {
    review,
    id: sent.callbackId ?? newId(),
    kind: sent.kind,
    target: sent.kind === 'text' ? '' : (sent.targetId ?? ''),
    status: sent.status,
    auditTime: sent.auditTime ?? null,
    actor: caller.actor,
  };
  // while its review is locked it holds neither a connection nor the callbacks of other reviews
  const { problem, arrival } = await whileBusy(
    () => api.services.reviews.receive(callback),
    (one) => one.problem === 'busy',
    PATIENCE,
  );
  if (problem !== null || arrival === null) throw refusal(problem, callback);
  const wait = { keys: () => [`review/${review}`], seconds: sent.waitSeconds, signal };
  const known = await api.runtime.waiters.waitFor(wait, async () => {
    const found = sent.waitSeconds > 0 ? await callbackOutcome(api.runtime.db, review, arrival) : undefined;
    return found?.outcome === 'pending' ? undefined : found;
  });
  if (known) return ok(answerOf(callback.id, known));
  return answer(202, { callbackId: callback.id, outcome: 'pending' as const });
}

function answerOf(callbackId: string, { outcome, first_outcome }: CallbackOutcome) {
  return { callbackId, outcome, ...(first_outcome !== null && { first: { outcome: first_outcome } }) };
}

function refusal(problem: Received['problem'], { review, kind, target }: NewCallback): Problem {
  if (problem === 'busy') return new Problem('unavailable', `review ${review} is being changed, try again`);
  if (problem === 'too_far') return invalid('auditTime', 'is too far in the future');
  if (problem === 'no_review') return new Problem('not_found', `there is no review ${review}`);
  return new Problem('not_found', `review ${review} has never had the ${kind} ${target}`);
}
