import { Client, Connection } from '@temporalio/client';
import { afterAll, expect, test } from 'vitest';
import { eventually, type Json, repeat } from '../support/client.ts';
import { published } from '../support/published.ts';
import { opened, startReceiver } from '../support/receiver.ts';
import { startTestSystem, testStores } from '../support/system.ts';

// few idle items are told per second, so that some end before their workflow is started
const stores = await testStores();
const { api, running: docket } = await startTestSystem({}, { stores, limits: { publishIdlePerSecond: 20 } });
const { add, addHeld, claimOne, configure, decide, eventTypes, events, inState, ticket } = api.tickets;
const connection = await Connection.connect({ address: stores.temporalAddress });
const temporal = new Client({ connection, namespace: stores.namespace });
afterAll(() => connection.close());

const handle = (id: string) => temporal.workflow.getHandle(`ticket/${id}`);
const workflow = async (id: string): Promise<Json> => (await api.get(`/v1/tickets/${id}/workflow`)).body;
const running = (id: string) =>
  eventually(async () => {
    const now = await workflow(id);
    return now.status === 'running' && now.snapshot?.state && now;
  });
const completed = (id: string) => eventually(async () => (await workflow(id)).status === 'completed');
const last = async (id: string) => (await events(id)).at(-1);

test('S0.5 the workflow says itself what the row says, through the whole life', async () => {
  await add('life', { id: 'life', delaySeconds: 8 });
  const agrees = (state: string) =>
    eventually(async () => {
      const [now, row] = [await workflow('life'), await ticket('life')];
      return row.state === state && now.snapshot?.version === row.version && now.snapshot.state === state && now;
    });
  const first = await agrees('delayed');
  const made = await ticket('life');
  const snapshot = { wakeAt: made.availableAt, holder: null };
  expect(first).toMatchObject({ workflowId: 'ticket/life', status: 'running', snapshot });
  expect(first.uiUrl).toContain(first.runId);
  await agrees('waiting');
  const held = await claimOne('life', 'anna');
  expect((await agrees('held')).snapshot).toMatchObject({ holder: 'anna', wakeAt: held.lease.expiresAt });
  await decide(held);
  await completed('life');
  const end = await workflow('life');
  const { version } = await ticket('life');
  expect(end).toMatchObject({ runId: first.runId, snapshot: { state: 'decided', version, wakeAt: null } });
  expect(end.snapshot.events.map((e: Json) => e.type)).toEqual(['created', 'available', 'claimed', 'decided']);
});

test('S0.9 nothing is left to publish when every workflow has received it', async () => {
  await decide(await addHeld('told', 'told'));
  await published(docket);
  // a query sees all that Temporal has been given, though the worker may not have ended the run yet
  const snapshot = await eventually(async () => (await workflow('told')).snapshot);
  expect(snapshot.state).toBe('decided');
  await completed('told');
});

test('S0.5 what is over before its workflow was started has one all the same, last in order', async () => {
  const ids = repeat(60, (n) => `quick-${n}`);
  await api.post('/v1/queues/quick/tickets/batch', { tickets: ids.map((id) => ({ id, body: null })) });
  await api.post('/v1/queues/quick/invalidate', { ids, reason: 'never mind' });
  const states = await Promise.all(ids.map(workflow));
  const none = states.filter((s) => s.status === 'not_started');
  expect(none.length).toBeGreaterThan(0);
  expect(none[0]).toMatchObject({ runId: null, snapshot: null, workflowId: expect.stringMatching(/^ticket\/quick-/) });
  expect((await api.get('/v1/tickets/nobody/workflow')).status).toBe(404);
  await published(docket, 100_000);
  for (const id of ids) {
    await completed(id);
    expect((await workflow(id)).snapshot.state).toBe('invalidated');
  }
}, 120_000);

