import type { Change, Item } from '../../contract/items.ts';
import type { NewTask, Task } from '../../contract/tasks.ts';
import { type Mover, only, type RowOf } from '../../db/pool.ts';
import { asColumns } from '../../db/rows.ts';
import type { TaskRow } from '../../db/statements.ts';
import { PAGE_BYTES } from '../../domain/pages.ts';
import { retentionOf } from '../../domain/retention.ts';
import { groupOfGid, mismatches, personOfUid, queueOfExecutor } from '../../domain/tasks.ts';
import { whileBusy } from '../shared/batching.ts';
import { checkCallback, checkZone } from '../shared/checks.ts';
import { type Context, found, invalid, Problem } from '../shared/service.ts';
import { addEach, added, met, one, sameContent } from '../shared/sets.ts';
import { contentHash, newId } from '../shared/tokens.ts';

const CHANGE_RETRIES = { tries: 300, stepMs: 2, mostMs: 50 };
const WEEK_MS = 7 * 86_400_000;
const MOST_OCCURRENCES = 1_000;

type TaskFields = Omit<NewTask, 'id'>;

/** A saved task; warnings name fields that cannot take effect yet. */
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
  after: { time: string; seq: number } | undefined;
  /** Whether to add each task's occurrences, from `from` until before `to`, by default seven days from now. */
  expand: boolean;
}

/** The times at which a task occurs. */
export interface Occurrences {
  times: RowOf<'task_occurrences'>[];
  /** The first time that is not listed; null: all are. */
  moreFrom: Date | null;
}

export const get = async ({ db }: Context, id: string): Promise<TaskRow | undefined> =>
  (await db.run('get_task', { id }))[0];

/** @throws Problem `not_found` */
export const find = async ({ db }: Context, id: string): Promise<TaskRow> =>
  found(await db.run('get_task', { id }), noTask(id));

/**
 * Adds a task (S4.1, S4.2).
 * @param given its id; undefined: a random one
 * @throws Problem 422, `id_conflict`, `template_mismatch`, `limit_reached`
 */
export async function add(ctx: Context, given: string | undefined, fields: TaskFields, actor: string) {
  const { maxRotations } = ctx.config;
  const id = given ?? newId();
  const hash = contentHash(fields);
  // the fields of a known task are not checked: its template may have been deleted since
  const known = await get(ctx, id);
  if (known) return { ...(await saved(ctx, sameContent(known, 'task', id, hash))), created: false };
  const task = { ...(await checked(ctx, id, fields)), content_hash: `\\x${hash}` };
  const insert = async () => {
    const { outcome } = only(await ctx.db.move('add_task', { task, maxRotations, actor }, { moved: itemsOf }));
    if (outcome === 'exists') return [];
    if (outcome !== 'created') throw rejection(outcome, fields.executor, maxRotations);
    return [await find(ctx, id)];
  };
  const meet = met('task', async () => [await get(ctx, id)].filter((task) => task !== undefined));
  const { item, created } = one(await addEach('task', [{ id, hash }], [added(insert), meet]));
  return { ...(await saved(ctx, item)), created };
}

/**
 * Changes a task.
 * @param changes a field that is undefined stays as it is
 * @throws Problem `not_found`, `not_open`, `unavailable` while others change it all the time, and those of `add`
 */
export async function change(ctx: Context, id: string, changes: Partial<TaskFields>, actor: string): Promise<Saved> {
  const { maxRotations } = ctx.config;
  const attempt = async () => {
    const row = await find(ctx, id);
    if (row.state === 'deleted') throw deleted(row);
    const fields = { ...fieldsOf(row), ...defined(changes) };
    // one that names its template takes that as it is now
    const version = changes.templateId === undefined ? row.template_version : undefined;
    const task = await checked(ctx, id, fields, version);
    const given = { id, task, revision: row.revision, maxRotations, actor };
    const { outcome } = only(await ctx.db.move('change_task', given, { moved: itemsOf }));
    if (outcome === 'limit' || outcome === 'no_template' || outcome === 'too_many')
      throw rejection(outcome, fields.executor, maxRotations);
    return outcome;
  };
  const outcome = await whileBusy(attempt, (one) => one !== 'changed', CHANGE_RETRIES);
  if (outcome === 'changed') return saved(ctx, await find(ctx, id));
  throw new Problem('unavailable', `others change task ${id} all the time, try again`);
}

/** Deletes a task: nothing more of it is dispatched. @throws Problem `not_found` */
export async function remove(ctx: Context, id: string, actor: string): Promise<TaskRow> {
  if ((await deleteTask(ctx.db, id, null, actor)) === 'not_found') throw new Problem('not_found', noTask(id));
  return find(ctx, id);
}

/**
 * Tasks by their start, oldest first, one row more than `limit` if there is one.
 * @returns `occurrences` if the filter expands them: of the first tasks, as many as a page holds
 */
