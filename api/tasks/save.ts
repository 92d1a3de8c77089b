import { IdParam } from '../../contract/common.ts';
import { NewTask, PatchTask, Task } from '../../contract/tasks.ts';
import {
  addTask,
  changeTask,
  deleteTask,
  getTask,
  getTemplate,
  hasGroup,
  isZone,
  type TaskRow,
  type TaskToBe,
} from '../../db/tasks.ts';
import { groupOfGid, mismatches, queueOfExecutor } from '../../domain/tasks.ts';
import { invalid, Problem } from '../../services/problems.ts';
import { whileBusy } from '../../services/retry.ts';
import { contentHash, newId } from '../../services/tokens.ts';
import { keyedId, sameOrConflict } from '../adding.ts';
import type { Api } from '../api.ts';
import { checkUrl } from '../deliveries.ts';
import { answer, endpoint, ok } from '../endpoint.ts';
import { findTask, taskView } from './get.ts';

type Fields = Omit<NewTask, 'id'>;
const PATIENCE = { tries: 300, stepMs: 2, mostMs: 50 };

export const addTaskEndpoint = endpoint({
  method: 'post',
  path: '/v1/tasks',
  tag: 'Tasks',
  summary: 'A task that clients pull, once or again and again; the same id and content again is the same task',
  roles: ['producer'],
  body: NewTask,
  answers: { 200: Task, 201: Task },
  problems: ['id_conflict', 'limit_reached', 'template_mismatch'],
  async handle({ api, caller, body: { id: sent, ...fields }, header }) {
    const { db } = api.runtime;
    const id = sent ?? keyedId(caller, 'task', header('idempotency-key')) ?? newId();
    const hash = contentHash(fields);
    const known = await getTask(db, id);
    if (known) return ok(await saved(api, sameOrConflict(known, 'task', id, hash).item));
    const task = await checked(api, id, fields, hash);
    const outcome = await addTask(db, task, api.config.maxRotations, caller.actor);
    if (outcome === 'limit') throw tooMany(api, fields.executor);
    if (outcome === 'no_template') throw noTemplate();
    if (outcome === 'too_many') throw tooManyDue();
    const row = await findTask(api, id);
    if (outcome === 'exists') return ok(await saved(api, sameOrConflict(row, 'task', id, hash).item));
    return answer(201, await saved(api, row));
  },
});

export const patchTaskEndpoint = endpoint({
  method: 'patch',
  path: '/v1/tasks/{id}',
  tag: 'Tasks',
  summary: 'Change a task; it acts on what has not been dispatched',
  roles: ['producer'],
  params: IdParam,
  body: PatchTask,
  answers: { 200: Task },
  problems: ['not_found', 'not_open', 'limit_reached', 'template_mismatch'],
  async handle({ api, caller, params: { id }, body }) {
    const { db } = api.runtime;
    const change = async () => {
      const row = await findTask(api, id);
      if (row.state === 'deleted') throw deleted(row);
      const { id: _, ...wanted } = { ...fieldsOf(row), ...defined(body) };
      const task = await checked(api, id, wanted, Buffer.from(row.content_hash).toString('hex'));
      const outcome = await changeTask(db, task, row.revision, api.config.maxRotations, caller.actor);
      if (outcome === 'limit') throw tooMany(api, wanted.executor);
      if (outcome === 'no_template') throw noTemplate();
      if (outcome === 'too_many') throw tooManyDue();
      return outcome;
    };
    const outcome = await whileBusy(change, (one) => one !== 'changed', PATIENCE);
    if (outcome === 'changed') return ok(await saved(api, await findTask(api, id)));
    throw new Problem('unavailable', `others change task ${id} all the time, try again`);
  },
});

export const deleteTaskEndpoint = endpoint({
  method: 'delete',
  path: '/v1/tasks/{id}',
  tag: 'Tasks',
  summary: 'No further dispatches; what is with clients may be completed',
  roles: ['producer'],
  params: IdParam,
  answers: { 200: Task },
  problems: ['not_found'],
  async handle({ api, caller, params: { id } }) {
    const outcome = await deleteTask(api.runtime.db, id, null, caller.actor);
    if (outcome === 'not_found') throw new Problem('not_found', `there is no task ${id}`);
    return ok(taskView(await findTask(api, id)));
  },
});

