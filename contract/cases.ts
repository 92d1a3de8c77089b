import { z } from '@hono/zod-openapi';
import * as common from './common.ts';
import { Option } from './courts.ts';
import { Look, Of } from './looks.ts';
import { AnyId, AnyName, Id, Name } from './names.ts';
import { Offer } from './tickets.ts';

const CASE_STATES = ['open', 'decided', 'hung', 'invalidated'] as const;
const CaseState = z.enum(CASE_STATES).openapi('CaseState');
const Parties = z.array(z.strictObject({ id: Name, person: Name.optional() })).max(100);

export const Case = common.answer('Case', {
  ...common.texts('id', 'court'),
  state: CaseState,
  parties: z.array(z.object({ id: z.string(), person: z.string().optional() })),
  body: common.Json,
  tally: z.record(z.string(), common.Whole),
  votesLeft: common.Whole.describe('The fewest further votes that could decide it'),
  winner: common.TextOrNull,
  ...common.counts('holds', 'wasted', 'version'),
  createdAt: z.string(),
  ...common.textsOrNull('deadlineAt', 'decidedAt', 'endedAt', 'endReason'),
  of: common.orNull(Of).describe('Of a second look: what it is about'),
  looks: z.array(Look).describe('Oldest first'),
  standing: common
    .orNull(
      z.object({
        ...{ winner: common.TextOrNull, by: z.string(), at: z.string(), case: z.string() },
        reason: z.string().optional(),
      }),
    )
    .describe('The verdict that counts now, and the case in which it was found'),
  erased: common.Erased,
});

export const NewCase = common.request('NewCase', {
  id: Id.optional(),
  parties: Parties.default([]),
  body: common.Json,
  deadlineSeconds: common.Seconds.optional(),
  callback: common.Callback.optional(),
});
export type NewCase = z.infer<typeof NewCase>;

export const PatchCase = z
  .strictObject({
    body: common.Json.optional(),
    parties: Parties.optional(),
    deadlineAt: common.Time.nullable().optional(),
  })
  .refine((b) => Object.keys(b).length > 0, 'change at least one field')
  .openapi('PatchCase', { minProperties: 1 });
export type PatchCase = z.infer<typeof PatchCase>;

/** Each case is checked by itself, so that an invalid case does not affect the others. */
export const CaseBatch = z.strictObject({ cases: z.array(z.unknown()).min(1).max(1000) });
/** The body in the document. */
export const NewCases = common.request('CaseBatch', { cases: z.array(NewCase).min(1).max(1000) });

export const ClaimCase = common.request('ClaimCase', { juror: Name.optional() });

const CaseReasons = common.answer('CaseReasons', {
  ...common.counts('noVotesLeft', 'voted', 'party', 'windowFull', 'notEligible'),
  ...common.counts('fatigue', 'skipped', 'assigned', 'none'),
});

export const ClaimCaseAnswer = common.answer('ClaimCaseAnswer', {
  case: common.orNull(Case),
  lease: z.object({ token: z.string(), expiresAt: z.string() }).nullable(),
  resumed: z.boolean(),
  reasons: common.orNull(CaseReasons),
});

export const ExplainCase = common.request('ExplainCase', { juror: Name.optional(), case: AnyId.optional() });
export const ExplainCaseAnswer = z.union([z.object({ reasons: CaseReasons }), Offer]).openapi('ExplainCaseAnswer');

export const CastVote = common.request('CastVote', {
  token: common.Token,
  option: Option,
  comment: common.Text.optional(),
});
export const CastVoteAnswer = common.answer('CastVoteAnswer', { counted: z.boolean(), case: Case });

export const HoldToken = common.request('HoldToken', { token: common.Token });
export const ReleaseCase = common.request('ReleaseCase', { token: common.Token, skip: z.boolean().default(false) });
export const ResolveCase = common.request('ResolveCase', { winner: Option, reason: common.Reason });
export type ResolveCase = z.infer<typeof ResolveCase>;
export const InvalidateCase = common.request('InvalidateCase', { reason: common.Reason });

export const Vote = common.answer('Vote', {
  ...common.texts('juror', 'option'),
  comment: common.TextOrNull,
  at: z.string(),
  counted: z.boolean(),
});

export const CaseFilter = common.PageByTime.extend({ court: AnyName.optional(), state: CaseState.optional() });

export const JurorParam = z.object({ juror: AnyName });
const Invitation = z.object({ case: z.string(), court: z.string(), token: z.string(), expiresAt: z.string() });
export const Invitations = common.pageOf(Invitation).openapi('Invitations');
