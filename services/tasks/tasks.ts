import type { Change, Item } from '../../contract/items.ts';
import type { NewTask, Task } from '../../contract/tasks.ts';
import type { Db, Mover, Queryable, RowOf } from '../../db/pool.ts';
import type { TaskRow } from '../../db/statements.ts';
import { refuseUrl } from '../../domain/callbacks.ts';
import { PAGE_BYTES } from '../../domain/pages.ts';
import { type RetentionRules, retentionOf } from '../../domain/retention.ts';
import { groupOfGid, mismatches, personOfUid, queueOfExecutor } from '../../domain/tasks.ts';
import type { Runtime } from '../../runtime/runtime.ts';
import type { ServiceConfig } from '../shared/context.ts';
import { addOnce, invalid, Problem, sameContent } from '../shared/problems.ts';
import { whileBusy } from '../shared/retry.ts';
import { contentHash, newId } from '../shared/tokens.ts';

const CHANGE_RETRIES = { tries: 300, stepMs: 2, mostMs: 50 };
const WEEK_MS = 7 * 86_400_000;
const MOST_OCCURRENCES = 1_000;

/** What a task is besides its id. */
export type TaskFields = Omit<NewTask, 'id'>;

/** A task as it was saved; a warning is of what cannot take effect yet. */
export interface Saved {
  task: TaskRow;
  warnings: NonNullable<Task['warnings']>;
}

interface TaskListFilter {
  executor: string | undefined;
  /** Of a user: without the tasks of its groups. */
  ownOnly: boolean;
  state: TaskRow['state'];
  /** Default: seven days ago. */
  from: string | undefined;
  to: string | undefined;
  /** The last row of the page before. */
  after: { start: string; seq: number } | undefined;
  /** With each task's occurrences from `from` until before `to`, by default seven days from now. */
  expand: boolean;
}

/** When a task occurs, and from when on there are more times than are listed. */
export interface Occurrences {
  times: RowOf<'task_occurrences'>[];
  moreFrom: Date | null;
}

/** Tasks (S4.1, S4.2, S4.9). What clients do with them: services/tasks/dispatches.ts. Functions throw Problem. */
export interface TaskService {
  /** @param id left out: one is drawn */
  add(id: string | undefined, fields: TaskFields, actor: string): Promise<Saved & { created: boolean }>;
  /** @param changes left out or undefined: the field stays */
  change(id: string, changes: Partial<TaskFields>, actor: string): Promise<Saved>;
  remove(id: string, actor: string): Promise<TaskRow>;
  get(id: string): Promise<TaskRow | undefined>;
  find(id: string): Promise<TaskRow>;
  /**
   * Oldest start first, one row more than `limit` if there is one.
   * @returns `occurrences` if they are asked for: of the first tasks, as many as a page holds
   */
  list(filter: TaskListFilter, limit: number): Promise<{ rows: TaskRow[]; occurrences?: Map<TaskRow, Occurrences> }>;
  /** Not one that is only planned. */
  findOccurrence(id: string): Promise<Item>;
}

export function taskService({ db, secrets }: Runtime, config: ServiceConfig): TaskService {
  const { maxRotations } = config;
  const get = async (id: string) => (await db.run('get_task', { id }))[0];
  const find = async (id: string) => {
    const task = await get(id);
    if (!task) throw notFound(id);
    return task;
  };
  const sealed = (fields: TaskFields) => ({ ...fields, callback: secrets.seal(fields.callback) });
  return {
    get,
    find,
    list: (filter, limit) => listTasks(db.lists, config.retention, filter, limit),
    async add(given, fields, actor) {
      const id = given ?? newId();
      const hash = contentHash(fields);
      // one that is known needs no look at its fields: its template may have gone since
      const known = await get(id);
      if (known) return { ...(await saved(db, sameContent(known, 'task', id, hash))), created: false };
      const row = await checked(db, config, id, sealed(fields));
      const task = { ...row, content_hash: `\\x${hash}` };
      const insert = async () => {
        const outcome = outcomeOf(await db.move('add_task', { task, maxRotations, actor }, { moved: itemsOf }));
        if (outcome === 'exists') return undefined;
        if (outcome !== 'created') throw rejection(outcome, fields.executor, maxRotations);
        return find(id);
      };
      const { item, created } = await addOnce({ what: 'task', id, hash }, insert, () => get(id));
      return { ...(await saved(db, item)), created };
    },
    async change(id, changes, actor) {
      const change = async () => {
        const row = await find(id);
        if (row.state === 'deleted') throw deleted(row);
        const fields = { ...fieldsOf(row), ...defined(changes) };
        const task = await checked(db, config, id, sealed(fields));
        const given = { id, task, revision: row.revision, maxRotations, actor };
        const outcome = outcomeOf(await db.move('change_task', given, { moved: itemsOf }));
        if (outcome === 'limit' || outcome === 'no_template' || outcome === 'too_many')
          throw rejection(outcome, fields.executor, maxRotations);
        return outcome;
      };
      const outcome = await whileBusy(change, (one) => one !== 'changed', CHANGE_RETRIES);
      if (outcome === 'changed') return saved(db, await find(id));
      throw new Problem('unavailable', `others change task ${id} all the time, try again`);
    },
    async remove(id, actor) {
      if ((await deleteTask(db, id, null, actor)) === 'not_found') throw notFound(id);
      return find(id);
    },
    async findOccurrence(id) {
      const [item] = await db.run('get_items', { kind: 'task', ids: [id] });
      if (!item) throw new Problem('not_found', `there is no occurrence ${id}, or not yet`);
      return item;
    },
  };
}