const noTemplate = () => invalid('templateId', 'names no template');

const defined = <T extends object>(fields: T): T =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as T;

const tooMany = ({ config }: Api, executor: string) =>
  new Problem(
    'limit_reached',
    `${executor} has ${config.maxRotations} rotating tasks, which is as many as there may be`,
  );

/** `too_many_due` in db/functions/rotations.sql counts them. */
const tooManyDue = () =>
  new Problem(
    'limit_reached',
    'more than 10,000 occurrences would be caught up; give a later startTime or a smaller lookbackSeconds',
    {
      errors: [{ path: 'lookbackSeconds', message: 'reaches back to more than 10,000 occurrences' }],
    },
  );

/** A task as it was saved. A group may be made after its tasks, but its name may also be a typing error. */
async function saved(api: Api, row: TaskRow): Promise<Task> {
  const unknown = row.queue.startsWith('gid_') && !(await hasGroup(api.runtime.db, groupOfGid(row.queue)));
  const message = `there is no group ${row.executor} yet; the task is not handed out before the group has members`;
  return { ...taskView(row), warnings: unknown ? [{ path: 'executor', message }] : [] };
}

const deleted = (row: TaskRow) =>
  new Problem('not_open', `task ${row.id} has been deleted`, {
    ...{ state: 'deleted', by: null, reason: null },
    at: row.updated_at.toISOString(),
  });

/** A task as somebody might have sent it. */
function fieldsOf(row: TaskRow): NewTask {
  const { createdAt, updatedAt, state, callback, occurrences, moreFrom, warnings, ...view } = taskView(row);
  return { ...view, callback: row.callback };
}

/**
 * A task as the database keeps it.
 * @throws Problem 422 for fields that don't go together, `template_mismatch` with every mismatch
 */
async function checked(api: Api, id: string, fields: Fields, hash: string): Promise<TaskToBe> {
  checkRhythm(fields);
  checkUrl(api, 'callback.url', fields.callback?.url);
  const { db } = api.runtime;
  if (!(await isZone(db, fields.timezone))) throw invalid('timezone', 'is not a time zone that the database knows');
  const template = await getTemplate(db, fields.templateId);
  if (!template) throw noTemplate();
  const errors = mismatches(template.params, fields.params);
  if (errors.length > 0) {
    const all = errors.map((e) => `${e.path} ${e.message}`).join('; ');
    throw new Problem('template_mismatch', `template ${template.id}: ${all}`.slice(0, 2000), {
      errors: errors.slice(0, 50),
    });
  }
  return {
    ...{ id, hash, type: fields.type, executor: fields.executor, queue: queueOfExecutor(fields.executor) ?? '' },
    ...{ start_time: toMs(fields.startTime), end_time: fields.endTime === null ? null : toMs(fields.endTime) },
    ...{ every_minutes: fields.everyMinutes, daily_time: fields.dailyTime, every_days: fields.everyDays },
    ...{ timezone: fields.timezone, template_id: fields.templateId, params: fields.params },
    ...{ dispatch_times: fields.dispatchTimes, dispatch: fields.dispatch, catch_up: fields.catchUp },
    ...{ lookback_seconds: fields.lookbackSeconds, answer_seconds: fields.answerSeconds, callback: fields.callback },
  };
}

/** What is finer than a millisecond is cut off, so that an occurrence's id says the instant that counts. */
const toMs = (time: string) => new Date(time);

function checkRhythm(f: Fields): void {
  const rhythms = [f.everyMinutes, f.dailyTime].filter((r) => r !== null).length;
  if (f.type === 'once' && rhythms > 0)
    throw invalid(f.everyMinutes === null ? 'dailyTime' : 'everyMinutes', 'is for tasks of type rotate');
  if (f.type === 'rotate' && rhythms !== 1) throw invalid('everyMinutes', 'or dailyTime: give one of them');
  if (f.everyDays !== 1 && f.dailyTime === null) throw invalid('everyDays', 'is for tasks with a dailyTime');
  if (f.endTime !== null && Date.parse(f.endTime) < Date.parse(f.startTime))
    throw invalid('endTime', 'is before startTime');
}
