import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'vitest';
import { type Client, claimOne, eventually, type Json, numbered } from '../../support/client.ts';
import { wholeFeed } from '../../support/feed.ts';
import { createKey } from '../../support/keys.ts';
import { lastingPort } from '../../support/ports.ts';
import { add, addMany, configure } from '../../support/tickets.ts';
import { ended, endedWith, type Program } from '../driver.ts';
import type { Scenarios } from '../scene.ts';
import { away, relay, startOwnApi } from '../stand-ins.ts';

const typed = (program: Program, type: string): Json[] =>
  program.lines('event').flatMap(({ event }) => (event.type === type ? [event.data] : []));
const seqs = (program: Program): number[] => program.lines('event').map(({ event }) => event.seq);
const lostIds = (program: Program): string[] => typed(program, 'lease_lost').map((data) => data.id);

/** Tickets that the reviewer holds, each to be lost. */
async function hold(api: Client, reviewer: string, count: number): Promise<string[]> {
  const queue = `held-by-${reviewer}`;
  await configure(api, queue, { maxHeld: count });
  const ids = await addMany(api, queue, numbered(count, `${queue}-`));
  const { body } = await api.post(`/v1/queues/${queue}/claim`, { reviewer, count });
  expect(body.tickets).toHaveLength(count);
  return ids;
}

async function lose(api: Client, ids: string[]): Promise<void> {
  for (const id of ids) expect((await api.post(`/v1/tickets/${id}/invalidate`, { reason: 'gone' })).status).toBe(200);
}

