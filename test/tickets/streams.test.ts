import { setTimeout as sleep } from 'node:timers/promises';
import { expect, onTestFinished, test, vi } from 'vitest';
import { openStreams } from '../../api/streams/sse.ts';
import { eventually, repeat } from '../support/client.ts';
import { openStream } from '../support/stream.ts';
import { startTwoSystems } from '../support/system.ts';

const [{ api, running }, twin] = await startTwoSystems();
const { add, addHeld, claim, claimOne, configure, decide, operate, withToken } = api.tickets;

/** A holder must hear within a second; the machine that runs the tests is given some more. */
const SOON_MS = 3_000;

const endings: [how: string, reason: string, call: string, body?: object][] = [
  ['invalidated', 'invalidated', 'invalidate'],
  ['resolved', 'decided', 'resolve', { decision: 1, reason: 'r' }],
  ['transferred', 'transferred', 'transfer', { queue: 'other' }],
  ['taken away', 'revoked', 'release', {}],
];

await configure('other', {});

test.each(endings)('S0.4 whoever holds a ticket that is %s hears it at once', async (name, reason, call, body) => {
  const [queue, id] = [name.replace(' ', '-'), `st-${name.replace(' ', '-')}`];
  const mine = await openStream(api, `reviewer=anna-${queue}`);
  const far = await openStream(twin.api, `reviewer=anna-${queue}`);
  const others = await openStream(api, `reviewer=ben-${queue}`);
  await addHeld(queue, id, `anna-${queue}`);
  await operate(id, call, body);
  const ended = performance.now();
  for (const stream of [mine, far]) {
    const { data, id: position, at } = await stream.first('lease_lost');
    expect(data).toEqual({ kind: 'ticket', id, reason, by: 'anonymous' });
    expect(position).toMatch(/^\d+$/);
    expect(at - ended).toBeLessThan(SOON_MS);
  }
  expect(others.events).toEqual([]);
});

test('S0.7 whoever holds a ticket too long hears that it is lost, for its lease or for its deadline', async () => {
  const stream = await openStream(api, 'reviewer=slow');
  await configure('slow', { leaseSeconds: 0.3 });
  const held = await addHeld('slow', 'slow', 'slow');
  const first = await stream.first('lease_lost');
  expect(first.data).toEqual({ kind: 'ticket', id: 'slow', reason: 'expired', by: 'system' });
  expect(Date.now() - Date.parse(held.lease.expiresAt)).toBeLessThan(SOON_MS);
  await add('slow-2', { id: 'slow-2', deadlineSeconds: 2 });
  await claimOne('slow-2', 'slow');
  await stream.first('lease_lost', (d) => d.id === 'slow-2' && d.reason === 'expired' && d.by === 'system');
});

test('S0.4 what a holder does himself is not told him as a loss', async () => {
  const stream = await openStream(api, 'reviewer=self');
  await decide(await addHeld('self', ['self-1', 'self-2', 'self-3', 'self-4'], 'self'));
  await withToken(await claimOne('self', 'self'), 'release', { skip: true });
  await withToken(await claimOne('self', 'self'), 'transfer', { queue: 'other' });
  await claimOne('self', 'self');
  await operate('self-4', 'invalidate');
  await stream.first('lease_lost');
  expect(stream.events.map((e) => [e.event, e.data.id])).toEqual([['lease_lost', 'self-4']]);
});

test('S0.2 a holder hears that what he holds was changed, with the version', async () => {
  const stream = await openStream(api, 'reviewer=reader');
  await addHeld('changed', 'changed', 'reader');
  const { body } = await api.patch('/v1/tickets/changed', { body: 'new text' });
  expect((await stream.first('changed')).data).toEqual({ kind: 'ticket', id: 'changed', version: body.version });
  expect((await claimOne('changed', 'reader')).body).toBe('new text');
});

