import { z } from '@hono/zod-openapi';
import * as common from './common.ts';
import { Look, Of, Standing } from './looks.ts';
import { AnyId, AnyName, Id, Name, Subject } from './names.ts';
import { Category } from './reviewers.ts';
import { assisted } from './suggestions.ts';

const TICKET_STATES = ['delayed', 'waiting', 'held', 'decided', 'invalidated', 'expired', 'dead'] as const;
export const TicketState = z.enum(TICKET_STATES).openapi('TicketState');

const Names = z.array(AnyName).max(1000);
/** The person who alone gets a ticket until `forSeconds` from availableAt; without these for ever. */
const For = Name.nullable();
const ForSeconds = common.Seconds.nullable();

/** Clocks may differ by a minute. */
const Past = common.Time.refine((time) => Date.parse(time) <= Date.now() + 60_000, 'must be in the past');

const Lease = common.answer('Lease', {
  ...common.texts('reviewer', 'grantedAt', 'expiresAt'),
  token: common.TextOrNull.describe('Only for its holder, in the answer to a claim; else null'),
  draft: common.Json.optional().describe('What its holder has filled in, with the token'),
});

export const Ticket = common.answer('Ticket', {
  ...common.texts('id', 'queue'),
  state: TicketState,
  priority: common.Whole,
  body: common.Json,
  subject: common.TextOrNull,
  requires: common.Texts,
  exclude: common.Texts,
  category: common.TextOrNull.describe('Its own, or from the body'),
  for: common.TextOrNull.describe('Who alone gets it, until `forUntil`'),
  forUntil: common.TextOrNull.describe('null: for ever'),
  attempts: common.Whole.describe('Leases granted'),
  version: common.Whole,
  ...common.texts('createdAt', 'availableAt'),
  deadlineAt: common.TextOrNull,
  lease: common.orNull(Lease),
  syncedWith: common.TextOrNull.describe('The ticket whose decision decided it, too'),
  decision: common.Json,
  ...common.textsOrNull('decidedBy', 'decidedAt'),
  reason: common.TextOrNull.describe('Why it was decided from outside; else null'),
  invalidation: z.object({ reason: z.string(), by: z.string(), at: z.string() }).nullable(),
  of: common.orNull(Of).describe('Of a second look: what it is about'),
  looks: z.array(Look).describe('Oldest first'),
  standing: common.orNull(Standing),
  ...assisted,
  erased: common.Erased,
});

/** A callback without a URL: the decision, which must hold an integer `status`, goes into a review as an audit's callback. */
const ReviewTarget = common.targeted('ReviewTarget', { review: Id, ...common.target });
export type ReviewTarget = z.infer<typeof ReviewTarget>;

export const NewTicket = z
  .strictObject({
    id: Id.optional(),
    priority: common.Priority.default(0),
    body: common.Json,
    subject: Subject.nullable().optional(),
    requires: common.Requires.default([]),
    exclude: Names.default([]),
    category: Category.nullable().optional(),
    for: For.optional(),
    forSeconds: ForSeconds.optional().describe('From availableAt; left out: for ever'),
    delaySeconds: common.Seconds.default(0),
    deadlineSeconds: common.Seconds.optional(),
    createdAt: Past.optional().describe('In the past: moved here from elsewhere'),
    callback: z.union([common.Callback, ReviewTarget]).optional(),
  })
  .refine((t) => t.for != null || t.forSeconds == null, { message: 'belongs to for', path: ['forSeconds'] })
  .openapi('NewTicket');
export type NewTicket = z.infer<typeof NewTicket>;

/** Each ticket is checked by itself, so that an invalid ticket does not affect the others. */
export const TicketBatch = z.strictObject({ tickets: z.array(z.unknown()).min(1).max(1000) });
/** The body in the document. */
export const NewTickets = common.request('TicketBatch', { tickets: z.array(NewTicket).min(1).max(1000) });

export const BatchResults = common.answer('BatchResults', {
  results: z.array(
    z.object({
      id: common.TextOrNull,
      httpStatus: common.Whole,
      code: z.string().optional(),
      detail: z.string().optional(),
    }),
  ),
});

export const Claim = common.request('Claim', {
  reviewer: Name.optional().describe("May be left out with a reviewer's key"),
  skills: common.Skills.default([]),
  count: common.whole(1, 100).default(1),
  waitSeconds: common.WaitSeconds,
});
const Queues = z.array(AnyName).max(20);
export const ClaimFrom = common.request('ClaimFrom', {
  queues: Queues.min(1).describe('In order of preference'),
  ...Claim.shape,
});

const Reasons = common.answer('Reasons', {
  ...common.counts('delayed', 'held', 'excluded', 'skills', 'skipped', 'paused', 'maxHeld'),
  ...common.counts('notRegistered', 'away', 'quota', 'exposure', 'forAnother'),
});

// not by `extend`: the document would combine two schemas
const HandedTicket = common.answer('HandedTicket', {
  ...Ticket.shape,
  resumed: z.boolean().describe('Handed out before, not new'),
});

export const ClaimAnswer = common.answer('ClaimAnswer', {
  tickets: z.array(HandedTicket),
  reasons: common.orNull(Reasons),
  retryAfterSeconds: z.number(),
});

