import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { eventually, type Json, repeat } from '../support/client.ts';
import { byNight } from '../support/nightly.ts';
import { expectProblem } from '../support/problems.ts';
import { opened, type Received, startReceiver } from '../support/receiver.ts';
import { startTestSystem } from '../support/system.ts';

const { api, cell, running, sql } = await startTestSystem();
const { add, addHeld, claimOne, decide, events, operate } = api.tickets;
const { drop, flood, logOf, put, review, tell, workflow } = api.reviews;

const IDLE_MS = 10_000;
/** Callbacks that come around the end of their run. */
const EDGES = byNight(48, 8);
const plain = { text: { status: 1 }, pictures: [], replies: [] };

test.concurrent('S1.2 one workflow per review: it stays a while, ends, and the next callback starts it again', async () => {
  await put('life', plain);
  expect(await workflow('life')).toMatchObject({ workflowId: 'review/life', status: 'not_started', snapshot: null });
  await tell('life', { kind: 'text', status: 2 });
  const first = await workflow('life');
  expect(first).toMatchObject({ status: 'running', snapshot: { state: 'idle', resolved: 1 } });
  await tell('life', { kind: 'text', status: 3 });
  expect((await workflow('life')).runId).toBe(first.runId);
  await eventually(async () => (await workflow('life')).status === 'completed', 30_000);
  await tell('life', { kind: 'text', status: 4 });
  const second = await workflow('life');
  expect(second.status).toBe('running');
  expect(second.runId).not.toBe(first.runId);
}, 60_000);

test.concurrent('S1.2 a callback that comes just as the workflow ends is not lost', async () => {
  const ids = repeat(EDGES, (n) => `edge-${n}`);
  await Promise.all(ids.map((id) => put(id, plain)));
  await Promise.all(
    ids.map(async (id, n) => {
      await tell(id, { kind: 'text', status: 2 });
      await sleep(IDLE_MS - 120 + (n * 240) / EDGES);
      expect((await tell(id, { kind: 'text', status: 3 })).outcome).toBe('applied');
      expect(await logOf(id)).toHaveLength(2);
    }),
  );
}, 60_000);

test('S1.2 a database that fails a few times in a row holds up no audit for longer than seconds', async () => {
  await put('faults', plain);
  await sql('create sequence applied');
  await sql(`create function refuse() returns trigger language plpgsql as $$
    begin if nextval('applied') <= 4 then raise exception 'no room'; end if; return new; end $$`);
  await sql(`create trigger refuse before update on review_callback for each row
    when (new.review_id = 'faults' and new.outcome = 'applied') execute function refuse()`);
  // a run tries twice, pauses for a second or so, tries twice, pauses for two
  expect((await tell('faults', { kind: 'text', status: 2, waitSeconds: 20 })).outcome).toBe('applied');
  expect(await cell('select last_value::integer from applied')).toBe(5);
  await sql('drop trigger refuse on review_callback');
}, 60_000);

test('S1.2 where many reviews wait, a run ends once it has nothing left to do, and no callback is lost', async () => {
  const ids = repeat(byNight(500, 220), (n) => `flood-${n}`);
  await Promise.all(ids.map((id) => put(id, plain)));
  await flood(ids, 2);
  await flood(ids, 3);
  const rest = "select count(*)::int from review_callback where review_id like 'flood-%' and outcome = 'pending'";
  await eventually(async () => (await cell(rest)) === 0, 60_000);
  const handles = ids.map((id) => running.runtime.client.workflow.getHandle(`review/${id}`));
  const histories = await Promise.all(handles.map((handle) => handle.fetchHistory()));
  const staying = histories.filter(({ events }) => events?.some((e) => e.timerStartedEventAttributes));
  // the last hundred have no one to make room for
  expect(staying.length).toBeLessThan(ids.length / 2);
  for (const id of ids.slice(0, 10)) {
    expect((await tell(id, { kind: 'text', status: 4 })).outcome).toBe('applied');
    expect((await logOf(id)).map((l) => l.status)).toEqual([2, 3, 4]);
  }
}, 120_000);

test('S1.2 it continues as new before its history grows heavy, and loses nothing', async () => {
  await put('long', plain);
  await tell('long', { kind: 'text', status: 0 });
  const { runId } = await workflow('long');
  // in twos, so that there are many batches
  const many = byNight(700, 420);
  for (let n = 0; n < many; n += 2)
    await Promise.all([n, n + 1].map((status) => tell('long', { kind: 'text', status })));
  const log = await logOf('long');
  expect(log).toHaveLength(many + 1);
  expect(log.map((l) => l.seq)).toEqual(log.map((_, n) => n + 1));
  const after = await workflow('long');
  expect(after.runId).not.toBe(runId);
  const ended = await running.runtime.client.workflow.getHandle('review/long', runId).describe();
  expect(ended.status.name).toBe('CONTINUED_AS_NEW');
}, 300_000);

