import { z } from '@hono/zod-openapi';
import * as common from './common.ts';
import { cronFault } from './cron.ts';
import { AnyName, chosenName, Name, SHOWN_NAME } from './names.ts';

export const Topic = AnyName;
const NewTopic = Name;
const NewJobId = chosenName(200);
/** Also the id of a job that was put over TCP: its tube of up to 200 characters, a colon and its number. */
export const JobId = chosenName(221);

/** beanstalkd's: 0 to 2³²−1, smaller first. */
const JobPriority = common.whole(0, 4_294_967_295);
export const DEFAULT_PRIORITY = 1024;
const Delay = z.number().min(0).max(common.TEN_YEARS);
const Ttr = z.number().min(1).max(common.TEN_YEARS);
const Count = common.whole(1, 100);

/** Names one add: repeated with it, the add is the run that it began or met, whatever has become of that. */
const JobKey = z.string().min(1).max(200);

const AddOne = {
  topic: NewTopic,
  id: NewJobId,
  delay: Delay.default(0),
  TTR: Ttr.default(60),
  body: common.Json,
  priority: JobPriority.default(DEFAULT_PRIORITY),
  key: JobKey.optional(),
};
export const JobAdd = common.request('JobAdd', { command: z.literal('add'), ...AddOne });
export const NewJob = z.strictObject(AddOne).openapi('NewJob');
export type NewJob = z.infer<typeof NewJob>;
/** A batch. Each of its jobs is checked by itself, so that an invalid one does not affect the others. */
const many = (command: 'add' | 'finish') =>
  z.strictObject({ command: z.literal(command), jobs: z.array(z.unknown()).min(1).max(1000) });
export const JobAddMany = many('add');
export const JobFinishMany = many('finish');
/** The bodies in the document. */
const NewJobs = common.request('JobAddMany', { command: z.literal('add'), jobs: z.array(NewJob).min(1).max(1000) });
const Topics = z.union([Topic, z.array(Topic).min(1).max(100)]);
// not `anyOf`: some generators make classes of it that do not compile
const ONE_OR_SEVERAL = {
  type: ['string', 'array'] as ('string' | 'array')[],
  ...SHOWN_NAME,
  ...{ items: { type: 'string' as const, ...SHOWN_NAME }, minItems: 1, maxItems: 100 },
};
export const JobPop = common.request('JobPop', {
  command: z.literal('pop'),
  topic: Topics.openapi({ ...ONE_OR_SEVERAL, description: 'A topic, or several' }),
  wait: common.WaitSeconds,
  count: Count.optional(),
});
const FinishOne = { id: JobId, token: common.Token.optional() };
export const JobFinish = z
  .strictObject({
    command: z.literal('finish'),
    ...FinishOne,
    next: z.boolean().default(false).describe('Pop the next job by the same commit; it needs a token'),
    topic: Topics.optional().openapi({ ...ONE_OR_SEVERAL, description: "Of the next job; left out: the job's own" }),
    wait: common.WaitSeconds,
  })
  .refine((b) => !b.next || b.token !== undefined, { message: 'is required with next', path: ['token'] })
  .openapi('JobFinish');
export const FinishedJob = z.strictObject(FinishOne);
const FinishedJobs = common.request('JobFinishMany', {
  command: z.literal('finish'),
  jobs: z.array(FinishedJob).min(1).max(1000),
});
export const JobDelete = common.request('JobDelete', { command: z.literal('delete'), id: JobId });
const Held = { id: JobId, token: common.Token };
export const JobTouch = common.request('JobTouch', { command: z.literal('touch'), ...Held });
export const JobRelease = common.request('JobRelease', {
  command: z.literal('release'),
  ...Held,
  delay: Delay.default(0),
  priority: JobPriority.optional(),
  reason: common.Reason.optional(),
});
export const JobBury = common.request('JobBury', {
  command: z.literal('bury'),
  id: JobId,
  token: common.Token.optional().describe('Left out: a supervisor or an administrator buries the job, whoever has it'),
  priority: JobPriority.optional(),
  reason: common.Reason.optional(),
});
/** By an operator, without a token. */
export const BuryJob = common.request('BuryJob', { reason: common.Reason });
export const JobKick = common.request('JobKick', {
  command: z.literal('kick'),
  topic: Topic,
  count: common.whole(1, 1_000_000).default(1),
});
export const JobKickOne = common.request('JobKickOne', { command: z.literal('kick'), id: JobId });
export const JobPeek = z
  .strictObject({ command: z.literal('peek'), id: JobId.optional(), topic: Topic.optional() })
  .refine(...common.either('id', 'topic'))
  .openapi('JobPeek', common.oneOf('id', 'topic'));

