import { z } from '@hono/zod-openapi';
import * as common from './common.ts';
import { AnyId, AnyName, Id, Name, NewName } from './names.ts';
import { Offer } from './tickets.ts';

const PARAM_TYPES = ['string', 'number', 'boolean', 'object', 'array'] as const;

const Parameter = z.strictObject({ type: z.enum(PARAM_TYPES), required: z.boolean().default(true) });
export type TemplateParams = Record<string, z.infer<typeof Parameter>>;

const ParamName = z.string().min(1).max(200);
const templateFields = {
  name: z.string().min(1).max(200),
  params: z
    .record(ParamName, Parameter)
    .openapi({ ...{ propertyNames: { minLength: 1, maxLength: 200 } }, maxProperties: 200 } as object)
    .refine((params) => Object.keys(params).length <= 200, 'may have 200 parameters'),
};
export const NewTemplate = common.request('NewTemplate', {
  id: Name.optional(),
  ...templateFields,
  params: templateFields.params.default({}),
});
export const PatchTemplate = z.strictObject(templateFields).partial().openapi('PatchTemplate');
export const Template = common.answer('Template', {
  ...common.texts('id', 'name'),
  params: z.record(z.string(), z.object({ type: z.enum(PARAM_TYPES), required: z.boolean() })),
  version: common.Whole.describe('Goes up with each change of the parameters'),
  createdAt: z.string(),
});

const Members = z.array(Name).max(100_000);
export const GroupParam = z.object({ gid: AnyName });
export const NewGroupParam = z.object({ gid: NewName });
export const PutGroup = common.request('PutGroup', { members: Members.default([]) });
export const ChangeMembers = common.request('ChangeMembers', { add: Members.default([]), remove: Members.default([]) });
const summary = {
  id: z.string(),
  size: common.Whole.describe('How many members it has'),
  ...common.texts('createdAt', 'updatedAt'),
};
export const GroupSummary = z.object(summary).openapi('GroupSummary');
export const Group = common.answer('Group', { ...summary, members: common.Texts });

const Executor = AnyName.regex(/^[ug]id_./, 'must be uid_ and a user, or gid_ and a group').openapi({
  pattern: '^[ug]id_',
});
const DailyTime = z.string().regex(/^([01]\d|2[0-3]):[0-5]\d$/, 'must be HH:MM');
const YEAR_MINUTES = 527_040;
const TYPES = ['once', 'rotate'] as const;
const DISPATCHES = ['each-once', 'blocking'] as const;
const CATCH_UPS = ['all', 'newest'] as const;
const Params = z.record(ParamName, common.Json);

/** The fields of a task that can be changed. */
const fields = {
  executor: Executor,
  startTime: common.Time,
  everyMinutes: common.whole(1, YEAR_MINUTES).nullable(),
  dailyTime: DailyTime.nullable(),
  everyDays: common.whole(1, 3660),
  timezone: common.Timezone,
  templateId: AnyName,
  params: Params,
  dispatchTimes: common.whole(1, 1_000_000),
  dispatch: z.enum(DISPATCHES),
  catchUp: z.enum(CATCH_UPS),
  lookbackSeconds: common.Seconds.describe('How far back it is handed to users who have completed nothing'),
  maxLookbackSeconds: common.Seconds.nullable().describe(
    'How far back it is handed to anyone; older occurrences are `missed`. null: for ever',
  ),
  answerSeconds: common.PositiveSeconds.nullable(),
  endTime: common.Time.nullable(),
  callback: common.orNull(common.Callback),
};

export const NewTask = z
  .strictObject({
    id: Id.optional(),
    type: z.enum(TYPES),
    ...fields,
    everyMinutes: fields.everyMinutes.default(null),
    dailyTime: fields.dailyTime.default(null),
    everyDays: fields.everyDays.default(1),
    timezone: fields.timezone.default('UTC'),
    params: fields.params.default({}),
    dispatchTimes: fields.dispatchTimes.default(1),
    dispatch: fields.dispatch.default('each-once'),
    catchUp: fields.catchUp.default('all'),
    lookbackSeconds: fields.lookbackSeconds.default(86_400),
    maxLookbackSeconds: fields.maxLookbackSeconds.default(null),
    answerSeconds: fields.answerSeconds.default(null),
    endTime: fields.endTime.default(null),
    callback: fields.callback.default(null),
  })
  .openapi(
    'NewTask',
    // tasks that rotate, and only those, have exactly one rhythm
    common.conditional(
      { properties: { type: { const: 'once' } } },
      { properties: { everyMinutes: { type: 'null' }, dailyTime: { type: 'null' } } },
      common.conditional(
        { properties: { everyMinutes: { type: 'integer' } }, required: ['everyMinutes'] },
        { properties: { dailyTime: { type: 'null' } } },
        { properties: { dailyTime: { type: 'string' } }, required: ['dailyTime'] },
      ),
    ),
  );
