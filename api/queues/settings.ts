import { Deleted, Page, pageOf, QueueParam } from '../../contract/common.ts';
import { PutQueue, Queue, QueueDryRun } from '../../contract/queues.ts';
import { getQueue, listQueues, pauseQueue, putQueue, type Queue as Row } from '../../db/queues.ts';
import { Problem } from '../../services/problems.ts';
import { refreshQueue } from '../../services/queues.ts';
import { checkUrl } from '../deliveries.ts';
import { endpoint, ok } from '../endpoint.ts';
import { page } from '../paging.ts';
import { checkForm, checkRules } from '../tickets/forms.ts';

function queueView(q: Row) {
  return {
    name: q.name,
    paused: q.paused,
    leaseSeconds: q.lease_seconds,
    ageing: q.level_seconds === null ? null : { secondsPerLevel: q.level_seconds },
    escalations: q.escalations,
    reclaimedFirst: q.reclaimed_first,
    maxHeld: q.max_held,
    maxAttempts: q.max_attempts,
    deadlineSeconds: q.deadline_seconds,
    callback: q.callback,
    form: q.form,
    rules: q.rules,
    createdAt: q.created_at.toISOString(),
    updatedAt: q.updated_at.toISOString(),
  };
}

/** A callback's secret is for those who may set it. */
const readable = (q: Row, mayReadSecrets: boolean) => {
  const view = queueView(q);
  return mayReadSecrets || !view.callback ? view : { ...view, callback: { ...view.callback, secret: 'whsec_hidden' } };
};

export const putQueueEndpoint = endpoint({
  method: 'put',
  path: '/v1/queues/{queue}',
  tag: 'Queues',
  summary: 'Replace all settings; acts at once, also on what waits; dryRun: which tickets its rules would move',
  roles: [],
  params: QueueParam,
  body: PutQueue,
  answers: { 200: Queue.or(QueueDryRun) },
  async handle({ api, params: { queue: name }, body }) {
    checkUrl(api, 'callback.url', body.callback?.url);
    if (body.form) await checkForm(api, body.form);
    await checkRules(api, body.rules);
    const { db } = api.runtime;
    const { rules } = api.services;
    if (body.dryRun) return ok(await rules.wouldMove(name, body));
    const queue = await putQueue(db, 'ticket', name, {
      lease_seconds: body.leaseSeconds,
      level_seconds: body.ageing?.secondsPerLevel ?? null,
      escalations: body.escalations,
      reclaimed_first: body.reclaimedFirst,
      max_held: body.maxHeld,
      max_attempts: body.maxAttempts,
      deadline_seconds: body.deadlineSeconds,
      callback: body.callback,
      form: body.form,
      rules: body.rules,
    });
    if (queue.refresh_pending) {
      await refreshQueue(db, rules, 'ticket', name);
      api.runtime.rearm();
      api.runtime.relay.lookBack();
    }
    return ok(queueView(queue));
  },
});

export const getQueueEndpoint = endpoint({
  method: 'get',
  path: '/v1/queues/{queue}',
  tag: 'Queues',
  summary: 'A queue and its settings',
  roles: ['producer', 'reviewer', 'agent'],
  params: QueueParam,
  answers: { 200: Queue },
  problems: ['not_found'],
  async handle({ api, caller, params: { queue: name } }) {
    const queue = await getQueue(api.runtime.db, 'ticket', name);
    if (!queue) throw new Problem('not_found', `there is no queue ${name}`);
    return ok(readable(queue, caller.role === 'admin'));
  },
});

export const listQueuesEndpoint = endpoint({
  method: 'get',
  path: '/v1/queues',
  tag: 'Queues',
  summary: 'All ticket queues, newest first',
  roles: ['producer', 'reviewer', 'agent'],
  query: Page,
  answers: { 200: pageOf(Queue) },
  async handle({ api, caller, query: { limit, cursor } }) {
    const rows = await listQueues(api.runtime.db.lists, 'ticket', cursor ?? null, limit + 1);
    return ok(
      page(
        rows,
        limit,
        (q) => readable(q, caller.role === 'admin'),
        (q) => q.seq,
      ),
    );
  },
});

export const deleteQueueEndpoint = endpoint({
  method: 'delete',
  path: '/v1/queues/{queue}',
  tag: 'Queues',
  summary: 'Delete a queue that has no tickets, neither open nor final',
  roles: [],
  params: QueueParam,
  answers: { 200: Deleted },
  problems: ['not_found', 'id_conflict'],
  async handle({ api, params: { queue: name } }) {
    const outcome = await api.services.queues.remove('ticket', name);
    if (outcome === 'not_found') throw new Problem('not_found', `there is no queue ${name}`);
    if (outcome === 'used') throw new Problem('id_conflict', `queue ${name} has tickets, so it cannot be deleted`);
    return ok({ deleted: true });
  },
});

const pausing = (paused: boolean) =>
  endpoint({
    method: 'post',
    path: paused ? '/v1/queues/{queue}/pause' : '/v1/queues/{queue}/resume',
    tag: 'Queues',
    summary: paused ? 'Hand nothing out; holders go on' : 'Hand out again',
    roles: [],
    params: QueueParam,
    answers: { 200: Queue },
    async handle({ api, params: { queue: name } }) {
      await api.services.queues.ensure('ticket', name);
      const queue = await pauseQueue(api.runtime.db, 'ticket', name, paused);
      if (!queue) throw new Problem('not_found', `there is no queue ${name}`);
      if (!paused) api.runtime.wakeAll(`ticket/${name}`);
      return ok(queueView(queue));
    },
  });

export const pauseQueueEndpoint = pausing(true);
export const resumeQueueEndpoint = pausing(false);
