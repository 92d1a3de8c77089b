import type { z } from '@hono/zod-openapi';
import { Page, pageOf } from '../../contract/common.ts';
import * as contract from '../../contract/reviews.ts';
import type { RowOf } from '../../db/pool.ts';
import type { ReviewRow as Row } from '../../db/statements.ts';
import { PAGE_BYTES } from '../../domain/pages.ts';
import { recordAfter, reviewView } from '../../domain/reviews.ts';
import * as reviews from '../../services/reviews/reviews.ts';
import { checkCallback } from '../../services/shared/checks.ts';
import { type Context, invalid, Problem } from '../../services/shared/service.ts';
import { newId } from '../../services/shared/tokens.ts';
import type { Caller } from '../auth.ts';
import { deliveryEndpoints } from '../deliveries.ts';
import { answer, endpoint, LARGE_BODY, ok } from '../endpoint.ts';
import { workflowEndpoint } from '../items.ts';
import { listed, page, reviewById, viewOf } from '../views.ts';

type LogLine = RowOf<'review_log'>;

export const reviewOf = (row: Row) =>
  reviewView({ ...row, createdAt: row.created_at.toISOString(), updatedAt: row.updated_at.toISOString() });

type LineView = ReturnType<typeof lineOf> & { before: contract.ReviewRecord; after: contract.ReviewRecord };

const lineView = (l: LogLine, before: contract.ReviewRecord): LineView => {
  const line = lineOf(l);
  return { ...line, before, after: recordAfter(before, line) };
};

const fields = viewOf(contract.ReviewLogLine);
const lineOf = (l: LogLine) => ({ ...fields(l), targetId: l.target_id || null, auditTime: l.shown_time });

/** The first lines with the records before and after each, which may have 10,000 targets: as many as a page holds, at least one. */
function withRecords(lines: LogLine[], record: contract.ReviewRecord): LineView[] {
  const shown: LineView[] = [];
  let [before, bytes, size] = [record, 0, JSON.stringify(record).length];
  for (const l of lines) {
    const line = lineView(l, before);
    bytes += size;
    if (line.after !== before) size = JSON.stringify(line.after).length;
    bytes += size;
    if (bytes > PAGE_BYTES && shown.length > 0) break;
    shown.push(line);
    before = line.after;
  }
  return shown;
}

export const getReviewEndpoint = endpoint('getReview', 'GET /v1/reviews/{id}', {
  ...reviewById,
  summary: 'A review with the statuses that audits gave it',
  roles: ['producer', 'agent', 'supervisor'],
  answers: { 200: contract.Review },
  handle: async ({ ctx, params: { id } }) => ok(reviewOf(await reviews.get(ctx, id))),
});

export const listReviewsEndpoint = endpoint('listReviews', 'GET /v1/reviews', {
  tag: 'Reviews',
  summary: 'All reviews, newest first',
  roles: ['producer', 'agent', 'supervisor'],
  scope: 'unbound',
  query: Page,
  answers: { 200: pageOf(contract.Review) },
  handle: ({ ctx, query: { limit, cursor } }) =>
    listed(reviews.list(ctx, cursor ?? null, limit + 1), limit, reviewOf, (r) => r.seq),
});

export const reviewLogEndpoint = endpoint('listReviewLog', 'GET /v1/reviews/{id}/log', {
  ...reviewById,
  summary: 'Every callback and edit with its outcome, oldest first',
  roles: ['producer', 'agent', 'supervisor'],
  query: Page,
  answers: { 200: pageOf(contract.ReviewLogLine) },
  async handle({ ctx, params: { id }, query: { limit, cursor } }) {
    const { lines: rows, record } = await reviews.log(ctx, id, cursor ?? 0, limit + 1);
    const lines = withRecords(rows.slice(0, limit), record);
    const seqOf = (line: LogLine) => line.seq;
    return ok({ items: lines, nextCursor: page(rows, lines.length, seqOf, seqOf).nextCursor });
  },
});

export const reviewStatsEndpoint = endpoint('getReviewStats', 'GET /v1/review-stats', {
  tag: 'Reviews',
  summary: 'Lines in the logs of all reviews on a day, by outcome',
  roles: ['producer', 'agent', 'supervisor'],
  scope: 'unbound',
  query: contract.ReviewStatsFilter,
  answers: { 200: contract.ReviewStats },
  handle: async ({ ctx, query: { day } }) => ok(await reviews.counts(ctx, day ?? null)),
});

export const reviewStoresEndpoint = endpoint('getReviewStores', 'GET /v1/reviews/{id}/stores', {
  ...reviewById,
  summary: 'The three stores as they are, and whether they agree',
  roles: ['producer', 'agent', 'supervisor'],
  answers: { 200: contract.ReviewStores },
  async handle({ ctx, params: { id } }) {
    const { record, version, index, base, in_step } = await reviews.stores(ctx, id);
    const { text, pictures, replies } = record;
    return ok({ record: { text, pictures, replies, version }, index, base, inStep: in_step });
  },
});

const shown = {
  ...reviewById,
  operations: 'Review',
  base: '/v1/reviews/{id}',
  async find(ctx: Context, id: string) {
    const { log_seq, updated_at } = await reviews.get(ctx, id);
    return { kind: 'review' as const, id, ended_at: log_seq > 0 ? updated_at : null };
  },
};
export const reviewWorkflow = workflowEndpoint(
  shown,
  "The state that the review's workflow reports; an idle workflow ends after a while",
);
export const reviewDeliveries = deliveryEndpoints('review', shown);

export const putReviewEndpoint = endpoint('putReview', 'PUT /v1/reviews/{id}', {
  ...reviewById,
  summary: "The author's review: created, or edited in its place among the callbacks",
  roles: ['producer', 'supervisor'],
  body: contract.PutReview,
  bodyLimit: LARGE_BODY,
  answers: { 200: contract.Review, 201: contract.Review },
  problems: ['id_conflict', 'erased'],
  async handle({ api, ctx, caller, params: { id }, body }) {
    checkCallback(api.ctx, 'callback', body.callback);
    const review = { id, targets: targetsOf(body), body: body.body, callback: body.callback, actor: caller.actor };
    const { row, created } = await reviews.put(ctx, review);
    return answer(created ? 201 : 200, reviewOf(row));
  },
});

function targetsOf({ text, pictures, replies }: contract.PutReview): reviews.Target[] {
  return [
    { kind: 'text', id: '', position: 0, status: text.status },
    ...pictures.map((p, position) => ({ kind: 'picture' as const, position, ...p })),
    ...replies.map((r, position) => ({ kind: 'reply' as const, position, ...r })),
  ];
}

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