export async function list(
  ctx: Context,
  f: TaskListFilter,
  limit: number,
): Promise<{ rows: TaskRow[]; occurrences?: Map<TaskRow, Occurrences> }> {
  const { lists } = ctx.db;
  const queue = f.executor === undefined ? undefined : queueOfExecutor(f.executor);
  const from = f.from === undefined ? new Date(Date.now() - WEEK_MS) : new Date(f.from);
  const to = f.to === undefined ? undefined : new Date(f.to);
  const executor = queue?.startsWith('uid_') && !f.ownOnly ? { person: personOfUid(queue) } : { queue };
  const page = { afterStart: f.after?.time, afterSeq: f.after?.seq, limit: limit + 1 };
  const rows = await lists.run('list_tasks', { ...executor, state: f.state, from, to, ...page });
  if (!f.expand) return { rows };
  const until = to ?? new Date(Math.max(from.getTime(), Date.now()) + WEEK_MS);
  return { rows, occurrences: await occurrencesOf(ctx, rows.slice(0, limit), from, until) };
}

/** An occurrence that has an item; planned ones have none. @throws Problem `not_found` */
export const findOccurrence = async ({ db }: Context, id: string): Promise<Item> =>
  found(await db.run('get_items', { kind: 'task', ids: [id] }), `there is no occurrence ${id}, or not yet`);

/** Ends a task and its occurrences that have not been dispatched. */
export const deleteTask = async (db: Mover, id: string, reason: string | null, actor: string) =>
  only(await db.move('delete_task', { id, reason, actor }, { moved: itemsOf })).outcome;

/** Rows with an item: a task without occurrences is answered by one row without. */
const itemsOf = (rows: { id: string | null }[]) => rows.filter((row) => row.id !== null) as Change[];

/** The fields of a task, as they are sent. */
export function fieldsOf(row: TaskRow): TaskFields {
  return {
    ...{ type: row.type, executor: row.executor, startTime: row.start_time.toISOString() },
    ...{ everyMinutes: row.every_minutes, dailyTime: row.daily_time, everyDays: row.every_days },
    ...{ timezone: row.timezone, templateId: row.template_id, params: row.params },
    ...{ dispatchTimes: row.dispatch_times, dispatch: row.dispatch, catchUp: row.catch_up },
    ...{ lookbackSeconds: row.lookback_seconds, maxLookbackSeconds: row.max_lookback_seconds },
    answerSeconds: row.answer_seconds,
    ...{ endTime: row.end_time?.toISOString() ?? null, callback: row.callback },
  };
}

/**
 * Checks fields and makes them the row of a task.
 * @param version of its template; undefined: the newest
 * @throws Problem 422 for fields that contradict each other, `template_mismatch` with every mismatch
 */
async function checked(ctx: Context, id: string, fields: TaskFields, version?: number): Promise<Partial<TaskRow>> {
  const { db, secrets } = ctx;
  checkRhythm(fields);
  checkCallback(ctx, 'callback', fields.callback);
  await checkZone(ctx, fields.timezone);
  const [template] = await db.run('template_version', { id: fields.templateId, version });
  if (!template) throw noTemplate();
  const errors = mismatches(template.params, fields.params);
  if (errors.length > 0) {
    const all = errors.map((e) => `${e.path} ${e.message}`).join('; ');
    throw new Problem('template_mismatch', `template ${fields.templateId}: ${all}`.slice(0, 2000), {
      errors: errors.slice(0, 50),
    });
  }
  const { startTime, endTime } = fields;
  return {
    ...{ ...asColumns(fields), id, queue: queueOfExecutor(fields.executor), template_version: template.version },
    // cut off to milliseconds, which is the precision of an occurrence's id
    ...{ start_time: new Date(startTime), end_time: endTime === null ? null : new Date(endTime) },
    callback: secrets.seal(fields.callback),
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

export const noTask = (id: string) => `there is no task ${id}`;
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
    'more than 10,000 occurrences would be caught up; give a later startTime or a smaller lookbackSeconds or maxLookbackSeconds',
    { errors: [{ path: 'lookbackSeconds', message: 'reaches back to more than 10,000 occurrences' }] },
  );
}

/** Warns of a group that does not exist: it may be created later, or its name may be misspelt. */
async function saved({ db }: Context, task: TaskRow): Promise<Saved> {
  if (!task.queue.startsWith('gid_')) return { task, warnings: [] };
  const [group] = await db.run('has_group', { id: groupOfGid(task.queue) });
  if (group?.known) return { task, warnings: [] };
  const message = `there is no group ${task.executor} yet; the task is not handed out before the group has members`;
  return { task, warnings: [{ path: 'executor', message }] };
}

/** The occurrences of the first tasks, as many as a page holds, of at least one task (S4.9). */
async function occurrencesOf({ db, config }: Context, tasks: TaskRow[], from: Date, to: Date) {
  const listed = new Map<TaskRow, Occurrences>();
  let bytes = 0;
  for (const task of tasks) {
    const keptDays = retentionOf(config.retention, 'task', task.queue);
    const wanted = { id: task.id, from, to, keptDays, limit: MOST_OCCURRENCES + 1 };
    const rows = await db.lists.run('task_occurrences', wanted);
    const times = rows.slice(0, MOST_OCCURRENCES);
    bytes += Buffer.byteLength(JSON.stringify([fieldsOf(task), times]));
    if (bytes > PAGE_BYTES && listed.size > 0) break;
    listed.set(task, { times, moreFrom: rows[MOST_OCCURRENCES]?.at ?? null });
  }
  return listed;
}
