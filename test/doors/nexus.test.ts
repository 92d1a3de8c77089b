import { WorkflowFailedError } from '@temporalio/client';
import type { Payload, PayloadCodec } from '@temporalio/common';
import { expect, test } from 'vitest';
import { claimed, openCourt, voted } from '../support/cases.ts';
import { claimOne, eventTypes, eventually, type Json } from '../support/client.ts';
import { testDoctor } from '../support/doctor.ts';
import { messagesOf, startCallers } from '../support/nexus.ts';
import type { askTwice } from '../support/nexus-callers.ts';
import { published } from '../support/published.ts';
import { startReceiver } from '../support/receiver.ts';
import { age, byHand, clear } from '../support/retention.ts';
import { startTestSystem } from '../support/system.ts';
import { addHeld } from '../support/tickets.ts';

const system = await startTestSystem({
  ...{ DOCKET_NEXUS_QUEUES: 'approvals, buyers,shipments,elsewhere', DOCKET_RETENTION_DAYS: 'ticket=10' },
});
const { api, sql, cell } = system;
const { broken } = testDoctor(system);
await byHand(system);
const { client, endpoint, namespace, start } = await startCallers(system);

const waits = (id: string) => sql('select * from wait where item_id = $1 order by created_at', [id]);
const waiting = (id: string, n = 1) => eventually(async () => (await waits(id)).length === n, 90_000);
const ticket = (id: string, more: object = {}) => ({ queue: 'approvals', id, body: { amount: 900 }, ...more });
const resolve = (id: string, decision: unknown = 'yes') =>
  api.post(`/v1/tickets/${id}/resolve`, { decision, reason: 'elsewhere' });

/** The innermost message of a failed workflow, with what the way there says. */
async function failureOf(handle: { result(): Promise<unknown> }): Promise<string> {
  const error: unknown = await handle.result().catch((failed: unknown) => failed);
  expect(error).toBeInstanceOf(WorkflowFailedError);
  return messagesOf(error);
}

test('B.1 a workflow waits in one line: a ticket is added, a person decides, the workflow goes on', async () => {
  const handle = await start('ticket', ticket('a1', { priority: 5 }));
  await waiting('a1');
  const { lease, ...added } = await claimOne(api, 'approvals', 'anna');
  expect(added).toMatchObject({ id: 'a1', body: { amount: 900 }, priority: 5 });
  const { items } = (await api.get('/v1/tickets/a1/events')).body;
  expect(items.at(-1) ?? items[0]).toBeDefined();
  expect(items.find((e: Json) => e.type === 'created').actor).toBe(`nexus/${namespace}`);
  await api.post('/v1/tickets/a1/decide', { token: lease.token, decision: { pay: true } });
  expect(await handle.result()).toEqual({
    ...{ state: 'decided', decision: { pay: true }, decidedBy: 'anna', decidedAt: expect.any(String) },
    ...{ reason: null, version: expect.any(Number) },
  });
});

test('B.1 so do a case and a job', async () => {
  await openCourt(api, 'buyers', { options: ['yes', 'no'], votesToWin: 1 }, ['jo'], []);
  const byCourt = await start('case', { court: 'buyers', id: 'c1', body: 1, parties: [{ id: 'sam' }] });
  const byTopic = await start('job', { topic: 'shipments', id: 'j1', body: 'box' });
  await waiting('c1');
  await waiting('j1');
  await voted(api, 'c1', (await claimed(api, 'buyers', 'jo')).token, 'yes');
  const { body: popped } = await api.post('/v1/jobs', { command: 'pop', topic: 'shipments' });
  await api.post('/v1/jobs', { command: 'finish', id: 'j1', token: popped.token });
  const tally = { yes: 1, no: 0 };
  expect(await byCourt.result()).toMatchObject({ state: 'decided', winner: 'yes', tally, version: expect.any(Number) });
  expect(await byTopic.result()).toEqual({ state: 'finished' });
});

