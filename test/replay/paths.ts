import type { WorkflowHandle } from '@temporalio/client';
import { expect } from 'vitest';
import { claimOne, eventTypes, eventually, repeat } from '../support/client.ts';
import { job } from '../support/jobs.ts';
import { SECRET, startReceiver } from '../support/receiver.ts';
import { flood, put, tell } from '../support/reviews.ts';
import type { TestSystem } from '../support/system.ts';

/** Ways a ticket's workflow can go. Each leads a ticket along one and returns when its workflow has closed. */
export interface Path {
  name: string;
  /** The durable timers are the only clock. */
  pacemaker: 'on' | 'off';
  walk(system: TestSystem, id: string): Promise<void>;
  /** Whose history it is; the ticket's own where left out. */
  workflowId?(id: string): string;
}

/** A way for which the pacemaker runs beside the durable timers, unless said otherwise. */
export const path = (name: string, more: Partial<Path>, walk: Path['walk']): Path => ({
  ...{ name, pacemaker: 'on', ...more },
  walk,
});

const add = (s: TestSystem, id: string, more: object = {}) =>
  s.api.post(`/v1/queues/${id}/tickets`, { id, body: {}, ...more });

const handle = (s: TestSystem, id: string): WorkflowHandle =>
  s.running.runtime.client.workflow.getHandle(`ticket/${id}`);

export const untilState = (s: TestSystem, id: string, state: string, path = `tickets/${id}`) =>
  eventually(async () => (await s.api.get(`/v1/${path}/workflow`)).body.snapshot?.state === state);

const running = (s: TestSystem, id: string) =>
  eventually(async () => (await s.api.get(`/v1/tickets/${id}/workflow`)).body.status === 'running');

/** Until the workflow of a ticket, or of what a path names, has completed. */
export const closed = (s: TestSystem, id: string, path = `tickets/${id}`) =>
  eventually(async () => (await s.api.get(`/v1/${path}/workflow`)).body.status === 'completed', 60_000);

async function decide(s: TestSystem, id: string): Promise<void> {
  const { lease } = await claimOne(s.api, id, 'anna');
  await untilState(s, id, 'held');
  await s.api.post(`/v1/tickets/${id}/decide`, { token: lease.token, decision: 'ok' });
}

const audit = (s: TestSystem, id: string, status: number) => tell(s.api, id, { kind: 'text', status });

const untilEvent = (s: TestSystem, id: string, type: string) =>
  eventually(async () => (await eventTypes(s.api, id)).includes(type), 40_000);

const jobId = (id: string) => `job/${id}`;
const reviewId = (id: string) => `review/${id}`;

/** What a follower sends, so late that nothing in it is news. */
const LATE = {
  snapshot: { version: 0, state: 'ready', wakeAt: null, wakeInMs: null, holder: null, telling: false },
  events: [],
};

