import { describe, expect, test } from 'vitest';
import { type Json, repeat } from '../support/client.ts';
import { digestOf } from '../support/problems.ts';
import { startTestSystem } from '../support/system.ts';

const { api, sql } = await startTestSystem({}, { role: 'api' });
const { bury, eventTypes, job, oneJob, stats } = api.jobs;

test('S3.1 its own example works, and the body comes back as it was given', async () => {
  const body = '{"uid": 10829378,"created": 1498657365 }';
  const add = { topic: 'orderclose', id: '15702398321', delay: 1800, TTR: 60, body };
  expect(await job('add', add)).toMatchObject({ success: true, error: null, id: '15702398321', value: null });
  expect(await job('add', add)).toMatchObject({ success: true, id: '15702398321' });
  expect(await job('add', { ...add, delay: 1 })).toMatchObject({ success: false, id: '15702398321' });
  const kept = { state: 'delayed', topic: 'orderclose', delay: 1800, TTR: 60, body };
  expect(await oneJob('15702398321')).toMatchObject(kept);
  const nothing = { success: true, error: null, id: null, value: null };
  expect(await job('pop', { topic: 'orderclose' })).toMatchObject(nothing);
  expect(await job('delete', { id: '15702398321' })).toMatchObject({ success: true });
  expect((await oneJob('15702398321')).state).toBe('deleted');
});

test('S3.1 S3.2 add, pop, finish', async () => {
  await job('add', { topic: 't', id: 'j1', delay: 0, TTR: 60, body: 'hello' });
  const popped = await job('pop', { topic: 't' });
  expect(popped).toMatchObject({ success: true, id: 'j1', value: 'hello', topic: 't', attempt: 1 });
  expect(await job('finish', { id: 'j1', token: 'wrong' })).toMatchObject({ success: false, id: 'j1' });
  expect(await job('finish', { id: 'j1', token: popped.token })).toMatchObject({ success: true, id: 'j1' });
  expect(await job('finish', { id: 'j1', token: popped.token })).toMatchObject({ success: true, id: 'j1' });
  expect((await oneJob('j1')).state).toBe('finished');
});

test('S3.3 not finished in its TTR it is ready again, and a late finish with its token is refused', async () => {
  await job('add', { topic: 'ttr', id: 'late', delay: 0, TTR: 1, body: 1 });
  const first = await job('pop', { topic: 'ttr' });
  const second = await job('pop', { topic: 'ttr', wait: 10 });
  expect(second).toMatchObject({ id: 'late', attempt: 2 });
  expect(second.token).not.toBe(first.token);
  expect(await job('finish', { id: 'late', token: first.token })).toMatchObject({ success: false });
  expect(await job('finish', { id: 'late' })).toMatchObject({ success: true });
});

test('S3.6 batches, several topics, long poll, release, bury, kick, peek', async () => {
  const topicOf = (n: number) => (n % 2 ? 'm1' : 'm2');
  const jobs = repeat(5, (n) => ({ topic: topicOf(n), id: `m${n}`, TTR: 60, body: n, priority: 10 - n }));
  expect((await job('add', { jobs: [...jobs, { topic: '..', id: 'x', body: 1 }] })).success).toBe(false);
  const { jobs: popped } = await job('pop', { topic: ['m1', 'm2'], count: 3 });
  expect(popped.map((j: Json) => j.id)).toEqual(['m4', 'm3', 'm2']);
  const ended = popped.map(({ id, token }: Json) => ({ id, token }));
  expect((await job('finish', { jobs: ended })).success).toBe(true);
  const one = await job('pop', { topic: 'm1' });
  expect(await job('bury', { id: one.id, token: one.token })).toMatchObject({ success: true });
  expect((await oneJob(one.id)).state).toBe('buried');
  const waiting = job('pop', { topic: ['m1', 'nothing'], wait: 20 });
  expect(await job('kick', { topic: 'm1', count: 5 })).toMatchObject({ success: true, value: 1 });
  const again = await waiting;
  expect(again).toMatchObject({ id: one.id, attempt: 2 });
  const given = await job('release', { id: again.id, token: again.token, delay: 0.3, priority: 1 });
  expect(given.success).toBe(true);
  expect(await job('pop', { topic: 'm1', wait: 10 })).toMatchObject({ id: one.id, attempt: 3 });
  expect(await job('peek', { topic: 'm2' })).toMatchObject({ success: true, id: 'm0', value: 0 });
});

