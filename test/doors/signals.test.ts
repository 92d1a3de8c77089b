import { defaultPayloadConverter } from '@temporalio/common';
import { expect, test, vi } from 'vitest';
import { claimed, openCourt, voted } from '../support/cases.ts';
import { claimOne, eventTypes, eventually, type Json } from '../support/client.ts';
import { expectProblem } from '../support/problems.ts';
import { put, tell } from '../support/reviews.ts';
import { startTestSystem, testStores } from '../support/system.ts';
import { addTask, addTemplate, completed, handed } from '../support/tasks.ts';
import { add, configure } from '../support/tickets.ts';

const stores = await testStores();
const { namespace } = await testStores();
const listed = `elsewhere, ${namespace},${stores.namespace}`;
const { api, running, keyed } = await startTestSystem({ DOCKET_SIGNAL_NAMESPACES: listed }, { stores });
const { client } = running.runtime;

const toward = (workflowId: string, signal = 'decided', more = {}) => ({
  temporal: { namespace, workflowId, signal, ...more },
});

/** A workflow of somebody else, which no worker of ours runs. */
async function started(workflowId: string): Promise<string> {
  const request = { namespace, workflowId, workflowType: { name: 'purchase' }, taskQueue: { name: 'theirs' } };
  const { runId } = await client.workflowService.startWorkflowExecution({ ...request, requestId: workflowId });
  return runId as string;
}

const ended = (workflowId: string) =>
  client.workflowService.terminateWorkflowExecution({ namespace, workflowExecution: { workflowId } });

/** The signals of a workflow: names and arguments. */
async function signalsOf(workflowId: string, runId = ''): Promise<Json[]> {
  const asked = { namespace, execution: { workflowId, runId } };
  const { history } = await client.workflowService.getWorkflowExecutionHistory(asked);
  return (history?.events ?? []).flatMap(({ workflowExecutionSignaledEventAttributes: signal }) =>
    signal
      ? [[signal.signalName, ...(signal.input?.payloads ?? []).map((p) => defaultPayloadConverter.fromPayload(p))]]
      : [],
  );
}

const first = (workflowId: string) => eventually(async () => (await signalsOf(workflowId))[0], 30_000);
const deliveriesOf = async (path: string): Promise<Json[]> => (await api.get(`${path}/deliveries`)).body.items;

async function decided(id: string, callback: object | undefined, queue = 'purchases') {
  await add(api, queue, { id, body: { amount: 900 }, callback });
  const { lease } = await claimOne(api, queue, 'anna');
  return api.post(`/v1/tickets/${id}/decide`, { token: lease.token, decision: { pay: true } });
}

test('B.1 a decision reaches the workflow that asked for it as one signal, without the body', async () => {
  await started('purchase/7 ü');
  await decided('purchase-7', toward('purchase/7 ü'));
  const [name, message] = await first('purchase/7 ü');
  expect(name).toBe('decided');
  const told = { id: 'purchase-7', state: 'decided', decision: { pay: true }, decidedBy: 'anna', reason: null };
  expect(message).toEqual({
    ...{ type: 'ticket.decided', version: expect.any(Number) },
    ticket: { ...told, decidedAt: expect.any(String) },
  });
  await eventually(async () => (await eventTypes(api, 'purchase-7')).at(-1) === 'delivered');
  const url = `temporal://${namespace}/purchase%2F7%20%C3%BC/decided`;
  expect(await deliveriesOf('/v1/tickets/purchase-7')).toMatchObject([
    { url, state: 'delivered', status: 200, attempts: 1 },
  ]);
  const found = (await api.get(`/v1/deliveries?host=${namespace}&state=delivered`)).body.items;
  expect(found.map((d: Json) => d.itemId)).toContain('purchase-7');
  // the request's id is the message's: what is sent again is dropped
  expect((await api.post('/v1/tickets/purchase-7/deliveries/1/redeliver')).status).toBe(202);
  await eventually(async () => (await deliveriesOf('/v1/tickets/purchase-7'))[0].attempts === 2);
  expect(await signalsOf('purchase/7 ü')).toHaveLength(1);
});

