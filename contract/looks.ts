import { z } from '@hono/zod-openapi';
import { answer, Json, orNull, Pointer, Priority, Reason, request } from './common.ts';
import { Name } from './names.ts';
import { Automation } from './suggestions.ts';

const Cause = z.enum(['appeal', 'check', 'overturn']);

const asking = {
  reason: Reason.optional().describe('What whoever looks is told'),
  by: Name.optional().describe("Who asks; left out, or of an overturn with a person's key: the caller"),
};

export const AskForLook = z
  .strictObject({
    cause: Cause,
    ...asking,
    priority: Priority.optional().describe("Left out: the ticket's"),
    decision: z.unknown().optional().describe('Of an overturn, which is decided at once'),
  })
  .refine(({ cause, decision }) => (cause === 'overturn') === (decision !== undefined), {
    message: 'belongs to an overturn, which needs it',
    path: ['decision'],
  })
  .openapi('AskForLook');

/** An appeal against a court; its reason stands in the history of the look. */
export const AskForCaseLook = request('AskForCaseLook', {
  cause: z.enum(['appeal']),
  reason: asking.reason,
  by: asking.by,
});

/** What a second look is about. */
export const Of = answer('LookOf', { id: z.string(), cause: Cause });

export const Look = z
  .object({
    id: z.string(),
    causes: z.array(Cause),
    state: z.string(),
    outcome: z.enum(['upheld', 'overturned', 'none']).nullable().describe('null: it is open'),
  })
  .openapi('Look', { description: 'A second look at a decision: a ticket of its own' });

export const Standing = z
  .object({
    ...{ decision: Json, by: z.string(), at: z.string(), ticket: z.string(), automation: Automation },
    reason: z.string().optional().describe('Of an overturn'),
  })
  .openapi('Standing', { description: 'The decision that counts now, and the ticket in which it was made' });

const Share = z.number().min(0).max(1);

/** Of a queue: which of its decisions are looked at again. */
export const Second = z.strictObject({
  share: Share.default(0).describe('Of the decisions by a lease'),
  adapt: orNull(
    z.strictObject({ min: Share, max: Share }).refine(({ min, max }) => min <= max, 'min must not be above max'),
  )
    .default(null)
    .describe('Instead of `share`: the more of them were upheld, the fewer'),
  of: z.enum(['people', 'models', 'all']).default('people'),
  queue: Name.optional().describe('Where looks wait; left out: in the queue itself'),
  blind: z.boolean().default(true).describe('Whoever looks is not shown the first decision'),
  compare: z
    .array(Pointer)
    .min(1)
    .max(50)
    .optional()
    .describe('JSON pointers: what must be equal; left out: the whole decision'),
  appealDays: z.number().positive().max(36_500).default(180),
});
export type Second = z.infer<typeof Second>;
