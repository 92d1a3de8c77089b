import { connect } from 'node:net';
import { expect, test, vi } from 'vitest';
import type { FeedEvent } from '../../contract/feed.ts';
import type { Role } from '../../contract/keys.ts';
import { addCase, claimed, court, jurors, voted } from '../support/cases.ts';
import { claimOne, eventTypes, eventually, type Json, numbered, walk } from '../support/client.ts';
import { arrived, expectWhole, feed, follow, note, wholeFeed } from '../support/feed.ts';
import { job } from '../support/jobs.ts';
import { createKey, revokeKey } from '../support/keys.ts';
import { expectProblem } from '../support/problems.ts';
import { logOf, put, tell } from '../support/reviews.ts';
import { startTestSystem, testStores } from '../support/system.ts';
import { addTask, addTemplate, completed, handed, patchTask } from '../support/tasks.ts';
import { add, addMany, claim, configure, decide, events } from '../support/tickets.ts';
import { inMs } from '../support/times.ts';

const stores = await testStores();
const { api, sql, running } = await startTestSystem({ LOG_LEVEL: 'silent' }, { stores });
const closed = await startTestSystem({ DOCKET_AUTH: 'keys' }, { role: 'api', stores });

const keyOf = (role: Role, subject: string | null = null) =>
  createKey(running.runtime.db, { name: `${role}-key`, role, subject });
const of = (lines: FeedEvent[], kind: string, id: string) =>
  lines.filter((line) => line.kind === kind && line.itemId === id);

/** An event's id, whatever its item and number. */
const ending = (seq: number) => expect.stringMatching(new RegExp(`/\\d+/${seq}$`));

test('S4.8 events of all kinds are in one feed, each item’s as in its own history', async () => {
  await add(api, 'q', { id: 'one', priority: 3 });
  await api.patch('/v1/tickets/one', { body: { text: 'ünï\n"code"' } });
  await decide(api, await claimOne(api, 'q', 'anna'), { remove: true });
  await job(api, 'add', { topic: 't', id: 'one', TTR: 60, body: 1 });
  const { token } = await job(api, 'pop', { topic: 't' });
  await job(api, 'finish', { id: 'one', token });
  await court(api, 'c', { votesToWin: 1 });
  await jurors(api, 'c', ['rita']);
  await addCase(api, 'c', { id: 'one' });
  const held = await claimed(api, 'c', 'rita');
  await voted(api, held.id, held.token, 'buyer');
  await addTemplate(api, 'plain');
  await addTask(api, { id: 'one', executor: 'uid_ann' });
  const { task, logId } = await eventually(() => handed(api, 'ann', { waitSeconds: 10 }));
  await completed(api, 'ann', logId, { done: true });
  await put(api, 'one', { text: { status: 1 }, pictures: [{ id: 'pic', status: 1 }] });
  await tell(api, 'one', { kind: 'picture', targetId: 'pic', status: 5, callbackId: 'first' });

  const lines = await wholeFeed(api);
  expectWhole(lines);
  const occurrence = `one/${task.occurrence}`;
  const paths = {
    ticket: 'tickets/one',
    job: 'jobs/one',
    case: 'cases/one',
    task: `tasks/one/occurrences/${task.occurrence}`,
  };
  for (const [kind, path] of Object.entries(paths)) {
    const itemId = kind === 'task' ? occurrence : 'one';
    const own = await walk(api, `/v1/${path}/events`, 500);
    expect(own.length, path).toBeGreaterThan(2);
    const wanted = own.map(({ seq, ...event }: Json) => ({ id: ending(seq), kind, itemId, ...event }));
    expect(of(lines, kind, itemId).map(({ seq, ...event }) => event)).toEqual(wanted);
  }
  expect(of(lines, 'review', 'one').map((line) => [line.id, line.type])).toEqual([
    [ending(0), 'created'],
    [ending(1), 'applied'],
  ]);
});