test('S0.4 a stream that was cut goes on behind the last event seen', async () => {
  const before = await openStream(api, 'reviewer=cut');
  const lose = async (id: string) => {
    await addHeld('cut', id, 'cut');
    await operate(id, 'invalidate');
  };
  await lose('cut-1');
  const seen = await before.first('lease_lost', (d) => d.id === 'cut-1');
  before.close();
  for (const id of ['cut-2', 'cut-3']) await lose(id);
  const after = await openStream(twin.api, 'reviewer=cut', seen.id);
  await after.first('lease_lost', (d) => d.id === 'cut-3');
  await lose('cut-4');
  await after.first('lease_lost', (d) => d.id === 'cut-4');
  expect([...new Set(after.events.map((e) => e.data.id))]).toEqual(['cut-2', 'cut-3', 'cut-4']);
  const fresh = await openStream(api, 'reviewer=cut');
  await lose('cut-5');
  await fresh.first('lease_lost');
  expect(fresh.events.map((e) => e.data.id)).toEqual(['cut-5']);
});

test('S0.8 a queue’s stream tells that there is something, and the counts', async () => {
  await add('board', { id: 'board-0' });
  const stream = await openStream(api, 'queue=board');
  const elsewhere = await openStream(api, 'queue=elsewhere');
  const counts = (await stream.first('stats')).data;
  expect(counts).toMatchObject({ queue: 'board', waiting: 1, held: 0 });
  await add('board', { id: 'board-1' });
  expect((await stream.first('available')).data).toEqual({ queue: 'board' });
  await claimOne('board', 'anna');
  await stream.first('stats', (d) => d.waiting === 1 && d.held === 1);
  await api.post('/v1/queues/board/invalidate', { filter: {}, reason: 'r' });
  expect((await stream.first('lease_lost')).data).toMatchObject({ id: 'board-0', reason: 'invalidated' });
  await stream.first('stats', (d) => d.invalidated === 2 && d.held === 0);
  expect(elsewhere.events.filter((e) => e.event !== 'stats')).toEqual([]);
});

test('S0.8 fifty streams of a queue read its counts no more often than one', async () => {
  await add('shared', { id: 'shared-0' });
  const { pool } = running.runtime.db.lists;
  const ask = vi.spyOn(pool, 'query');
  const reads = () =>
    ask.mock.calls.filter(([query]) => (query as unknown as { name: string }).name === 'queue_stats').length;
  onTestFinished(() => ask.mockRestore());
  const first = await openStream(api, 'queue=shared');
  const streams = await Promise.all(repeat(49, () => openStream(api, 'queue=shared')));
  for (const stream of [first, ...streams]) await stream.first('stats', (d) => d.waiting === 1);
  await add('shared', { id: 'shared-1' });
  for (const stream of [first, ...streams]) await stream.first('stats', (d) => d.waiting === 2);
  // a machine that stalls may see one more round
  expect(reads()).toBeLessThan(10);
  for (const stream of [first, ...streams]) stream.close();
  await eventually(async () => openStreams.size === 0);
  const left = reads();
  await sleep(2_500);
  expect(reads()).toBe(left);
});

test('S0.4 HEAD on a stream opens none', async () => {
  await eventually(async () => openStreams.size === 0);
  for (const query of ['reviewer=head', 'queue=head']) {
    const { status, headers } = await fetch(`${api.url}/v1/stream?${query}`, { method: 'HEAD' });
    expect([status, headers.get('content-type')]).toEqual([200, 'text/event-stream']);
  }
  expect((await fetch(`${api.url}/v1/stream`, { method: 'HEAD' })).status).toBe(422);
  expect(openStreams.size).toBe(0);
});

test('S0.4 a hundred holders each hear of their own loss and of no other', async () => {
  const people = repeat(100, (n) => `crowd-${n}`);
  const streams = await Promise.all(people.map((p, n) => openStream(n % 2 ? api : twin.api, `reviewer=${p}`)));
  await api.post('/v1/queues/crowd/tickets/batch', { tickets: people.map((p) => ({ id: p, body: null })) });
  const held = await Promise.all(people.map(async (p) => (await claim('crowd', p)).tickets[0].id));
  await api.post('/v1/queues/crowd/invalidate', { filter: {}, reason: 'all' });
  await Promise.all(streams.map((s) => s.first('lease_lost')));
  expect(streams.map((s) => s.events.map((e) => e.data.id))).toEqual(held.map((id) => [id]));
});
