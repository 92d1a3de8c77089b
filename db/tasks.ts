import type { Callback, Item } from '../contract/items.ts';
import type { NewTask, TemplateParams } from '../contract/tasks.ts';
import type { Mover, Queryable } from './pool.ts';

export interface TemplateRow {
  id: string;
  seq: number;
  name: string;
  params: TemplateParams;
  content_hash: Uint8Array;
  created_at: Date;
}

/** @returns undefined when the id exists */
export async function addTemplate(
  db: Queryable,
  t: { id: string; name: string; params: TemplateParams; hash: string },
): Promise<TemplateRow | undefined> {
  return (await db.run<TemplateRow>('add_template', [t.id, t.name, JSON.stringify(t.params), t.hash]))[0];
}

export async function getTemplate(db: Queryable, id: string): Promise<TemplateRow | undefined> {
  return (await db.run<TemplateRow>('get_template', [id]))[0];
}

export async function deleteTemplate(db: Queryable, id: string): Promise<'deleted' | 'used' | 'not_found'> {
  const [row] = await db.run<{ outcome: 'deleted' | 'used' | 'not_found' }>('delete_template', [id]);
  if (!row) throw new Error('delete_template returned no row');
  return row.outcome;
}

export const listTemplates = (db: Queryable, before: number | null, limit: number) =>
  db.run<TemplateRow>('list_templates', [before, limit]);

export interface GroupRow {
  id: string;
  seq: number;
  given_as: string;
  created_at: Date;
  updated_at: Date;
  size: number;
}

export type GroupWithMembers = GroupRow & { members: string[] };

/** A member by the name that counts, and as it was sent. */
export type Member = [person: string, givenAs: string];

/** Makes a group where there is none, and its members: all of them, or some more. */
export async function putGroup(
  db: Queryable,
  id: string,
  givenAs: string,
  members: Member[],
  only: boolean,
): Promise<void> {
  await db.run('put_group', [id, givenAs]);
  await db.run('put_members', [id, members.map(([person]) => person), members.map(([, sent]) => sent), only]);
  await db.run('count_members', [id]);
}

export async function removeMembers(db: Queryable, id: string, persons: string[]): Promise<void> {
  await db.run('remove_members', [id, persons]);
  await db.run('count_members', [id]);
}

export async function getGroup(db: Queryable, id: string): Promise<GroupWithMembers | undefined> {
  return (await db.run<GroupWithMembers>('get_group', [id]))[0];
}

export async function hasGroup(db: Queryable, id: string): Promise<boolean> {
  return (await db.run<{ known: boolean }>('has_group', [id]))[0]?.known === true;
}

export const listGroups = (db: Queryable, before: number | null, limit: number) =>
  db.run<GroupRow>('list_groups', [before, limit]);

/** Whether the database knows a time zone by this name. */
export async function isZone(db: Queryable, name: string): Promise<boolean> {
  return (await db.run<{ known: boolean }>('is_zone', [name]))[0]?.known === true;
}

export interface TaskRow {
  id: string;
  seq: number;
  type: NewTask['type'];
  executor: string;
  queue: string;
  start_time: Date;
  every_minutes: number | null;
  daily_time: string | null;
  every_days: number;
  timezone: string;
  template_id: string;
  params: NewTask['params'];
  dispatch_times: number;
  dispatch: NewTask['dispatch'];
  catch_up: NewTask['catchUp'];
  lookback_seconds: number;
  answer_seconds: number | null;
  end_time: Date | null;
  callback: Callback | null;
  state: 'active' | 'deleted';
  revision: number;
  content_hash: Uint8Array;
  created_at: Date;
  updated_at: Date;
}

/** A task as it is to be; `queue` is its executor as clients are found by it, `hash` is hex. */
export type TaskToBe = Omit<TaskRow, 'seq' | 'state' | 'revision' | 'content_hash' | 'created_at' | 'updated_at'> & {
  hash: string;
};

const json = ({ hash, ...task }: TaskToBe) => JSON.stringify({ ...task, content_hash: `\\x${hash}` });

/** A row of the answer; without an item where nothing changed. */
type Changed<O> = Item & { outcome: O };

const changed = <O>(rows: Changed<O>[]) => rows.filter((row) => row.id !== null);

/** See db/functions/taskbook.sql, as for the next three. `limit`: rotating tasks an executor may have. */
export async function addTask(
  db: Mover,
  task: TaskToBe,
  limit: number,
  actor: string,
): Promise<'created' | 'exists' | 'limit' | 'no_template' | 'too_many'> {
  return outcomeOf(await db.move('add_task', [json(task), limit, actor], { moved: changed }));
}

/** @param seen the revision that the change is made from */
export async function changeTask(
  db: Mover,
  task: TaskToBe,
  seen: number,
  limit: number,
  actor: string,
): Promise<'changed' | 'again' | 'deleted' | 'not_found' | 'limit' | 'no_template' | 'too_many'> {
  return outcomeOf(await db.move('change_task', [task.id, json(task), seen, limit, actor], { moved: changed }));
}

export async function deleteTask(
  db: Mover,
  id: string,
  reason: string | null,
  actor: string,
): Promise<'deleted' | 'repeated' | 'not_found'> {
  return outcomeOf(await db.move('delete_task', [id, reason, actor], { moved: changed }));
}

/** Ends an occurrence with all of its dispatches. */
export const cancelOccurrence = (db: Mover, id: string, reason: string, actor: string) =>
  db.move('cancel_occurrence', [id, reason, actor]);

function outcomeOf<O>([first]: Changed<O>[]): O {
  if (!first) throw new Error('the statement gave no outcome');
  return first.outcome;
}

export async function getTask(db: Queryable, id: string): Promise<TaskRow | undefined> {
  return (await db.run<TaskRow>('get_task', [id]))[0];
}

export interface TaskListFilter {
  queue: string | undefined;
  /** Whose groups' tasks are listed too. */
  groupsOf: string | undefined;
  state: TaskRow['state'];
  from: Date;
  to: Date | undefined;
  after: { startTime: string; seq: number } | undefined;
}

export function listTasks(db: Queryable, f: TaskListFilter, limit: number): Promise<TaskRow[]> {
  const values = [f.queue, f.state, f.from, f.to, f.after?.startTime, f.after?.seq, limit];
  return f.groupsOf === undefined
    ? db.run<TaskRow>('list_tasks', values)
    : db.run<TaskRow>('list_tasks_of', [...values, f.groupsOf]);
}

export interface OccurrenceRow {
  at: Date;
  /** null: not made yet. */
  state: Item['state'] | null;
  room: number | null;
  dispatch_times: number;
  live: number;
  completed: number;
}

export const taskOccurrences = (db: Queryable, id: string, from: Date, to: Date, limit: number) =>
  db.run<OccurrenceRow>('task_occurrences', [id, from, to, limit]);
