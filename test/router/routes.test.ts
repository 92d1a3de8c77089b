import { expect, test } from 'vitest';
import { endpoints } from '../../api/endpoints.ts';
import { addCase, claimed, court, jurors, voted } from '../support/cases.ts';
import { claimOne, type Json } from '../support/client.ts';
import { RouterChild, twoDockets } from '../support/router.ts';
import { add, addMany, configure, decide } from '../support/tickets.ts';

const { a, b } = await twoDockets();
const dockets = { a: a.api.url, b: b.api.url };
const placed = {
  'queue/left': 'a',
  'queue/right': 'b',
  'court/left': 'a',
  'court/right': 'b',
  'topic/left': 'a',
  'topic/right': 'b',
};
const router = await RouterChild.start({ dockets, reviews: 'a', tasks: 'b', placed });
const { api } = router;

const ids = async ({ sql }: typeof a, kind: string) =>
  (await sql('select id from item where kind = $1 order by id', [kind])).map(({ id }) => id as string);

test('S0.5 queues are spread by their names, and a call finds its ticket wherever it is', async () => {
  const queues = Array.from({ length: 20 }, (_, n) => `spread-${n}`);
  for (const queue of queues) await add(api, queue, { id: `t-${queue}` });
  const [left, right] = [await ids(a, 'ticket'), await ids(b, 'ticket')];
  expect([...left, ...right].sort()).toEqual(queues.map((queue) => `t-${queue}`).sort());
  expect(Math.min(left.length, right.length)).toBeGreaterThan(2);
  for (const queue of queues) {
    const ticket = await claimOne(api, queue, 'anna');
    expect((await api.get(`/v1/tickets/${ticket.id}`)).body.lease.reviewer).toBe('anna');
    expect((await api.post(`/v1/tickets/${ticket.id}/notes`, { text: 'seen' })).status).toBe(201);
    await decide(api, ticket, 'fine');
    expect((await api.get(`/v1/tickets/${ticket.id}/events`)).body.items.at(-1).type).toBe('decided');
  }
  expect(await api.get('/v1/tickets/nowhere')).toMatchObject({ status: 404, body: { code: 'not_found' } });
  expect((await api.get('/v1/tickets?queue=spread-3')).body.items).toHaveLength(1);
  expect((await api.get('/v1/queues/spread-3/stats')).body.decided).toBe(1);
});

test('S0.4 one call resolves tickets of both Dockets, with a line for each in its order', async () => {
  await addMany(api, 'left', [{ id: 'l1' }, { id: 'l2' }]);
  await addMany(api, 'right', [{ id: 'r1' }]);
  const items = ['r1', 'none', 'l1', 'l2'].map((id) => ({ id, decision: 'ok' }));
  const { status, body } = await api.post('/v1/tickets/resolve', { items, reason: 'seen elsewhere' });
  expect([status, body.results.map((r: Json) => [r.id, r.code ?? 'done'])]).toEqual([
    200,
    [
      ['r1', 'done'],
      ['none', 'not_found'],
      ['l1', 'done'],
      ['l2', 'done'],
    ],
  ]);
});

test('S0.2 S2.7 what would leave its Docket is refused: transfers, outcomes for reviews, cases that hang', async () => {
  await add(api, 'left', { id: 'stays' });
  const refused = { status: 422, body: { code: 'invalid_request' } };
  expect(await api.post('/v1/tickets/stays/transfer', { queue: 'right' })).toMatchObject(refused);
  expect(await api.post('/v1/tickets/never/transfer', { queue: 'right' })).toMatchObject({ status: 404 });
  expect((await api.post('/v1/tickets/stays/transfer', { queue: 'other-left' })).status).toSatisfy(
    (s) => s === 200 || s === 422,
  );
  await api.put('/v1/reviews/r', { text: { status: 0 }, pictures: [], replies: [] });
  const callback = { review: 'r', kind: 'text' };
  expect(await api.post('/v1/queues/right/tickets', { body: null, callback })).toMatchObject(refused);
  expect((await api.post('/v1/queues/left/tickets', { body: null, callback })).status).toBe(201);
  const { body } = await api.post('/v1/queues/right/tickets/batch', {
    tickets: [
      { id: 'b1', body: 1, callback },
      { id: 'b2', body: 2 },
    ],
  });
  expect(body.results).toMatchObject([
    { id: 'b1', httpStatus: 422, code: 'invalid_request' },
    { id: 'b2', httpStatus: 201 },
  ]);
  expect(await api.put('/v1/courts/left', { fallback: { queue: 'right' } })).toMatchObject(refused);
  expect((await api.put('/v1/courts/left', { fallback: { queue: 'left' } })).status).toBe(200);
});

