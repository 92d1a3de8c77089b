import { z } from '@hono/zod-openapi';
import { Callback } from './callbacks.ts';
import { counts, Erased, Json, orNull, PageByTime, pageOf, Reason, Seconds, Text, Time, Token } from './common.ts';
import { Option } from './courts.ts';
import { Look, Of } from './looks.ts';
import { AnyId, AnyName, Id, Name } from './names.ts';
import { Offer } from './tickets.ts';

const CASE_STATES = ['open', 'decided', 'hung', 'invalidated'] as const;
const CaseState = z.enum(CASE_STATES).openapi('CaseState');
const Parties = z.array(z.strictObject({ id: Name, person: Name.optional() })).max(100);

export const Case = z
  .object({
    id: z.string(),
    court: z.string(),
    state: CaseState,
    parties: z.array(z.object({ id: z.string(), person: z.string().optional() })),
    body: Json,
    tally: z.record(z.string(), z.number().int()),
    votesLeft: z.number().int().openapi({ description: 'The fewest further votes that could decide it' }),
    winner: z.string().nullable(),
    holds: z.number().int(),
    wasted: z.number().int(),
    version: z.number().int(),
    createdAt: z.string(),
    deadlineAt: z.string().nullable(),
    decidedAt: z.string().nullable(),
    endedAt: z.string().nullable(),
    endReason: z.string().nullable(),
    of: orNull(Of).openapi({ description: 'Of a second look: what it is about' }),
    looks: z.array(Look).openapi({ description: 'Oldest first' }),
    standing: orNull(
      z.object({ winner: z.string().nullable(), by: z.string(), at: z.string(), case: z.string() }),
    ).openapi({ description: 'The verdict that counts now, and the case in which it was found' }),
    erased: Erased,
  })
  .openapi('Case');

export const NewCase = z
  .strictObject({
    id: Id.optional(),
    parties: Parties.default([]),
    body: Json,
    deadlineSeconds: Seconds.optional(),
    callback: Callback.optional(),
  })
  .openapi('NewCase');
export type NewCase = z.infer<typeof NewCase>;

export const PatchCase = z
  .strictObject({
    body: Json.optional(),
    parties: Parties.optional(),
    deadlineAt: Time.nullable().optional(),
  })
  .refine((b) => Object.keys(b).length > 0, 'change at least one field')
  .openapi('PatchCase', { minProperties: 1 });
export type PatchCase = z.infer<typeof PatchCase>;

/** Each case is checked by itself, so that an invalid case does not affect the others. */
export const CaseBatch = z.strictObject({ cases: z.array(z.unknown()).min(1).max(1000) });
/** The body in the document. */
export const NewCases = z.strictObject({ cases: z.array(NewCase).min(1).max(1000) }).openapi('CaseBatch');

export const ClaimCase = z.strictObject({ juror: Name.optional() }).openapi('ClaimCase');

const CaseReasons = z
  .object(
    counts('noVotesLeft', 'voted', 'party', 'windowFull', 'notEligible', 'fatigue', 'skipped', 'assigned', 'none'),
  )
  .openapi('CaseReasons');

export const ClaimCaseAnswer = z
  .object({
    case: orNull(Case),
    lease: z.object({ token: z.string(), expiresAt: z.string() }).nullable(),
    resumed: z.boolean(),
    reasons: orNull(CaseReasons),
  })
  .openapi('ClaimCaseAnswer');

export const ExplainCase = z.strictObject({ juror: Name.optional(), case: AnyId.optional() }).openapi('ExplainCase');
export const ExplainCaseAnswer = z.union([z.object({ reasons: CaseReasons }), Offer]).openapi('ExplainCaseAnswer');

export const CastVote = z.strictObject({ token: Token, option: Option, comment: Text.optional() }).openapi('CastVote');
export const CastVoteAnswer = z.object({ counted: z.boolean(), case: Case }).openapi('CastVoteAnswer');

export const HoldToken = z.strictObject({ token: Token }).openapi('HoldToken');
export const ReleaseCase = z.strictObject({ token: Token, skip: z.boolean().default(false) }).openapi('ReleaseCase');
export const ResolveCase = z.strictObject({ winner: Option, reason: Reason }).openapi('ResolveCase');
export type ResolveCase = z.infer<typeof ResolveCase>;
export const InvalidateCase = z.strictObject({ reason: Reason }).openapi('InvalidateCase');

export const Vote = z
  .object({
    juror: z.string(),
    option: z.string(),
    comment: z.string().nullable(),
    at: z.string(),
    counted: z.boolean(),
  })
  .openapi('Vote');

export const CaseFilter = PageByTime.extend({ court: AnyName.optional(), state: CaseState.optional() });

export const JurorParam = z.object({ juror: AnyName });
const Invitation = z.object({ case: z.string(), court: z.string(), token: z.string(), expiresAt: z.string() });
export const Invitations = pageOf(Invitation).openapi('Invitations');
