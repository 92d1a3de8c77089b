import { connect, createServer, type Socket } from 'node:net';
import { EventSource } from 'eventsource';
import { expect, onTestFinished, test } from 'vitest';
import { closeItems } from '../../db/items.ts';
import { eventually, type Json } from '../support/client.ts';
import { expectProblem } from '../support/problems.ts';
import { openStream } from '../support/stream.ts';
import { startTestSystem } from '../support/system.ts';

const system = await startTestSystem({ DOCKET_AUTH: 'keys' });
const { cell, keyed } = system;
const admin = await keyed('admin');
const { add, addHeld, claimOne, operate } = admin.tickets;

/** A network whose connections can be cut. */
async function network() {
  const target = new URL(system.api.url);
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
  const anna = await keyed('reviewer', 'anna');
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
  const bea = await keyed('reviewer', 'bea');
  const ticketed = async () => `ticket=${(await bea.post('/v1/stream-tickets')).body.ticket}`;
  const first = await openStream(system.api, await ticketed());
  await lose('later', 'later-1', 'bea');
  const { id } = await first.first('lease_lost');
  first.close();
  await lose('later', 'later-2', 'bea');
  const second = await openStream(system.api, `${await ticketed()}&lastEventId=${id}`);
  await second.first('lease_lost');
  expect(second.events.map((e) => e.data.id)).toEqual(['later-2']);
  expectProblem(await system.api.get(`/v1/stream?${await ticketed()}&lastEventId=x`), 'no id', 422);
});

test('S0.4 a stream that is cut before its first event is resumed from where it began', async () => {
  const emil = await keyed('reviewer', 'emil');
  const headers = { authorization: `Bearer ${emil.key}` };
  const response = await fetch(`${system.api.url}/v1/stream`, { headers });
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  let begun = '';
  while (!begun.includes('id: ')) begun += (await reader?.read())?.value ?? '';
  await reader?.cancel();
  await lose('begun', 'begun-1', 'emil');
  const resumed = await openStream(emil, '', /id: (\d+)/.exec(begun)?.[1]);
  expect((await resumed.first('lease_lost')).data.id).toBe('begun-1');
});

test('S0.4 each event of a queue’s stream has an id behind which it goes on', async () => {
  const stream = await openStream(admin, 'queue=board');
  await add('board', { id: 'board-0' });
  await stream.first('available');
  const { id } = await stream.first('stats', (d) => d.waiting === 1);
  expect(stream.events.map((e) => e.id)).toEqual(stream.events.map(() => expect.stringMatching(/^\d+$/)));
  stream.close();
  await claimOne('board', 'carl');
  await admin.patch('/v1/tickets/board-0', { priority: 3 });
  await operate('board-0', 'invalidate');
  await lose('elsewhere', 'elsewhere-0', 'carl');
  const again = await openStream(admin, 'queue=board', id);
  await again.first('lease_lost');
  const shown = again.events.filter((e) => e.event !== 'stats').map((e) => `${e.event} ${e.data.id}`);
  expect(shown).toEqual(['changed board-0', 'lease_lost board-0']);
});

test('S0.4 a notice that is committed late is not missed by a reader who has seen a later one', async () => {
  for (const id of ['late-1', 'late-2']) {
    await addHeld(id, id, 'dora');
  }
  const stream = await openStream(admin, 'reviewer=dora');
  const slow = system.running.runtime.db.transaction(async (tx) => {
    const note = { reason: 'slow', actor: 'x', state: 'invalidated' as const };
    await closeItems(tx, 'ticket', { ...note, items: [{ id: 'late-1' }] });
    await operate('late-2', 'invalidate');
    const seen = await stream.first('lease_lost', (d) => d.id === 'late-2');
    stream.close();
    return seen.id;
  });
  const resumed = await openStream(admin, 'reviewer=dora', await slow);
  await resumed.first('lease_lost', (d) => d.id === 'late-1');
  expect(resumed.events.map((e) => e.data.id)).toEqual(['late-1']);
});