test('S4.8 every line of a review’s log is in the feed, with who sent it', async () => {
  const producer = closed.api.as((await keyOf('producer')).key);
  const agent = closed.api.as((await keyOf('agent')).key);
  const callback = { kind: 'picture', targetId: 'rev-pic' };
  await put(producer, 'rev', { text: { status: 1 }, pictures: [{ id: 'rev-pic', status: 1 }] });
  await tell(agent, 'rev', { ...callback, status: 5, callbackId: 'a', auditTime: '2026-01-02T03:04:05.678Z' });
  await tell(agent, 'rev', { ...callback, status: 6, callbackId: 'b', auditTime: '2026-01-02T03:04:04.000Z' });
  await tell(agent, 'rev', { ...callback, status: 5, callbackId: 'a' });
  await tell(agent, 'rev', { kind: 'text', status: 7 });
  await put(producer, 'rev', { text: { status: 1 } }, 200);

  const [created, ...rest] = of(await wholeFeed(api), 'review', 'rev');
  expect(created).toMatchObject({ id: ending(0), type: 'created', actor: 'producer-key' });
  expect(created?.data).toMatchObject({ before: null, after: { text: { status: 1 }, pictures: [{ id: 'rev-pic' }] } });
  const log = await logOf(api, 'rev');
  // of a callback, the feed has the statuses of its target; the log, derived from that, those of all
  expect(rest.map(({ data }: Json) => [data.before, data.after]).slice(0, 4)).toEqual([
    [1, 5],
    [5, 5],
    [5, 5],
    [1, 7],
  ]);
  const withoutTargets = ({ before, after, ...data }: Json) => data;
  expect(rest.map((line) => ({ ...line, data: withoutTargets(line.data) }))).toEqual(
    log.map(withoutTargets).map(({ seq, receivedAt, appliedAt, outcome, version, ...data }: Json, n: number) => ({
      ...{ seq: rest[n]?.seq, id: ending(seq), kind: 'review', itemId: 'rev', type: outcome, at: appliedAt },
      data,
      actor: outcome === 'edited' ? 'producer-key' : 'agent-key',
    })),
  );
  expect(rest.map((line) => line.type)).toEqual(['applied', 'expired', 'duplicate', 'applied', 'edited']);
});

test('S4.8 a decision that goes into a review is there as its reviewer’s', async () => {
  await put(api, 'led', { text: { status: 1 } });
  await add(api, 'led', { id: 'led', callback: { review: 'led', kind: 'text' } });
  await decide(api, await claimOne(api, 'led', 'anna'), { status: 9 });
  const applied = await eventually(async () =>
    of(await wholeFeed(api), 'review', 'led').find((l) => l.type === 'applied'),
  );
  expect(applied).toMatchObject({ actor: 'anna', data: { kind: 'text', status: 9, callbackId: 'ticket:led' } });
});

test('S4.8 pages by position: what is behind it, as many as asked for, a thousand if nothing is said', async () => {
  await addMany(api, 'many', numbered(50, 'many-'));
  await api.post('/v1/queues/many/invalidate', { filter: {}, reason: 'all' });
  for (let n = 0; n < 1_000; n++) await note(running.runtime.db, 'many-0', { n });
  const all = await wholeFeed(api);
  expectWhole(all);
  expect(all.length).toBeGreaterThan(1_000);
  expect(await wholeFeed(api, 7)).toEqual(all);
  expect(await feed(api, '')).toEqual(all.slice(0, 1_000));
  expect(await feed(api, 'after=5&limit=3')).toEqual(all.slice(5, 8));
  expect(await feed(api, `after=${all.length}`)).toEqual([]);
  expect(await feed(api, `after=${Number.MAX_SAFE_INTEGER}`)).toEqual([]);
  const followed = await follow(api, 'after=3&limit=4');
  expect(await followed.ended).toBeUndefined();
  expect(followed.lines).toEqual(all.slice(3, 7));
});

