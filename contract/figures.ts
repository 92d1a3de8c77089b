import { z } from '@hono/zod-openapi';
import {
  answer,
  counts,
  Page,
  pageByText,
  pageOf,
  TextOrNull,
  Texts,
  Time,
  texts,
  textsOrNull,
  Whole,
} from './common.ts';
import { anyName } from './deliveries.ts';
import { DELIVERED_KINDS, KINDS } from './kinds.ts';
import { AnyName, CONTROL } from './names.ts';

/** Points of a series at most. */
export const MOST_POINTS = 500;

export const FigureKind = z.enum(['ticket', 'job', 'case', 'task']);
export type FigureKind = z.output<typeof FigureKind>;

const range = {
  from: Time.optional().describe('Left out: a day before `to`'),
  to: Time.optional().describe('Left out: now'),
};

/** Of both ends, where they are given. */
const inOrder = ({ from = '', to = '' }: { from?: string | undefined; to?: string | undefined }) =>
  !(Date.parse(from) >= Date.parse(to));
const ORDER = { message: 'must be before to', path: ['from'] };

export const Range = z.object(range).refine(inOrder, ORDER);

export const FigureFilter = z.object({
  kind: FigureKind,
  queue: AnyName.optional().describe('A queue, topic, court or `gid_…`; left out: all of the kind'),
  ...range,
  step: z.coerce
    .number()
    .int()
    .min(60)
    .max(86_400)
    .optional()
    .describe(`Seconds; at most ${MOST_POINTS} points. Left out: about 288 of them`),
});

const line = z.array(Whole.nullable());

export const Figures = answer('Figures', {
  kind: FigureKind,
  queue: TextOrNull,
  ...texts('from', 'to'),
  stepSeconds: Whole,
  series: z
    .object({
      ...{ delayed: line, waiting: line, held: line, buried: line },
      oldestWaitingSeconds: z.array(z.number().nullable()),
      failedDeliveries: line,
      ...{ added: line, handedOut: line, settled: line, invalidated: line, expired: line, dead: line },
      ...{ leaseExpiries: line, votes: line, wasted: line },
    })
    .describe(
      'One value for each step, in order: counts at its end, from `added` on counts of events in it. null: not known. ' +
        '`waiting` counts items that can be handed out (open cases, ready jobs); `added` includes transfers from other ' +
        'queues, less those to others; `handedOut` is of tickets and jobs, `votes` and `wasted` are of courts.',
    ),
});

/** Fields of every answer about a range of time. */
export const covered = {
  ...texts('from', 'to'),
  partial: z.boolean().describe('Incomplete: not all events of that time were read'),
  coveredFrom: z.string().describe('`from`, or where `partial` is because of the time: since when it counts'),
};

export const PeopleFilter = z
  .object({
    kind: z.enum(['ticket', 'case']).default('ticket'),
    queue: AnyName.optional().describe('A queue or, required, a court'),
    person: AnyName.optional(),
    ...range,
  })
  .refine(inOrder, ORDER);

const ReviewerFigures = answer('ReviewerFigures', {
  person: z.string(),
  decisions: Whole,
  medianHandlingSeconds: z.number().nullable(),
  ...counts('skips', 'releases', 'expiries'),
});

const JurorFigures = answer('JurorFigures', {
  person: z.string(),
  ...counts('votes', 'wasted'),
  medianHandlingSeconds: z.number().nullable(),
  judged: Whole.describe('Votes on cases that were decided'),
  agreed: Whole.describe('Of these, votes for the outcome'),
  agreement: z.number().nullable(),
  gold: z
    .object(counts('judged', 'agreed'))
    .optional()
    .describe('Not shown to reviewers, who are not to know which cases are gold'),
});

export const People = z
  .object({ ...covered, reviewers: z.array(ReviewerFigures), jurors: z.array(JurorFigures) })
  .openapi('People', { description: 'At most 200 persons, the most active first; `partial` where there are more' });

export const LatenessFilter = z
  .object({
    kind: z.enum(['ticket', 'job']),
    queue: AnyName.optional(),
    ...range,
  })
  .refine(inOrder, ORDER);

export const Lateness = answer('Lateness', {
  ...covered,
  handedOut: Whole,
  ...{ p50: z.number().nullable(), p99: z.number().nullable(), max: z.number().nullable() },
  buckets: z.array(
    z.object({ fromSeconds: z.number(), toSeconds: z.number().nullable(), count: Whole }).openapi('LatenessBucket'),
  ),
});

const percentiles = z
  .object({ p50: z.number().nullable(), p95: z.number().nullable(), p99: z.number().nullable() })
  .openapi('Percentiles', {
    description:
      'Seconds from the first availability to the first hand-out, the last hand-out or the decision; null: of no ticket',
  });

const service = {
  tickets: Whole.describe('Decided in that time, whoever or whatever decided them; gold does not count'),
  kept: Whole.nullable().describe('Of these, decided within the target; null: the queue has none'),
  missed: Whole.nullable(),
  ...{ firstClaim: percentiles, lastClaim: percentiles, decided: percentiles },
};