/** Ends a task, and its occurrences as far as they have not been dispatched. */
export async function deleteTask(db: Mover, id: string, reason: string | null, actor: string) {
  return outcomeOf(await db.move('delete_task', { id, reason, actor }, { moved: itemsOf }));
}

/** Rows of a command's answer that have an item; there is one without where the task has none. */
const itemsOf = (rows: { id: string | null }[]) => rows.filter((row) => row.id !== null) as Change[];

function outcomeOf<O>([first]: { outcome: O }[]): O {
  if (!first) throw new Error('the statement gave no outcome');
  return first.outcome;
}

/** A task as it could have been sent. */
export function fieldsOf(row: TaskRow): TaskFields {
  return {
    ...{ type: row.type, executor: row.executor, startTime: row.start_time.toISOString() },
    ...{ everyMinutes: row.every_minutes, dailyTime: row.daily_time, everyDays: row.every_days },
    ...{ timezone: row.timezone, templateId: row.template_id, params: row.params },
    ...{ dispatchTimes: row.dispatch_times, dispatch: row.dispatch, catchUp: row.catch_up },
    ...{ lookbackSeconds: row.lookback_seconds, answerSeconds: row.answer_seconds },
    ...{ endTime: row.end_time?.toISOString() ?? null, callback: row.callback },
  };
}

/**
 * A task as the database keeps it.
 * @throws Problem 422 for fields that don't go together, `template_mismatch` with every mismatch
 */
async function checked(db: Db, config: ServiceConfig, id: string, fields: TaskFields): Promise<Partial<TaskRow>> {
  checkRhythm(fields);
  const refused = fields.callback && refuseUrl(fields.callback.url, config.privateCallbacks);
  if (refused) throw invalid('callback.url', refused);
  const [zone] = await db.run('is_zone', { name: fields.timezone });
  if (!zone?.known) throw invalid('timezone', 'is not a time zone that the database knows');
  const [template] = await db.run('get_template', { id: fields.templateId });
  if (!template) throw noTemplate();
  const errors = mismatches(template.params, fields.params);
  if (errors.length > 0) {
    const all = errors.map((e) => `${e.path} ${e.message}`).join('; ');
    throw new Problem('template_mismatch', `template ${template.id}: ${all}`.slice(0, 2000), {
      errors: errors.slice(0, 50),
    });
  }
  return {
    ...{ id, type: fields.type, executor: fields.executor, queue: queueOfExecutor(fields.executor) },
    // finer than a millisecond is cut off, so that an occurrence's id says the instant that counts
    ...{ start_time: new Date(fields.startTime), end_time: fields.endTime === null ? null : new Date(fields.endTime) },
    ...{ every_minutes: fields.everyMinutes, daily_time: fields.dailyTime, every_days: fields.everyDays },
    ...{ timezone: fields.timezone, template_id: fields.templateId, params: fields.params },
    ...{ dispatch_times: fields.dispatchTimes, dispatch: fields.dispatch, catch_up: fields.catchUp },
    ...{ lookback_seconds: fields.lookbackSeconds, answer_seconds: fields.answerSeconds, callback: fields.callback },
  };
}

