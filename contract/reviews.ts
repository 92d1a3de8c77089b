import { z } from '@hono/zod-openapi';
import * as common from './common.ts';
import { Id } from './names.ts';

const Status = common.whole(-2_147_483_648, 2_147_483_647);

const Applied = z.object({ status: common.Whole, auditTime: common.TextOrNull });
const Part = z.object({ id: z.string(), position: common.Whole, ...Applied.shape });

export const Review = common.answer('Review', {
  id: z.string(),
  status: common.Whole.describe("The review's overall status: its text's"),
  text: Applied,
  pictures: z.array(Part),
  replies: z.array(Part),
  body: common.Json,
  version: common.Whole,
  ...common.texts('createdAt', 'updatedAt'),
  erased: common.Erased,
});

const MAX_PARTS = 10_000;
const Parts = (what: string) =>
  z
    .array(z.strictObject({ id: Id, status: Status }))
    .max(MAX_PARTS)
    .refine((all) => new Set(all.map((p) => p.id)).size === all.length, `no ${what} may stand twice`)
    .default([]);

/** The author's version; PUT replaces. `status` counts for targets that are new. */
export const PutReview = common.request('PutReview', {
  text: z.strictObject({ status: Status }),
  pictures: Parts('picture'),
  replies: Parts('reply'),
  body: z.unknown().default(null),
  callback: common.orNull(common.Callback).default(null),
});
export type PutReview = z.infer<typeof PutReview>;

const said = {
  status: Status,
  auditTime: common.PreciseTime.optional().describe("Left out: the database's clock at arrival"),
  callbackId: Id.optional().describe('A second callback with the same id on this review is a duplicate'),
};

const audit = { ...common.target, ...said };
export const AuditCallback = common.targeted('AuditCallback', { ...audit, waitSeconds: common.WaitSeconds });
const Entry = common.targeted('AuditCallbackEntry', audit);
const AuditCallbacks = common.request('AuditCallbacks', {
  callbacks: z.array(Entry).min(1).max(100),
  waitSeconds: common.WaitSeconds,
});
export const OneOrSeveralCallbacks = z.union([AuditCallback, AuditCallbacks]);

/** Checks one callback or several as what they mean to be: a union would report the alternative with the fewest faults. */
export const SentCallbacks = z.unknown().transform((sent, ctx) => {
  const isBatch = typeof sent === 'object' && sent !== null && 'callbacks' in sent;
  const parsed = (isBatch ? AuditCallbacks : AuditCallback).safeParse(sent);
  if (parsed.success) return parsed.data;
  ctx.issues.push(...parsed.error.issues.map((issue) => ({ ...issue, input: sent }) as never));
  return z.NEVER;
});

export const PictureCallback = common.request('PictureCallback', {
  kind: z.literal('picture').default('picture'),
  targetId: Id.optional(),
  ...said,
  waitSeconds: common.WaitSeconds,
});

const OUTCOMES = ['pending', 'applied', 'expired', 'duplicate'] as const;
export const CallbackAnswer = common.answer('CallbackAnswer', {
  callbackId: z.string(),
  outcome: z.enum(OUTCOMES),
  first: z
    .object({ outcome: z.enum(OUTCOMES) })
    .optional()
    .describe('Of a duplicate'),
});

export const CallbackResults = common.answer('CallbackResults', { results: z.array(CallbackAnswer) });

export const PictureParam = z.object({ pictureId: Id });

const LoggedPart = Part.omit({ position: true });
/** The stored record of a review; `auditTime` is null until a target's first callback. */
const LoggedRecord = common.answer('ReviewRecord', {
  text: Applied,
  pictures: z.array(LoggedPart),
  replies: z.array(LoggedPart),
});
export type ReviewRecord = z.infer<typeof LoggedRecord>;

export const ReviewStatsFilter = z.object({
  day: z.iso.date().optional().describe('In UTC; left out: today'),
});
export const ReviewStats = common.answer('ReviewStats', {
  day: z.string(),
  ...common.counts('applied', 'expired'),
  repeated: common.Whole.describe('Callbacks whose callbackId had come before'),
  edited: common.Whole,
});

export const ReviewLogLine = common.answer('ReviewLogLine', {
  seq: common.Whole,
  callbackId: common.TextOrNull,
  kind: z.enum(['text', 'picture', 'reply', 'edit']),
  targetId: common.TextOrNull,
  status: common.Whole.nullable(),
  auditTime: common.TextOrNull,
  ...common.texts('receivedAt', 'appliedAt'),
  outcome: z.enum(['applied', 'expired', 'duplicate', 'edited']),
  reason: z.enum(['older', 'removed', 'repeated']).nullable(),
  before: LoggedRecord.describe('All targets as they were before this line'),
  after: LoggedRecord,
  version: common.Whole.nullable(),
});

export const ReviewStores = common.answer('ReviewStores', {
  record: z.record(z.string(), z.unknown()),
  index: z.array(z.record(z.string(), z.unknown())),
  base: z.record(z.string(), z.unknown()),
  inStep: z.boolean(),
});
