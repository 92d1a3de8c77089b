import { call, run } from './call.ts';
import { BAG, BOAT, PHONES, SUNSET } from './pictures.ts';

// Reported posts, as a moderation team has them: what was written, by whom, and who reported it.

export const POSTS = 'posts';
const MANY = 24;

const FORM = {
  ...{ type: 'object', required: ['verdict'], additionalProperties: false },
  properties: {
    verdict: {
      title: 'Verdict',
      oneOf: [
        { const: 'approve', title: 'Approve' },
        { const: 'reject', title: 'Reject' },
        { const: 'escalate', title: 'Escalate to legal' },
      ],
    },
    reasons: {
      ...{ type: 'array', title: 'Reasons' },
      items: {
        oneOf: [
          { const: 'spam', title: 'Spam or scam' },
          { const: 'harassment', title: 'Harassment' },
          { const: 'counterfeit', title: 'Counterfeit goods' },
          { const: 'privacy', title: 'Private data' },
        ],
      },
    },
    severity: { title: 'Severity', enum: ['low', 'medium', 'high'] },
    note: { type: 'string', title: 'Note', maxLength: 500 },
  },
};

const TEXTS = [
  'Brand new phones at half price, only today! Write to me on the other app, payment in advance. https://phones.example/deal',
  'Nobody asked for your opinion. Delete your account before we do it for you.',
  'Genuine leather bags from the same factory as the originals, worldwide shipping.',
  'The sunset from our balcony last night. No filter.',
  '这个商家卖的是假货，我买了三次都是坏的，客服也不回复。',
  'هذا المنتج أصلي ومضمون، تواصل معي على الخاص',
];
/** What was posted with them. */
const MEDIA: object[] = [{ photo: PHONES }, {}, { photo: BAG }, { photo: SUNSET, clip: BOAT }, {}, { photo: BAG }];

const post = (n: number) => ({
  id: `${run}-post-${n}`,
  priority: n % 6 === 0 ? 5 : 0,
  body: {
    text: TEXTS[n % TEXTS.length],
    ...MEDIA[n % MEDIA.length],
    author: { name: `user_${(n * 7_919) % 9_973}`, joined: '2026-03-14', posts: 12 + n, strikes: n % 3 },
    reports: [
      { by: `user_${88 + n}`, reason: 'spam', comment: 'The same post stands in five groups.' },
      { by: `user_${412 + n}`, reason: 'scam' },
    ],
    seen: { views: 1_200 + 37 * n, country: ['DE', 'CN', 'EG', 'BR'][n % 4], language: ['en', 'zh', 'ar'][n % 3] },
  },
});

/** A queue whose decisions have a verdict and reasons. */
export async function posts(): Promise<void> {
  await call('PUT', `/v1/queues/${POSTS}`, { ...{ leaseSeconds: 300, maxHeld: 2, maxAttempts: 5 }, form: FORM });
  const tickets = Array.from({ length: MANY }, (_, n) => post(n));
  await call('POST', `/v1/queues/${POSTS}/tickets/batch`, { tickets });
}
