import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, expect, test } from 'vitest';
import { eventually, type Json, type Reply } from '../support/client.ts';
import { byNight } from '../support/nightly.ts';
import { lastingPort } from '../support/ports.ts';
import { RouterChild, twoDockets } from '../support/router.ts';
import { add, claim, configure, decide } from '../support/tickets.ts';

const { a, b } = await twoDockets();
const dockets = { a: a.api.url, b: b.api.url };
const scopes = ['queue/moving', 'topic/moving', 'queue/twice'];
const at = (name: string) => Object.fromEntries(scopes.map((scope) => [scope, name]));
const places = { dockets, reviews: 'a', tasks: 'a' };
const before = { dockets: ['a', 'b'], placed: at('a') };
const OLD = { ...places, placed: at('a') };
const HELD = { ...places, placed: at('b'), before, hold: true };
const MOVING = { ...places, placed: at('b'), before };
const router = await RouterChild.start(OLD, { PORT: String(await lastingPort()) });

const PRODUCERS = 4;
const CONSUMERS = 6;
const EACH = byNight(500, 50);

let done = false;
afterAll(() => {
  done = true;
});

/** Until it is answered: a router that is gone, or holds, is asked again. */
async function insist(call: () => Promise<Reply>): Promise<Reply> {
  for (;;) {
    const reply = await call().catch(() => undefined);
    if (reply && reply.status !== 503) return reply;
    await sleep(20);
  }
}

/** Adds, each once more a little later; ids of what was acknowledged. */
async function produce(name: string, acknowledged: Set<string>): Promise<void> {
  for (let n = 0; n < EACH; n++) {
    const id = `${name}-${n}`;
    const ticket = { id, body: n };
    for (const wait of [0, 5]) {
      await sleep(wait);
      const reply = await insist(() => router.api.unchecked().post('/v1/queues/moving/tickets', ticket));
      expect([200, 201], JSON.stringify(reply.body)).toContain(reply.status);
      acknowledged.add(`ticket/${id}`);
    }
    const jobs = [`${id}-x`, `${id}-y`].map((job) => ({ topic: 'moving', id: job, body: n }));
    const { body } = await insist(() => router.api.unchecked().post('/v1/jobs', { command: 'add', jobs }));
    for (const line of body.results) if (line.success) acknowledged.add(`job/${line.id}`);
  }
}

async function review(reviewer: string): Promise<void> {
  const call = (path: string, body: object) => insist(() => router.api.unchecked().post(path, body));
  while (!done) {
    const { body } = await call('/v1/queues/moving/claim', { reviewer, waitSeconds: 1 });
    for (const { id, lease } of body.tickets) {
      const decided = await call(`/v1/tickets/${id}/decide`, { token: lease.token, decision: reviewer });
      expect([200, 409], JSON.stringify(decided.body)).toContain(decided.status);
    }
  }
}

async function consume(): Promise<void> {
  while (!done) {
    const { body } = await insist(() =>
      router.api.unchecked().post('/v1/jobs', { command: 'pop', topic: 'moving', count: 5, wait: 1 }),
    );
    const jobs = body.jobs.map(({ id, token }: Json) => ({ id, token }));
    if (jobs.length > 0) await insist(() => router.api.unchecked().post('/v1/jobs', { command: 'finish', jobs }));
  }
}

const itemsOf = async ({ sql }: typeof a) =>
  (await sql("select kind || '/' || id as key, state, attempts from item where queue = 'moving'")) as {
    key: string;
    state: string;
  }[];

test('S0.6 S0.9 S3.3 while a queue and a topic move to another PostgreSQL server no item is lost, doubled or ended twice', async () => {
  for (const { api } of [a, b]) await configure(api, 'moving', { maxHeld: 1, leaseSeconds: 10 });
  const acknowledged = new Set<string>();
  const working = [
    ...Array.from({ length: CONSUMERS }, (_, n) => review(`r${n}`)),
    ...Array.from({ length: CONSUMERS }, consume),
  ];
  const producing = Array.from({ length: PRODUCERS }, (_, n) => produce(`p${n}`, acknowledged));
  const share = (part: number) => eventually(async () => acknowledged.size > PRODUCERS * EACH * 3 * part, 120_000);
  await share(0.2);
  await router.take(HELD);
  await sleep(300);
  await router.take(MOVING);
  await share(0.5);
  await router.restart();
  await Promise.all(producing);
  await eventually(
    async () => [...(await itemsOf(a)), ...(await itemsOf(b))].every((i) => i.state === 'settled'),
    120_000,
  );
  done = true;
  await Promise.all(working);
  const [left, right] = [await itemsOf(a), await itemsOf(b)];
  expect(Math.min(left.length, right.length)).toBeGreaterThan(PRODUCERS * EACH * 0.3);
  expect([...left, ...right].map(({ key }) => key).sort()).toEqual([...acknowledged].sort());
  expect(acknowledged.size).toBe(PRODUCERS * EACH * 3);
  for (const { sql } of [a, b])
    expect(
      await sql(
        "select item_id from event where type in ('decided', 'finished') group by kind, item_id having count(*) > 1",
      ),
    ).toEqual([]);
}, 300_000);

