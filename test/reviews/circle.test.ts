import { expect, test } from 'vitest';
import { claimOne, eventually, type Json } from '../support/client.ts';
import { expectProblem } from '../support/problems.ts';
import { opened, type Received, startReceiver } from '../support/receiver.ts';
import { logOf, put, tell } from '../support/reviews.ts';
import { startTestSystem } from '../support/system.ts';
import { add, decide, events } from '../support/tickets.ts';

const { api } = await startTestSystem();
const review = async (id: string): Promise<Json> => (await api.get(`/v1/reviews/${id}`)).body;
const one = (id: string) => ({ text: { status: 1 }, pictures: [{ id: `${id}-p`, status: 1 }], replies: [] });

test('S1 the receiver is told of each change, in order, signed, each with the review as it was after it', async () => {
  const { callback, received } = await startReceiver(async (n) => (n === 2 ? 500 : 204));
  await put(api, 'told', { ...one('told'), body: { by: 'anna' }, callback });
  const statuses = [2, 3, 4, 5, 6, 7, 8];
  // at once: they are one batch, and still one message each
  const sent = statuses.map((status) => tell(api, 'told', { kind: 'picture', targetId: 'told-p', status }));
  await Promise.all(sent);
  const edited = await put(api, 'told', { ...one('told'), pictures: [], callback }, 200);
  await eventually(async () => received.length === statuses.length + 2, 30_000);
  const applied = (await logOf(api, 'told')).filter((l) => l.outcome !== 'expired');
  const first = received.filter((_, n) => n !== 1).map(opened);
  expect(first.map((m) => m.type)).toEqual(first.map(() => 'review.changed'));
  expect(first.map((m) => m.version)).toEqual(applied.map((l) => l.version));
  expect(first.map((m) => m.review.version)).toEqual(first.map((m) => m.version));
  expect(first.slice(0, -1).map((m) => m.review.pictures[0].status)).toEqual(
    applied.slice(0, -1).map((l) => l.after.pictures[0].status),
  );
  expect(first.at(-1)?.review).toEqual(edited);
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
  await put(api, 'many', { ...one('many'), callback });
  const statuses = Array.from({ length: 240 }, (_, n) => n);
  await Promise.all(statuses.map((status) => tell(api, 'many', { kind: 'text', status })));
  const { runId } = (await api.get('/v1/reviews/many/workflow')).body;
  await eventually(async () => received.length >= statuses.length, 60_000);
  const versions = received.map((r) => opened(r).version);
  expect(versions).toEqual([...new Set(versions)].sort((a, b) => a - b));
  expect((await api.get('/v1/reviews/many/workflow')).body.runId).not.toBe(runId);
}, 90_000);

test('S1 a receiver that is down holds up no callback', async () => {
  const { callback } = await startReceiver(() => 503);
  await put(api, 'down', { ...one('down'), callback });
  for (const status of [2, 3, 4]) expect((await tell(api, 'down', { kind: 'text', status })).outcome).toBe('applied');
  expect((await review('down')).status).toBe(4);
});

test('S0.10 S1 a decision leads into the review as a callback with its time: people decide, statuses change', async () => {
  await put(api, 'circle', one('circle'));
  await add(api, 'audits', { id: 't-1', callback: { review: 'circle', kind: 'picture', targetId: 'circle-p' } });
  await add(api, 'audits', { id: 't-2', callback: { review: 'circle', kind: 'text' } });
  const first = await claimOne(api, 'audits', 'anna');
  const path = `/v1/tickets/${first.id}/decide`;
  for (const decision of [5, { status: 'five' }, { status: 1.5 }, { status: 2 ** 31 }, null, [5], { other: 5 }])
    expectProblem(await api.post(path, { token: first.lease.token, decision }), JSON.stringify(decision), {
      status: 422,
    });
  await decide(api, first, { status: 5, why: 'blurred' });
  const { decidedAt } = (await api.get('/v1/tickets/t-1')).body;
  await eventually(async () => (await review('circle')).pictures[0].status === 5);
  expect((await review('circle')).pictures[0].auditTime).toBe(decidedAt);
  expect(await logOf(api, 'circle')).toMatchObject([
    {
      callbackId: 'ticket:t-1',
      kind: 'picture',
      before: { pictures: [{ status: 1 }] },
      after: { pictures: [{ status: 5 }] },
    },
  ]);
  await eventually(async () => (await events(api, 't-1')).some((e) => e.type === 'delivered'));

  expectProblem(await api.post('/v1/tickets/t-2/resolve', { decision: 1, reason: 'r' }), 'resolve', { status: 422 });
  await api.post('/v1/tickets/t-2/resolve', { decision: { status: 9 }, reason: 'by a model' });
  await eventually(async () => (await review('circle')).status === 9);
});

test('S0.10 S1 what cannot lead anywhere is put on record', async () => {
  await add(api, 'lost', { id: 'l-none', callback: { review: 'nowhere', kind: 'text' } });
  await decide(api, await claimOne(api, 'lost', 'anna'), { status: 1 });
  await add(api, 'lost', { id: 'l-inv', callback: { review: 'nowhere', kind: 'text' } });
  await api.post('/v1/tickets/l-inv/invalidate', { reason: 'r' });
  for (const [id, error] of [
    ['l-none', 'no_review'],
    ['l-inv', 'there is no decision'],
  ] as const)
    await eventually(async () =>
      (await events(api, id)).some((e) => e.type === 'delivery_failed' && e.data.error === error),
    );
  const bad = { body: 1, callback: { review: 'x', kind: 'picture' } };
  expectProblem(await api.post('/v1/queues/lost/tickets', bad), 'no target', { status: 422 });
  // of the two shapes of a callback, the nearer one says what is wrong
  const wrong = { body: 1, callback: { url: 'https://example.com', secret: 'short' } };
  const { errors } = (await api.post('/v1/queues/lost/tickets', wrong)).body;
  expect(errors.map((e: Json) => e.path)).toContain('callback.secret');
});