export const paths: Path[] = [
  path('ticket-decided', {}, async (s, id) => {
    await add(s, id);
    await running(s, id);
    await decide(s, id);
    await closed(s, id);
  }),
  path('ticket-durable-timers', { pacemaker: 'off' }, async (s, id) => {
    await s.api.put(`/v1/queues/${id}`, { leaseSeconds: 1, escalations: [{ afterSeconds: 2, priority: 5 }] });
    // the deadline is far enough for a worker that is late
    await add(s, id, { delaySeconds: 0.5, deadlineSeconds: 15 });
    await untilEvent(s, id, 'available');
    await claimOne(s.api, id, 'anna');
    for (const type of ['reclaimed', 'escalated', 'expired']) await untilEvent(s, id, type);
    await closed(s, id);
  }),
  path('ticket-operator', {}, async (s, id) => {
    await add(s, id);
    await running(s, id);
    await claimOne(s.api, id, 'anna');
    await handle(s, id).signal('release', { by: 'olga' });
    await untilEvent(s, id, 'released');
    await handle(s, id).signal('reprioritize', { priority: 7, by: 'olga' });
    await untilEvent(s, id, 'changed');
    await handle(s, id).signal('invalidate', { reason: 'spam wave', by: 'olga' });
    await closed(s, id);
  }),
  path('ticket-odd-signals', { pacemaker: 'off' }, async (s, id) => {
    await add(s, id, { delaySeconds: 3_600 });
    await running(s, id);
    await handle(s, id).signal('reprioritize', { priority: 'high', by: 'olga' });
    await untilEvent(s, id, 'refused');
    for (const name of ['prioritise', 'kick']) await handle(s, id).signal(name);
    await handle(s, id).signal('reprioritize', { priority: null });
    await eventually(async () => (await eventTypes(s.api, id)).filter((t) => t === 'refused').length === 4, 40_000);
    await handle(s, id).signal('invalidate', { reason: 'enough', by: 'olga' });
    await closed(s, id);
  }),
  path('ticket-cancelled', {}, async (s, id) => {
    await add(s, id);
    await running(s, id);
    await handle(s, id).cancel();
    await closed(s, id);
  }),
  path('ticket-undelivered', {}, async (s, id) => {
    // nobody listens there; the operator's command comes while the delivery is still tried
    await add(s, id, { callback: { url: 'http://127.0.0.1:9/', secret: SECRET } });
    await running(s, id);
    await decide(s, id);
    await eventually(async () => (await s.api.get(`/v1/tickets/${id}/deliveries`)).body.items[0]?.attempts > 1);
    await handle(s, id).signal('invalidate', { reason: 'too late', by: 'olga' });
    await handle(s, id).terminate('recorded far enough');
  }),
  path('ticket-added-again', {}, async (s, id) => {
    const answers: ((status: number) => void)[] = [];
    const { callback } = await startReceiver(() => new Promise((resolve) => answers.push(resolve)));
    await add(s, id, { callback });
    await running(s, id);
    await decide(s, id);
    await eventually(async () => answers.length === 1, 40_000);
    // as if retention had cleared it at the moment of the answer
    for (const table of ['delivery', 'event']) await s.sql(`delete from ${table} where item_id = $1`, [id]);
    await s.sql('delete from item where id = $1', [id]);
    await add(s, id);
    await untilState(s, id, 'waiting');
    answers[0]?.(204);
    await decide(s, id);
    await closed(s, id);
  }),
  path('ticket-continued', {}, async (s, id) => {
    await add(s, id);
    await running(s, id);
    const { runId } = await handle(s, id).describe();
    for (let n = 0; n < 500; n += 50) await Promise.all(repeat(50, () => handle(s, id).signal('changed', LATE)));
    await eventually(async () => (await handle(s, id).describe()).runId !== runId);
    await decide(s, id);
    await closed(s, id);
  }),
  path('redelivery', { workflowId: (id) => `delivery/ticket/${id}/1` }, async (s, id) => {
    let status = 410;
    const { callback } = await startReceiver(() => status);
    await add(s, id, { callback });
    await running(s, id);
    await decide(s, id);
    await untilEvent(s, id, 'delivery_failed');
    status = 200;
    await s.api.post(`/v1/tickets/${id}/deliveries/1/redeliver`);
    await untilEvent(s, id, 'delivered');
    await s.running.runtime.client.workflow.getHandle(`delivery/ticket/${id}/1`).result();
  }),
  path('job-finished', { pacemaker: 'off', workflowId: jobId }, async (s, id) => {
    await job(s.api, 'add', { topic: id, id, delay: 1, TTR: 1, body: 1 });
    expect((await job(s.api, 'pop', { topic: id, wait: 20 })).id).toBe(id);
    const { token } = await job(s.api, 'pop', { topic: id, wait: 20 });
    await job(s.api, 'finish', { id, token });
    await s.running.runtime.client.workflow.getHandle(`job/${id}`).result();
  }),
  path('job-operator', { workflowId: jobId }, async (s, id) => {
    await job(s.api, 'add', { topic: id, id, delay: 3600, TTR: 60, body: 1 });
    const workflow = s.running.runtime.client.workflow.getHandle(`job/${id}`);
    await eventually(() => workflow.signal('kick', { by: 'olga' }).then(() => true));
    await eventually(async () => (await s.api.get(`/v1/jobs/${id}`)).body.state === 'ready');
    await workflow.signal('cancel', { reason: 'not needed', by: 'olga' });
    await workflow.result();
    expect((await s.api.get(`/v1/jobs/${id}`)).body.state).toBe('deleted');
  }),
  path('periodic', { workflowId: (id) => `periodic/${id}/now` }, async (s, id) => {
    await s.api.put(`/v1/topics/${id}/schedules/now`, { everySeconds: 3600, body: 1 });
    const { workflow } = s.running.runtime.client;
    const start = { taskQueue: 'docket', workflowId: `periodic/${id}/now`, args: [id, 'now'] };
    await workflow.execute('periodic', start);
    expect((await s.api.get(`/v1/topics/${id}/jobs`)).body.items).toHaveLength(1);
  }),
  path('review-applied', { workflowId: reviewId }, async (s, id) => {
    await put(s.api, id, { text: { status: 1 } });
    for (const status of [2, 3]) await audit(s, id, status);
    await closed(s, id, `reviews/${id}`);
  }),
  path('review-told', { workflowId: reviewId }, async (s, id) => {
    const { callback, received } = await startReceiver((n) => (n === 1 ? 500 : 204));
    await put(s.api, id, { text: { status: 1 }, callback });
    await Promise.all([2, 3, 4].map((status) => audit(s, id, status)));
    await eventually(async () => received.length === 4, 40_000);
    await closed(s, id, `reviews/${id}`);
  }),
  path('review-brief', { workflowId: reviewId }, async (s, id) => {
    // in the middle, where many wait behind it
    const ids = repeat(400, (n) => (n === 150 ? id : `${id}-${n}`));
    for (const one of ids) await put(s.api, one, { text: { status: 1 } });
    await flood(s.api, ids, 2);
    await closed(s, id, `reviews/${id}`);
  }),
  path('review-continued', { workflowId: reviewId }, async (s, id) => {
    await put(s.api, id, { text: { status: 1 } });
    await audit(s, id, 2);
    const workflow = s.running.runtime.client.workflow.getHandle(`review/${id}`);
    for (let n = 0; n < 510; n += 51) await Promise.all(repeat(51, () => workflow.signal('received')));
    await audit(s, id, 3);
    await closed(s, id, `reviews/${id}`);
  }),
];
