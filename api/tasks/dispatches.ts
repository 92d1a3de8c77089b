import { pageOf } from '../../contract/common.ts';
import * as contract from '../../contract/tasks.ts';
import { instantOf, taskOf } from '../../domain/tasks.ts';
import { invalid } from '../../services/shared/service.ts';
import * as dispatches from '../../services/tasks/dispatches.ts';
import { boundTo, isOperator, personOf } from '../auth.ts';
import { endpoint, ok } from '../endpoint.ts';
import { clientByUid, listed } from '../views.ts';

export const nextTaskEndpoint = endpoint('pullTask', 'POST /v1/clients/{uid}/next', {
  ...clientByUid,
  summary: 'My unfinished task again, or the next one that is due for me or my groups',
  roles: ['reviewer', 'agent'],
  body: contract.NextTask,
  answers: { 200: contract.NextTaskAnswer },
  async handle({ ctx, caller, params, body, signal }) {
    const uid = personOf(caller, params.uid, 'uid');
    return ok(dispatched(await dispatches.pull(ctx, { uid, ...body, signal })));
  },
});

function dispatched(found: dispatches.Found) {
  if (found.outcome === 'none') {
    const { nextAt = null, reasons = null } = found.given;
    return { task: null, logId: null, redo: false, nextAt, reasons };
  }
  // a dispatch whose answer was lost is given again at the next call, with the same log id
  const startTime = found.available_at.toISOString();
  const task = { id: taskOf(found.id), occurrence: instantOf(found.id), startTime, params: found.given };
  return { task, logId: found.log_id, redo: found.outcome === 'redo', nextAt: null, reasons: null };
}

export const explainTaskEndpoint = endpoint('explainTask', 'POST /v1/clients/{uid}/explain', {
  ...clientByUid,
  summary: 'Explain why a user gets nothing, or whether they would get a task now and how many go before it',
  roles: ['producer', 'reviewer', 'agent', 'supervisor'],
  body: contract.ExplainTask,
  answers: { 200: contract.ExplainTaskAnswer },
  problems: ['not_found'],
  async handle({ ctx, caller, params, body }) {
    return ok(await dispatches.explain(ctx, personOf(caller, params.uid, 'uid'), body.task, boundTo(caller)));
  },
});

export const completeTaskEndpoint = endpoint('completeTask', 'POST /v1/clients/{uid}/complete', {
  ...clientByUid,
  summary: 'Complete the last task that I was given, by its log id; with `next`, get the next one in the same call',
  roles: ['reviewer', 'agent'],
  body: contract.CompleteTask,
  answers: { 200: contract.CompleteTaskAnswer },
  problems: ['stale_log_id', 'lease_lost'],
  async handle({ ctx, caller, params, body: { logId, result = null, next, ...wanted }, signal }) {
    const uid = personOf(caller, params.uid, 'uid');
    const done = await dispatches.complete(ctx, uid, logId, result);
    const completedAt = done.completed_at.toISOString();
    if (!next) return ok({ logId, completedAt });
    return ok({
      logId,
      completedAt,
      next: dispatched(await dispatches.pullAfter(ctx, done, { uid, ...wanted, signal })),
    });
  },
});

export const releaseTaskEndpoint = endpoint('releaseTask', 'POST /v1/clients/{uid}/release', {
  ...clientByUid,
  summary: 'Give my last task back; a supervisor or administrator without a log id takes it back',
  roles: ['reviewer', 'agent', 'supervisor'],
  body: contract.ReleaseTask,
  answers: { 200: contract.ReleaseTaskAnswer },
  problems: ['stale_log_id'],
  async handle({ ctx, caller, params, body: { logId = null, reason = null } }) {
    if (logId === null && !isOperator(caller)) throw invalid('logId', 'is required');
    return ok(await dispatches.release(ctx, personOf(caller, params.uid, 'uid'), logId, reason, caller.actor));
  },
});

/** The position of a line in the log, from its cursor: time in microseconds, number, item. */
function positionOf(cursor: string) {
  const [micros = '', seq = '', ...item] = cursor.split('_');
  return { micros: Number(micros), itemId: item.join('_'), seq: Number(seq) };
}

const line = ({ item_id, type, at, data }: dispatches.DispatchLogRow) => ({
  ...{ logId: data.logId, uid: data.uid, taskId: taskOf(item_id), occurrence: instantOf(item_id) },
  ...{ params: data.params ?? {}, type, at: at.toISOString(), result: data.result ?? null },
});

export const dispatchLogEndpoint = endpoint('listDispatches', 'GET /v1/dispatch-log', {
  tag: 'Tasks',
  summary: 'Dispatches, completions and returns, oldest first',
  roles: ['producer', 'agent', 'supervisor'],
  scope: { task: ({ query }) => query.taskId },
  query: contract.DispatchFilter,
  answers: { 200: pageOf(contract.DispatchLine) },
  async handle({ ctx, query: { uid, taskId, from, limit, cursor } }) {
    const after = cursor === undefined ? undefined : positionOf(cursor);
    return listed(
      dispatches.log(ctx, { uid, taskId, from, after }, limit + 1),
      limit,
      line,
      (r) => `${r.micros}_${r.seq}_${r.item_id}`,
    );
  },
});