function checkRhythm(f: TaskFields): void {
  const rhythms = [f.everyMinutes, f.dailyTime].filter((r) => r !== null).length;
  if (f.type === 'once' && rhythms > 0)
    throw invalid(f.everyMinutes === null ? 'dailyTime' : 'everyMinutes', 'is for tasks of type rotate');
  if (f.type === 'rotate' && rhythms !== 1) throw invalid('everyMinutes', 'or dailyTime: give one of them');
  if (f.everyDays !== 1 && f.dailyTime === null) throw invalid('everyDays', 'is for tasks with a dailyTime');
  if (f.endTime !== null && Date.parse(f.endTime) < Date.parse(f.startTime))
    throw invalid('endTime', 'is before startTime');
}

const defined = <T extends object>(fields: T): { [K in keyof T]?: Exclude<T[K], undefined> } =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as T;

const notFound = (id: string) => new Problem('not_found', `there is no task ${id}`);
const noTemplate = () => invalid('templateId', 'names no template');

const deleted = (row: TaskRow) =>
  new Problem('not_open', `task ${row.id} has been deleted`, {
    ...{ state: 'deleted', by: null, reason: null },
    at: row.updated_at.toISOString(),
  });

function rejection(outcome: 'limit' | 'no_template' | 'too_many', executor: string, maxRotations: number): Problem {
  if (outcome === 'no_template') return noTemplate();
  if (outcome === 'limit') {
    const detail = `${executor} has ${maxRotations} rotating tasks, which is as many as there may be`;
    return new Problem('limit_reached', detail);
  }
  // `too_many_due` in db/functions/rotations.sql counts them
  return new Problem(
    'limit_reached',
    'more than 10,000 occurrences would be caught up; give a later startTime or a smaller lookbackSeconds',
    { errors: [{ path: 'lookbackSeconds', message: 'reaches back to more than 10,000 occurrences' }] },
  );
}

/** A group may be made after its tasks, but its name may also be a typing error. */
async function saved(db: Db, task: TaskRow): Promise<Saved> {
  if (!task.queue.startsWith('gid_')) return { task, warnings: [] };
  const [group] = await db.run('has_group', { id: groupOfGid(task.queue) });
  if (group?.known) return { task, warnings: [] };
  const message = `there is no group ${task.executor} yet; the task is not handed out before the group has members`;
  return { task, warnings: [{ path: 'executor', message }] };
}

async function listTasks(db: Queryable, retention: RetentionRules, f: TaskListFilter, limit: number) {
  const queue = f.executor === undefined ? undefined : queueOfExecutor(f.executor);
  const from = f.from === undefined ? new Date(Date.now() - WEEK_MS) : new Date(f.from);
  const to = f.to === undefined ? undefined : new Date(f.to);
  const filter = { state: f.state, from, to, afterStart: f.after?.start, afterSeq: f.after?.seq, limit: limit + 1 };
  const rows =
    queue?.startsWith('uid_') && !f.ownOnly
      ? await db.run('list_tasks_of', { ...filter, person: personOfUid(queue) })
      : await db.run('list_tasks', { ...filter, queue });
  if (!f.expand) return { rows };
  const until = to ?? new Date(Math.max(from.getTime(), Date.now()) + WEEK_MS);
  return { rows, occurrences: await occurrencesOf(db, retention, rows.slice(0, limit), from, until) };
}

/** When tasks occur (S4.9), one after the other and as many as a page holds; at least one. */
async function occurrencesOf(db: Queryable, retention: RetentionRules, tasks: TaskRow[], from: Date, to: Date) {
  const found = new Map<TaskRow, Occurrences>();
  let bytes = 0;
  for (const task of tasks) {
    const keptDays = retentionOf(retention, 'task', task.queue);
    const rows = await db.run('task_occurrences', { id: task.id, from, to, keptDays, limit: MOST_OCCURRENCES + 1 });
    const times = rows.slice(0, MOST_OCCURRENCES);
    bytes += Buffer.byteLength(JSON.stringify([fieldsOf(task), times]));
    if (bytes > PAGE_BYTES && found.size > 0) break;
    found.set(task, { times, moreFrom: rows[MOST_OCCURRENCES]?.at ?? null });
  }
  return found;
}