export const Decide = common.request('Decide', {
  token: common.Token,
  decision: common.Json,
  version: common.Whole.min(0)
    .max(Number.MAX_SAFE_INTEGER)
    .optional()
    .describe('Of the ticket as it was seen: refused if its body or requirements have changed since'),
  next: z.boolean().default(false),
  skills: common.Skills.default([]),
  queues: Queues.default([]).describe(
    "Where to look for the next one, in order of preference; empty: in the ticket's queue",
  ),
});
export const DecideAnswer = common.answer('DecideAnswer', {
  ticket: Ticket,
  next: common.orNull(HandedTicket),
  synced: common.Whole.describe('How many others of its subject were decided with it'),
});

export const TicketContext = z
  .object({
    ...common.counts('open', 'decided'),
    last: z.array(z.object({ decision: common.Json, at: z.string() })).describe('The five latest decisions'),
  })
  .openapi('TicketContext', { description: 'Of the thousand latest other tickets of the subject' });

export const Renew = common.request('Renew', { token: common.Token });
export const Release = common.request('Release', {
  token: common.Token.optional().describe('Left out: a supervisor or an administrator takes the ticket away'),
  delaySeconds: common.Seconds.default(0),
  reason: common.Text.optional(),
  skip: z.boolean().default(false),
  unseen: z.boolean().default(false).describe('Claimed ahead and not looked at, so that it was no attempt'),
});
export const Transfer = common.request('Transfer', {
  queue: Name,
  token: common.Token.optional(),
  reason: common.Text.optional(),
});
export const Resolve = common.request('Resolve', { decision: common.Json, reason: common.Reason });
const DryRun = z.boolean().default(false);
const OpenState = z.enum(['delayed', 'waiting', 'held']);
/** Open tickets of a subject, in one queue or in all. */
const SubjectFilter = z.strictObject({ queue: AnyName.optional(), subject: Subject, state: OpenState.optional() });
export const ResolveMany = z
  .strictObject({
    items: z
      .array(z.strictObject({ id: AnyId, decision: common.Json }))
      .min(1)
      .max(1000)
      .optional(),
    filter: SubjectFilter.optional(),
    decision: z.unknown().optional().describe('With `filter`: of all'),
    reason: common.Reason,
    dryRun: DryRun,
  })
  .refine(...common.either('items', 'filter'))
  .refine((b) => (b.filter === undefined) === (b.decision === undefined), {
    message: 'belongs to filter',
    path: ['decision'],
  })
  .refine((b) => b.filter !== undefined || !b.dryRun, { message: 'belongs to filter', path: ['dryRun'] })
  .openapi('ResolveMany', common.oneOf('items', 'filter'));
export const InvalidateSubject = common.request('InvalidateSubject', {
  filter: SubjectFilter,
  reason: common.Reason,
  dryRun: DryRun,
});
export const Invalidate = common.request('Invalidate', { reason: common.Reason });

const BulkFilter = z.strictObject({
  state: OpenState.optional(),
  subject: Subject.optional(),
  createdBefore: common.Time.optional(),
  priorityBelow: common.whole(-1000, 1001).optional(),
});
export const InvalidateMany = z
  .strictObject({
    ids: z.array(AnyId).min(1).max(10_000).optional(),
    filter: BulkFilter.optional(),
    reason: common.Reason,
    dryRun: DryRun,
  })
  .refine(...common.either('ids', 'filter'))
  .openapi('InvalidateMany', common.oneOf('ids', 'filter'));

export const PatchTicket = z
  .strictObject({
    priority: common.Priority.optional(),
    body: common.Json.optional(),
    subject: Subject.nullable().optional(),
    requires: common.Requires.optional(),
    exclude: Names.optional(),
    category: Category.nullable().optional(),
    for: For.optional(),
    forSeconds: ForSeconds.optional().describe('From availableAt; left out with `for`: for ever'),
    deadlineAt: common.Time.nullable().optional(),
  })
  .refine((b) => Object.keys(b).length > 0, 'change at least one field')
  .openapi('PatchTicket', { minProperties: 1 });

export const Explain = common.request('Explain', {
  reviewer: Name.optional(),
  skills: common.Skills.default([]),
  ticket: AnyId.optional(),
});
export const Offer = common.answer('Offer', {
  offered: z.boolean(),
  why: common.Texts.describe('Everything that keeps it from them'),
  ahead: common.Whole.describe('How many go to them before it, up to 1,000'),
});
export const ExplainAnswer = z.union([z.object({ reasons: Reasons }), Offer]).openapi('ExplainAnswer');

export const AddNote = common.request('AddNote', { text: common.Reason, reviewer: Name.optional() });
export const Note = z
  .object({ seq: common.Whole, by: z.string(), at: z.string(), text: z.string() })
  .openapi('Note', { description: 'A text that a person leaves on a ticket for those who see it next' });

export const TicketEvent = common.answer('TicketEvent', {
  seq: common.Whole,
  ...common.texts('type', 'actor', 'at'),
  data: common.Json,
});

export const TicketWorkflow = common.answer('TicketWorkflow', {
  workflowId: z.string(),
  runId: common.TextOrNull,
  status: z.string(),
  snapshot: z.object({ version: common.Whole, state: z.string(), wakeAt: common.TextOrNull }).loose().nullable(),
  uiUrl: common.TextOrNull,
});

export const PutDraft = common.request('PutDraft', { token: common.Token, draft: common.Json });
export const DraftFilter = z.object({ reviewer: AnyName.optional() });
export const Draft = common.answer('Draft', { draft: common.Json, at: z.string() });