test('S0.4 an operator invalidates a ticket from the Temporal UI', async () => {
  const held = await addHeld('op-inv', 'op-inv');
  await running('op-inv');
  await handle('op-inv').signal('invalidate', { reason: 'court order', by: 'olga' });
  await inState('op-inv', 'invalidated');
  expect((await ticket('op-inv')).invalidation).toMatchObject({ reason: 'court order', by: 'olga' });
  expect((await decide(held)).body).toMatchObject({ code: 'not_open', by: 'olga', reason: 'court order' });
  expect((await events('op-inv')).find((e) => e.type === 'invalidated')?.actor).toBe('olga');
  await completed('op-inv');
});

test('S0.4 an operator takes a ticket from its holder', async () => {
  const held = await addHeld('op-rel', 'op-rel');
  await running('op-rel');
  await handle('op-rel').signal('release', { by: 'olga' });
  await inState('op-rel', 'waiting');
  expect(await last('op-rel')).toMatchObject({ type: 'released', actor: 'olga' });
  expect((await decide(held)).body).toMatchObject({ code: 'lease_lost', reason: 'revoked' });
  for (const [by, actor] of [
    ['olga', 'olga'],
    ['model:m', 'operator'],
    ['x'.repeat(201), 'operator'],
  ]) {
    const { length } = await events('op-rel');
    await handle('op-rel').signal('release', { by });
    await eventually(async () => (await events('op-rel')).length > length);
    expect(await last('op-rel')).toMatchObject({ type: 'refused', actor, data: { reason: 'not_held' } });
  }
});

test('S0.2 an operator changes the priority, and the next claim sees it', async () => {
  for (const id of ['op-pri-1', 'op-pri-2']) await add('op-pri', { id });
  await running('op-pri-2');
  await handle('op-pri-2').signal('reprioritize', { priority: 5000, by: 'olga' });
  await handle('op-pri-2').signal('reprioritize', { priority: 50, by: 'olga' });
  await eventually(async () => (await ticket('op-pri-2')).priority === 50);
  expect(await last('op-pri-2')).toMatchObject({ type: 'changed', actor: 'olga', data: { priorityBefore: 0 } });
  expect((await claimOne('op-pri', 'anna')).id).toBe('op-pri-2');
});

test("S0.2 an operator's signal that makes no sense is in the events as refused, and changes nothing", async () => {
  await add('op-odd', { id: 'op-odd', priority: 3 });
  await running('op-odd');
  const said = async () => (await events('op-odd')).filter((e) => e.type === 'refused');
  const senseless = [[{ priority: 99_999, by: 'olga' }], [{ priority: 'high', by: 'olga' }], [{ priority: null }]];
  const odd: [string, unknown[]][] = [
    ...[...senseless, ['high'], []].map((args): [string, unknown[]] => ['reprioritize', args]),
    ['prioritise', [{ priority: 5, by: 'olga' }]],
    ['kick', []],
    ['changed', [{ snapshot: { version: 'x' } }]],
  ];
  for (const [n, [name, args]] of odd.entries()) {
    const reason = name === 'reprioritize' ? 'invalid_argument' : 'unknown_signal';
    await handle('op-odd').signal(name, ...args);
    await eventually(async () => (await said()).length === n + 1);
    const by = (args[0] as { by?: string } | undefined)?.by ?? 'operator';
    expect((await said())[n]).toMatchObject({ actor: by, data: { command: name, reason } });
  }
  expect((await said())[0]?.data.detail).toContain('-1000 to 1000, not 99999');
  expect(await ticket('op-odd')).toMatchObject({ state: 'waiting', priority: 3 });
  await handle('op-odd').signal('reprioritize', { priority: 4, by: 'olga' });
  await eventually(async () => (await ticket('op-odd')).priority === 4);
});

test('S0.4 a request to cancel the workflow invalidates its ticket', async () => {
  await add('op-cancel', { id: 'op-cancel', delaySeconds: 600 });
  await running('op-cancel');
  await handle('op-cancel').cancel();
  await inState('op-cancel', 'invalidated');
  expect((await ticket('op-cancel')).invalidation.by).toBe('operator');
  await completed('op-cancel');
});