/** All commands of the endpoint, for the document. Each command is checked by its own schema. */
export const JobCommand = z
  .union([
    JobAdd,
    NewJobs,
    JobPop,
    JobFinish,
    FinishedJobs,
    JobDelete,
    JobTouch,
    JobRelease,
    JobBury,
    JobKick,
    JobKickOne,
    JobPeek,
  ])
  .openapi('JobCommand');

export const JobAnswer = z
  .looseObject({ success: z.boolean(), error: common.TextOrNull, id: common.TextOrNull, value: common.Json })
  .openapi('JobAnswer');

export const JOB_STATES = ['delayed', 'ready', 'reserved', 'buried', 'finished', 'deleted'] as const;
export const Job = common.answer('Job', {
  id: z.string(),
  ...common.counts('number', 'run'),
  topic: z.string(),
  state: z.enum(JOB_STATES),
  delay: z.number(),
  TTR: z.number(),
  body: common.Json,
  ...common.counts('priority', 'attempts'),
  availableAt: z.string(),
  reservedUntil: common.TextOrNull,
  lastReason: common.TextOrNull.describe('Why it was last given back or buried'),
  createdAt: z.string(),
  erased: common.Erased,
});

// not by `extend`: the document would combine two closed objects
const Push = common.request('Push', {
  ...common.SignedCallback.shape,
  concurrency: common.whole(1, 1000).default(10),
});
export type PushTarget = z.infer<typeof Push>;
export const TopicSettings = common.request('TopicSettings', {
  maxAttempts: common.nullByDefault(common.whole(1, 1_000_000)),
  paused: z.boolean().default(false),
  push: common.orNull(Push).default(null),
  ids: z
    .enum(['reuse', 'once'])
    .default('reuse')
    .describe('once: an id whose job is over is refused; reuse: it begins its next run'),
  workflow: z
    .enum(['always', 'when-needed'])
    .default('always')
    .describe('when-needed: only jobs that wait longer than a second, retry or call back have a workflow'),
});
export type TopicSettings = z.infer<typeof TopicSettings>;
export const JobParam = z.object({ id: JobId });
export const TopicParam = z.object({ topic: Topic });
export const JobFilter = common.PageByTime.extend({ state: z.enum(JOB_STATES).optional() });

export const ScheduleSettings = z
  .strictObject({
    // a Temporal schedule has no parts of seconds
    everySeconds: z.number().int('must be whole seconds').min(1).max(common.TEN_YEARS).optional(),
    cron: z
      .string()
      .min(1)
      .max(200)
      .superRefine((cron, { addIssue }) => {
        const message = cronFault(cron);
        if (message !== undefined) addIssue({ code: 'custom', message });
      })
      .describe('Five fields as in cron, or @daily and its like; the day of month or the day of week is restricted')
      .optional(),
    timezone: common.Timezone.default('UTC'),
    body: common.Json,
    TTR: Ttr.default(60),
    priority: JobPriority.default(DEFAULT_PRIORITY),
  })
  .refine(...common.either('everySeconds', 'cron'))
  .openapi('ScheduleSettings', common.oneOf('everySeconds', 'cron'));
export type ScheduleSettings = z.infer<typeof ScheduleSettings>;

export const Schedule = common.answer('Schedule', {
  ...common.texts('topic', 'name'),
  everySeconds: z.number().nullable(),
  cron: common.TextOrNull,
  timezone: z.string(),
  body: common.Json,
  TTR: z.number(),
  priority: common.Whole,
  nextAt: common.Texts.nullable().describe(
    'The next five firings; null for an expression that only Temporal reads, which earlier releases accepted',
  ),
  paused: z
    .boolean()
    .nullable()
    .describe('Whether an operator has paused it in Temporal; null while that cannot be asked'),
  ...common.texts('createdAt', 'updatedAt'),
});
