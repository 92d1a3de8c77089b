import { expect, test } from 'vitest';
import { settingsFor, startChild } from '../support/child.ts';
import { insist } from '../support/client.ts';
import { startTestSystem, testStores } from '../support/system.ts';
import { rpc } from './mcp.ts';

test('B.1 a task outlives kill -9 between request and decision', async () => {
  const stores = await testStores();
  // the worker, and other callers
  const { api } = await startTestSystem({}, { stores });
  const first = await startChild('api', settingsFor(stores));
  const wanted = { name: 'request_decision', arguments: { queue: 'killed', id: 'killed-1', body: { n: 1 } } };
  const { result } = await rpc(first.api, 'tools/call', wanted, { tasks: true });
  expect(result).toMatchObject({ resultType: 'task', taskId: 'killed-1' });
  await first.end('SIGKILL');
  const { tickets } = await api.tickets.claim('killed', 'ann');
  insist(await api.tickets.decide(tickets[0], 'fine'), 'decide', 200);

  const second = await startChild('api', settingsFor(stores));
  const task = await rpc(second.api, 'tasks/get', { taskId: 'killed-1' }, { tasks: true });
  expect(task.result).toMatchObject({ status: 'completed', createdAt: result.createdAt });
  expect(task.result.result.structuredContent.decision).toBe('fine');
  const again = await rpc(second.api, 'tools/call', wanted, { tasks: true });
  expect(again.result).toMatchObject({ resultType: 'task', taskId: 'killed-1', status: 'completed' });
  expect(await api.tickets.stats('killed')).toMatchObject({ decided: 1, waiting: 0 });
}, 90_000);