export type NewTask = z.infer<typeof NewTask>;

export const PatchTask = z.strictObject(fields).partial().openapi('PatchTask');

const OCCURRENCE_STATES = ['delayed', 'due', 'completed', 'cancelled', 'missed'] as const;
const Occurrence = common.answer('Occurrence', {
  occurrence: z.string(),
  state: z
    .enum([...OCCURRENCE_STATES, 'planned', 'returned'])
    .describe('`returned`: given back, and nobody else can take it'),
  stock: common.Whole,
  dispatched: common.Whole.describe('With clients now'),
  completed: common.Whole,
});

export const Task = common.answer('Task', {
  id: z.string(),
  type: z.enum(TYPES),
  ...fields,
  callback: z.union([z.object({ url: z.string() }), common.ShownWorkflow, z.null()]),
  templateVersion: common.Whole.describe('That of the template when it was made, or named last'),
  state: z.enum(['active', 'deleted']),
  ...common.texts('createdAt', 'updatedAt'),
  erased: common.Erased,
  occurrences: z.array(Occurrence).optional(),
  warnings: z
    .array(z.object({ path: z.string(), message: z.string() }))
    .optional()
    .describe('In answers of POST and PATCH: fields that were accepted, but cannot take effect yet'),
  moreFrom: common.TextOrNull.optional().describe(
    'Of expanded occurrences: the time from which there are more than are shown; null: no more',
  ),
});
export type Task = z.infer<typeof Task>;

export const TaskFilter = common.PageByTime.extend({
  executor: Executor.optional(),
  include: z.enum(['own']).optional().describe("`own`: without the tasks of a user's groups"),
  from: common.Time.optional(),
  to: common.Time.optional(),
  state: z.enum(['active', 'deleted']).default('active'),
  expand: z.enum(['occurrences']).optional(),
});
export const TemplateParam = z.object({ id: AnyName });
export const OccurrenceParam = z.object({ id: Id, occurrence: common.Time });

export const ClientParam = z.object({ uid: Name });
/** A task, or one occurrence of it. */
const Excluded = z
  .string()
  .regex(/^[A-Za-z0-9._:~@-]{1,200}(\/[0-9TZ:.-]{1,40})?$/, 'must be a task id, or id/occurrence');
const Pull = { exclude: z.array(Excluded).max(1000).default([]), waitSeconds: common.WaitSeconds };
export const NextTask = z.strictObject(Pull).openapi('NextTask');
const TaskReasons = common.answer('TaskReasons', {
  ...common.counts('excluded', 'done', 'taken'),
  passed: common.Whole.describe('Began before the occurrence that the user completed last'),
  tooOld: common.Whole.describe('Older than the look-back for this user, or missed by all'),
  notYet: common.Whole,
});
export const NextTaskAnswer = common.answer('NextTaskAnswer', {
  task: z
    .object({
      ...common.texts('id', 'occurrence', 'startTime'),
      params: z.record(z.string(), common.Json),
    })
    .nullable(),
  logId: common.TextOrNull,
  redo: z.boolean(),
  nextAt: common.TextOrNull,
  reasons: common.orNull(TaskReasons),
});
export const ExplainTask = common.request('ExplainTask', { task: AnyId.optional() });
export const ExplainTaskAnswer = z.union([z.object({ reasons: TaskReasons }), Offer]).openapi('ExplainTaskAnswer');
export const CompleteTask = common.request('CompleteTask', {
  logId: z.string().min(1).max(200),
  result: common.Json.optional(),
  next: z.boolean().default(false).describe('Give me the next one, as the call `next` does'),
  ...Pull,
});
export const CompleteTaskAnswer = common.answer('CompleteTaskAnswer', {
  ...common.texts('logId', 'completedAt'),
  next: NextTaskAnswer.optional(),
});

export const ReleaseTask = common.request('ReleaseTask', {
  logId: z.string().min(1).max(200).optional().describe("Supervisors and administrators: omitted, the user's last"),
  reason: common.Reason.optional(),
});
export const ReleaseTaskAnswer = common.answer('ReleaseTaskAnswer', { logId: z.string(), releasedAt: z.string() });

export const DispatchFilter = common.pageByText(/^[0-8]?\d{1,15}_\d{1,9}_[A-Za-z0-9._:~@/-]{1,300}$/).extend({
  uid: AnyName.optional(),
  taskId: AnyId.optional(),
  from: common.Time.optional(),
});
export const DispatchLine = common.answer('DispatchLine', {
  ...common.texts('logId', 'uid', 'taskId', 'occurrence'),
  params: z.record(z.string(), common.Json),
  type: z.enum(['dispatched', 'completed', 'returned']),
  at: z.string(),
  result: common.Json,
});