test('B.1 so do the ends of cases, occurrences and changes of reviews, and invalidations with their reason', async () => {
  for (const id of ['of-case', 'of-task', 'of-review', 'of-queue']) await started(id);
  const settings = { options: ['yes', 'no'], votesToWin: 1, callback: toward('of-case') };
  await openCourt(api, 'buyers', settings, ['jo'], ['c1']);
  await voted(api, 'c1', (await claimed(api, 'buyers', 'jo')).token, 'yes');
  await addTemplate(api, 'plain');
  await addTask(api, { id: 't1', executor: 'uid_ann', callback: toward('of-task') });
  expect((await api.get('/v1/tasks/t1')).body.callback).toEqual(toward('of-task'));
  await completed(api, 'ann', (await handed(api, 'ann')).logId);
  await put(api, 'r1', { text: { status: 1 }, callback: toward('of-review') });
  await tell(api, 'r1', { kind: 'text', status: 2 });
  await configure(api, 'quiet', { callback: toward('of-queue') });
  await add(api, 'quiet', { id: 'q1' });
  await api.post('/v1/tickets/q1/invalidate', { reason: 'a duplicate' });

  const version = expect.any(Number);
  const tally = { yes: 1, no: 0 };
  const told = { id: 'c1', state: 'decided', winner: 'yes', tally, reason: null };
  expect((await first('of-case'))[1]).toEqual({ type: 'case.decided', version, case: told });
  const done = { id: 't1', state: 'completed', uid: 'ann', completedAt: expect.any(String) };
  expect((await first('of-task'))[1]).toMatchObject({ type: 'task.completed', version, task: done });
  const change = { kind: 'text', before: 1, after: 2 };
  expect((await first('of-review'))[1]).toMatchObject({
    type: 'review.changed',
    review: { id: 'r1', changes: [change] },
  });
  const why = { id: 'q1', state: 'invalidated', decision: null, reason: 'a duplicate' };
  expect((await first('of-queue'))[1]).toMatchObject({ type: 'ticket.invalidated', ticket: why });
});

test('B.1 a workflow that has closed, another run of it, or one that never was ends the delivery at once', async () => {
  const runId = await started('closed');
  await ended('closed');
  await started('again');
  for (const [id, callback] of [
    ['to-closed', toward('closed')],
    ['to-nobody', toward('nobody')],
    ['to-run', toward('again', 'decided', { runId })],
    ['to-no-run', toward('again', 'decided', { runId: 'no-uuid' })],
  ] as const) {
    await decided(id, callback, 'late');
    await eventually(async () => (await eventTypes(api, id)).at(-1) === 'delivery_failed', 30_000);
    const [delivery] = await deliveriesOf(`/v1/tickets/${id}`);
    expect(delivery).toMatchObject({
      state: 'failed',
      status: 410,
      attempts: 1,
      error: expect.stringMatching(/^Temporal: /),
    });
    // the run is no part of what is shown
    expect(delivery.url).toMatch(/\/decided$/);
  }
  expect(await signalsOf('again')).toEqual([]);
});

test('B.1 where a namespace comes into being later the signal is sent until it is there', async () => {
  await decided('to-elsewhere', { temporal: { namespace: 'elsewhere', workflowId: 'w', signal: 's' } }, 'away');
  const pending = await eventually(async () => (await deliveriesOf('/v1/tickets/to-elsewhere'))[0]);
  await eventually(async () => (await deliveriesOf('/v1/tickets/to-elsewhere'))[0].attempts > 0);
  expect(pending.state).toBe('pending');
});

test('B.1 where Docket may not signal, it tries again, and the delivery says what Temporal said', async () => {
  await started('denied');
  const details = 'Request unauthorized.';
  const refusal = Object.assign(new Error(`7 PERMISSION_DENIED: ${details}`), { code: 7, details, metadata: {} });
  const signal = vi.spyOn(client.workflowService, 'signalWorkflowExecution').mockRejectedValueOnce(refusal);
  await decided('denied', toward('denied'));
  const refused = await eventually(async () => {
    const [delivery] = await deliveriesOf('/v1/tickets/denied');
    return delivery?.attempts === 1 && delivery;
  });
  expect(refused).toMatchObject({ state: 'pending', error: details, nextAttemptAt: expect.any(String) });
  expect((await first('denied'))[0]).toBe('decided');
  expect(await signalsOf('denied')).toHaveLength(1);
  signal.mockRestore();
});

