import { z } from '@hono/zod-openapi';
import { answer, nullByDefault, request, Skills, Texts, Time, Timezone, texts, whole } from './common.ts';
import { AnyId, AnyName, chosenName, Name } from './names.ts';

/** What tickets are like, such as `violence`: of some a person sees so many a day. */
export const Category = chosenName(200);
const Limit = whole(0, 1_000_000);

/** What the register says of a name; PUT replaces all of it. */
export const PutReviewer = request('PutReviewer', {
  displayName: nullByDefault(chosenName(200)),
  person: nullByDefault(Name).describe(
    'Names of the same person are one for exclusions and quotas; null: the name itself',
  ),
  skills: Skills.default([]).describe('They count in queues that are `registered`'),
  perDay: nullByDefault(Limit).describe('Most tickets a day; null: no limit'),
  exposure: z
    .record(Category, Limit)
    .refine((of) => Object.keys(of).length <= 100, 'may have 100 categories')
    .default({})
    .describe('Most tickets a day by category'),
  awayUntil: nullByDefault(Time).describe('Until then the person gets nothing new'),
  timezone: Timezone.default('UTC').describe('Of the days'),
});
export type PutReviewer = z.infer<typeof PutReviewer>;

export const Reviewer = answer('Reviewer', {
  name: z.string(),
  ...PutReviewer.shape,
  ...texts('createdAt', 'updatedAt'),
});

export const NewReviewerParam = z.object({ name: Name });
export const ReviewerParam = z.object({ name: AnyName });

export const ExplainWho = z.object({ ticket: AnyId });
export const ExplainWhoAnswer = z
  .object({
    could: Texts,
    others: z.array(z.object({ reviewer: z.string(), reason: z.string() })),
  })
  .openapi('ExplainWhoAnswer', {
    description: 'Who of the register could take a ticket now, and why the others could not',
  });