/** What each client does with streams and the feed. */
export const streams: Scenarios = {
  'S0.4 a queue is followed: what waits, and its counts': async ({ api, run }) => {
    const stream = run('stream', { queue: 'followed' });
    await eventually(async () => typed(stream, 'stats').length > 0);
    await add(api, 'followed', { id: 'followed-1' });
    await eventually(async () => typed(stream, 'stats').some((data) => data.waiting === 1));
    await eventually(async () => typed(stream, 'available').some((data) => data.queue === 'followed'));
    await claimOne(api, 'followed', 'fred');
    await api.patch('/v1/tickets/followed-1', { priority: 3 });
    await eventually(async () => typed(stream, 'changed').some((data) => data.id === 'followed-1'));
    await ended(stream);
  },

  'S0.4 with a key each connection has a ticket of its own, and a wrong key ends the stream': async ({
    api,
    running,
    run,
  }) => {
    const { key } = await createKey(running.runtime.db, { name: 'streaming', role: 'reviewer', subject: 'sue' });
    const server = await relay(api.url);
    const asked = { servers: [server.url], reviewer: 'sue' };
    const ids = await hold(api, 'sue', 2);
    const stream = run('stream', { ...asked, apiKey: key });
    // a page has no key, but a function that gets it a ticket
    const page = run('stream', { ...asked, ticketKey: key });
    await eventually(async () => server.streams() === 2);
    await lose(api, ids.slice(0, 1));
    for (const one of [stream, page]) await eventually(async () => lostIds(one).length === 1);
    server.cut();
    await eventually(async () => server.streams() === 4);
    await lose(api, ids.slice(1));
    for (const one of [stream, page]) await eventually(async () => lostIds(one).length === 2);
    await ended(stream, page);
    for (const one of [stream, page]) expect(lostIds(one)).toEqual(ids);
    const tickets = server.calls.flatMap(({ path }) => new URL(path, api.url).searchParams.getAll('ticket'));
    expect(new Set(tickets).size).toBe(4);
    for (const { path, headers } of server.calls)
      if (path.startsWith('/v1/stream?')) expect(headers.authorization).toBeUndefined();

    await endedWith(run('stream', { ...asked, apiKey: 'wrong' }), 'Auth');
  },

  'S0.4 events that come close behind each other are not kept back until there is a pause': async ({ api, run }) => {
    const [id = ''] = await hold(api, 'pia', 1);
    const stream = run('stream', { reviewer: 'pia' });
    for (let n = 0; typed(stream, 'changed').length < 10; n++) {
      expect(n, 'changes that were made without ten of them being heard of').toBeLessThan(80);
      await api.patch(`/v1/tickets/${id}`, { priority: n });
      await sleep(100);
    }
    await ended(stream);
  },

  'S0.4 a stream that is cut before its first event misses none': async ({ api, run }) => {
    const ids = await hold(api, 'quinn', 3);
    const server = await relay(api.url);
    const stream = run('stream', { servers: [server.url], reviewer: 'quinn' });
    await eventually(async () => server.streams() === 1);
    server.down();
    await lose(api, ids);
    server.up();
    await eventually(async () => lostIds(stream).length === 3);
    await ended(stream);
    expect(lostIds(stream)).toEqual(ids);
  },

  'S0.4 it goes on with the next server, and begins where it is told to': async ({ api, run }) => {
    const ids = await hold(api, 'nina', 3);
    const servers = [...(await away()), api.url];
    const first = run('stream', { servers, queue: 'held-by-nina' });
    await eventually(async () => typed(first, 'stats').length > 0);
    await lose(api, ids.slice(0, 2));
    await eventually(async () => lostIds(first).length === 2);
    await ended(first);
    const { event } = first.lines('event').find((line) => line.event.type === 'lease_lost');
    const next = run('stream', { servers, reviewer: 'nina', lastEventId: event.id });
    await eventually(async () => lostIds(next).length === 1);
    await lose(api, ids.slice(2));
    await eventually(async () => lostIds(next).length === 2);
    await ended(next);
    expect(lostIds(next)).toEqual(ids.slice(1));
  },

  'S0.4 S4.8 a server is killed and started again: stream and feed go on without loss and without repeats': async (
    scene,
  ) => {
    const { api, run } = scene;
    const PORT = String(await lastingPort());
    const dying = await startOwnApi(scene, { PORT });
    const { url } = dying.api;
    const ids = await hold(api, 'rob', 20);
    const stream = run('stream', { servers: [url], reviewer: 'rob' });
    const feed = run('feed', { servers: [url], after: 0, follow: true });
    await eventually(async () => seqs(feed).length > 0);
    const last = ids.at(-1) ?? '';
    let priority = 0;
    await eventually(async () => {
      await api.patch(`/v1/tickets/${last}`, { priority: ++priority });
      return typed(stream, 'changed').length > 0;
    });
    await lose(api, ids.slice(0, 5));
    await eventually(async () => lostIds(stream).length === 5);
    await dying.end('SIGKILL');
    await lose(api, ids.slice(5, 15));
    await startOwnApi(scene, { PORT });
    await lose(api, ids.slice(15));
    await eventually(async () => lostIds(stream).includes(last));
    const sent = await wholeFeed(api);
    await eventually(async () => seqs(feed).length >= sent.length);
    await ended(stream, feed);
    expect(lostIds(stream)).toEqual(ids);
    const named = ({ seq, id, type }: Json) => ({ seq, id, type });
    const read = feed.lines('event').map((line) => named(line.event));
    expect(read.slice(0, sent.length)).toEqual(sent.map(named));
  },

  'S4.8 the feed is read to its end, from where the reader was': async ({ idle: { api }, run }) => {
    const servers = [api.url];
    await addMany(api, 'fed', numbered(1000, 'fed-'));
    await add(api, 'fed', { id: 'fed-last' });
    const all = run('feed', { servers, after: 0, follow: false });
    expect(await all.exited, all.output()).toBe(0);
    const read = seqs(all);
    expect(read.length).toBeGreaterThan(1000);
    expect(read).toEqual(read.toSorted((a, b) => a - b));
    const mine = all.lines('event').filter(({ event }) => event.itemId.startsWith('fed-'));
    expect(mine).toHaveLength(1001);
    expect(mine.at(-1).event).toMatchObject({ kind: 'ticket', itemId: 'fed-last', type: 'created' });
    const rest = run('feed', { servers, after: read.at(-3), follow: false });
    expect(await rest.exited, rest.output()).toBe(0);
    expect(seqs(rest).slice(0, 2)).toEqual(read.slice(-2));
  },
};
