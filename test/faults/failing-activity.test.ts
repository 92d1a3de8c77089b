import { expect, test } from 'vitest';
import { eventTypes, eventually } from '../support/client.ts';
import { poison } from '../support/poison.ts';
import { put } from '../support/reviews.ts';
import { startTestSystem } from '../support/system.ts';
import { add, ticket } from '../support/tickets.ts';

// No pacemaker: the workflows alone do what is due.
const { api, sql, running } = await startTestSystem({ DOCKET_PACEMAKER: 'off' });

const statusOf = async (id: string) => (await running.runtime.client.workflow.getHandle(id).describe()).status.name;

test('S0.9 a database that fails what a workflow asks of it ends no workflow: it goes on when that succeeds', async () => {
  const poisons = [await poison(sql, 'item', "new.id = 'due'"), await poison(sql, 'review_index')];
  await put(api, 'review', { text: { status: 1 } });
  await add(api, 'due', { id: 'due', deadlineSeconds: 1 });
  expect((await api.post('/v1/reviews/review/callbacks', { kind: 'text', status: 2 })).status).toBe(202);
  for (const { tries } of poisons) await eventually(async () => (await tries()) >= 2);
  for (const id of ['ticket/due', 'review/review']) await eventually(async () => (await statusOf(id)) === 'RUNNING');
  for (const { heal } of poisons) await heal();
  await eventually(async () => (await ticket(api, 'due')).state === 'expired', 90_000);
  await eventually(async () => (await api.get('/v1/reviews/review')).body.text.status === 2, 90_000);
  for (const id of ['ticket/due', 'review/review'])
    await eventually(async () => (await statusOf(id)) === 'COMPLETED', 60_000);
}, 200_000);

test('S0.9 S0.2 an item whose transition fails obeys its operators meanwhile, and rests between its tries', async () => {
  const { heal } = await poison(sql, 'item', "new.id = 'stuck' and new.last_event = 'expired'");
  await add(api, 'stuck', { id: 'stuck', deadlineSeconds: 1 });
  const stuck = running.runtime.client.workflow.getHandle('ticket/stuck');
  await eventually(async () => (await eventTypes(api, 'stuck')).includes('parked'));
  const others = [1, 2, 3, 4, 5];
  for (const priority of others) await stuck.signal('reprioritize', { priority, by: 'olga' });
  await eventually(async () => (await ticket(api, 'stuck')).priority === 5);
  const types = await eventTypes(api, 'stuck');
  expect(types.filter((type) => type === 'changed')).toHaveLength(others.length);
  // once a minute, however often something happens to it
  expect(types.filter((type) => type === 'parked').length).toBeLessThanOrEqual(2);
  await stuck.signal('invalidate', { reason: 'for good', by: 'olga' });
  await eventually(async () => (await statusOf('ticket/stuck')) === 'COMPLETED');
  expect((await ticket(api, 'stuck')).state).toBe('invalidated');
  await heal();
}, 120_000);