export const Service = answer('Service', {
  ...{ from: z.string(), to: z.string() },
  target: z.number().nullable().describe("The queue's `serviceSeconds` as it is now"),
  ...service,
  leaseSeconds: z.number().describe('How long a lease lasts now, where it is adaptive, too'),
  overdue: Whole.describe('Open tickets that are beyond the target now, counted up to 1,000'),
  byHour: z
    .array(z.object({ hour: z.string(), ...service }).openapi('ServiceHour'))
    .describe('By the hour (UTC) of the decision, named by its beginning; hours without any are left out'),
});

export const OverviewFilter = Page.extend({
  kind: FigureKind.optional().describe('One of the four only; required with `cursor`'),
  limit: z.coerce.number().int().min(1).max(200).default(50),
});

export const OverviewEntry = answer('OverviewEntry', {
  name: z.string(),
  paused: z.boolean(),
  createdAt: z.string(),
  ...counts('delayed', 'waiting', 'held', 'buried', 'settled', 'invalidated', 'expired', 'dead'),
  oldestWaitingSeconds: z.number().nullable(),
  handedOutLastMinute: Whole.nullable().describe('Of tickets and jobs; null: not counted'),
  ...counts('settledLastMinute', 'leaseExpiries', 'failedDeliveries'),
});

const OverviewPage = pageOf(OverviewEntry);
export const Overview = z
  .object({ queues: OverviewPage, topics: OverviewPage, courts: OverviewPage, groups: OverviewPage })
  .partial()
  .openapi('Overview');

/** Checks of `docket doctor` whose findings are in `GET /v1/attention`: what its other fields do not say. */
export const WARNINGS = ['settings', 'secrets', 'overdue', 'chores', 'receivers'] as const;

export const Attention = z
  .object({
    waitingTooLong: z.array(
      z.object({ kind: FigureKind, name: z.string(), oldestWaitingSeconds: z.number(), targetSeconds: z.number() }),
    ),
    pausedWithWork: z.array(z.object({ kind: FigureKind, name: z.string(), waiting: Whole })),
    overdue: Whole.describe('Open tickets beyond the target of their queue, counted up to 1,000 of each'),
    failedDeliveries: z.object({
      total: Whole,
      queues: z
        .array(
          z.object({
            kind: z.enum(DELIVERED_KINDS),
            ...{ queue: TextOrNull, failed: Whole, newestAt: z.string() },
          }),
        )
        .describe('Of the newest thousand of each kind'),
    }),
    oldestPendingDeliverySeconds: z.number(),
    parked: z.object({
      total: Whole,
      items: z.array(z.object({ kind: z.enum(KINDS), id: z.string(), until: z.string(), error: z.string() })),
    }),
    heldBack: z
      .array(z.object({ queue: z.string(), tickets: Whole }))
      .describe('Queues with tickets for which their rules could not be evaluated in time'),
    warnings: z
      .array(
        z.object({
          check: z.enum(WARNINGS),
          count: Whole,
          examples: Texts.describe('The first few, each with what is wrong'),
          advice: z.string(),
        }),
      )
      .describe('Findings of `docket doctor`, as they were at most a minute ago'),
    engines: z.object({
      postgres: z.literal('ok').describe('Without it the answer is 503'),
      temporal: z.enum(['ok', 'unreachable']),
      worker: z.enum(['ok', 'unreachable']).describe('Whether one publishes to Temporal'),
      unpublished: Whole.describe('Changes that workflows have not received; estimated from 10,000 on'),
      unpublishedOldestSeconds: z.number(),
      nodes: Whole,
    }),
  })
  .openapi('Attention', { description: 'Nothing needs attention where all is empty and the engines are ok' });

export const FindFilter = pageByText(
  /^(ticket|job|case|task)\/[^\p{Cc}\p{Cs}]{1,500}$/u,
  `^(ticket|job|case|task)/[^${CONTROL}]+$`,
).extend({
  id: anyName(500).describe('An id, or a prefix of ids'),
  kind: FigureKind.optional(),
});

export const FoundItem = answer('FoundItem', {
  kind: FigureKind,
  id: z.string().describe('`<task>/<occurrence>` for occurrences of tasks'),
  queue: z.string().describe('Its queue, topic, court or executor'),
  state: z.string().describe('In the words of its kind'),
  createdAt: z.string(),
  ...textsOrNull('heldBy', 'endedAt', 'endedBy'),
});

export const Quality = answer('Quality', {
  ...texts('from', 'to'),
  items: z.array(
    z.object({
      reviewer: z.string().optional(),
      model: z.string().optional(),
      decided: Whole.describe('By a lease, looks included'),
      looked: Whole.describe('Of these, with a second look that upheld or overturned them'),
      upheld: Whole,
      overturned: Whole.describe('By any of their looks'),
      overturnRate: z
        .object({ value: z.number().nullable(), low: z.number(), high: z.number() })
        .describe('Of those looked at, with its Wilson interval at 95 %'),
      gold: z.object(counts('judged', 'right', 'skipped')).describe('Tickets with known answers'),
      kappa: z.number().nullable().describe("Cohen's κ with the looks' decisions; null: unknown"),
      n: Whole.describe('The pairs of decisions that κ is of'),
      secondsMedian: z.number().nullable().describe('From the lease to the decision'),
    }),
  ),
  retiredGold: z
    .array(z.object({ id: z.string(), ...counts('judged', 'right', 'disputed') }))
    .describe('Gold that most get wrong, or that is disputed; the former is handed out no more'),
});