test('S4.8 a follower gets events as they come, also those of another process, and blank lines between', async () => {
  const start = (await wholeFeed(api)).length;
  const here = await follow(api, `after=${start}`);
  const there = await follow(closed.api.as((await keyOf('producer')).key), `after=${start}`);
  for (let n = 0; n < 3; n++) {
    await add(api, 'prompt', { id: `prompt-${n}` });
    for (const followed of [here, there]) {
      await arrived(followed, n + 1, 5_000);
      expect(followed.lines[n]).toMatchObject({ seq: start + n + 1, itemId: `prompt-${n}` });
    }
  }
  expect(here.text().endsWith('\n\n')).toBe(false);
  await eventually(async () => here.text().endsWith('\n\n'));
  expect(here.lines).toHaveLength(3);
});

test('S4.8 what is not a position, a limit or a yes or no is refused', async () => {
  const numbers = ['-1', 'x', '', '1.5', '1e3', 'NaN', 'Infinity', '%00', '0x10', ' 1', '9007199254740993', '5,6'];
  const wrong = [
    ...numbers.flatMap((n) => [`after=${n}`, `limit=${n}`, `follow=true&after=${n}`]),
    ...['limit=0', 'limit=10001', 'follow=maybe', 'follow=', 'follow=1', 'follow=TRUE', 'follow=true&limit=0'],
  ];
  for (const query of wrong) expectProblem(await api.get(`/v1/feed?${query}`), query, 'invalid_request');
});

test('S4.8 the feed is for producers and administrators', async () => {
  for (const role of ['producer', 'admin', 'reviewer', 'agent', 'consumer'] as const) {
    const { key } = await keyOf(role, role === 'reviewer' ? 'rita' : null);
    const reply = await closed.api.as(key).get('/v1/feed?limit=1');
    if (role === 'producer' || role === 'admin') expect(reply.status, role).toBe(200);
    else expectProblem(reply, role, 'forbidden');
  }
  expectProblem(await closed.api.get('/v1/feed'), 'no key', 'unauthenticated');
});

test('S4.8 who follows is let go when his key is revoked, and when the server stops', async () => {
  const { id, key } = await keyOf('producer');
  const revoked = await follow(closed.api.as(key), 'after=0');
  await revokeKey(running.runtime.db, id);
  expect(await revoked.ended).toBeUndefined();
  expect(revoked.lines.length).toBeGreaterThan(0);
  const stopping = await startTestSystem({}, { role: 'api', stores });
  const stopped = await follow(stopping.api, 'after=0');
  await arrived(stopped, 1);
  await stopping.stop();
  expect(await stopped.ended).toBeUndefined();
}, 30_000);

const LARGE = 100;
const text = 'x'.repeat(200_000);

/** Many megabytes of events; the position before them. */
async function largeEvents(id: string): Promise<number> {
  await add(api, 'large', { id });
  for (let n = 0; n < LARGE; n++) await note(running.runtime.db, id, { n, text });
  return (await wholeFeed(api)).length - LARGE;
}

test('S4.8 an answer that cannot go on is broken off, so that nobody takes it for the end of the feed', async () => {
  const start = await largeEvents('cut');
  const whole = await feed(api, `after=${start}&limit=${LARGE}`);
  expect(whole).toHaveLength(LARGE);
  const response = await fetch(`${api.url}/v1/feed?after=${start}&limit=10000`);
  const reader = response.body!.getReader();
  await reader.read();
  await sql('alter table feed rename to away');
  try {
    const rest = async () => {
      while (!(await reader.read()).done);
    };
    await expect(rest()).rejects.toThrow(/terminated/);
  } finally {
    await sql('alter table away rename to feed');
  }
  expect(await feed(api, `after=${start}&limit=${LARGE}`)).toEqual(whole);
});

