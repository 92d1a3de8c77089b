import { isWorkflow, pageOf, workflowOf } from '../../contract/common.ts';
import type { Callback } from '../../contract/items.ts';
import { NewTask, OccurrenceParam, PatchTask, Task, TaskFilter } from '../../contract/tasks.ts';
import type { TaskRow } from '../../db/statements.ts';
import { withoutQuery } from '../../domain/callbacks.ts';
import { stateWord } from '../../domain/items.ts';
import * as tasks from '../../services/tasks/tasks.ts';
import { wantedId } from '../adding.ts';
import { deliveryEndpoints, type ItemId } from '../deliveries.ts';
import { answer, endpoint, ok } from '../endpoint.ts';
import { itemEndpoints } from '../items.ts';
import { page, taskById, timePosition } from '../views.ts';

/** A task as the API shows it; its callback without the secret. */
function taskView(t: TaskRow): Task {
  return {
    id: t.id,
    ...tasks.fieldsOf(t),
    callback: t.callback && shownUrl(t.callback),
    templateVersion: t.template_version,
    state: t.state,
    createdAt: t.created_at.toISOString(),
    updatedAt: t.updated_at.toISOString(),
    ...(t.erased && { erased: true }),
  };
}

const shownUrl = ({ url }: Callback) => (isWorkflow(url) ? { temporal: workflowOf(url) } : { url: withoutQuery(url) });

const savedView = ({ task, warnings }: tasks.Saved): Task => ({ ...taskView(task), warnings });

function stateOf({ state, made, returned }: tasks.Occurrences['times'][number]) {
  if (state === null) return made ? 'missed' : 'planned';
  return returned ? 'returned' : stateWord('task', state);
}

const expandedView = (task: TaskRow, { times, moreFrom }: tasks.Occurrences): Task => ({
  ...taskView(task),
  occurrences: times.map((o) => ({
    occurrence: o.at.toISOString(),
    state: stateOf(o),
    stock: o.state === null && !o.made ? o.dispatch_times : (o.capacity ?? 0),
    dispatched: o.live,
    completed: o.completed,
  })),
  moreFrom: moreFrom?.toISOString() ?? null,
});

export const addTaskEndpoint = endpoint('addTask', 'POST /v1/tasks', {
  tag: 'Tasks',
  summary: 'A task that clients pull, once or again and again; the same id and content again is the same task',
  roles: ['producer', 'supervisor'],
  scope: { queue: ({ body }) => body.executor },
  body: NewTask,
  takesKey: true,
  answers: { 200: Task, 201: Task },
  problems: ['id_conflict', 'erased', 'limit_reached', 'template_mismatch'],
  async handle({ ctx, caller, body: { id: sent, ...fields }, header }) {
    const id = wantedId(sent, caller, 'task', header('idempotency-key'));
    const added = await tasks.add(ctx, id, fields, caller.actor);
    return answer(added.created ? 201 : 200, savedView(added));
  },
});

export const patchTaskEndpoint = endpoint('updateTask', 'PATCH /v1/tasks/{id}', {
  ...taskById,
  summary: 'Change a task; it acts on what has not been dispatched',
  roles: ['producer', 'supervisor'],
  scope: { queue: ({ body }) => body.executor, ...taskById.scope },
  body: PatchTask,
  answers: { 200: Task },
  problems: ['not_found', 'not_open', 'limit_reached', 'template_mismatch'],
  handle: async ({ ctx, caller, params: { id }, body }) =>
    ok(savedView(await tasks.change(ctx, id, body, caller.actor))),
});

export const deleteTaskEndpoint = endpoint('deleteTask', 'DELETE /v1/tasks/{id}', {
  ...taskById,
  summary: 'No further dispatches; what is with clients may be completed',
  roles: ['producer', 'supervisor'],
  answers: { 200: Task },
  handle: async ({ ctx, caller, params: { id } }) => ok(taskView(await tasks.remove(ctx, id, caller.actor))),
});

export const getTaskEndpoint = endpoint('getTask', 'GET /v1/tasks/{id}', {
  ...taskById,
  summary: 'A task, deleted ones too',
  roles: ['producer', 'agent', 'supervisor'],
  answers: { 200: Task },
  handle: async ({ ctx, params: { id } }) => ok(taskView(await tasks.find(ctx, id))),
});

export const listTasksEndpoint = endpoint('listTasks', 'GET /v1/tasks', {
  tag: 'Tasks',
  summary:
    'Tasks that are active in a range of time, by default from seven days ago on; of a user with those of its groups',
  roles: ['producer', 'agent', 'supervisor'],
  scope: { list: 'executor', queue: ({ query }) => query.executor },
  query: TaskFilter,
  answers: { 200: pageOf(Task) },
  async handle({ ctx, query: { limit, cursor, include, expand, executor, state, from, to } }) {
    const filter = {
      executor,
      ownOnly: include === 'own',
      state,
      from,
      to,
      after: cursor,
      expand: expand === 'occurrences',
    };
    const { rows, occurrences } = await tasks.list(ctx, filter, limit);
    const view = (task: TaskRow) => {
      const found = occurrences?.get(task);
      return found ? expandedView(task, found) : taskView(task);
    };
    return ok(page(rows, occurrences?.size ?? limit, view, (t) => timePosition(t.start_time, t)));
  },
});

const shownOccurrence = {
  ...taskById,
  one: 'an occurrence',
  operations: 'Occurrence',
  base: '/v1/tasks/{id}/occurrences/{occurrence}',
  params: OccurrenceParam,
  // normalised to UTC
  idOf: ({ id, occurrence }: ItemId) => `${id}/${new Date(String(occurrence)).toISOString()}`,
  find: tasks.findOccurrence,
};
export const oneOccurrence = [...itemEndpoints('task', shownOccurrence), ...deliveryEndpoints('task', shownOccurrence)];
