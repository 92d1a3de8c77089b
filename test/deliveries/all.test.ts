import { expect, test } from 'vitest';
import { DeliveryFilter } from '../../contract/deliveries.ts';
import { listAll } from '../../services/deliveries/deliveries.ts';
import type { Context } from '../../services/shared/service.ts';
import { addCase, court } from '../support/cases.ts';
import { deferred, eventually, type Json, walk } from '../support/client.ts';
import { onDatabase, openTestDb } from '../support/database.ts';
import { linesOf, metric as metricOf } from '../support/metrics.ts';
import { byNight } from '../support/nightly.ts';
import { expectFewRead, explainAll, plansOf } from '../support/plans.ts';
import { expectProblem } from '../support/problems.ts';
import { opened, type Received, SECRET, startReceiver } from '../support/receiver.ts';
import { put, tell } from '../support/reviews.ts';
import { startTestSystem } from '../support/system.ts';
import { addTask, addTemplate, completed, handed } from '../support/tasks.ts';
import { add, configure, decided } from '../support/tickets.ts';

const { api, sql, databaseUrl } = await startTestSystem();
const COUNT = byNight(1_000_000, 100_000);
const PAGE = 51;
const list = async (query: string): Promise<Json[]> => (await api.get(`/v1/deliveries?${query}`)).body.items;
const metric = async (name: string, labels: Record<string, string> = {}) =>
  metricOf(linesOf((await api.get('/metrics')).body), `docket_${name}`, labels) ?? 0;

async function resolved(queue: string, id: string, callback?: object): Promise<void> {
  await add(api, queue, { id, ...(callback && { callback }) });
  await api.post(`/v1/tickets/${id}/resolve`, { decision: 'ok', reason: 'elsewhere' });
}

test('S0.10 what is not delivered is listed over all items, with its next attempt and without the query of its URL', async () => {
  const { callback } = await startReceiver(() => 500);
  const { host } = new URL(callback.url);
  await configure(api, 'unheard', { callback: { ...callback, url: `${callback.url}?key=hidden` } });
  await resolved('unheard', 'u1');
  const pending = await eventually(async () => (await list('state=pending')).find((d) => d.attempts > 0));
  expect(pending).toMatchObject({
    ...{ kind: 'ticket', itemId: 'u1', n: 1, queue: 'unheard', type: 'ticket.decided', url: callback.url },
    ...{ state: 'pending', status: 500, error: 'answered 500' },
  });
  expect(Date.parse(pending.nextAttemptAt)).toBeGreaterThan(Date.parse(pending.updatedAt));
  expect(Date.parse(pending.nextAttemptAt)).toBeLessThan(Date.parse(pending.updatedAt) + 3_600_000);
  for (const query of ['kind=ticket&state=pending', 'queue=unheard', `host=${host}`, `queue=unheard&host=${host}`])
    expect((await list(query)).map((d) => d.itemId)).toContain('u1');
  const others = ['state=failed', 'kind=case', 'queue=other', 'host=example.com', 'queue=unheard&host=example.com'];
  for (const query of others) expect(await list(query)).toEqual([]);
  expect(await metric('deliveries', { kind: 'ticket', state: 'pending' })).toBe(1);
  expect(await metric('delivery_attempts_total', { kind: 'ticket', outcome: 'pending' })).toBeGreaterThan(0);
  expect(await metric('delivery_oldest_pending_seconds')).toBeGreaterThan(0);
});

