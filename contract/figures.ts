import { z } from '@hono/zod-openapi';
import { Name, Page, pageByText, Time } from './common.ts';
import { anyName } from './deliveries.ts';
import { CONTROL, Topic } from './jobs.ts';
import { DELIVERED_KINDS, KINDS } from './kinds.ts';

/** Points of a line. */
export const MOST_POINTS = 500;

export const FigureKind = z.enum(['ticket', 'job', 'case', 'task']);
export type FigureKind = z.output<typeof FigureKind>;

export const FigureFilter = z.object({
  kind: FigureKind,
  queue: Topic.optional().openapi({ description: 'A queue, topic, court or `gid_…`; left out: all of the kind' }),
  from: Time.optional().openapi({ description: 'Left out: a day before `to`' }),
  to: Time.optional().openapi({ description: 'Left out: now' }),
  step: z.coerce
    .number()
    .int()
    .min(60)
    .max(86_400)
    .optional()
    .openapi({ description: `Seconds; at most ${MOST_POINTS} points. Left out: about 288 of them` }),
});

const level = z.array(z.number().int().nullable());
const rate = z.array(z.number().int().nullable());

export const Figures = z
  .object({
    kind: FigureKind,
    queue: z.string().nullable(),
    from: z.string(),
    to: z.string(),
    stepSeconds: z.number().int(),
    series: z
      .object({
        ...{ delayed: level, waiting: level, held: level, buried: level },
        oldestWaitingSeconds: z.array(z.number().nullable()),
        failedDeliveries: level,
        ...{ added: rate, handedOut: rate, settled: rate, invalidated: rate, expired: rate, dead: rate },
        ...{ leaseExpiries: rate, votes: rate, wasted: rate },
      })
      .openapi({
        description:
          'Of each step, in order: first what there was at its end, from `added` on what happened in it. null: not known. ' +
          '`waiting` is what can be handed out (an open case, a ready job); `added` counts what was transferred in, less what ' +
          'was transferred away; `handedOut` is of tickets and jobs, `votes` and `wasted` are of courts.',
      }),
  })
  .openapi('Figures');

/** What every answer about a time says. */
const covered = {
  from: z.string(),
  to: z.string(),
  partial: z.boolean().openapi({ description: 'Not all that happened in that time was read' }),
  coveredFrom: z
    .string()
    .openapi({ description: '`from`, or where `partial` is because of the time: since when it counts' }),
};

export const PeopleFilter = z.object({
  kind: z.enum(['ticket', 'case']).default('ticket'),
  queue: Name.optional().openapi({ description: 'A queue or, required, a court' }),
  person: Name.optional(),
  from: Time.optional().openapi({ description: 'Left out: a day before `to`' }),
  to: Time.optional().openapi({ description: 'Left out: now' }),
});

const whole = z.number().int();

const ReviewerFigures = z
  .object({
    person: z.string(),
    decisions: whole,
    medianHandlingSeconds: z.number().nullable(),
    ...{ skips: whole, releases: whole, expiries: whole },
  })
  .openapi('ReviewerFigures');

const JurorFigures = z
  .object({
    person: z.string(),
    ...{ votes: whole, wasted: whole },
    medianHandlingSeconds: z.number().nullable(),
    judged: whole.openapi({ description: 'Votes on cases that were decided' }),
    agreed: whole.openapi({ description: 'Of these, votes for the outcome' }),
    agreement: z.number().nullable(),
    gold: z.object({ judged: whole, agreed: whole }),
  })
  .openapi('JurorFigures');

export const People = z
  .object({ ...covered, reviewers: z.array(ReviewerFigures), jurors: z.array(JurorFigures) })
  .openapi('People', { description: 'At most 200 persons, those who did most first; `partial` where there are more' });

export const LatenessFilter = z.object({
  kind: z.enum(['ticket', 'job']),
  queue: Topic.optional(),
  from: Time.optional().openapi({ description: 'Left out: a day before `to`' }),
  to: Time.optional().openapi({ description: 'Left out: now' }),
});