test('B.1 two callers of one id, and a third of an item that is over, are all answered; other content is refused', async () => {
  const [one, two] = [await start('ticket', ticket('shared')), await start('ticket', ticket('shared'))];
  await waiting('shared', 2);
  const theirs = await waits('shared');
  await resolve('shared');
  const told = { state: 'decided', decision: 'yes', reason: 'elsewhere' };
  for (const handle of [one, two, await start('ticket', ticket('shared'))])
    expect(await handle.result()).toMatchObject(told);
  const idOf = ({ workflow_id }: Json) => workflow_id;
  // those that were answered go after ten seconds, which a busy machine may have spent by now
  expect(theirs.map(idOf)).toEqual(expect.arrayContaining((await waits('shared')).map(idOf)));
  expect(await failureOf(await start('ticket', ticket('shared', { body: 'other' })))).toMatch(/id_conflict/);
  // answered rows go once their workflows are known to have ended
  await sql(`update wait set wake_at = clock_timestamp() where item_id = 'shared'`);
  await eventually(async () => (await waits('shared')).length === 0, 30_000);
});

test('B.1 100 callers of one id', async () => {
  const handles = await Promise.all(Array.from({ length: 100 }, () => start('ticket', ticket('hundred'))));
  await waiting('hundred', 100);
  await resolve('hundred');
  for (const handle of handles) expect(await handle.result()).toMatchObject({ state: 'decided' });
}, 120_000);

test("B.1 a cancelled caller's wait ends alone; where it withdraws the item, all waits of it end", async () => {
  const [leaves, stays] = [await start('ticket', ticket('left')), await start('ticket', ticket('left'))];
  await waiting('left', 2);
  await leaves.cancel();
  expect(await failureOf(leaves)).toMatch(/cancel/i);
  await waiting('left', 1);
  expect((await api.get('/v1/tickets/left')).body.state).toBe('waiting');

  const withdraws = await start('ticket', ticket('left', { onCancel: 'withdraw' }));
  await waiting('left', 2);
  await claimOne(api, 'approvals', 'bob');
  await withdraws.cancel();
  const told = { state: 'invalidated', reason: 'withdrawn', decision: null };
  for (const handle of [withdraws, stays]) expect(await handle.result()).toMatchObject(told);
  expect(await eventTypes(api, 'left')).toContain('invalidated');
  expect((await api.get('/v1/tickets/left')).body.invalidation.by).toBe(`nexus/${namespace}`);
});

test("B.1 a job's wait is for the run that it met, and no operation begins another", async () => {
  const first = await start('job', { topic: 'shipments', id: 'again', body: 1 });
  await waiting('again');
  await api.post('/v1/jobs', { command: 'finish', id: 'again' });
  expect(await first.result()).toEqual({ state: 'finished' });
  const over = await start('job', { topic: 'shipments', id: 'again', body: 1 });
  expect(await over.result()).toEqual({ state: 'finished' });
  const add = { command: 'add', topic: 'shipments', id: 'again', body: 1 };
  expect((await api.post('/v1/jobs', add)).body.run).toBe(2);
  const second = await start('job', { topic: 'shipments', id: 'again', body: 1, onCancel: 'withdraw' });
  // the first one's wait, which was answered, may be gone by now
  await eventually(async () => (await waits('again')).some(({ run }) => run === 2), 90_000);
  await second.cancel();
  expect(await second.result()).toEqual({ state: 'deleted' });
  expect((await api.post('/v1/jobs', add)).body.run).toBe(3);
  await api.post('/v1/jobs', { command: 'delete', id: 'again' });
});

test('B.1 a wait holds the run of its job against the next one', async () => {
  const handle = await start('job', { topic: 'shipments', id: 'held', body: 1 });
  await waiting('held');
  // the end and the next run in one instant: what is read afterwards is the earlier run's
  const add = { command: 'add', topic: 'shipments', id: 'held', body: 1 };
  await Promise.all([api.post('/v1/jobs', { command: 'delete', id: 'held' }).then(() => api.post('/v1/jobs', add))]);
  expect(await handle.result()).toEqual({ state: 'deleted' });
  expect((await api.get('/v1/jobs/held')).body.state).toBe('ready');
});