test('S0.10 what has failed is sent again from the list, for every kind of item', async () => {
  let status = 410;
  const { callback, received } = await startReceiver(() => status);
  await addTemplate(api, 'plain');
  await resolved('given-up', 'given-up', callback);
  await put(api, 'gone', { text: { status: 1 }, callback });
  await tell(api, 'gone', { kind: 'text', status: 2 });
  await addTask(api, { id: 'gone', executor: 'uid_ann', callback });
  await completed(api, 'ann', (await handed(api, 'ann')).logId);
  const { host } = new URL(callback.url);
  await eventually(async () => (await list(`state=failed&host=${host}`)).length === 3, 40_000);
  const failed = await list(`state=failed&host=${host}`);
  expect(failed.map((d) => d.kind).sort()).toEqual(['review', 'task', 'ticket']);
  expect(failed.every((d) => d.nextAttemptAt === null && d.status === 410)).toBe(true);
  expect(failed.find((d) => d.kind === 'review')?.queue).toBeNull();
  expect(await metric('deliveries', { kind: 'task', state: 'failed' })).toBe(1);
  status = 204;
  for (const { kind, itemId, n } of failed) {
    const path = `/v1/deliveries/${kind}/${encodeURIComponent(itemId)}/${n}/redeliver`;
    expect(await api.post(path)).toMatchObject({ status: 202, body: { n, state: 'pending' } });
  }
  await eventually(async () => (await list(`state=delivered&host=${host}`)).length === 3, 40_000);
  expect(received.length).toBe(6);
  expect(await metric('deliveries', { kind: 'task', state: 'failed' })).toBe(0);
  expect(await metric('delivery_attempts_total', { kind: 'task', outcome: 'delivered' })).toBe(1);
});

test('deliveries of reviews, which have no queue, are not listed for keys bound to queues, whatever the pattern', async () => {
  const { callback } = await startReceiver();
  await resolved('nearby', 'of-a-queue', callback);
  await put(api, 'of-no-queue', { text: { status: 1 }, callback });
  await tell(api, 'of-no-queue', { kind: 'text', status: 2 });
  const query = `host=${new URL(callback.url).host}`;
  await eventually(async () => (await list(query)).length === 2);
  const seen = async (pattern: string) => {
    const { key } = (await api.post('/v1/keys', { role: 'producer', queues: [pattern] })).body;
    return (await api.as(key).get(`/v1/deliveries?${query}`)).body.items.map((d: Json) => d.itemId);
  };
  expect(await seen('*')).toEqual(['of-a-queue']);
  expect(await seen('n*')).toEqual(['of-a-queue']);
  expect(await seen('null')).toEqual([]);
});

test('S0.10 what the list cannot take is refused, and what does not exist is not found', async () => {
  for (const query of ['state=lost', 'kind=rotation', 'queue=', 'queue=%00', 'host=%00', 'limit=0', 'cursor=x'])
    expectProblem(await api.get(`/v1/deliveries?${query}`), query, 'invalid_request');
  for (const place of ['ticket/none/1', 'task/none%2F2026-01-01T00:00:00.000Z/1', 'job/a%2Fb/1', 'review/none/1'])
    expectProblem(await api.post(`/v1/deliveries/${place}/redeliver`), place, 'not_found');
  for (const place of ['ticket/none/0', 'rotation/x/1', 'ticket/%00/1'])
    expectProblem(await api.post(`/v1/deliveries/${place}/redeliver`), place, 'invalid_request');
});

test(`S0.10 with ${COUNT} deliveries every filter of the list reads a few pages of them`, async () => {
  await sql(`insert into delivery (kind, item_id, n, type, version, queue, url, state)
    select (array['ticket', 'case', 'task', 'review'])[1 + i % 4], 'bulk-' || i, 1, 'ticket.decided', i, 'bulk' || i % 7,
           'https://host' || i % 5 || '.example.com:443/x?y', case when i % ${COUNT / 10} = 0 then 'failed' else 'delivered' end
      from generate_series(1, ${COUNT}) i`);
  await sql(`insert into delivery (kind, item_id, n, type, version, queue, url, state)
    select 'ticket', 'rare-' || i, 1, 'ticket.decided', i, 'rare', 'http://rare.example.com/', 'pending' from generate_series(1, 3) i`);
  await sql('analyze delivery');
  const db = openTestDb(databaseUrl);
  const nodesOf = plansOf(db);
  await explainAll(db);
  const queries = [
    ...['', 'state=failed', 'state=delivered', 'kind=case', 'queue=bulk3', 'host=HOST2.example.com', 'queue=rare'],
    ...['host=rare.example.com', 'state=pending&kind=ticket&queue=rare&host=rare.example.com', 'queue=bulk3&host=none'],
  ];
  for (const query of queries) {
    expect([query, (await api.get(`/v1/deliveries?${query}`)).status]).toEqual([query, 200]);
    if (query.endsWith('host=none')) continue;
    const filter = DeliveryFilter.parse(Object.fromEntries(new URLSearchParams(query)));
    const page = () => listAll({ db } as Context, filter, Number.MAX_SAFE_INTEGER, PAGE);
    // every fifth has the host that is asked for
    expectFewRead(await nodesOf(page, db.lists.pool), ['delivery'], 30 * PAGE);
  }
  expect((await list('state=failed&limit=500')).length).toBe(10);
  const walked = await walk(api, '/v1/deliveries?state=failed&kind=ticket', 3);
  expect(walked.length).toBe(10);
  expect(walked.map((d) => d.version)).toEqual([...walked.map((d) => d.version)].sort((a, b) => b - a));
  expect((await list('queue=rare')).map((d) => d.itemId)).toEqual(['rare-3', 'rare-2', 'rare-1']);
}, 300_000);