test('S3.3 a job can be deleted in every state, and finished without a token as in the article', async () => {
  const add = (id: string, delay = 0) => job('add', { topic: id, id, delay, TTR: 60, body: id });
  await Promise.all([add('ready'), add('delayed', 100), add('reserved'), add('buried'), add('again')]);
  await job('pop', { topic: 'reserved' });
  const { token } = await job('pop', { topic: 'buried' });
  await job('bury', { id: 'buried', token });
  for (const id of ['ready', 'delayed', 'reserved', 'buried']) {
    expect(await job('delete', { id })).toMatchObject({ success: true, id });
    expect(await job('delete', { id })).toMatchObject({ success: true, id });
    expect((await oneJob(id)).state).toBe('deleted');
    expect(await job('pop', { topic: id })).toMatchObject({ success: true, id: null });
  }
  expect(await job('delete', { id: 'never-added' })).toMatchObject({ success: false });
  // on record is who finishes it, whoever holds it
  await job('pop', { topic: 'again' });
  const { key } = (await api.post('/v1/keys', { name: 'closer', role: 'consumer' })).body;
  const finished = await api.as(key).post('/v1/jobs', { command: 'finish', id: 'again' });
  expect(finished.body).toMatchObject({ success: true });
  expect((await oneJob('again')).state).toBe('finished');
  expect((await api.get('/v1/jobs/again/events')).body.items.at(-1)).toMatchObject({
    type: 'finished',
    actor: 'closer',
  });
});

test('S3.6 a kicked job waits from the kick on, not from when it would have been due', async () => {
  for (const by of [{ id: 'kicked' }, { topic: 'kicked', count: 1 }]) {
    await job('add', { topic: 'kicked', id: 'kicked', delay: 1_000, TTR: 60, body: 1 });
    expect(await job('kick', by)).toMatchObject({ success: true });
    const { oldestReadySeconds } = (await api.get('/v1/topics/kicked/stats')).body;
    expect(oldestReadySeconds).toBeGreaterThanOrEqual(0);
    await job('delete', { id: 'kicked' });
  }
});

test("S3.1 what PHP's curl sends is taken: no content type, text/plain or a form with a JSON body, numbers in quotes", async () => {
  const send = (command: object, headers: Record<string, string>) =>
    api.raw('POST', '/v1/jobs', { headers, body: new TextEncoder().encode(JSON.stringify(command)) });
  const types = ['', 'text/plain', 'text/plain;charset=UTF-8', 'application/x-www-form-urlencoded'];
  for (const [n, type] of types.entries()) {
    const headers: Record<string, string> = type === '' ? {} : { 'content-type': type };
    const job = { topic: 'php', id: `php${n}`, delay: '0', TTR: '90.5', priority: '7', body: '1' };
    expect((await send({ command: 'add', ...job }, headers)).body, type).toMatchObject({ success: true });
    expect((await api.get(`/v1/jobs/php${n}`)).body).toMatchObject({ delay: 0, TTR: 90.5, priority: 7, body: '1' });
    const popped = (await send({ command: 'pop', topic: 'php' }, headers)).body;
    const release = { command: 'release', id: popped.id, token: popped.token, delay: '3600', priority: '5' };
    expect((await send(release, headers)).body).toMatchObject({ success: true });
    expect((await api.get(`/v1/jobs/${popped.id}`)).body).toMatchObject({ state: 'delayed', priority: 5 });
  }
  const jobs = [{ topic: 'php', id: 'many', delay: '3600', TTR: '60', body: 1 }];
  expect((await send({ command: 'add', jobs }, {})).body).toMatchObject({ success: true });
  for (const wrong of ['', ' ', '-1', '1e3', 'soon', '0x10', null, [1]])
    expect(await job('add', { topic: 'php', id: 'wrong', delay: wrong, body: 1 }), String(wrong)).toMatchObject({
      ...{ success: false, code: 'invalid_request' },
    });
  // a page of another site may send such a call without asking first
  const foreign = { 'content-type': 'text/plain', origin: 'https://evil.example' };
  expect((await send({ command: 'delete', id: 'many' }, foreign)).status).toBe(403);
  expect((await send({ command: 'add' }, { 'content-type': 'multipart/form-data; boundary=x' })).status).toBe(415);
  const text = { headers: { 'content-type': 'text/plain' }, body: '{"topic": "php", "id"' };
  expect((await api.raw('POST', '/v1/jobs', text)).status).toBe(400);
});