test('B.1 what is wrong with an operation it says at once, without a stack', async () => {
  for (const [of, input, why] of [
    ['ticket', { queue: 'approvals', body: 1 }, /invalid_request: id /],
    ['ticket', ticket('x', { unknown: 1 }), /invalid_request: .*unknown/],
    ['ticket', ticket('x', { queue: 'private' }), /forbidden: private is not in DOCKET_NEXUS_QUEUES/],
    ['ticket', ticket('..'), /invalid_request: id /],
    ['ticket', ticket('x', { callback: { url: 'ftp://x', secret: `whsec_${'A'.repeat(32)}` } }), /callback/],
    ['case', { court: 'elsewhere', id: 'x', body: 1 }, /not_found/],
    ['job', { topic: 'shipments', id: 'x', body: 1, key: 'mine' }, /invalid_request: .*key/],
    ['ticket', 'no object', /invalid_request/],
    ['ticket', ticket('x', { body: { note: 'a\0b' } }), /invalid_request: body.note contains a NUL character/],
    [
      'job',
      { topic: 'shipments', id: 'x', body: 'a\ud800' },
      /invalid_request: body contains half of a surrogate pair/,
    ],
    ['ticket', ticket('x', { body: 'x'.repeat(256 * 1024) }), /payload_too_large: the input may have 262144 bytes/],
  ] as const) {
    const says = await failureOf(await start(of, input as object));
    expect(says).toMatch(why);
    expect(says).not.toMatch(/\bat .*\.ts/);
  }
});

test('B.1 an erased item ends its waits so, and refuses later operations', async () => {
  const handle = await start('ticket', ticket('private-1'));
  await waiting('private-1');
  await api.post('/v1/erasures', { item: { kind: 'ticket', id: 'private-1' }, reason: 'asked for' });
  expect(await handle.result()).toMatchObject({ state: 'invalidated', reason: 'erased', decision: null });
  expect(await failureOf(await start('ticket', ticket('private-1')))).toMatch(/erased/);
});

test("B.1 the item's own callback is delivered as well, and a reviewer sees a ticket like any other", async () => {
  const { callback, received } = await startReceiver(() => 204);
  const handle = await start('ticket', ticket('both', { callback }));
  await waiting('both');
  await resolve('both');
  expect(await handle.result()).toMatchObject({ state: 'decided' });
  await eventually(async () => received.length === 1);

  const withdraws = await start('ticket', ticket('taken-back', { callback, onCancel: 'withdraw' }));
  await waiting('taken-back');
  const own = system.running.ctx.client.workflow.getHandle('ticket/taken-back');
  await eventually(() => own.describe());
  await withdraws.cancel();
  expect(await withdraws.result()).toMatchObject({ state: 'invalidated', reason: 'withdrawn' });
  await eventually(async () => received.length === 2);
  expect(await own.result()).toMatchObject({ state: 'invalidated' });
});

test('B.1 callers that continue as new, end or use an id again have a wait of their own each', async () => {
  const args = [endpoint, ticket('twice')] as [string, object];
  const handle = await client.workflow.start<typeof askTwice>('askTwice', {
    workflowId: 'twice',
    taskQueue: 'callers',
    args,
  });
  await waiting('twice');
  await resolve('twice');
  const [before, after] = (await handle.result()) as Json[];
  expect(after).toEqual(before);

  const gone = await start('ticket', ticket('gone'), 'reused');
  await waiting('gone');
  await gone.terminate('no longer wanted');
  const next = await start('ticket', ticket('gone'), 'reused');
  await waiting('gone', 2);
  await resolve('gone');
  expect(await next.result()).toMatchObject({ state: 'decided' });
});