test('S0.10 a delivery’s secret is nowhere in the list', async () => {
  expect(JSON.stringify(await list('limit=500'))).not.toContain(SECRET);
});

const deliveriesOf = async (path: string): Promise<Json[]> => (await api.get(`/v1/${path}/deliveries`)).body.items;

test('S0.10 a callback that is removed while its receiver fails ends the deliveries to it', async () => {
  const { callback, received } = await startReceiver(() => 500);
  await configure(api, 'removed', { callback });
  await api.put('/v1/courts/removed', { callback });
  await api.post('/v1/queues/removed/tickets', { id: 'removed', body: 1 });
  await api.post('/v1/courts/removed/cases', { id: 'removed', parties: [], body: 1 });
  await api.post('/v1/tickets/removed/resolve', { decision: 1, reason: 'r' });
  await api.post('/v1/cases/removed/resolve', { winner: 'buyer', reason: 'r' });
  await eventually(async () => received.length >= 2);
  await configure(api, 'removed', {});
  await api.put('/v1/courts/removed', {});
  for (const path of ['tickets/removed', 'cases/removed']) {
    await eventually(async () => (await deliveriesOf(path))[0].state === 'failed', 30_000);
    expect((await deliveriesOf(path))[0].error).toBe('the queue has no callback any more');
    expect((await api.get(`/v1/${path}/events`)).body.items.at(-1).type).toBe('delivery_failed');
  }
});

test('S0.10 a redelivery after the callback was removed says why it fails', async () => {
  const { callback } = await startReceiver();
  await configure(api, 'bare', { callback });
  await resolved('bare', 'bare');
  await put(api, 'bare', { text: { status: 1 }, callback });
  await tell(api, 'bare', { kind: 'text', status: 2 });
  const reasons = { 'tickets/bare': 'the queue', 'reviews/bare': 'the review' };
  for (const path of Object.keys(reasons))
    await eventually(async () => (await deliveriesOf(path))[0]?.state === 'delivered');
  await configure(api, 'bare', {});
  await api.put('/v1/reviews/bare', { text: { status: 1 } });
  for (const [path, what] of Object.entries(reasons)) {
    const [{ n }] = await deliveriesOf(path);
    expect((await api.post(`/v1/${path}/deliveries/${n}/redeliver`)).status).toBe(202);
    const ended = await eventually(async () => (await deliveriesOf(path)).find((d) => d.state === 'failed'));
    expect(ended.error).toBe(`${what} has no callback any more`);
  }
});

test('S0.10 S2.7 a hung case without a fallback whose callback is removed first is not delivered', async () => {
  const { callback } = await startReceiver();
  await api.put('/v1/courts/alone', { callback, deadlineSeconds: 0.3 });
  await onDatabase(databaseUrl, async (blocker) => {
    // the first attempt looks for an earlier one before it looks for a callback
    await blocker.query('begin; lock table delivery in access exclusive mode');
    await api.post('/v1/courts/alone/cases', { id: 'alone', parties: [], body: 1 });
    await eventually(async () => (await api.get('/v1/cases/alone')).body.state === 'hung');
    await api.put('/v1/courts/alone', { deadlineSeconds: 0.3 });
    await blocker.query('commit');
  });
  const events = async (): Promise<Json[]> => (await api.get('/v1/cases/alone/events')).body.items;
  const last = await eventually(async () => (await events()).find((e) => /^deliver/.test(e.type)));
  expect(last).toMatchObject({ type: 'delivery_failed', data: { reason: 'the queue has no callback any more' } });
});