test('S4.8 a reader who takes nothing costs a few pages, not the whole feed', async () => {
  const start = await largeEvents('slow');
  let pages = 0;
  const read = running.runtime.feed.read.bind(running.runtime.feed);
  const spy = vi.spyOn(running.runtime.feed, 'read').mockImplementation(async (after, limit) => {
    const page = await read(after, limit);
    pages += page.rows.length;
    return page;
  });
  const { hostname, port } = new URL(api.url);
  const socket = connect(Number(port), hostname);
  socket.pause();
  socket.write(`GET /v1/feed?after=${start}&follow=true HTTP/1.1\r\nhost: localhost\r\n\r\n`);
  await eventually(async () => pages > 0);
  for (let still = -1; still !== pages; await new Promise((later) => setTimeout(later, 300))) still = pages;
  expect(pages).toBeLessThan(LARGE / 2);
  let got = 0;
  socket.on('data', (chunk: Buffer) => {
    got += chunk.length;
  });
  socket.resume();
  await eventually(async () => got > LARGE * text.length);
  expect(pages).toBe(LARGE);
  socket.destroy();
  spy.mockRestore();
});

const DAY = /\d{4}-\d\d-\d\d/;
const SHOWN = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

/** Every text in a value that holds a day, by its path. */
function timesIn(value: Json, path: string): [string, string][] {
  if (typeof value === 'string') return DAY.test(value) ? [[path, value]] : [];
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, one]) => timesIn(one, `${path}.${name}`));
}

test('S4.8 every time in an event is ISO 8601 in UTC with milliseconds, whoever wrote it', async () => {
  await configure(api, 'times', { leaseSeconds: 0.2 });
  await add(api, 'times', { id: 'reclaimed' });
  await claim(api, 'times', 'rita');
  await add(api, 'times', { id: 'expired', deadlineSeconds: 0.2 });
  await add(api, 'times', { id: 'changed' });
  await api.patch('/v1/tickets/changed', { deadlineAt: '2099-01-02T03:04:05.123456+02:00' });
  await addTemplate(api, 'plain');
  await addTask(api, { id: 'once', executor: 'uid_rita', startTime: inMs(3_600_000) });
  await patchTask(api, 'once', { startTime: '2098-01-02T03:04:05+02:00', endTime: '2099-01-01T00:00:00Z' });
  const daily = { type: 'rotate', dailyTime: '09:00', executor: 'uid_rita', startTime: inMs(-86_400_000) };
  await addTask(api, { id: 'daily', ...daily });
  await patchTask(api, 'daily', { dailyTime: '10:00', endTime: inMs(86_400_000), startTime: inMs(-3 * 86_400_000) });
  await api.put('/v1/reviews/times', { text: { status: 1 } });
  const callback = { kind: 'text', status: 2, auditTime: '2024-01-02T03:04:05+02:00', waitSeconds: 30 };
  expect((await api.post('/v1/reviews/times/callbacks', callback)).body.outcome).toBe('applied');
  for (const id of ['reclaimed', 'expired']) await eventually(async () => (await eventTypes(api, id)).includes(id));

  const [change] = (await events(api, 'changed')).filter((e) => e.type === 'changed');
  expect(change?.data.changed).toEqual({ deadlineAt: '2099-01-02T01:04:05.123Z' });
  expect((await api.get('/v1/tickets/changed')).body.deadlineAt).toBe('2099-01-02T01:04:05.123Z');
  const found = (await wholeFeed(api)).flatMap((e) => timesIn(e.data, `${e.kind} ${e.type}`));
  const paths = found.map(([path]) => path);
  expect(paths).toEqual(
    expect.arrayContaining([
      ...['ticket reclaimed.expiredAt', 'ticket expired.deadlineAt', 'ticket changed.changed.deadlineAt'],
      ...['rotation changed.changed.startTime', 'rotation changed.changed.endTime', 'review applied.auditTime'],
    ]),
  );
  expect(found.filter(([, time]) => !SHOWN.test(time))).toEqual([]);
});