test('B.1 only listed namespaces may be signalled, and none of the own workflows, at the add and at each send', async () => {
  const own = stores.namespace;
  const refused = [
    [{ ...toward('w').temporal, namespace: 'others' }, /DOCKET_SIGNAL_NAMESPACES/],
    ...[
      'ticket/a',
      'awaiting/ticket/a/1',
      'schedule/t/s',
      'delivery/ticket/a/1',
      'rotation/r',
      'review/r',
      'case/c',
      'job/j',
      'task/t/1',
    ].map((workflowId) => [{ namespace: own, workflowId, signal: 'invalidate' }, /own workflows/] as const),
  ] as const;
  for (const [temporal, why] of refused)
    for (const [path, body] of [
      ['/v1/queues/refused/tickets', { id: 'x', body: null, callback: { temporal } }],
      [
        '/v1/tasks',
        {
          id: 'x',
          type: 'once',
          executor: 'uid_a',
          startTime: '2030-01-01T00:00:00Z',
          templateId: 'plain',
          callback: { temporal },
        },
      ],
    ] as const) {
      const answered = await api.post(path, body);
      expectProblem(answered, 'refused', 'invalid_request');
      expect(answered.body.errors).toEqual([{ path: 'callback.temporal', message: expect.stringMatching(why) }]);
    }
  const queue = { callback: toward('ticket/a') };
  expectProblem(
    await api.put('/v1/queues/refused', { callback: { temporal: refused[0][0] } }),
    'refused',
    'invalid_request',
  );
  // elsewhere such ids are anybody's
  expect((await api.put('/v1/queues/refused', queue)).status).toBe(200);
  for (const callback of [
    { url: `temporal://${namespace}/w/s`, secret: `whsec_${'A'.repeat(32)}` },
    { temporal: { namespace, workflowId: 'w' } },
    { temporal: { namespace, workflowId: '', signal: 's' } },
    { temporal: { namespace: 'a/b', workflowId: 'w', signal: 's' } },
    { temporal: { namespace, workflowId: 'w', signal: 's' }, url: 'https://example.com' },
  ])
    expectProblem(await api.post('/v1/queues/refused/tickets', { body: null, callback }), 'refused', 'invalid_request');
  expectProblem(
    await api.put('/v1/topics/refused', { push: { temporal: toward('w').temporal } }),
    'refused',
    'invalid_request',
  );

  await started('unlisted');
  const strict = await startTestSystem({}, { stores: await testStores() });
  const { api: there, sql } = strict;
  await add(there, 'q', { id: 'listed-once' });
  await sql(`update item set callback = $1 where id = 'listed-once'`, [{ url: `temporal://${namespace}/unlisted/s` }]);
  await there.post('/v1/tickets/listed-once/resolve', { decision: 1, reason: 'elsewhere' });
  const [tried] = await eventually(async () => {
    const { items } = (await there.get('/v1/tickets/listed-once/deliveries')).body;
    return items[0]?.attempts > 0 && items;
  });
  expect(tried).toMatchObject({ state: 'pending', error: expect.stringMatching(/DOCKET_SIGNAL_NAMESPACES/) });
  expect(await signalsOf('unlisted')).toEqual([]);
});

test('B.1 settings show a workflow as it was sent, to every role; sent back, they change nothing', async () => {
  const callback = toward('shown', 'decided', { runId: 'r-1' });
  const save = () =>
    api.put('/v1/courts/shown', { options: ['a', 'b'], votesToWin: 1, callback, invitationCallback: callback });
  const { body } = await save();
  expect(body).toMatchObject({ callback, invitationCallback: callback });
  expect((await save()).body.callback).toEqual(body.callback);
  await configure(api, 'shown', { callback });
  expect((await (await keyed('supervisor')).get('/v1/queues/shown')).body.callback).toEqual(callback);
});
