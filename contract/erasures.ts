import { z } from '@hono/zod-openapi';
import { answer, either, oneOf, Reason, TextOrNull, Whole } from './common.ts';
import { KEPT_KINDS } from './kinds.ts';
import { AnyName, CONTROL, NOT_THE_SERVERS, TEXT_PATTERN } from './names.ts';

/** The id of any item. Those that are named `.` or `..`, as earlier releases allowed, have no path, and end by this. */
const ErasedId = z
  .string()
  .regex(
    new RegExp(String.raw`^[^${CONTROL}\ud800-\udfff]{1,221}$`, 'u'),
    'must be 1 to 221 Unicode characters, none of them a control character',
  )
  .openapi({ minLength: 1, maxLength: 221, pattern: TEXT_PATTERN });

/** An item by its kind and id; of a task with all of its occurrences. */
const ErasedItem = z.strictObject({ kind: z.enum(KEPT_KINDS), id: ErasedId });

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