test('S3.1 jobs: batches over both Dockets, pops of topics on both, commands by id', async () => {
  const jobs = Array.from({ length: 10 }, (_, n) => ({ topic: n % 2 ? 'left' : 'right', id: `j${n}`, body: n }));
  const added = (await api.post('/v1/jobs', { command: 'add', jobs: [...jobs, { id: 'bad', body: 1 }] })).body;
  expect(added.success).toBe(false);
  expect(added.results.map((r: Json) => [r.id, r.success])).toEqual([
    ...jobs.map(({ id }) => [id, true]),
    ['bad', false],
  ]);
  expect([(await ids(a, 'job')).length, (await ids(b, 'job')).length]).toEqual([5, 5]);
  const seen: Json[] = [];
  for (let job = await pop(); job.id !== null; job = await pop()) seen.push(job);
  expect(seen.map(({ id }) => id).sort()).toEqual(jobs.map(({ id }) => id));
  const [first, ...rest] = seen;
  expect((await api.post('/v1/jobs', { command: 'touch', id: first.id, token: first.token })).body.success).toBe(true);
  expect((await api.post('/v1/jobs', { command: 'finish', id: first.id, token: first.token })).body.success).toBe(true);
  const finished = [...rest.map(({ id, token }) => ({ id, token })), { id: 'unknown' }];
  const { body } = await api.post('/v1/jobs', { command: 'finish', jobs: finished });
  expect(body.results.map((r: Json) => r.success)).toEqual([...rest.map(() => true), false]);
  expect((await api.post('/v1/jobs', { command: 'delete', id: 'unknown' })).body).toMatchObject({ success: false });
  expect((await api.get('/v1/jobs/j3')).body.state).toBe('finished');
});

const pop = async (wait = 0) => (await api.post('/v1/jobs', { command: 'pop', topic: ['left', 'right'], wait })).body;

test('S3.6 a pop that waits at both Dockets gets what comes to either', async () => {
  for (const topic of ['left', 'right']) {
    const popped = pop(20);
    await api.post('/v1/jobs', { command: 'add', topic, id: `waited-${topic}`, body: 1 });
    expect((await popped).id).toBe(`waited-${topic}`);
  }
});

test('S2.2 S4.5 cases by their court; tasks and reviews have one place', async () => {
  for (const name of ['left', 'right']) {
    await court(api, name, { votesToWin: 1 });
    await jurors(api, name, ['ann']);
    await addCase(api, name, { id: `case-${name}` });
    const { id, token } = await claimed(api, name, 'ann');
    await voted(api, id, token, 'buyer');
  }
  expect([await ids(a, 'case'), await ids(b, 'case')]).toEqual([['case-left'], ['case-right']]);
  const template = (await api.post('/v1/templates', { name: 'n', params: {} })).body;
  const startTime = new Date().toISOString();
  const task = { id: 'once', type: 'once', executor: 'uid_u', startTime, templateId: template.id, params: {} };
  expect((await api.post('/v1/tasks', task)).status).toBe(201);
  const { body } = await api.post('/v1/clients/u/next', { waitSeconds: 10 });
  expect((await api.post('/v1/clients/u/complete', { logId: body.logId, result: 1 })).status).toBe(200);
  expect([(await ids(a, 'task')).length, (await ids(b, 'task')).length]).toEqual([0, 1]);
});

test('S0.9 fifty callers add the same id at once: one ticket', async () => {
  const replies = await Promise.all(
    Array.from({ length: 50 }, () => api.post('/v1/queues/right/tickets', { id: 'one', body: 1 })),
  );
  expect(replies.map((r) => r.status).sort()).toEqual([...Array(49).fill(200), 201]);
});

test('bad input has the answer that a Docket gives', async () => {
  for (const [method, path, body] of [
    ['POST', '/v1/queues/left/tickets', '{"body": '],
    ['POST', '/v1/queues/left/tickets', '[]'],
    ['POST', '/v1/queues/left/claim', '{"reviewer": 5}'],
    ['POST', '/v1/queues/left/claim', '{"reviewer": "x", "waitSeconds": 61}'],
    ['POST', '/v1/jobs', '{"command": "dance"}'],
    ['POST', '/v1/jobs', '{"command": "pop", "topic": ["left", 7], "wait": "x"}'],
    ['POST', '/v1/jobs', '{"command": "add", "jobs": 1}'],
    ['POST', '/v1/tickets/resolve', '{"items": 1}'],
    ['GET', '/v1/tickets/%20', undefined],
  ] as const) {
    const init = { headers: { 'content-type': 'application/json' }, ...(body !== undefined && { body }) };
    const [routed, direct] = [await api.raw(method, path, init), await a.api.raw(method, path, init)];
    const told = ({ status, body: { code, errors, error } }: typeof routed) => ({ status, code, errors, error });
    expect(told(routed), `${method} ${path} ${body}`).toEqual(told(direct));
  }
  expect((await api.raw('GET', '/v1/tickets/%ff')).status).toBe(422);
  const large = { headers: { 'content-type': 'application/json' }, body: JSON.stringify('x'.repeat(9_000_000)) };
  expect((await api.raw('POST', '/v1/queues/left/tickets', large)).status).toBe(413);
});

