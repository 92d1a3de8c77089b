import { expect, test } from 'vitest';
import { eventTypes, eventually } from '../support/client.ts';
import { put } from '../support/reviews.ts';
import { startTestSystem } from '../support/system.ts';
import { add, ticket } from '../support/tickets.ts';

// No pacemaker: the workflows alone do what is due.
const { api, sql, running } = await startTestSystem({ DOCKET_PACEMAKER: 'off' });

const statusOf = async (id: string) => (await running.runtime.client.workflow.getHandle(id).describe()).status.name;
/** From now on an update of this table fails; `tries` says how often it was tried. */
const poison = (table: string, when: string) =>
  sql(`create sequence if not exists ${table}_tries;
       create or replace function poison_${table}() returns trigger language plpgsql as $$ begin
         perform nextval('${table}_tries'); raise 'made to fail'; end $$;
       create trigger poison before update on ${table} for each row when (${when}) execute function poison_${table}()`);
const tries = async (table: string) => Number((await sql(`select last_value from ${table}_tries`))[0]?.last_value);

test('S0.9 a database that fails what a workflow asks of it ends no workflow: it goes on when that succeeds', async () => {
  await poison('item', "new.id = 'due'");
  await poison('review_index', 'true');
  await put(api, 'review', { text: { status: 1 } });
  await add(api, 'due', { id: 'due', deadlineSeconds: 1 });
  expect((await api.post('/v1/reviews/review/callbacks', { kind: 'text', status: 2 })).status).toBe(202);
  for (const table of ['item', 'review_index']) await eventually(async () => (await tries(table)) >= 2);
  for (const id of ['ticket/due', 'review/review']) await eventually(async () => (await statusOf(id)) === 'RUNNING');
  await sql('drop trigger poison on item');
  await sql('drop trigger poison on review_index');
  await eventually(async () => (await ticket(api, 'due')).state === 'expired', 90_000);
  await eventually(async () => (await api.get('/v1/reviews/review')).body.text.status === 2, 90_000);
  for (const id of ['ticket/due', 'review/review'])
    await eventually(async () => (await statusOf(id)) === 'COMPLETED', 60_000);
}, 200_000);

test('S0.9 S0.2 an item whose transition fails obeys its operators meanwhile, and rests between its tries', async () => {
  await poison('item', "new.id = 'stuck' and new.last_event = 'expired'");
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
  await sql('drop trigger poison on item');
}, 120_000);
