import { callbackTo, type Examples, NOW, workflowAnswer } from './example.ts';

// A guest reviews a restaurant with two pictures; audits let the text and one of the pictures pass (1), and not the other (2).

const REVIEW = { path: { id: 'review-5' } };
const shown = (summary: string, value: object) => ({ summary, value });
/** How many there are depends on how fast callbacks come. */
const delivery = (state: 'delivered' | 'pending') => ({
  ...{ n: 1, type: 'review.changed', version: 3, url: callbackTo('reviews').url, state },
  ...{ attempts: 1, status: 204, error: null, createdAt: NOW, updatedAt: NOW },
  nextAttemptAt: state === 'pending' ? NOW : null,
});

export const reviewExamples: Examples = {
  putReview: {
    ...REVIEW,
    body: {
      text: { status: 0 },
      pictures: [
        { id: 'picture-1', status: 0 },
        { id: 'picture-2', status: 0 },
      ],
      replies: [{ id: 'reply-1', status: 0 }],
      body: { stars: 4, text: 'Good soup' },
      callback: callbackTo('reviews'),
    },
  },
  addReviewCallback: {
    ...REVIEW,
    bodies: {
      text: shown('An audit of the text, and what became of it', {
        ...{ kind: 'text', status: 1, callbackId: 'audit-1', waitSeconds: 20 },
      }),
      picture: shown('An audit of a picture, without waiting', {
        ...{ kind: 'picture', targetId: 'picture-1', status: 1, callbackId: 'audit-2' },
      }),
    },
  },
  addPictureCallback: {
    path: { pictureId: 'picture-2' },
    bodies: {
      waiting: shown('What an audit said, and what became of it', {
        status: 2,
        callbackId: 'audit-4',
        waitSeconds: 20,
      }),
      later: shown('Without waiting', { status: 0, callbackId: 'audit-3' }),
    },
  },
  getReview: REVIEW,
  listReviews: {},
  listReviewLog: REVIEW,
  getReviewStats: {},
  getReviewStores: REVIEW,
  getReviewWorkflow: { ...REVIEW, answers: workflowAnswer('review/review-5', 'idle', null) },
  listReviewDeliveries: { ...REVIEW, answers: { 200: { items: [delivery('delivered')], nextCursor: null } } },
  redeliverReviewDelivery: { path: { id: 'review-5', n: 1 }, answers: { 202: delivery('pending') } },
};
