import { isCreateTaskResultV2, isDetailedTaskV2 } from '@modelcontextprotocol/ext-tasks/core/v2';
import { expect, test } from 'vitest';
import { type Http, insist, type Json } from '../support/client.ts';
import { startTwoSystems } from '../support/system.ts';
import { mcp, mcpTasks, rpc } from './mcp.ts';

// each request goes to another process than the one before
const [one, two] = await startTwoSystems('api');
const { api } = one;
const other = two.api;

const request = async (server: Http, values: object): Promise<Json> =>
  (await rpc(server, 'tools/call', { name: 'request_decision', arguments: values }, { tasks: true })).result;
const call = (server: Http, method: string, taskId: string) =>
  rpc(server, method, { taskId, ...(method === 'tasks/update' && { inputResponses: {} }) }, { tasks: true });

/** The task, which must be one by the extension's schema. */
async function task(server: Http, id: string): Promise<Json> {
  const { result } = await call(server, 'tasks/get', id);
  expect(isDetailedTaskV2(result), JSON.stringify(result)).toBe(true);
  return result;
}

test('B.1 a request is a task, its id the ticket’s, and its result the decision', async () => {
  const wanted = { queue: 'tasks', id: 'task-1', body: { text: 'hello' } };
  const created = await request(api, wanted);
  expect(isCreateTaskResultV2(created)).toBe(true);
  expect(created).toMatchObject({ resultType: 'task', taskId: 'task-1', status: 'working', ttlMs: null });
  expect(await task(other, 'task-1')).toMatchObject({ status: 'working', createdAt: created.createdAt });
  const held = await api.tickets.claim('tasks', 'ann');
  expect((await task(other, 'task-1')).statusMessage).toContain('ann holds it');
  await api.tickets.decide(held.tickets[0], 'fine');
  const over = await task(other, 'task-1');
  expect(over).toMatchObject({ status: 'completed', result: { isError: false } });
  expect(over.result.structuredContent).toMatchObject({ id: 'task-1', decision: 'fine', decidedBy: 'ann' });
  expect(over.result.content[0].text).toContain('decided by ann. The decision: "fine"');
  // the same request again is the same task, which carries no result of its own
  const again = await request(other, wanted);
  expect(again).toMatchObject({ resultType: 'task', taskId: 'task-1', status: 'completed' });
  expect(again).not.toHaveProperty('result');
  // refused: no task
  expect(await request(api, { ...wanted, body: 'other' })).toMatchObject({ resultType: 'complete', isError: true });
});

test('B.1 the official client of the extension waits until the ticket is decided', async () => {
  const session = await mcpTasks(api);
  const execution = await session.callTool('request_decision', { queue: 'waited', id: 'waited-1', body: 1 });
  const settled = execution.settle();
  await other.tickets.decide((await other.tickets.claim('waited', 'ann')).tickets[0], { verdict: 1 });
  expect(JSON.stringify((await settled).outcome)).toContain('"decision":{"verdict":1}');
  await session.close();
}, 60_000);

test('B.1 a client without the extension is answered with the state', async () => {
  const { call: plain } = await mcp(api);
  const answer = await plain('request_decision', { queue: 'plain', id: 'plain-1', body: 1 });
  expect(answer.value).toMatchObject({ id: 'plain-1', state: 'waiting' });
  for (const method of ['tasks/get', 'tasks/update', 'tasks/cancel'])
    expect(await rpc(api, method, { taskId: 'plain-1' }), method).toMatchObject({
      status: 400,
      error: { code: -32021 },
    });
  expect((await api.tickets.ticket('plain-1')).state).toBe('waiting');
});

test('B.1 a task that is cancelled is an invalidated ticket, and what is over stays', async () => {
  await request(api, { queue: 'cancelled', id: 'cancelled-1', body: 1 });
  expect((await call(other, 'tasks/cancel', 'cancelled-1')).result).toEqual({
    ...{ resultType: 'complete', _meta: expect.anything() },
  });
  expect(await task(api, 'cancelled-1')).toMatchObject({ status: 'cancelled' });
  expect((await api.tickets.ticket('cancelled-1')).invalidation.reason).toBe('the MCP task was cancelled');
  await api.tickets.decided('kept', { id: 'kept-1' });
  for (const id of ['cancelled-1', 'kept-1'])
    expect((await call(api, 'tasks/cancel', id)).result.resultType).toBe('complete');
  expect((await task(api, 'kept-1')).status).toBe('completed');
});

test('B.1 a ticket that ends without a decision is a result that says so', async () => {
  await request(api, { queue: 'late', id: 'late-1', body: 1, deadlineSeconds: 1 });
  await api.tickets.inState('late-1', 'expired');
  expect(await task(other, 'late-1')).toMatchObject({ status: 'completed', result: { isError: true } });
  await api.tickets.add('gone', { id: 'gone-1' });
  insist(await api.tickets.operate('gone-1', 'invalidate', { reason: 'spam' }), 'invalidate', 200);
  expect((await task(other, 'gone-1')).statusMessage).toContain('invalidated it (spam)');
});

test('a task that does not exist is wrong, and asks for no input', async () => {
  for (const method of ['tasks/get', 'tasks/update', 'tasks/cancel'])
    expect((await call(api, method, 'nothing')).error, method).toMatchObject({
      code: -32602,
      data: { code: 'not_found' },
    });
  expect((await call(api, 'tasks/get', 'a/b')).error).toMatchObject({
    code: -32602,
    data: { code: 'invalid_request' },
  });
  await request(api, { queue: 'input', id: 'input-1', body: 1 });
  expect((await call(api, 'tasks/update', 'input-1')).result.resultType).toBe('complete');
});

test('whoever may not read or invalidate the ticket may not as a task', async () => {
  await request(api, { queue: 'closed', id: 'closed-1', body: 1 });
  const reviewer = await one.keyed('reviewer', 'rita');
  const agent = await one.keyed('agent');
  expect((await call(reviewer, 'tasks/get', 'closed-1')).error.data.code).toBe('not_found');
  expect((await call(agent, 'tasks/get', 'closed-1')).result.status).toBe('working');
  for (const server of [reviewer, agent])
    expect((await call(server, 'tasks/cancel', 'closed-1')).error.data.code).toBe('forbidden');
  expect((await task(await one.keyed('producer'), 'closed-1')).status).toBe('working');
});