const MEGABYTE = 1024 * 1024;
const json = { 'content-type': 'application/json' };

const add = { command: 'add', topic: 't', id: 'x', delay: 0, TTR: 60, body: 'b' };

const understood: [string, unknown][] = [
  ['an id of 201 characters', { ...add, id: 'x'.repeat(201) }],
  ['an id with a control character', { ...add, id: 'a\tb' }],
  ['a negative delay', { ...add, delay: -1 }],
  ['an absurd delay', { ...add, delay: 315_360_001 }],
  ['a delay that is a word', { ...add, delay: 'soon' }],
  ['TTR 0', { ...add, TTR: 0 }],
  ['a priority below 0', { ...add, priority: -1 }],
  ['a priority beyond 32 bits', { ...add, priority: 4_294_967_296 }],
  ['NUL in the body', { ...add, body: 'a\0b' }],
  ['half a surrogate pair', { ...add, body: '\ud800' }],
  ['a topic that is two dots', { ...add, topic: '..' }],
  ['finish of an id of 222 characters', { command: 'finish', id: 'x'.repeat(222) }],
  ['no body', { command: 'add', topic: 't', id: 'x' }],
  ['an unknown field', { ...add, prio: 1 }],
  ['no command', { topic: 't' }],
  ['an unknown command', { command: 'push', topic: 't' }],
  ['a command that is a number', { command: 7 }],
  ['a command of the prototype', { command: 'constructor' }],
  ['pop without a topic', { command: 'pop' }],
  ['pop of no topics', { command: 'pop', topic: [] }],
  ['pop of too many', { command: 'pop', topic: 't', count: 101 }],
  ['a wait beyond a minute', { command: 'pop', topic: 't', wait: 61 }],
  ['finish of an unknown job', { command: 'finish', id: 'nobody', token: 'lt_x' }],
  ['touch without a token', { command: 'touch', id: 'x' }],
  ['release with a wrong token', { command: 'release', id: 'x', token: 'lt_x' }],
  ['bury of an unknown job', { command: 'bury', id: 'x', token: 'lt_x' }],
  ['kick of nothing', { command: 'kick' }],
  ['kick of an unknown job', { command: 'kick', id: 'x' }],
  ['peek of both', { command: 'peek', id: 'x', topic: 't' }],
  ['an array', [add]],
  ['a number', 7],
];

describe('S3.1 what is wrong is said plainly, and nothing changes', () => {
  test.each(understood)('%s', async (_, body) => {
    const before = await digestOf(sql);
    const { status, body: answer } = await api.post('/v1/jobs', body);
    expect(status).toBe(200);
    expect(answer).toMatchObject({ success: false, value: null });
    expect(answer.error).toMatch(/\w/);
    expect(await digestOf(sql)).toEqual(before);
  });

  test.each([
    ['broken JSON', 400, { headers: json, body: '{"command": "add"' }],
    ['invalid UTF-8', 400, { headers: json, body: Buffer.from([0x22, 0xff, 0x22]) }],
    ['another content type', 415, { headers: { 'content-type': 'multipart/form-data; boundary=x' }, body: '{}' }],
    ['a job of 1 MB', 413, { headers: json, body: JSON.stringify({ ...add, body: 'x'.repeat(MEGABYTE) }) }],
    ['a batch of 9 MB', 413, { headers: json, body: JSON.stringify({ ...add, jobs: ['x'.repeat(9 * MEGABYTE)] }) }],
  ])('%s', async (_, expected, init) => {
    const before = await digestOf(sql);
    const { status, body } = await api.raw('POST', '/v1/jobs', init as RequestInit);
    expect(status).toBe(expected);
    expect(body).toMatchObject({ success: false, id: null, value: null });
    expect(await digestOf(sql)).toEqual(before);
  });

  test('one bad job of a batch harms no other', async () => {
    const { command: _, ...one } = add;
    const jobs = [
      { ...one, id: 'ok1' },
      { ...one, id: 'bad', TTR: -1 },
      7,
      { ...one, id: 'nul', body: '\0' },
      { ...one, id: 'ok2' },
    ];
    const { body } = await api.post('/v1/jobs', { command: 'add', jobs });
    expect(body.success).toBe(false);
    const outcomes = body.results.map((r: Json) => `${r.success} ${r.id}`);
    expect(outcomes).toEqual(['true ok1', 'false bad', 'false null', 'false nul', 'true ok2']);
  });

  test('keys: none and a wrong one are 401 in the same shape, a reviewer is 403, a producer may not pop', async () => {
    const { api: closed, keyed } = await startTestSystem({ DOCKET_AUTH: 'keys' }, { role: 'api' });
    const producer = await keyed('producer');
    for (const [client, status] of [
      [closed, 401],
      [closed.as('docket_wrong'), 401],
      [await keyed('reviewer'), 403],
      [producer, 403],
      [await keyed('consumer'), 200],
    ] as const) {
      const answer = await client.post('/v1/jobs', { command: 'pop', topic: 't' });
      expect(answer.status).toBe(status);
      expect(answer.body).toHaveProperty('success', status === 200);
    }
    expect((await producer.post('/v1/jobs', add)).body.success).toBe(true);
  });
});

