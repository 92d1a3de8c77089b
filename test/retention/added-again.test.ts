import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { addOnce } from '../../services/shared/service.ts';
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

const what = { what: 'ticket', id: 't', hash: '00' };
const made = { content_hash: Buffer.from([0]) };

test('S0.9 S4.10 an add whose id is being cleared: what it met has gone, and it is made anew', async () => {
  let there = true;
  const insert = async () => (there ? undefined : made);
  const find = async () => {
    there = false;
    return undefined;
  };
  expect(await addOnce(what, insert, find)).toEqual({ item: made, created: true });
});

test('S0.9 one that is there is the same for the same content only; one that comes and goes is unavailable', async () => {
  const insert = async () => undefined;
  expect(await addOnce(what, insert, async () => made)).toEqual({ item: made, created: false });
  await expect(addOnce({ ...what, hash: '01' }, insert, async () => made)).rejects.toMatchObject({
    code: 'id_conflict',
  });
  await expect(addOnce(what, insert, async () => undefined)).rejects.toMatchObject({ code: 'unavailable' });
});
