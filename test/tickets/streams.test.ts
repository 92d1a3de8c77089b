import { connect, createServer, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { EventSource } from 'eventsource';
import { expect, onTestFinished, test, vi } from 'vitest';
import { openStreams } from '../../api/streams/sse.ts';
import { closeItems } from '../../db/items.ts';
import { eventually, type Json, repeat } from '../support/client.ts';
import { expectProblem } from '../support/problems.ts';
import { openStream } from '../support/stream.ts';
import { startTestSystem, testStores } from '../support/system.ts';

const stores = await testStores();
const { api, cell, running } = await startTestSystem({}, { role: 'api', stores });
const twin = await startTestSystem({ DOCKET_AUTH: 'keys' }, { role: 'api', stores });
const far = await twin.keyed('admin');
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
  const there = await openStream(far, `reviewer=anna-${queue}`);
  const others = await openStream(api, `reviewer=ben-${queue}`);
  await addHeld(queue, id, `anna-${queue}`);
  await operate(id, call, body);
  const ended = performance.now();
  for (const stream of [mine, there]) {
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
  await add('slow-2', { id: 'slow-2', deadlineSeconds: 4 });
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
  const streams = await Promise.all(people.map((p, n) => openStream(n % 2 ? api : far, `reviewer=${p}`)));
  await api.post('/v1/queues/crowd/tickets/batch', { tickets: people.map((p) => ({ id: p, body: null })) });
  const held = await Promise.all(people.map(async (p) => (await claim('crowd', p)).tickets[0].id));
  await api.post('/v1/queues/crowd/invalidate', { filter: {}, reason: 'all' });
  await Promise.all(streams.map((s) => s.first('lease_lost')));
  expect(streams.map((s) => s.events.map((e) => e.data.id))).toEqual(held.map((id) => [id]));
});

/** A network whose connections can be cut. */
async function network() {
  const target = new URL(twin.api.url);
  const sockets = new Set<Socket>();
  let down = false;
  const server = createServer((socket) => {
    if (down) return socket.destroy();
    const far = connect(Number(target.port), target.hostname);
    for (const one of [socket, far]) {
      sockets.add(one);
      one.on('error', () => {}).on('close', () => sockets.delete(one));
    }
    socket.pipe(far).pipe(socket);
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const cut = () => sockets.forEach((socket) => void socket.destroy());
  onTestFinished(() => {
    cut();
    server.close();
  });
  const { port } = server.address() as { port: number };
  return {
    url: `http://127.0.0.1:${port}`,
    /** Nobody gets through until `work` is done. */
    async without(work: () => Promise<unknown>) {
      down = true;
      cut();
      await work();
      down = false;
    },
  };
}

/** What a page in a browser would see. */
function listen(url: string, types: string[]) {
  const seen: [string, Json, string][] = [];
  const source = new EventSource(url);
  onTestFinished(() => source.close());
  for (const type of types)
    source.addEventListener(type, (e) => void seen.push([type, JSON.parse(e.data), e.lastEventId]));
  return { source, seen };
}

async function lose(queue: string, id: string, reviewer: string): Promise<void> {
  await addHeld(queue, id, reviewer);
  await operate(id, 'invalidate');
}

test('S0.4 a browser that is cut off comes back with its stream ticket and misses nothing', async () => {
  const { url, without } = await network();
  const anna = await twin.keyed('reviewer', 'anna');
  const { ticket } = (await anna.post('/v1/stream-tickets')).body;
  const { source, seen } = listen(`${url}/v1/stream?ticket=${ticket}`, ['lease_lost']);
  await eventually(async () => source.readyState === 1);
  // the sixty seconds in which a ticket must be used are over
  const left = await cell('select extract(epoch from expires_at - clock_timestamp())::float8 from stream_ticket');
  expect(left).toBeGreaterThan(300);
  const ids = ['cut-1', 'cut-2', 'cut-3', 'cut-4'];
  await lose('cut', 'cut-1', 'anna');
  await eventually(async () => seen.length === 1);
  for (const id of ids.slice(1)) await without(() => lose('cut', id, 'anna'));
  await eventually(async () => seen.length >= ids.length);
  expect(seen.map(([, data]) => data.id)).toEqual(ids);
  expect(source.readyState).toBe(1);
});

test('S0.4 a new stream ticket goes on behind ?lastEventId=', async () => {
  const bea = await twin.keyed('reviewer', 'bea');
  const ticketed = async () => `ticket=${(await bea.post('/v1/stream-tickets')).body.ticket}`;
  const first = await openStream(twin.api, await ticketed());
  await lose('later', 'later-1', 'bea');
  const { id } = await first.first('lease_lost');
  first.close();
  await lose('later', 'later-2', 'bea');
  const second = await openStream(twin.api, `${await ticketed()}&lastEventId=${id}`);
  await second.first('lease_lost');
  expect(second.events.map((e) => e.data.id)).toEqual(['later-2']);
  expectProblem(await twin.api.get(`/v1/stream?${await ticketed()}&lastEventId=x`), 'no id', 422);
});

test('S0.4 a stream that is cut before its first event is resumed from where it began', async () => {
  const emil = await twin.keyed('reviewer', 'emil');
  const headers = { authorization: `Bearer ${emil.key}` };
  const response = await fetch(`${twin.api.url}/v1/stream`, { headers });
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  let begun = '';
  while (!begun.includes('id: ')) begun += (await reader?.read())?.value ?? '';
  await reader?.cancel();
  await lose('begun', 'begun-1', 'emil');
  const resumed = await openStream(emil, '', /id: (\d+)/.exec(begun)?.[1]);
  expect((await resumed.first('lease_lost')).data.id).toBe('begun-1');
});

test('S0.4 each event of a queue’s stream has an id behind which it goes on', async () => {
  const stream = await openStream(far, 'queue=panel');
  await add('panel', { id: 'panel-0' });
  await stream.first('available');
  const { id } = await stream.first('stats', (d) => d.waiting === 1);
  expect(stream.events.map((e) => e.id)).toEqual(stream.events.map(() => expect.stringMatching(/^\d+$/)));
  stream.close();
  await claimOne('panel', 'carl');
  await far.patch('/v1/tickets/panel-0', { priority: 3 });
  await operate('panel-0', 'invalidate');
  await lose('elsewhere', 'elsewhere-0', 'carl');
  const again = await openStream(far, 'queue=panel', id);
  await again.first('lease_lost');
  const shown = again.events.filter((e) => e.event !== 'stats').map((e) => `${e.event} ${e.data.id}`);
  expect(shown).toEqual(['changed panel-0', 'lease_lost panel-0']);
});

test('S0.4 a notice that is committed late is not missed by a reader who has seen a later one', async () => {
  for (const id of ['late-1', 'late-2']) {
    await addHeld(id, id, 'dora');
  }
  const stream = await openStream(far, 'reviewer=dora');
  const slow = running.runtime.db.transaction(async (tx) => {
    const note = { reason: 'slow', actor: 'x', state: 'invalidated' as const };
    await closeItems(tx, 'ticket', { ...note, items: [{ id: 'late-1' }] });
    await operate('late-2', 'invalidate');
    const seen = await stream.first('lease_lost', (d) => d.id === 'late-2');
    stream.close();
    return seen.id;
  });
  const resumed = await openStream(far, 'reviewer=dora', await slow);
  await resumed.first('lease_lost', (d) => d.id === 'late-1');
  expect(resumed.events.map((e) => e.data.id)).toEqual(['late-1']);
});
