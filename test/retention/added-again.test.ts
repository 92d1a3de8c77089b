import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { addEach, added, met } from '../../services/shared/sets.ts';
import { contentHash } from '../../services/shared/tokens.ts';
import { claimOne, deferred, eventually, type Json } from '../support/client.ts';
import { startReceiver } from '../support/receiver.ts';
import { age, byHand, clear } from '../support/retention.ts';
import { startTestSystem } from '../support/system.ts';
import { add, decide, decided } from '../support/tickets.ts';

const system = await startTestSystem({ DOCKET_RETENTION_DAYS: 'ticket=10' });
const { api, sql } = system;
await byHand(system);

const workflow = async (id: string) => (await api.get(`/v1/tickets/${id}/workflow`)).body;

test('S4.10 an id that was cleared and is added again has its workflow, and its outcome is delivered', async () => {
  const { callback, received } = await startReceiver();
  for (const n of [1, 2]) {
    await decided(api, 'again', { id: 'again', callback });
    await eventually(async () => received.length === n);
    await age(system, 'again', 20);
    await clear(system, 1);
  }
  await add(api, 'again', { id: 'again', delaySeconds: 3600 });
  await eventually(async () => (await workflow('again')).status === 'running');
});

test('S4.10 S0.10 an id that is added again while the workflow of the one before is about to complete is driven by it', async () => {
  const held = deferred<number>();
  const { callback, received } = await startReceiver((n) => (n === 1 ? held.promise : 204));
  await decided(api, 'soon', { id: 'soon', callback });
  await eventually(async () => received.length === 1);
  // as if retention had cleared it at the moment of that answer
  for (const table of ['delivery', 'event']) await sql(`delete from ${table} where item_id = 'soon'`);
  await sql("delete from item where id = 'soon'");
  await add(api, 'soon', { id: 'soon', body: 2, callback });
  await eventually(async () => (await workflow('soon')).snapshot?.state === 'waiting');
  held.resolve(204);
  await sleep(1_000);
  expect(await workflow('soon')).toMatchObject({ status: 'running', snapshot: { state: 'waiting' } });
  const { client } = system.running.runtime;
  const { events } = await client.workflow.getHandle('ticket/soon').query<{ events: Json[] }>('state');
  expect(events.map(({ type }) => type)).toEqual(['created']);
  await decide(api, await claimOne(api, 'soon', 'anna'));
  await eventually(async () => received.length === 2);
  await eventually(async () => (await workflow('soon')).status === 'completed');
});

const [rows, made] = [[{ id: 't', hash: '00' }], { id: 't', content_hash: Buffer.from([0]) }];
const none = async () => [];

test('S0.9 S4.10 an add whose id is being cleared: what it met has gone, and it is made anew', async () => {
  let there = true;
  const insert = added(async () => (there ? [] : [made]));
  const find = met('ticket', async () => {
    there = false;
    return [];
  });
  expect(await addEach('ticket', rows, [insert, find])).toEqual([{ item: made, created: true }]);
});

test('S0.9 one that is there is the same for the same content only; one that comes and goes is unavailable', async () => {
  const find = met('ticket', async () => [made]);
  expect(await addEach('ticket', rows, [none, find])).toEqual([{ item: made, created: false }]);
  const other = [{ id: 't', hash: '01' }];
  expect(await addEach('ticket', other, [none, find])).toMatchObject([{ code: 'id_conflict' }]);
  expect(await addEach('ticket', rows, [none, none])).toMatchObject([{ code: 'unavailable' }]);
});

test('S0.9 contents that differ in one name are not the same, whatever the name', () => {
  const contents = ['{}', '{"a":1}', '{"__proto__":{"a":1}}', '{"__proto__":{"a":2}}', '{"__proto__":1}'];
  expect(new Set(contents.map((text) => contentHash(JSON.parse(text)))).size).toBe(contents.length);
});