test('B.1 cancel and decision at once: one end, and the caller has it or is cancelled', async () => {
  const pairs = await Promise.all(
    Array.from({ length: 20 }, async (_, n) => {
      const handle = await start('ticket', ticket(`race-${n}`, { onCancel: n % 2 ? 'withdraw' : 'leave' }));
      await waiting(`race-${n}`);
      return [n, handle] as const;
    }),
  );
  await Promise.all(pairs.flatMap(([n, handle]) => [handle.cancel(), resolve(`race-${n}`)]));
  for (const [n, handle] of pairs) {
    const { state } = (await api.get(`/v1/tickets/race-${n}`)).body;
    const told = (await handle.result().catch((error: Error) => error)) as Json;
    if (told instanceof WorkflowFailedError) expect(n % 2).toBe(0);
    else expect(told.state).toBe(state);
  }
}, 120_000);

test('B.1 retention leaves what is waited for, and the doctor knows waits that nothing wakes', async () => {
  await addHeld(api, 'elsewhere', 'kept-1');
  const handle = await start('ticket', { queue: 'elsewhere', id: 'kept', body: 1 });
  await waiting('kept');
  expect(await broken()).not.toContain('waits');
  await sql(`begin; alter table item disable trigger item_derived;
    update item set state = 'invalidated', ended_at = clock_timestamp(), ended_by = 'x', wake_at = null, event_seq = event_seq + 1,
           last_event = 'invalidated' where id = 'kept';
    alter table item enable trigger item_derived; commit`);
  expect(await broken()).toContain('waits');
  expect(await cell(`select nothing_pends('ticket', 'kept')`)).toBe(false);
  await sql(`update wait set wake_at = clock_timestamp() where item_id = 'kept'`);
  expect(await handle.result()).toMatchObject({ state: 'invalidated' });
});

test('B.1 S4.10 a wait may be longer than anything is kept; of an item that is gone all the same it learns that', async () => {
  const longer = await start('ticket', ticket('longer'));
  await waiting('longer');
  await sql(`update item set created_at = '2020-01-01' where id = 'longer'`);
  await sql(`update wait set created_at = '2020-01-01' where item_id = 'longer'`);
  await clear(system, 0);
  await resolve('longer');
  expect(await longer.result()).toMatchObject({ state: 'decided', decision: 'yes' });

  await sql(`insert into wait (workflow_id, kind, item_id, run) values ('awaiting/unanswered', 'ticket', 'longer', 1)`);
  await age(system, 'longer', 11);
  await published(system.running);
  await clear(system, 0);
  await sql(`delete from wait where item_id = 'longer'`);
  await clear(system, 1);

  const lost = await start('ticket', ticket('lost'));
  await waiting('lost');
  const [{ workflow_id: id }] = (await waits('lost')) as [Json];
  const own = system.running.ctx.client.workflow.getHandle(id);
  // it has read that the ticket is open
  await eventually(async () => (await own.fetchHistory()).events?.some((e) => e.markerRecordedEventAttributes));
  // as in a database that was restored from an earlier dump
  await sql(`delete from wait where item_id = 'lost'`);
  await resolve('lost');
  await age(system, 'lost', 11);
  await clear(system, 1);
  await own.signal('ended');
  expect(await lost.result()).toEqual({ state: 'cleared' });
});

const encodingOf = ({ metadata }: Payload) => metadata?.encoding ?? Buffer.alloc(0);

test("B.1 what a caller's codec has encrypted is refused at once", async () => {
  const encoding = Buffer.from('binary/encrypted');
  const codec: PayloadCodec = {
    encode: async (all) => all.map((p) => ({ ...p, metadata: { ...p.metadata, encoding, was: encodingOf(p) } })),
    decode: async (all) => all.map((p) => ({ ...p, metadata: { encoding: p.metadata?.was ?? encodingOf(p) } })),
  };
  const sealing = await startCallers(system, { payloadCodecs: [codec] });
  expect(await failureOf(await sealing.start('ticket', ticket('sealed')))).toMatch(/binary\/encrypted/);
  expect((await api.get('/v1/tickets/sealed')).status).toBe(404);
});
