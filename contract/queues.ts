import { z } from '@hono/zod-openapi';
import * as common from './common.ts';
import { GoldSettings } from './gold.ts';
import { Second } from './looks.ts';
import { AnyId, AnyName, Subject } from './names.ts';
import { Category } from './reviewers.ts';
import { Assist, NO_MODELS } from './suggestions.ts';

const Escalation = z.strictObject({ afterSeconds: common.Seconds, priority: common.Priority });

const Schema = z.record(z.string(), z.unknown());

const Rule = z
  .strictObject({
    name: AnyId.optional().describe('How events name it; left out: its number, from 0'),
    when: Schema.describe(
      'JSON Schema over {id, body, subject, category, priority and requires as sent, attempts, callback: null, "url", "text", "picture" or "reply"}',
    ),
    priority: common.Priority.optional(),
    add: common.whole(-2000, 2000).optional(),
    requires: common.Requires.optional(),
  })
  .refine((r) => r.priority === undefined || r.add === undefined, { message: 'excludes priority', path: ['add'] })
  .refine((r) => (r.priority ?? r.add ?? r.requires) !== undefined, 'must have priority, add or requires');
export type Rule = z.infer<typeof Rule>;

/** Characters of all skills. Together with a ticket's own they are a key of the index that claims read, which limits them. */
const MAX_REQUIRED = 400;
const Rules = z
  .array(Rule)
  .max(50)
  .refine(
    (all) =>
      new Set(all.flatMap((r) => r.requires ?? [])).size <= 20 &&
      all.flatMap((r) => r.requires ?? []).join().length <= MAX_REQUIRED,
    'may require 20 skills of 400 characters together',
  );

/** Only those that are asked for. */
export const NO_LOOKS = Second.parse({});
export const NO_GOLD = GoldSettings.parse({});

/** What the desk alone reads. */
const Desk = z.object({
  highlight: z
    .array(z.string().min(1).max(100))
    .max(200)
    .default([])
    .describe('Words that the desk marks in the content'),
  guidelines: z
    .record(AnyName, z.string().min(1).max(20_000))
    .refine((all) => Object.keys(all).length <= 50, 'may have 50 texts at most')
    .default({})
    .describe("Texts in Markdown, by the names by which the form's `x-guideline` refers to them"),
});
export const NO_DESK = Desk.parse({});

/** Settings of a ticket queue; PUT replaces all of them. */
const QueueSettings = common.request('QueueSettings', {
  leaseSeconds: common.PositiveSeconds.default(300),
  lease: z
    .enum(['fixed', 'adaptive'])
    .default('fixed')
    .describe(
      'adaptive: a lease lasts twice as long as 95 % of the latest decisions took, from a quarter to twice `leaseSeconds`',
    ),
  ageing: common
    .nullByDefault(z.strictObject({ secondsPerLevel: common.PositiveSeconds }))
    .describe('Seconds of waiting worth one priority level; null: strict priority'),
  escalations: z.array(Escalation).max(50).default([]),
  reclaimedFirst: z.boolean().default(false),
  maxHeld: common.whole(1, 1000).default(1),
  maxAttempts: common.nullByDefault(common.whole(1, 1_000_000)),
  deadlineSeconds: common.nullByDefault(common.Seconds),
  serviceSeconds: common
    .nullByDefault(common.PositiveSeconds)
    .describe('Target from the first availability to the decision; an open ticket beyond it has an event `overdue`'),
  callback: common.orNull(common.Callback).default(null),
  form: common.nullByDefault(Schema).describe('JSON Schema of the decision'),
  sync: common
    .nullByDefault(z.enum(['subject']))
    .describe('subject: a decision decides the other open tickets of its subject in the queue'),
  ...Desk.shape,
  second: Second.default(NO_LOOKS),
  gold: GoldSettings.default(NO_GOLD),
  registered: z
    .boolean()
    .default(false)
    .describe('Only people of the register get tickets, by the skills that it says'),
  categoryFrom: common
    .nullByDefault(common.Pointer.max(500))
    .describe('JSON pointer into the body, to the category of tickets without one of their own'),
  assist: Assist.default(NO_MODELS),
  rules: Rules.default([]).describe(
    'In order: the first priority counts, all `add` are added, all `requires` apply; the result stays within −1000…1000',
  ),
});
export type QueueSettings = z.infer<typeof QueueSettings>;

const TriedTicket = common.request('TriedTicket', {
  id: AnyId.default('tried'),
  body: common.Json,
  subject: Subject.nullable().default(null),
  category: Category.nullable().default(null),
  priority: common.Priority.default(0),
  requires: common.Requires.default([]),
});
export type TriedTicket = z.infer<typeof TriedTicket>;

// not by `extend`, here and below: the document would combine several schemas, which generators of clients get wrong
export const PutQueue = common.request('PutQueue', {
  ...QueueSettings.shape,
  dryRun: z.boolean().default(false).describe('Changes nothing; lists the tickets that would move'),
  ticket: TriedTicket.optional().describe('With dryRun: one as it would be sent, to see what the rules make of it'),
});

export const QueueDryRun = common.answer('QueueDryRun', {
  total: common.Whole,
  wouldMove: z
    .array(
      z.object({
        id: z.string(),
        ...common.counts('before', 'after'),
        requires: z.object({ before: common.Texts, after: common.Texts }).optional(),
      }),
    )
    .describe('The first hundred tickets whose priority or required skills would change'),
  warnings: common.Texts.describe('Rules over fields that tickets do not have'),
  ticket: z
    .object({
      priority: common.Whole,
      requires: common.Texts,
      rules: z.array(z.string().or(common.Whole)),
    })
    .optional()
    .describe('What becomes of the ticket that was sent, and by which rules, by name or number'),
});

export const Queue = common.answer('Queue', {
  name: z.string(),
  paused: z.boolean(),
  ...QueueSettings.shape,
  callback: common.orNull(common.ShownCallback),
  ...common.texts('createdAt', 'updatedAt'),
  warnings: common.Texts.optional().describe(
    'Only in the answer to PUT, if there are any: rules over fields that tickets do not have, guidelines that the form names and the queue lacks',
  ),
});

export const QueueStats = common.answer('QueueStats', {
  ...common.counts('delayed', 'waiting', 'held', 'decided', 'invalidated', 'expired', 'dead'),
  oldestWaitingSeconds: z.number().nullable(),
  ...common.counts('claimsPerMinute', 'leaseExpiries'),
});

export const QueueFilter = common.Page.extend({
  stats: z
    .enum(['true', 'false'])
    .default('false')
    .transform((stats) => stats === 'true')
    .openapi({ type: 'boolean', default: false, description: 'With the figures of each' }),
});

export const ListedQueue = common.answer('ListedQueue', {
  ...Queue.shape,
  stats: QueueStats.optional().describe('Where they were asked for'),
});
