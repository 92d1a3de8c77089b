import { IdParam, pageOf } from '../../contract/common.ts';
import { Task, TaskFilter } from '../../contract/tasks.ts';
import { getTask, listTasks, type OccurrenceRow, type TaskRow, taskOccurrences } from '../../db/tasks.ts';
import { stateWord } from '../../domain/items.ts';
import { PAGE_BYTES } from '../../domain/pages.ts';
import { personOfUid, queueOfExecutor } from '../../domain/tasks.ts';
import { invalid, Problem } from '../../services/problems.ts';
import type { Api } from '../api.ts';
import { endpoint, ok } from '../endpoint.ts';
import { page } from '../paging.ts';

const WEEK_MS = 7 * 86_400_000;
const MOST_OCCURRENCES = 1_000;

/** A task as the API shows it; its callback without the secret. */
export function taskView(t: TaskRow): Task {
  return {
    ...{ id: t.id, type: t.type, executor: t.executor, startTime: t.start_time.toISOString() },
    ...{ everyMinutes: t.every_minutes, dailyTime: t.daily_time, everyDays: t.every_days, timezone: t.timezone },
    ...{ templateId: t.template_id, params: t.params, dispatchTimes: t.dispatch_times, dispatch: t.dispatch },
    ...{ catchUp: t.catch_up, lookbackSeconds: t.lookback_seconds, answerSeconds: t.answer_seconds },
    endTime: t.end_time?.toISOString() ?? null,
    callback: t.callback && { url: t.callback.url },
    state: t.state,
    createdAt: t.created_at.toISOString(),
    updatedAt: t.updated_at.toISOString(),
  };
}

/** @throws Problem `not_found` */
export async function findTask(api: Api, id: string): Promise<TaskRow> {
  const row = await getTask(api.runtime.db, id);
  if (!row) throw new Problem('not_found', `there is no task ${id}`);
  return row;
}

export const getTaskEndpoint = endpoint({
  method: 'get',
  path: '/v1/tasks/{id}',
  tag: 'Tasks',
  summary: 'A task, deleted ones too',
  roles: ['producer', 'agent'],
  params: IdParam,
  answers: { 200: Task },
  problems: ['not_found'],
  handle: async ({ api, params: { id } }) => ok(taskView(await findTask(api, id))),
});

export const listTasksEndpoint = endpoint({
  method: 'get',
  path: '/v1/tasks',
  tag: 'Tasks',
  summary: 'Tasks that have to do with a time, by default from seven days ago on; of a user with those of its groups',
  roles: ['producer', 'agent'],
  query: TaskFilter,
  answers: { 200: pageOf(Task) },
  async handle({ api, query }) {
    const { executor, include, state, limit, expand } = query;
    const queue = executor === undefined ? undefined : queueOfExecutor(executor);
    if (executor !== undefined && queue === undefined)
      throw invalid('executor', 'must be uid_ and a user, or gid_ and a group');
    const from = query.from === undefined ? new Date(Date.now() - WEEK_MS) : new Date(query.from);
    const to = query.to === undefined ? undefined : new Date(query.to);
    const place = query.cursor;
    const groupsOf = queue?.startsWith('uid_') && include !== 'own' ? personOfUid(queue) : undefined;
    const filter = { queue, groupsOf, state, from, to, after: place && { startTime: place[0], seq: place[1] } };
    const rows = await listTasks(api.runtime.db.lists, filter, limit + 1);
    const until = to ?? new Date(Math.max(from.getTime(), Date.now()) + WEEK_MS);
    const views = new Map(expand && (await expanded(api, rows.slice(0, limit), from, until)));
    const view = (row: TaskRow) => views.get(row) ?? taskView(row);
    return ok(page(rows, expand ? views.size : limit, view, (t) => `${t.start_time.toISOString()}_${t.seq}`));
  },
});

/** Tasks with their occurrences, one after the other and as many as a page holds; at least one. */
async function expanded(api: Api, rows: TaskRow[], from: Date, to: Date): Promise<[TaskRow, Task][]> {
  const shown: [TaskRow, Task][] = [];
  for (let [n, bytes] = [0, 0]; n < rows.length; n++) {
    const row = rows[n] as TaskRow;
    const task = await withOccurrences(api, row, from, to);
    bytes += Buffer.byteLength(JSON.stringify(task));
    if (bytes > PAGE_BYTES && n > 0) break;
    shown.push([row, task]);
  }
  return shown;
}

/** A task and when it occurs, from a time on until before another one (S4.9). */
async function withOccurrences(api: Api, row: TaskRow, from: Date, to: Date): Promise<Task> {
  const times = await taskOccurrences(api.runtime.db.lists, row.id, from, to, MOST_OCCURRENCES + 1);
  return {
    ...taskView(row),
    occurrences: times.slice(0, MOST_OCCURRENCES).map(occurrence),
    moreFrom: times[MOST_OCCURRENCES]?.at.toISOString() ?? null,
  };
}

function occurrence(o: OccurrenceRow) {
  const state = o.state === null ? ('planned' as const) : stateWord('task', o.state);
  const stock = o.state === null ? o.dispatch_times : (o.room ?? 0);
  return { occurrence: o.at.toISOString(), state, stock, dispatched: o.live, completed: o.completed };
}