export const Lateness = z
  .object({
    ...covered,
    handedOut: whole,
    ...{ p50: z.number().nullable(), p99: z.number().nullable(), max: z.number().nullable() },
    buckets: z.array(
      z.object({ fromSeconds: z.number(), toSeconds: z.number().nullable(), count: whole }).openapi('LatenessBucket'),
    ),
  })
  .openapi('Lateness');

export const OverviewFilter = Page.extend({
  kind: FigureKind.optional().openapi({ description: 'One of the four only; required with `cursor`' }),
  limit: z.coerce.number().int().min(1).max(200).default(50),
});

const OverviewEntry = z
  .object({
    name: z.string(),
    paused: z.boolean(),
    createdAt: z.string(),
    ...{ delayed: whole, waiting: whole, held: whole, buried: whole },
    ...{ settled: whole, invalidated: whole, expired: whole, dead: whole },
    oldestWaitingSeconds: z.number().nullable(),
    handedOutLastMinute: whole.nullable().openapi({ description: 'Of tickets and jobs; null: not counted' }),
    settledLastMinute: whole,
    leaseExpiries: whole,
    failedDeliveries: whole,
  })
  .openapi('OverviewEntry');

const OverviewPage = z.object({ items: z.array(OverviewEntry), nextCursor: z.string().nullable() });

export const Overview = z
  .object({
    queues: OverviewPage.optional(),
    topics: OverviewPage.optional(),
    courts: OverviewPage.optional(),
    groups: OverviewPage.optional(),
  })
  .openapi('Overview');

export const Attention = z
  .object({
    waitingTooLong: z.array(
      z.object({ kind: FigureKind, name: z.string(), oldestWaitingSeconds: z.number(), targetSeconds: z.number() }),
    ),
    pausedWithWork: z.array(z.object({ kind: FigureKind, name: z.string(), waiting: whole })),
    failedDeliveries: z.object({
      total: whole,
      queues: z
        .array(
          z.object({
            kind: z.enum(DELIVERED_KINDS),
            queue: z.string().nullable(),
            failed: whole,
            newestAt: z.string(),
          }),
        )
        .openapi({ description: 'Of the newest thousand of each kind' }),
    }),
    oldestPendingDeliverySeconds: z.number(),
    parked: z.object({
      total: whole,
      items: z.array(z.object({ kind: z.enum(KINDS), id: z.string(), until: z.string(), error: z.string() })),
    }),
    engines: z.object({
      postgres: z.literal('ok').openapi({ description: 'Without it there is no answer: 503' }),
      temporal: z.enum(['ok', 'unreachable']),
      worker: z.enum(['ok', 'unreachable']).openapi({ description: 'Whether one publishes to Temporal' }),
      unpublishedOldestSeconds: z.number(),
      nodes: whole,
    }),
  })
  .openapi('Attention', { description: 'All empty, and the engines ok: nothing needs attention' });

const ItemKind = z.enum(['ticket', 'job', 'case', 'task']);

export const FindFilter = pageByText(
  /^(ticket|job|case|task)\/[^\p{Cc}\p{Cs}]{1,500}$/u,
  `^(ticket|job|case|task)/[^${CONTROL}]+$`,
).extend({
  id: anyName(500).openapi({ description: 'An id, or the beginning of ids' }),
  kind: ItemKind.optional(),
});

export const FoundItem = z
  .object({
    kind: ItemKind,
    id: z.string().openapi({ description: '`<task>/<occurrence>` for occurrences of tasks' }),
    queue: z.string().openapi({ description: 'Its queue, topic, court or executor' }),
    state: z.string().openapi({ description: 'In the words of its kind' }),
    createdAt: z.string(),
    heldBy: z.string().nullable(),
    endedAt: z.string().nullable(),
    endedBy: z.string().nullable(),
  })
  .openapi('FoundItem');
