import { z } from '@hono/zod-openapi';
import { Json } from './common.ts';
import { KINDS } from './kinds.ts';

/** A whole number in a query, in digits: nothing at all is not 0, which would begin the feed anew. */
const Whole = (min: number, max: number) =>
  z
    .string()
    .regex(/^\d{1,16}$/, 'must be a whole number in digits')
    .transform(Number)
    .pipe(z.number().min(min).max(max));

export const FeedQuery = z.object({
  after: Whole(0, Number.MAX_SAFE_INTEGER)
    .default(0)
    .openapi({ type: 'integer', minimum: 0, default: 0, description: 'The position behind which to read' }),
  limit: Whole(1, 10_000).optional().openapi({
    type: 'integer',
    minimum: 1,
    maximum: 10_000,
    description: 'How many events at most; left out: 1000, and with `follow` no end',
  }),
  follow: z
    .enum(['true', 'false'])
    .default('false')
    .transform((follow) => follow === 'true')
    .openapi({ type: 'boolean', default: false, description: 'Stay, and send events as they come' }),
});

export const FeedEvent = z
  .object({
    seq: z.number().int().openapi({
      description: "The feed's own position: 1, 2, 3, …, with gaps only where events were cleared with their items",
    }),
    id: z.string().openapi({
      description: 'Stable, for upserts: kind, item and number of the event',
    }),
    kind: z.enum([...KINDS, 'review']),
    itemId: z.string(),
    type: z.string(),
    actor: z.string(),
    at: z.string(),
    data: Json,
  })
  .openapi('FeedEvent');
export type FeedEvent = z.infer<typeof FeedEvent>;
