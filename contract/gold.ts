import { z } from '@hono/zod-openapi';
import {
  answer,
  counts,
  Json,
  nullByDefault,
  Priority,
  Reason,
  Requires,
  request,
  TextOrNull,
  Texts,
  Whole,
} from './common.ts';
import { AnyId, Id, Name, Subject } from './names.ts';

/** Of a queue: how often its reviewers are handed a ticket whose answer is known. */
export const GoldSettings = z.strictObject({
  share: z.number().min(0).max(1).default(0),
  idPrefix: nullByDefault(AnyId.max(100)).describe(
    "What callers' own ids of tickets begin with; null: the server makes the ids",
  ),
});
export type GoldSettings = z.infer<typeof GoldSettings>;

const GoldTicket = z.strictObject({
  id: Id.describe('Its name in the list; those who are handed it see another id'),
  body: Json,
  answer: Json,
  subject: nullByDefault(Subject),
  priority: Priority.optional().describe('Left out: that of the ticket before which it is handed out'),
  requires: Requires.default([]),
});

export const PutGoldTickets = request('PutGoldTickets', {
  tickets: z
    .array(GoldTicket)
    .max(1000)
    .refine((all) => new Set(all.map(({ id }) => id)).size === all.length, 'must have different ids'),
});
export type PutGoldTickets = z.infer<typeof PutGoldTickets>;

export const ListedGold = answer('ListedGold', {
  ...{ id: z.string(), body: Json, answer: Json, subject: TextOrNull },
  ...{ priority: Whole.nullable(), requires: Texts },
  retired: z.boolean().describe('Most have got it wrong, so nobody is handed it any more'),
  ...counts('judged', 'right', 'skipped', 'disputed'),
});

export const Dispute = request('Dispute', {
  reason: Reason,
  reviewer: Name.optional().describe("May be left out with a reviewer's key"),
});
