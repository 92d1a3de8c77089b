import { z } from '@hono/zod-openapi';
import { answer, either, oneOf, Reason, TextOrNull, Whole } from './common.ts';
import { anyName } from './deliveries.ts';
import { KEPT_KINDS } from './kinds.ts';
import { AnyName, NOT_THE_SERVERS } from './names.ts';

/**
 * An item by its kind and id; of a task with all of its occurrences. Those that are named `.` or `..`, as earlier releases
 * allowed, have no path, and end by this.
 */
const ErasedItem = z.strictObject({ kind: z.enum(KEPT_KINDS), id: anyName(221) });

export const NewErasure = z
  .strictObject({
    item: ErasedItem.optional(),
    person: AnyName.refine(...NOT_THE_SERVERS)
      .optional()
      .describe('A name: of a reviewer, juror or user, a party, or a key'),
    reason: Reason,
  })
  .refine(...either('item', 'person'))
  .openapi('NewErasure', oneOf('item', 'person'));
export type NewErasure = z.infer<typeof NewErasure>;

const State = z.enum(['running', 'done']);
export const ErasureAnswer = answer('ErasureAnswer', { id: z.string(), state: State });
export const Erasure = answer('Erasure', {
  ...ErasureAnswer.shape,
  items: Whole.describe('How many items it has changed'),
  events: Whole.describe('How many lines of their histories it has changed'),
  remains: z
    .array(
      z.object({
        what: z.string(),
        until: TextOrNull.describe('null: until somebody deletes it'),
      }),
    )
    .describe('What is kept elsewhere'),
});
