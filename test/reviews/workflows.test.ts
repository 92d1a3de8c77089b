import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { eventually, type Json } from '../support/client.ts';
import { drop, flood, logOf, put, tell } from '../support/reviews.ts';
import { startTestSystem } from '../support/system.ts';

const { api, running, sql } = await startTestSystem();
const IDLE_MS = 10_000;
const plain = { text: { status: 1 }, pictures: [], replies: [] };
const workflow = async (id: string): Promise<Json> => (await api.get(`/v1/reviews/${id}/workflow`)).body;

test('S1.2 one workflow per review: it stays a while, ends, and the next callback starts it again', async () => {
  await put(api, 'life', plain);
  expect(await workflow('life')).toMatchObject({ workflowId: 'review/life', status: 'not_started', snapshot: null });
  await tell(api, 'life', { kind: 'text', status: 2 });
  const first = await workflow('life');
  expect(first).toMatchObject({ status: 'running', snapshot: { state: 'idle', resolved: 1 } });
  await tell(api, 'life', { kind: 'text', status: 3 });
  expect((await workflow('life')).runId).toBe(first.runId);
  await eventually(async () => (await workflow('life')).status === 'completed', 30_000);
  await tell(api, 'life', { kind: 'text', status: 4 });
  const second = await workflow('life');
  expect(second.status).toBe('running');
  expect(second.runId).not.toBe(first.runId);
}, 60_000);

test('S1.2 a callback that comes just as the workflow ends is not lost', async () => {
  const ids = Array.from({ length: 48 }, (_, n) => `edge-${n}`);
  await Promise.all(ids.map((id) => put(api, id, plain)));
  await Promise.all(
    ids.map(async (id, n) => {
      await tell(api, id, { kind: 'text', status: 2 });
      await sleep(IDLE_MS - 120 + n * 5);
      expect((await tell(api, id, { kind: 'text', status: 3 })).outcome).toBe('applied');
      expect(await logOf(api, id)).toHaveLength(2);
    }),
  );
}, 60_000);

test('S1.2 a database that fails a few times in a row holds up no audit for longer than seconds', async () => {
  await put(api, 'faults', plain);
  await sql('create sequence applied');
  await sql(`create function refuse() returns trigger language plpgsql as $$
    begin if nextval('applied') <= 4 then raise exception 'no room'; end if; return new; end $$`);
  await sql(`create trigger refuse before update on review_callback for each row
    when (new.review_id = 'faults' and new.outcome = 'applied') execute function refuse()`);
  // a run tries twice, pauses for a second or so, tries twice, pauses for two
  expect((await tell(api, 'faults', { kind: 'text', status: 2, waitSeconds: 20 })).outcome).toBe('applied');
  expect(await sql('select last_value::integer as n from applied')).toEqual([{ n: 5 }]);
  await sql('drop trigger refuse on review_callback');
}, 60_000);

test('S1.2 where many reviews wait, a run ends once it has nothing left to do, and no callback is lost', async () => {
  const ids = Array.from({ length: 500 }, (_, n) => `flood-${n}`);
  for (const id of ids) await put(api, id, plain);
  await flood(api, ids, 2);
  await flood(api, ids, 3);
  await eventually(async () => {
    for (const id of ids) if ((await logOf(api, id)).length < 2) return false;
    return true;
  }, 60_000);
  const handles = ids.map((id) => running.runtime.client.workflow.getHandle(`review/${id}`));
  const histories = await Promise.all(handles.map((handle) => handle.fetchHistory()));
  const staying = histories.filter(({ events }) => events?.some((e) => e.timerStartedEventAttributes));
  // the last hundred have no one to make room for
  expect(staying.length).toBeLessThan(ids.length / 2);
  for (const id of ids.slice(0, 50)) {
    expect((await tell(api, id, { kind: 'text', status: 4 })).outcome).toBe('applied');
    expect((await logOf(api, id)).map((l) => l.status)).toEqual([2, 3, 4]);
  }
}, 120_000);

test('S1.2 it continues as new before its history grows heavy, and loses nothing', async () => {
  await put(api, 'long', plain);
  await tell(api, 'long', { kind: 'text', status: 0 });
  const { runId } = await workflow('long');
  // in twos, so that there are many batches
  for (let n = 0; n < 700; n += 2)
    await Promise.all([n, n + 1].map((status) => tell(api, 'long', { kind: 'text', status })));
  const log = await logOf(api, 'long');
  expect(log).toHaveLength(701);
  expect(log.map((l) => l.seq)).toEqual(log.map((_, n) => n + 1));
  const after = await workflow('long');
  expect(after.runId).not.toBe(runId);
  const ended = await running.runtime.client.workflow.getHandle('review/long', runId).describe();
  expect(ended.status.name).toBe('CONTINUED_AS_NEW');
}, 300_000);

test('S1.2 cancelled by an operator: what has come is applied, and the next callback starts it again', async () => {
  await put(api, 'stop', plain);
  await tell(api, 'stop', { kind: 'text', status: 2 });
  await running.runtime.client.workflow.getHandle('review/stop').cancel();
  await drop(api, 'stop', { kind: 'text', status: 3 });
  expect((await tell(api, 'stop', { kind: 'text', status: 4 })).outcome).toBe('applied');
  expect((await logOf(api, 'stop')).map((l) => l.status)).toEqual([2, 3, 4]);
});
