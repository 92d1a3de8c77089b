import { z } from '@hono/zod-openapi';
import { answer, Page, request, Skills, Time, Timezone, texts } from './common.ts';
import { AnyId, AnyName, chosenName, Name } from './names.ts';

/** What tickets are like, such as `violence`: of some a person sees so many a day. */
export const Category = chosenName(200);
const Limit = z.number().int().min(0).max(1_000_000);

/** What the register says of a name; PUT replaces all of it. */
export const PutReviewer = request('PutReviewer', {
  displayName: chosenName(200).nullable().default(null),
  person: Name.nullable().default(null).openapi({
    description: 'Names of the same person are one for exclusions and quotas; null: the name itself',
  }),
  skills: Skills.default([]).openapi({ description: 'They count in queues that are `registered`' }),
  perDay: Limit.nullable().default(null).openapi({ description: 'Most tickets a day; null: no limit' }),
  exposure: z
    .record(Category, Limit)
    .refine((of) => Object.keys(of).length <= 100, 'may have 100 categories')
    .default({})
    .openapi({ description: 'Most tickets a day by category' }),
  awayUntil: Time.nullable().default(null).openapi({ description: 'Until then the person gets nothing new' }),
  timezone: Timezone.default('UTC').openapi({ description: 'Of the days' }),
});
export type PutReviewer = z.infer<typeof PutReviewer>;

export const Reviewer = answer('Reviewer', {
  name: z.string(),
  ...PutReviewer.shape,
  ...texts('createdAt', 'updatedAt'),
});

export const NewReviewerParam = z.object({ name: Name });
export const ReviewerParam = z.object({ name: AnyName });
export const ReviewerFilter = Page;

export const ExplainWho = z.object({ ticket: AnyId });
export const ExplainWhoAnswer = z
  .object({
    could: z.array(z.string()),
    others: z.array(z.object({ reviewer: z.string(), reason: z.string() })),
  })
  .openapi('ExplainWhoAnswer', {
    description: 'Who of the register could take a ticket now, and why the others could not',
  });