test('S1.2 cancelled by an operator: what has come is applied, and the next callback starts it again', async () => {
  await put('stop', plain);
  await tell('stop', { kind: 'text', status: 2 });
  await running.runtime.client.workflow.getHandle('review/stop').cancel();
  await drop('stop', { kind: 'text', status: 3 });
  expect((await tell('stop', { kind: 'text', status: 4 })).outcome).toBe('applied');
  expect((await logOf('stop')).map((l) => l.status)).toEqual([2, 3, 4]);
});

const CALLBACKS = 20;
const MEGABYTE = 1_000_000;

/** Bytes of all tables and of what is stored beside them. */
async function stored(): Promise<number> {
  const tables = 'review review_index review_base review_callback review_body delivery event tally'.split(' ');
  const sizes = "select sum(pg_total_relation_size(oid)) from pg_class where relkind = 'r' and relname = any ($1)";
  return Number(await cell(sizes, [tables]));
}

test('S1.8 twenty callbacks for a review with a body of 7 MB store less than one body', async () => {
  const { callback, received } = await startReceiver();
  const body = { words: randomBytes(5.25 * MEGABYTE).toString('base64') };
  await put('large', { text: { status: 1 }, body, callback });
  const before = await stored();
  for (let status = 2; status < 2 + CALLBACKS; status++) await tell('large', { kind: 'text', status });
  const perCallback = ((await stored()) - before) / CALLBACKS;
  expect(perCallback).toBeLessThan(MEGABYTE / CALLBACKS);
  await eventually(async () => received.length === CALLBACKS, 60_000);
  expect(opened(received[0] as Received).review).toMatchObject({ status: 2, body });
}, 120_000);

test('S1.9 a message that is delivered late, or again, has the review as it was: targets, statuses, times, body', async () => {
  let up = false;
  const { callback, received } = await startReceiver(() => (up ? 204 : 503));
  const one = (words: string, ...pictures: string[]) => ({
    ...{ text: { status: 1 }, body: { words }, callback },
    pictures: pictures.map((p) => ({ id: `then-${p}`, status: 1 })),
  });
  const seen: Json[] = [];
  await put('then', one('first', 'a', 'b'));
  const audit = async (kind: string, status: number, targetId?: string) => {
    await tell('then', { kind, targetId, status });
    seen.push(await review('then'));
  };
  const edit = async (...edited: Parameters<typeof one>) => void seen.push(await put('then', one(...edited), 200));
  await audit('picture', 2, 'then-a');
  await audit('text', 3);
  await edit('second', 'b', 'a', 'c');
  await audit('picture', 4, 'then-a');
  await edit('third', 'c', 'a');
  await audit('picture', 5, 'then-c');
  await edit('third', 'c', 'b');
  await audit('picture', 6, 'then-b');
  up = true;
  const delivered = () => [...new Map(received.map(opened).map((m: Json) => [m.version, m.review])).values()];
  await eventually(async () => delivered().length === seen.length, 60_000);
  expect(delivered()).toEqual(seen);
  const log = await logOf('then');
  const targets = ({ text, pictures, replies }: Json) => ({
    ...{ text, replies },
    pictures: pictures.map(({ position: _, ...p }: Json) => p),
  });
  expect(log.map((l) => l.after)).toEqual(seen.map(targets));
  expect(log.slice(1).map((l) => l.before)).toEqual(seen.slice(0, -1).map(targets));

  const count = received.length;
  const { items } = (await api.get('/v1/reviews/then/deliveries?limit=500')).body;
  const second = items.find((d: Json) => d.version === seen[1]?.version);
  await eventually(async () =>
    (await api.get('/v1/reviews/then/deliveries')).body.items.every((d: Json) => d.state === 'delivered'),
  );
  await api.post(`/v1/reviews/then/deliveries/${second.n}/redeliver`);
  await eventually(async () => received.length > count);
  expect(opened(received.at(-1) as Received).review).toEqual(seen[1]);
}, 120_000);

const one = (id: string) => ({ text: { status: 1 }, pictures: [{ id: `${id}-p`, status: 1 }], replies: [] });

