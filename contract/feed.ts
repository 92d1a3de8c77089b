import { z } from '@hono/zod-openapi';
import { answer, Json, texts } from './common.ts';
import { KINDS } from './kinds.ts';

/** A whole number in a query. An empty value must not be read as 0, which would start the feed from its beginning. */
const Digits = (min: number, max: number) =>
  z
    .string()
    .regex(/^\d{1,16}$/, 'must be a whole number in digits')
    .transform(Number)
    .pipe(z.number().min(min).max(max));

export const FeedQuery = z.object({
  after: Digits(0, Number.MAX_SAFE_INTEGER)
    .default(0)
    .openapi({ type: 'integer', minimum: 0, default: 0, description: 'Read the events after this position' }),
  limit: Digits(1, 10_000).optional().openapi({
    type: 'integer',
    minimum: 1,
    maximum: 10_000,
    description: 'Most events; left out: 1000, and unlimited with `follow`',
  }),
  follow: z
    .enum(['true', 'false'])
    .default('false')
    .transform((follow) => follow === 'true')
    .openapi({ type: 'boolean', default: false, description: 'Keep the answer open, and send events as they occur' }),
});

export const FeedEvent = answer('FeedEvent', {
  seq: z
    .number()
    .int()
    .describe("The feed's own position: 1, 2, 3, …, with gaps only where events were cleared with their items"),
  id: z.string().describe('Stable, for upserts: kind, item and number of the event'),
  kind: z.enum([...KINDS, 'review']),
  ...texts('itemId', 'type', 'actor', 'at'),
  data: Json,
  gold: z.literal(true).optional().describe('Of a copy of a gold ticket'),
});
export type FeedEvent = z.infer<typeof FeedEvent>;