test('S0.10 S2.8 a court that is deleted before its last outcome was delivered delivers it', async () => {
  const answers = { status: 500 };
  const { callback, received } = await startReceiver(() => answers.status);
  await api.put('/v1/courts/closing', { callback });
  await api.post('/v1/courts/closing/cases', { id: 'closing', parties: [], body: 1 });
  await api.post('/v1/cases/closing/resolve', { winner: 'buyer', reason: 'r' });
  await eventually(async () => received.length > 0);
  expect((await api.raw('DELETE', '/v1/courts/closing')).status).toBe(200);
  answers.status = 204;
  await eventually(async () => (await deliveriesOf('cases/closing'))[0].state !== 'pending', 30_000);
  expect((await deliveriesOf('cases/closing'))[0]).toMatchObject({ state: 'delivered', error: null });
});

test('S0.10 a late attempt that fails does not undo the delivery of one beside it', async () => {
  const first = deferred<number>();
  const { callback, received } = await startReceiver((n) => (n === 1 ? first.promise : 204));
  await put(api, 'late', { text: { status: 1 }, callback });
  await tell(api, 'late', { kind: 'text', status: 2 });
  await eventually(async () => received.length === 1);
  // another host name for the same receiver, so that the second attempt does not wait for the first
  const url = callback.url.replace('127.0.0.1', 'localhost');
  await put(api, 'late', { text: { status: 1 }, callback: { ...callback, url } }, 200);
  const [oldest] = (await deliveriesOf('reviews/late')).slice(-1);
  expect((await api.post(`/v1/reviews/late/deliveries/${oldest.n}/redeliver`)).status).toBe(202);
  const state = async () => (await deliveriesOf('reviews/late')).find((d) => d.n === oldest.n);
  await eventually(async () => (await state()).state === 'delivered');
  const ofTheFirst = () =>
    received.filter(({ headers }) => headers['webhook-id'] === received[0]?.headers['webhook-id']).length;
  const before = ofTheFirst();
  first.resolve(500);
  // its own workflow goes on with the change after it, once the late attempt has ended
  await eventually(async () => (await deliveriesOf('reviews/late'))[0]?.state === 'delivered');
  expect(await state()).toMatchObject({ state: 'delivered', status: 204, attempts: 1 });
  expect(ofTheFirst()).toBe(before);
}, 60_000);

test('S0.10 the deliveries of one item are listed newest first, page by page', async () => {
  const { callback } = await startReceiver();
  await put(api, 'order', { text: { status: 1 }, callback });
  for (const status of [2, 3, 4]) await tell(api, 'order', { kind: 'text', status });
  const versions = (await deliveriesOf('reviews/order')).map((d) => d.version);
  expect(versions).toHaveLength(3);
  expect(versions).toEqual([...versions].sort((a, b) => b - a));
  expect((await walk(api, '/v1/reviews/order/deliveries', 2)).map((d) => d.version)).toEqual(versions);
});

test('S2.7 a court of appeal that does not exist is on record once, however often the callback is tried', async () => {
  const { callback, received } = await startReceiver(() => 500);
  await court(api, 'astray', { deadlineSeconds: 0.3, fallback: { court: 'nowhere' }, callback });
  await addCase(api, 'astray', { id: 'astray' });
  await eventually(async () => received.length >= 3, 40_000);
  const events: Json[] = (await api.get('/v1/cases/astray/events')).body.items;
  expect(events.filter((e) => e.type === 'refused')).toHaveLength(1);
}, 60_000);

test('S0.10 a verdict by resolve says why; one by a reviewer has no reason', async () => {
  const { callback, received } = await startReceiver();
  await add(api, 'why', { id: 'why', callback });
  await api.post('/v1/tickets/why/resolve', { decision: 'ok', reason: 'the account is closed' });
  const call = await eventually(async () => received[0]);
  expect(opened(call as Received)).toMatchObject({
    type: 'ticket.decided',
    reason: 'the account is closed',
    ticket: { id: 'why', decision: 'ok', reason: 'the account is closed' },
  });
  expect((await api.get('/v1/tickets/why')).body.reason).toBe('the account is closed');
  expect((await decided(api, 'by-hand')).reason).toBeNull();
});