test('S1 the receiver is told of each change, in order, signed, each with the review as it was after it', async () => {
  const { callback, received } = await startReceiver(async (n) => (n === 2 ? 500 : 204));
  await put('told', { ...one('told'), body: { by: 'anna' }, callback });
  const statuses = [2, 3, 4, 5, 6, 7, 8];
  // at once: they are one batch, and still one message each
  const sent = statuses.map((status) => tell('told', { kind: 'picture', targetId: 'told-p', status }));
  await Promise.all(sent);
  const edited = await put('told', { ...one('told'), pictures: [], callback }, 200);
  await eventually(async () => received.length === statuses.length + 2, 30_000);
  const applied = (await logOf('told')).filter((l) => l.outcome !== 'expired');
  const first = received.filter((_, n) => n !== 1).map(opened);
  expect(first.map((m) => m.type)).toEqual(first.map(() => 'review.changed'));
  expect(first.map((m) => m.version)).toEqual(applied.map((l) => l.version));
  expect(first.map((m) => m.review.version)).toEqual(first.map((m) => m.version));
  expect(first.slice(0, -1).map((m) => m.review.pictures[0].status)).toEqual(
    applied.slice(0, -1).map((l) => l.after.pictures[0].status),
  );
  expect(first.at(-1)?.review).toEqual(edited);
  // each names what changed
  const last = applied.at(-2);
  expect(first.map((m) => m.changes)).toEqual([
    ...applied.slice(0, -1).map(({ targetId, before, after, auditTime, callbackId }) => [
      {
        ...{ kind: 'picture', targetId, auditTime, callbackId },
        ...{ before: before.pictures[0].status, after: after.pictures[0].status },
      },
    ]),
    [
      {
        ...{ kind: 'picture', targetId: 'told-p', before: last?.status, after: null },
        ...{ auditTime: last?.auditTime, callbackId: null },
      },
    ],
  ]);
  expect(received[1]?.headers['webhook-id']).toBe(received[2]?.headers['webhook-id']);

  const items = (await api.get('/v1/reviews/told/deliveries')).body.items.reverse();
  expect(items.map((d: Json) => [d.type, d.state, d.attempts])).toEqual(
    applied.map((_, n) => ['review.changed', 'delivered', n === 1 ? 2 : 1]),
  );
  expect((await api.post(`/v1/reviews/told/deliveries/${items[0].n}/redeliver`)).status).toBe(202);
  await eventually(async () => received.length === statuses.length + 3);
  expect(opened(received.at(-1) as Received)).toEqual(first[0]);
}, 60_000);

test('S1 a receiver with hundreds of changes to hear is told over several runs, each once and in order', async () => {
  const { callback, received } = await startReceiver();
  await put('many', { ...one('many'), callback });
  const statuses = repeat(byNight(240, 190), (n) => n);
  await Promise.all(statuses.map((status) => tell('many', { kind: 'text', status })));
  const { runId } = await workflow('many');
  await eventually(async () => received.length >= statuses.length, 120_000);
  const versions = received.map((r) => opened(r).version);
  expect(versions).toEqual([...new Set(versions)].sort((a, b) => a - b));
  expect((await workflow('many')).runId).not.toBe(runId);
}, 150_000);

test('S1 a receiver that is down holds up no callback', async () => {
  const { callback } = await startReceiver(() => 503);
  await put('down', { ...one('down'), callback });
  for (const status of [2, 3, 4]) expect((await tell('down', { kind: 'text', status })).outcome).toBe('applied');
  expect((await review('down')).status).toBe(4);
});

test('S0.10 S1 a decision leads into the review as a callback with its time: people decide, statuses change', async () => {
  await put('circle', one('circle'));
  await add('audits', { id: 't-1', callback: { review: 'circle', kind: 'picture', targetId: 'circle-p' } });
  await add('audits', { id: 't-2', callback: { review: 'circle', kind: 'text' } });
  const first = await claimOne('audits', 'anna');
  const path = `/v1/tickets/${first.id}/decide`;
  for (const decision of [5, { status: 'five' }, { status: 1.5 }, { status: 2 ** 31 }, null, [5], { other: 5 }])
    expectProblem(await api.post(path, { token: first.lease.token, decision }), JSON.stringify(decision), 422);
  await decide(first, { status: 5, why: 'blurred' });
  const { decidedAt } = (await api.get('/v1/tickets/t-1')).body;
  await eventually(async () => (await review('circle')).pictures[0].status === 5);
  expect((await review('circle')).pictures[0].auditTime).toBe(decidedAt);
  const [before, after] = [1, 5].map((status) => ({ pictures: [{ status }] }));
  expect(await logOf('circle')).toMatchObject([{ callbackId: 'ticket:t-1', kind: 'picture', before, after }]);
  await eventually(async () => (await events('t-1')).some((e) => e.type === 'delivered'));

  expectProblem(await operate('t-2', 'resolve', { decision: 1, reason: 'r' }), 'resolve', 422);
  await operate('t-2', 'resolve', { decision: { status: 9 }, reason: 'by a model' });
  await eventually(async () => (await review('circle')).status === 9);
});

test('S0.10 S1 what cannot lead anywhere is put on record', async () => {
  await decide(await addHeld('lost', { id: 'l-none', callback: { review: 'nowhere', kind: 'text' } }), { status: 1 });
  await add('lost', { id: 'l-inv', callback: { review: 'nowhere', kind: 'text' } });
  await operate('l-inv', 'invalidate');
  for (const [id, error] of Object.entries({ 'l-none': 'no_review', 'l-inv': 'there is no decision' }))
    await eventually(async () =>
      (await events(id)).some((e) => e.type === 'delivery_failed' && e.data.error === error),
    );
  const bad = { body: 1, callback: { review: 'x', kind: 'picture' } };
  expectProblem(await api.post('/v1/queues/lost/tickets', bad), 'no target', 422);
  // of the two shapes of a callback, the nearer one says what is wrong
  const wrong = { body: 1, callback: { url: 'https://example.com', secret: 'short' } };
  const { errors } = (await api.post('/v1/queues/lost/tickets', wrong)).body;
  expect(errors.map((e: Json) => e.path)).toContain('callback.secret');
});
