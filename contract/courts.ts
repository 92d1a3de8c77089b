import { z } from '@hono/zod-openapi';
import * as common from './common.ts';
import { AnyName, Id, Name, NewName } from './names.ts';

const Count = common.whole(1, 1000);
export const Option = z.string().min(1).max(100);

const Strategy = z
  .strictObject({
    admit: z.string().max(100).default('all'),
    pick: z.string().max(100).default('random'),
    decide: z.string().max(100).default('first-to'),
  })
  .describe(
    'admit: all, proven; pick: random, oldest, closest; decide: first-to, majority, supermajority, margin, posterior',
  );

const Fallback = z
  .union([
    z.strictObject({ extendSeconds: common.PositiveSeconds }),
    z.strictObject({ court: AnyName }),
    z.strictObject({ queue: NewName }),
  ])
  .describe('At the deadline: extend it once; or pass the hung case to a court of appeal or a queue of tickets');

/** Settings of a court; PUT replaces all of them. */
export const CourtSettings = common.request('CourtSettings', {
  options: z
    .array(Option)
    .min(2)
    .max(50)
    .refine((o) => new Set(o).size === o.length, 'must differ')
    .openapi({ uniqueItems: true })
    .default(['buyer', 'seller']),
  votesToWin: Count.default(9),
  panel: common
    .nullByDefault(common.whole(1, 2000))
    .describe('Most votes on a case, for strategies that limit them; null: the default of the strategy'),
  margin: common.nullByDefault(Count).describe('`decide: margin`: by so many votes the leader leads'),
  probability: common
    .nullByDefault(z.number().gt(0.5).lt(1))
    .describe('`decide: posterior`: how probable it must be, by the records of the voters, that the leader is right'),
  maxVotes: common
    .nullByDefault(common.whole(1, 2000))
    .describe('With `margin` and `posterior`: most votes on a case, which hangs when these could not decide it'),
  leaseSeconds: common.PositiveSeconds.default(600),
  overbook: common.whole(0, 1000).default(0),
  window: common.nullByDefault(z.strictObject({ cases: Count, seconds: common.PositiveSeconds })),
  votesPerDay: common.nullByDefault(common.whole(1, 1_000_000)),
  timezone: common.Timezone.default('UTC').describe('Of the days of `votesPerDay` and `perJurorPerDay`'),
  deadlineSeconds: common.nullByDefault(common.Seconds),
  mode: z.enum(['claim', 'assign', 'both']).default('claim'),
  assign: common.nullByDefault(
    z.strictObject({
      jurors: Count,
      answerSeconds: common.PositiveSeconds,
      perJurorPerDay: common.nullByDefault(common.whole(1, 1_000_000)),
      perJuror: common.whole(1, 100).default(1).describe('Open invitations of a person at once'),
    }),
  ),
  lateVotes: z.enum(['refuse', 'record']).default('refuse'),
  strategy: Strategy.prefault({}),
  quality: common
    .nullByDefault(
      z.strictObject({ agreement: z.number().min(0).max(1), after: common.whole(1, 1_000_000).default(10) }),
    )
    .describe('Excludes jurors who agree with fewer than this share of outcomes, once they have `after` of them'),
  goldShare: z.number().min(0).max(1).default(0.1),
  fallback: common.orNull(Fallback).default(null),
  callback: common.orNull(common.Callback).default(null),
  invitationCallback: common
    .orNull(common.Callback)
    .default(null)
    .describe('Receives `case.invited` for each invitation: {juror, case, expiresAt}, without the token'),
});
export type CourtSettings = z.infer<typeof CourtSettings>;

const { margin, probability, maxVotes } = CourtSettings.shape;
const AskedStrategy = Strategy.extend({
  margin: margin.unwrap().optional(),
  probability: probability.unwrap().optional(),
  maxVotes: maxVotes.unwrap().optional(),
}).describe('With `decide`, also what bounds it: as the settings of these names');

export const PutCourt = common.request('PutCourt', {
  ...CourtSettings.shape,
  strategy: AskedStrategy.prefault({}),
  dryRun: z.boolean().default(false),
});

export const Court = common.answer('Court', {
  name: z.string(),
  ...CourtSettings.shape,
  callback: common.orNull(common.ShownCallback),
  invitationCallback: common.orNull(common.ShownCallback),
  ...common.texts('createdAt', 'updatedAt'),
});

export const DryRun = common.answer('CourtDryRun', {
  wouldDecide: common.Texts,
  wouldHang: common.Texts.describe('Open cases that nobody could win any more'),
  leavesOpen: z
    .array(z.object({ id: z.string(), votesLeft: z.object({ before: common.Whole, after: common.Whole }) }))
    .describe('Up to 1,000 open cases that would need more votes than now, those closest to a decision first'),
  inUse: common.Texts.describe(
    'Up to 1,000 open cases with votes for options that are removed; with any, the change is refused',
  ),
});

const Juror = z.strictObject({
  id: Name,
  person: Name.optional().describe('Left out: the juror is a person of their own'),
  eligible: z.boolean().default(true),
  invite: z.boolean().default(true),
});
export type Juror = z.infer<typeof Juror>;

export const PutJurors = z
  .strictObject({
    jurors: z.array(Juror).max(100_000),
    list: Name.optional(),
    first: z
      .boolean()
      .default(false)
      .describe('Starts the upload of the list anew; without it, chunks more than an hour apart belong to two uploads'),
    final: z.boolean().default(false),
  })
  .refine((p) => p.list !== undefined || !p.first, { message: 'is of a list: give its name', path: ['first'] })
  .refine((p) => p.list !== undefined || !p.final, { message: 'is of a list: give its name', path: ['final'] })
  .openapi('PutJurors');

export const JurorsTotal = common.answer('JurorsTotal', { total: common.Whole });

export const PutGold = common.request('PutGold', {
  cases: z
    .array(z.strictObject({ id: Id, body: common.Json, answer: Option }))
    .max(1000)
    .refine((all) => new Set(all.map((c) => c.id)).size === all.length, 'must have different ids'),
});
export type PutGold = z.infer<typeof PutGold>;

export const CourtStats = common.answer('CourtStats', {
  ...common.counts('open', 'decided', 'hung', 'invalidated'),
  completionRate: z.number().nullable(),
  meanSecondsToDecide: z.number().nullable(),
  ...common.counts('votes', 'votesLastHour', 'wasted', 'wastedLastHour', 'windowHits'),
  kappa: z.number().nullable(),
  alpha: z.number().nullable(),
});

export const CourtJuror = common.answer('CourtJuror', {
  id: z.string(),
  eligible: z.boolean(),
  window: z
    .object({
      cases: common.Whole.describe('How many different cases may be shown in it'),
      ...common.counts('shown', 'left'),
      freesAt: common.TextOrNull.describe('When the first of the shown cases leaves the window'),
    })
    .nullable(),
  day: z
    .object({ votes: common.Whole, limit: common.Whole, left: common.Whole, endsAt: z.string() })
    .nullable()
    .describe('The day in the time zone of the court; null: votes are not limited by the day'),
});

export const CourtJurorParam = z.object({ court: AnyName, juror: AnyName });
export const CourtParam = z.object({ court: AnyName });
export const NewCourtParam = z.object({ court: NewName });