test('S0.4 commands sent together are carried out once each, in order', async () => {
  await add('op-many', { id: 'op-many', delaySeconds: 600 });
  await running('op-many');
  for (let priority = 1; priority <= 10; priority++)
    await handle('op-many').signal('reprioritize', { priority, by: `o${priority}` });
  await eventually(async () => (await ticket('op-many')).priority === 10);
  const changes = (await events('op-many')).filter((e) => e.type === 'changed');
  expect(changes.map((e) => [e.actor, e.data.priorityBefore])).toEqual(repeat(10, (n) => [`o${n + 1}`, n]));
});

test('S0.4 a command for a final ticket that is still being delivered is logged as refused', async () => {
  let answer = 500;
  const { callback, received } = await startReceiver(() => answer);
  await decide(await addHeld('op-late', { id: 'op-late', callback }), 'kept');
  await eventually(async () => received.length > 0);
  await handle('op-late').signal('invalidate', { reason: 'too late', by: 'olga' });
  await eventually(async () => (await eventTypes('op-late')).includes('refused'));
  const data = { command: 'invalidate', reason: 'not_open' };
  expect(await last('op-late')).toMatchObject({ type: 'refused', actor: 'olga', data });
  await handle('op-late').cancel();
  await eventually(async () => (await eventTypes('op-late')).filter((t) => t === 'refused').length === 2);
  expect(await ticket('op-late')).toMatchObject({ state: 'decided', decision: 'kept' });
  answer = 200;
  await eventually(async () => (await eventTypes('op-late')).includes('delivered'), 40_000);
  await completed('op-late');
});

/** What a follower sends, so late that nothing in it is news. */
const LATE = {
  snapshot: { version: 0, state: 'ready', wakeAt: null, wakeInMs: null, holder: null, telling: false },
  events: [],
};

test('S0.9 a ticket with many changes continues in new runs and loses nothing', async () => {
  await configure('long', {});
  await add('long', { id: 'long', delaySeconds: 600 });
  const { runId } = await running('long');
  for (let n = 0; n < 520; n++) await handle('long').signal('changed', LATE);
  await api.patch('/v1/tickets/long', { priority: 7 });
  await eventually(async () => {
    const now = await workflow('long');
    return now.status === 'running' && now.runId !== runId && now.snapshot?.version === (await ticket('long')).version;
  }, 40_000);
  await handle('long').signal('invalidate', { reason: 'done', by: 'olga' });
  await completed('long');
  expect(await eventTypes('long')).toEqual(['created', 'changed', 'invalidated']);
});

test('S0.4 a command that comes before the workflow has ever run is carried out all the same', async () => {
  const own = await testStores();
  const client = new Client({ connection, namespace: own.namespace });
  const door = await startTestSystem({}, { role: 'api', stores: own });
  await door.api.tickets.add('early', { id: 'early' });
  const start = { taskQueue: 'docket', workflowId: 'ticket/early', args: [{ id: 'early' }] };
  const early = await client.workflow.start('ticket', start);
  await early.signal('invalidate', { reason: 'before anybody looked', by: 'olga' });
  await startTestSystem({}, { role: 'worker', stores: own });
  await eventually(async () => (await door.api.tickets.ticket('early')).state === 'invalidated');
  expect((await door.api.tickets.ticket('early')).invalidation).toMatchObject({
    reason: 'before anybody looked',
    by: 'olga',
  });
  await early.result();
});

test('S0.10 S0.4 where a queue syncs, the receiver hears of each ticket that is decided with another', async () => {
  const { callback, received } = await startReceiver();
  await configure('synced', { sync: 'subject', callback });
  for (const id of ['one', 'two', 'three']) await add('synced', { id: `synced-${id}`, subject: 'the same' });
  await decide(await claimOne('synced', 'anna'), 'spam');
  await eventually(async () => received.length === 3);
  const heard = received.map(opened).map(({ type, ticket: of }) => [type, of.id, of.decision, of.syncedWith]);
  const first = 'synced-one';
  expect(heard.sort((a, b) => String(a[1]).localeCompare(String(b[1])))).toEqual([
    ['ticket.decided', first, 'spam', null],
    ['ticket.decided', 'synced-three', 'spam', first],
    ['ticket.decided', 'synced-two', 'spam', first],
  ]);
});