test('S0.2 what is held or waits at the old place is handed out from there first, and its id is known', async () => {
  await router.take(OLD);
  for (const id of ['old-1', 'old-2']) await add(router.api, 'twice', { id });
  const { tickets } = await claim(router.api, 'twice', 'anna');
  expect(tickets[0].id).toBe('old-1');
  await router.take(HELD);
  expect(await router.api.unchecked().post('/v1/queues/twice/tickets', { id: 'new', body: 1 })).toMatchObject({
    status: 503,
    body: { code: 'unavailable' },
  });
  await router.take(MOVING);
  await add(router.api, 'twice', { id: 'new' });
  expect((await router.api.post('/v1/queues/twice/tickets', { id: 'old-2', body: null })).status).toBe(200);
  expect((await router.api.post('/v1/queues/twice/tickets', { id: 'old-2', body: 'other' })).body.code).toBe(
    'id_conflict',
  );
  const again = {
    tickets: [
      { id: 'old-1', body: null },
      { id: 'new-2', body: null },
    ],
  };
  expect((await router.api.post('/v1/queues/twice/tickets/batch', again)).body.results).toMatchObject([
    { id: 'old-1', httpStatus: 200 },
    { id: 'new-2', httpStatus: 201 },
  ]);
  expect((await claim(router.api, 'twice', 'anna')).tickets[0]).toMatchObject({ id: 'old-1', resumed: true });
  await decide(router.api, tickets[0], 'ok');
  const order: string[] = [];
  for (let n = 0; n < 3; n++) {
    const [ticket] = (await claim(router.api, 'twice', 'anna')).tickets;
    order.push(ticket.id);
    await decide(router.api, ticket, 'ok');
  }
  expect(order).toEqual(['old-2', 'new', 'new-2']);
  expect((await claim(router.api, 'twice', 'anna')).tickets).toEqual([]);
  await configure(router.api, 'twice', { leaseSeconds: 77 });
  for (const { api } of [a, b]) expect((await api.get('/v1/queues/twice')).body.leaseSeconds).toBe(77);
  for (const [n, { api }] of [a, b].entries()) await add(api, 'twice', { id: `spam-${n}` });
  const filter = { filter: { state: 'waiting' }, reason: 'spam' };
  expect((await router.api.post('/v1/queues/twice/invalidate', filter)).body.invalidated).toBe(2);
}, 60_000);

test('S0.9 the same Idempotency-Key before and after is the same ticket', async () => {
  await router.take(OLD);
  const key = { 'idempotency-key': 'only-once' };
  const first = await router.api.post('/v1/queues/twice/tickets', { body: 1 }, key);
  await router.take(MOVING);
  const second = await router.api.post('/v1/queues/twice/tickets', { body: 1 }, key);
  expect([first.status, second.status, second.body.id]).toEqual([201, 200, first.body.id]);
});

test('S3.3 a caller that goes while it waits takes no job with it', async () => {
  const gone = new AbortController();
  const waiting = fetch(`${router.api.url}/v1/jobs`, {
    ...{ method: 'POST', signal: gone.signal, headers: { 'content-type': 'application/json' } },
    body: JSON.stringify({ command: 'pop', topic: 'moving', wait: 30 }),
  }).catch(() => {});
  await sleep(500);
  gone.abort();
  await waiting;
  await sleep(500);
  await router.api.post('/v1/jobs', { command: 'add', topic: 'moving', id: 'after', body: 1 });
  expect((await router.api.post('/v1/jobs', { command: 'pop', topic: 'moving' })).body.id).toBe('after');
});

test('a file that is wrong ends the start and says why; later the router goes on as before', async () => {
  const wrong = { ...places, reviews: 'c' };
  await expect(RouterChild.start(wrong)).rejects.toThrow(/c is not one of dockets/);
  await expect(RouterChild.start({ dockets, reviews: 'a' })).rejects.toThrow(/tasks /);
  router.write(wrong);
  router.child.process.kill('SIGHUP');
  await eventually(async () => router.child.output().includes('the router goes on as before'));
  expect((await router.api.get('/v1/queues/twice/stats')).status).toBe(200);
});