test('S3.3 fifty callers pop 1,000 jobs at once: each job is handed out once', async () => {
  const jobs = repeat(1000, (n) => ({ topic: 'race', id: `race-${n}`, TTR: 60, body: n }));
  await api.post('/v1/jobs', { command: 'add', jobs });
  const got: string[] = [];
  await Promise.all(
    repeat(50, async (n) => {
      for (;;) {
        const { body } = await api.post('/v1/jobs', { command: 'pop', topic: 'race', ...(n % 2 && { count: 7 }) });
        const popped: Json[] = body.jobs ?? (body.id ? [body] : []);
        if (popped.length === 0) return;
        got.push(...popped.map((j) => j.id));
      }
    }),
  );
  expect(got).toHaveLength(1000);
  expect(new Set(got).size).toBe(1000);
});

describe('an operator puts a job aside without its token', () => {
  test('S3 ready, delayed or reserved, it is given to no one until it is kicked', async () => {
    for (const [id, delay] of Object.entries({ 'aside-ready': 0, 'aside-delayed': 600, 'aside-reserved': 0 })) {
      const topic = id;
      await job('add', { topic, id, delay, TTR: 60, body: 1 });
      if (id === 'aside-reserved') await job('pop', { topic });
      expect((await bury(id)).body).toMatchObject({ id, state: 'buried', reservedUntil: null });
      expect((await job('pop', { topic })).id).toBeNull();
      expect(await stats(topic)).toMatchObject({ buried: 1, ready: 0, delayed: 0 });
      expect((await job('kick', { id })).value).toBe(1);
      expect((await job('pop', { topic })).id).toBe(id);
    }
  });

  test('S3.3 a consumer whose job another key has buried is refused whatever it does with it; a producer may not bury', async () => {
    const { keyed } = await startTestSystem({ DOCKET_AUTH: 'keys' }, { role: 'api' });
    const [{ jobs: consumer }, { jobs: operator }] = [await keyed('consumer'), await keyed('consumer', 'operator')];
    await consumer.job('add', { topic: 'keyed', id: 'keyed', TTR: 60, body: 1 });
    const { token } = await consumer.job('pop', { topic: 'keyed' });
    expect((await operator.bury('keyed', 'it stops every consumer')).status).toBe(200);
    for (const name of ['touch', 'finish', 'release', 'bury'])
      expect(await consumer.job(name, { id: 'keyed', token })).toMatchObject({ success: false, code: 'lease_lost' });
    const log = (await (await keyed('admin')).jobs.events('keyed')).find((e) => e.type === 'buried');
    expect(log).toMatchObject({ actor: 'operator', data: { reason: 'it stops every consumer' } });
    expect((await (await keyed('producer')).jobs.bury('keyed')).status).toBe(403);
  });

  test('fifty at once, and again: it is buried once', async () => {
    await job('add', { topic: 'often', id: 'often', TTR: 60, body: 1 });
    const answers = await Promise.all(repeat(50, () => bury('often')));
    expect(answers.map(({ status }) => status)).toEqual(Array(50).fill(200));
    expect((await eventTypes('often')).filter((type) => type === 'buried')).toHaveLength(1);
  });

  test('what is over stays so, what is unknown is not found, and a reason is needed', async () => {
    await job('add', { topic: 'over', id: 'over', TTR: 60, body: 1 });
    await job('finish', { id: 'over' });
    expect(await bury('over')).toMatchObject({ status: 409, body: { code: 'not_open' } });
    expect(await bury('no-such-job')).toMatchObject({ status: 404, body: { code: 'not_found' } });
    expect(await api.post('/v1/jobs/over/bury', {})).toMatchObject({ status: 422 });
    expect((await oneJob('over')).state).toBe('finished');
  });
});