/** What is of one Docket, or of all together. */
const OF_EACH = [
  ...['GET /v1/queues', 'GET /v1/topics', 'GET /v1/courts', 'GET /v1/tickets', 'GET /v1/cases', 'GET /v1/stream'],
  ...['GET /v1/jurors/x/invitations', 'GET /v1/overview', 'GET /v1/attention', 'GET /v1/items', 'GET /v1/figures'],
  ...[
    'GET /v1/figures/people',
    'GET /v1/figures/lateness',
    'GET /v1/deliveries',
    'POST /v1/deliveries/x/x/x/redeliver',
  ],
  ...[
    'GET /v1/feed',
    'POST /v1/stream-tickets',
    'GET /v1/sign-in',
    'POST /v1/session',
    'GET /v1/session',
    'DELETE /v1/session',
  ],
  ...['GET /v1/admin-log', 'POST /v1/keys', 'GET /v1/keys', 'DELETE /v1/keys/x', 'GET /metrics', 'GET /v1/nodes'],
];

test('each call of the API goes to a Docket, or is one of those that docs/scaling.md names', async () => {
  const refused: string[] = [];
  for (const { method, path } of endpoints) {
    const call = [method.toUpperCase(), path.replaceAll(/\{\w+\}/g, 'x')] as const;
    const { body } = await api.unchecked().raw(...call, call[0] === 'GET' ? {} : { body: '{}' });
    if (typeof body?.detail === 'string' && body.detail.startsWith('the router does not answer'))
      refused.push(call.join(' '));
  }
  expect(refused.sort()).toEqual(OF_EACH.sort());
});

test('S0.3 a Docket that cannot be reached: its calls are 503, and what may be there is not called missing', async () => {
  await configure(api, 'left', {});
  const down = await RouterChild.start({
    dockets: { a: a.api.url, b: 'http://127.0.0.1:9' },
    reviews: 'a',
    tasks: 'b',
    placed,
  });
  const gone = { status: 503, body: { code: 'unavailable' } };
  expect(await down.api.unchecked().get('/v1/queues/right/stats')).toMatchObject(gone);
  expect(await down.api.unchecked().get('/v1/tickets/r1')).toMatchObject(gone);
  expect((await down.api.get('/v1/tickets/l1')).status).toBe(200);
  expect(
    await down.api.unchecked().post('/v1/jobs', { command: 'add', topic: 'right', id: 'x', body: 1 }),
  ).toMatchObject({
    status: 503,
    body: { success: false, code: 'unavailable' },
  });
  const { results } = (
    await down.api.post('/v1/jobs', { command: 'add', jobs: [{ topic: 'left', id: 'up', body: 1 }] })
  ).body;
  expect(results).toMatchObject([{ id: 'up', success: true }]);
  expect(await down.api.unchecked().get('/readyz')).toMatchObject({
    status: 503,
    body: { dockets: { a: 'ok', b: 'unavailable' } },
  });
  expect(await api.unchecked().get('/readyz')).toMatchObject({ status: 200, body: { dockets: { a: 'ok', b: 'ok' } } });
});

test('a router that asks for keys passes on none without, and leaves it to the Docket whether a key counts', async () => {
  const closed = await RouterChild.start({ dockets, reviews: 'a', tasks: 'b', placed }, { DOCKET_AUTH: 'keys' });
  expect(await closed.api.get('/v1/queues/left/stats')).toMatchObject({
    status: 401,
    body: { code: 'unauthenticated' },
  });
  expect((await closed.api.as('docket_000000000000_x').get('/v1/queues/left/stats')).status).toBe(401);
  const { key } = (await a.api.post('/v1/keys', { name: 'all', role: 'admin' })).body;
  const [row] = await a.sql("select * from api_key where name = 'all'");
  const columns = Object.keys(row ?? {});
  const values = columns.map((_, n) => `$${n + 1}`);
  // what docs/scaling.md says of keys: their rows are copied
  await b.sql(`insert into api_key (${columns}) overriding system value values (${values})`, Object.values(row ?? {}));
  for (const queue of ['left', 'right'])
    expect((await closed.api.as(key).get(`/v1/queues/${queue}/stats`)).status).toBe(200);
  const foreign = { headers: { origin: 'https://elsewhere.example' } };
  expect((await api.unchecked().raw('POST', '/v1/queues/left/pause', foreign)).status).toBe(403);
  expect(await api.get(`/v1/queues/left/tickets`)).toMatchObject({ status: 405 });
});
