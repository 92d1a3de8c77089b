import { describe, expect, test } from 'vitest';
import { type Json, repeat } from '../support/client.ts';
import { createKey } from '../support/keys.ts';
import { startTestSystem } from '../support/system.ts';

const { api, sql } = await startTestSystem({}, { role: 'api' });

const json = { 'content-type': 'application/json' };

/** Everything that a wrong call must leave alone. */
const digest = async () =>
  JSON.stringify(
    await sql(`select (select count(*) from item) as items, (select count(*) from event) as events,
    (select coalesce(sum(n), 0) from tally where what <> 'granted') as tally`),
  );

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
    const before = await digest();
    const { status, body: answer } = await api.post('/v1/jobs', body);
    expect(status).toBe(200);
    expect(answer).toMatchObject({ success: false, value: null });
    expect(answer.error).toMatch(/\w/);
    expect(await digest()).toBe(before);
  });

  test.each([
    ['broken JSON', 400, { headers: json, body: '{"command": "add"' }],
    ['invalid UTF-8', 400, { headers: json, body: Buffer.from([0x22, 0xff, 0x22]) }],
    ['another content type', 415, { headers: { 'content-type': 'text/plain' }, body: '{}' }],
    ['a job of 1 MB', 413, { headers: json, body: JSON.stringify({ ...add, body: 'x'.repeat(1024 * 1024) }) }],
    [
      'a batch of 9 MB',
      413,
      { headers: json, body: JSON.stringify({ command: 'add', jobs: ['x'.repeat(9 * 1024 * 1024)] }) },
    ],
  ])('%s', async (_, expected, init) => {
    const before = await digest();
    const { status, body } = await api.raw('POST', '/v1/jobs', init as RequestInit);
    expect(status).toBe(expected);
    expect(body).toMatchObject({ success: false, id: null, value: null });
    expect(await digest()).toBe(before);
  });

  test('one bad job of a batch harms no other', async () => {
    const jobs = [
      { ...add, id: 'ok1' },
      { ...add, id: 'bad', TTR: -1 },
      7,
      { ...add, id: 'nul', body: '\0' },
      { ...add, id: 'ok2' },
    ].map((j) => (typeof j === 'object' ? { ...j, command: undefined } : j));
    const { body } = await api.post('/v1/jobs', { command: 'add', jobs });
    expect(body.success).toBe(false);
    expect(body.results.map((r: Json) => [r.success, r.id])).toEqual([
      [true, 'ok1'],
      [false, 'bad'],
      [false, null],
      [false, 'nul'],
      [true, 'ok2'],
    ]);
  });

  test('keys: none and a wrong one are 401 in the same shape, a reviewer is 403, a producer may not pop', async () => {
    const closed = await startTestSystem({ DOCKET_AUTH: 'keys' });
    const keys = Object.fromEntries(
      await Promise.all(
        (['producer', 'consumer', 'reviewer'] as const).map(async (role) => {
          const { key } = await createKey(closed.running.runtime.db, { name: role, role, subject: role });
          return [role, key] as const;
        }),
      ),
    );
    const pop = { command: 'pop', topic: 't' };
    for (const [client, status] of [
      [closed.api, 401],
      [closed.api.as('docket_wrong'), 401],
      [closed.api.as(keys.reviewer ?? ''), 403],
      [closed.api.as(keys.producer ?? ''), 403],
      [closed.api.as(keys.consumer ?? ''), 200],
    ] as const) {
      const answer = await client.post('/v1/jobs', pop);
      expect(answer.status).toBe(status);
      expect(answer.body).toHaveProperty('success', status === 200);
    }
    expect((await closed.api.as(keys.producer ?? '').post('/v1/jobs', add)).body.success).toBe(true);
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

const command = async (name: string, fields: object) => (await api.post('/v1/jobs', { command: name, ...fields })).body;
const bury = (id: string, reason = 'poisonous') => api.post(`/v1/jobs/${encodeURIComponent(id)}/bury`, { reason });
const eventsOf = async (id: string) =>
  (await api.get(`/v1/jobs/${id}/events`)).body.items.map(({ type }: { type: string }) => type);

describe('an operator puts a job aside without its token', () => {
  test('S3 ready, delayed or reserved, it is given to no one until it is kicked', async () => {
    for (const [id, delay] of [
      ['ready', 0],
      ['delayed', 600],
      ['reserved', 0],
    ] as const) {
      const topic = `aside-${id}`;
      await command('add', { topic, id, delay, TTR: 60, body: 1 });
      if (id === 'reserved') await command('pop', { topic });
      expect((await bury(id)).body).toMatchObject({ id, state: 'buried', reservedUntil: null });
      expect((await command('pop', { topic })).id).toBeNull();
      expect((await api.get(`/v1/topics/${topic}/stats`)).body).toMatchObject({ buried: 1, ready: 0, delayed: 0 });
      expect((await command('kick', { id })).value).toBe(1);
      expect((await command('pop', { topic })).id).toBe(id);
    }
  });

  test('S3.3 who had it reserved can neither finish nor keep it, and its log says who took it and why', async () => {
    await command('add', { topic: 'taken', id: 'taken', TTR: 60, body: 1 });
    const { token } = await command('pop', { topic: 'taken' });
    await bury('taken', 'it stops every consumer');
    for (const name of ['touch', 'finish'])
      expect(await command(name, { id: 'taken', token })).toMatchObject({ success: false, code: 'lease_lost' });
    const { items } = (await api.get('/v1/jobs/taken/events')).body;
    expect(items.find(({ type }: { type: string }) => type === 'buried')).toMatchObject({
      actor: 'anonymous',
      data: { reason: 'it stops every consumer' },
    });
  });

  test('S3.3 a consumer whose job another key has buried is refused whatever it does with it; a producer may not bury', async () => {
    const closed = await startTestSystem({ DOCKET_AUTH: 'keys' });
    const as = async (name: string) =>
      closed.api.as((await createKey(closed.running.runtime.db, { name, role: 'consumer', subject: name })).key);
    const [consumer, operator] = [await as('consumer'), await as('operator')];
    const send = async (name: string, fields: object) =>
      (await consumer.post('/v1/jobs', { command: name, ...fields })).body;
    await send('add', { topic: 'keyed', id: 'keyed', TTR: 60, body: 1 });
    const { token } = await send('pop', { topic: 'keyed' });
    expect((await operator.post('/v1/jobs/keyed/bury', { reason: 'poisonous' })).status).toBe(200);
    for (const name of ['touch', 'finish', 'release', 'bury'])
      expect(await send(name, { id: 'keyed', token })).toMatchObject({ success: false, code: 'lease_lost' });
    const producer = await createKey(closed.running.runtime.db, { name: 'producer', role: 'producer', subject: null });
    expect((await closed.api.as(producer.key).post('/v1/jobs/keyed/bury', { reason: 'no' })).status).toBe(403);
  });

  test('fifty at once, and again: it is buried once', async () => {
    await command('add', { topic: 'often', id: 'often', TTR: 60, body: 1 });
    const answers = await Promise.all(repeat(50, () => bury('often')));
    expect(answers.map(({ status }) => status)).toEqual(Array(50).fill(200));
    expect((await eventsOf('often')).filter((type: string) => type === 'buried')).toHaveLength(1);
  });

  test('what is over stays so, what is unknown is not found, and a reason is needed', async () => {
    await command('add', { topic: 'over', id: 'over', TTR: 60, body: 1 });
    await command('finish', { id: 'over' });
    expect(await bury('over')).toMatchObject({ status: 409, body: { code: 'not_open' } });
    expect(await bury('no-such-job')).toMatchObject({ status: 404, body: { code: 'not_found' } });
    expect(await api.post('/v1/jobs/over/bury', {})).toMatchObject({ status: 422 });
    expect((await api.get('/v1/jobs/over')).body.state).toBe('finished');
  });
});
