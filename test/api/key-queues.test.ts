import { describe, expect, test } from 'vitest';
import { endpoints } from '../../api/endpoints.ts';
import { nameOf, pathOf, sampleBody } from '../support/calls.ts';
import { type Client, eventually, type Json, walk } from '../support/client.ts';
import { endsWithinASecond } from '../support/keys.ts';
import { expectProblem } from '../support/problems.ts';
import { openStream } from '../support/stream.ts';
import { startTestSystem } from '../support/system.ts';
import { add, claim, configure } from '../support/tickets.ts';

const { api } = await startTestSystem({}, { role: 'api' });

/** A key made over the API. */
async function key(wanted: object): Promise<Client> {
  const made = await api.post('/v1/keys', wanted);
  expect(made.status).toBe(201);
  return api.as(made.body.key);
}

describe('keys over the API', () => {
  test('a key is made, listed and ended; it is shown once', async () => {
    const made = await api.post('/v1/keys', { role: 'reviewer', subject: 'rita', queues: ['a', 'b-*'] });
    const { key: secret, ...line } = made.body;
    expect(line).toEqual({
      id: expect.stringMatching(/^[0-9a-f]{12}$/),
      ...{ name: 'rita', role: 'reviewer', subject: 'rita', queues: ['a', 'b-*'], expiresAt: null, revokedAt: null },
      ...{ callsPerSecond: null, issuer: null },
      createdAt: expect.any(String),
    });
    expect((await walk(api, '/v1/keys', 1)).find((k) => k.id === line.id)).toEqual(line);
    expect(JSON.stringify((await api.get('/v1/keys')).body)).not.toContain(secret.split('_').slice(2).join('_'));
    expect((await api.as(secret).get('/v1/queues')).status).toBe(200);
    for (let n = 0; n < 2; n++)
      expect(await api.raw('DELETE', `/v1/keys/${line.id}`)).toMatchObject({
        status: 200,
        body: { ...line, revokedAt: expect.any(String) },
      });
    await endsWithinASecond(() => api.as(secret).get('/v1/queues'));
    expectProblem(await api.raw('DELETE', '/v1/keys/nobody'), 'unknown', 'not_found');
  });

  test('a key that has expired is none, nor is its stream ticket, and its open stream ends', async () => {
    const brief = await key({ role: 'agent', expiresAt: new Date(Date.now() + 6_000).toISOString() });
    const { ticket } = (await brief.post('/v1/stream-tickets')).body;
    const open = await fetch(`${api.url}/v1/stream?queue=x&ticket=${ticket}`);
    expect(open.status).toBe(200);
    await eventually(async () => (await brief.get('/v1/queues')).status === 401);
    expect(await open.text()).toContain('retry: 1000');
    expect((await api.get(`/v1/stream?queue=x&ticket=${ticket}`)).status).toBe(401);
  });

  test('what cannot be a key is refused', async () => {
    const wrong = [
      ...[{}, { role: 'king' }, { role: 'reviewer' }, { role: 'agent', queues: [] }, { role: 'agent', name: 'a b' }],
      ...['a*b', '*a'].map((queue) => ({ role: 'agent', queues: [queue] })),
      ...['soon', '2024-01-31T00:00:00Z'].map((expiresAt) => ({ role: 'agent', expiresAt })),
    ];
    for (const body of wrong) expectProblem(await api.post('/v1/keys', body), JSON.stringify(body), 'invalid_request');
    for (const role of ['producer', 'agent', 'consumer'])
      expectProblem(await (await key({ role })).post('/v1/keys', { role: 'admin' }), role, 403);
  });
});

describe('a key that is bound to queues', async () => {
  const bound = await key({ role: 'admin', queues: ['mine', 'my-*'] });
  // one of each kind, elsewhere, with the ids that the samples name
  await add(api, 'theirs', { id: 'some-id' });
  await api.post('/v1/jobs', { command: 'add', topic: 'theirs', id: 'some-id', body: 1 });
  await api.put('/v1/courts/theirs', {});
  await api.post('/v1/courts/theirs/cases', { id: 'some-id', parties: [], body: 1 });
  await api.put('/v1/groups/theirs', { members: ['uid_a'] });
  await api.post('/v1/templates', { id: 'some-id', name: 'some', params: {} });
  const once = { id: 'some-id', type: 'once', executor: 'gid_theirs', startTime: new Date().toISOString() };
  expect((await api.post('/v1/tasks', { ...once, templateId: 'some-id', params: {} })).status).toBe(201);

  /** About no queue, or only about the key's own: they are for every key. */
  const FREE = new Set([
    ...['get /v1/session', 'delete /v1/session', 'get /v1/overview', 'post /v1/stream-tickets'],
    ...['get /v1/views', 'put /v1/views/{name}', 'delete /v1/views/{name}'],
    ...['get /v1/session/defaults', 'put /v1/session/defaults'],
    ...['post /v1/templates', 'get /v1/templates', 'get /v1/templates/{id}', 'get /v1/jurors/{juror}/invitations'],
  ]);
  /** Lists over all. */
  const LISTS = ['items', 'tickets', 'queues', 'topics', 'courts', 'cases', 'groups', 'tasks'];
  /** What a call must have to be understood. */
  const QUERIES: Record<string, string> = {
    '/v1/explain/who': '?ticket=some-id',
    ...{ '/v1/stream': '?queue=theirs', '/v1/figures': '?kind=ticket', '/v1/figures/lateness': '?kind=job' },
  };
  for (const list of [...LISTS, 'tickets.csv']) FREE.add(`get /v1/${list}`);
  const others = endpoints.filter((e) => e.roles && !e.path.startsWith('/v1/deliveries') && !FREE.has(nameOf(e)));

  test.each(others.map((e) => [nameOf(e), e] as const))('%s is not for it elsewhere', async (name, e) => {
    const body =
      name === 'post /v1/tickets/resolve' ? { items: [{ id: 'some-id', decision: 1 }], reason: 'r' } : sampleBody(e);
    const sent = e.path === '/v1/jobs' ? { command: 'peek', topic: 'theirs' } : body;
    const query = QUERIES[e.path] ?? '';
    const init = { headers: { 'content-type': 'application/json' }, ...(sent && { body: JSON.stringify(sent) }) };
    const reply = await bound.raw(e.method.toUpperCase(), pathOf(e) + query, init);
    expect(reply.status, `${name}: ${JSON.stringify(reply.body)}`).toBe(403);
  });

  test('lists over all show its own', async () => {
    await add(api, 'my-own', { id: 'my-1' });
    await add(api, 'theirs', { id: 'their-2' });
    await api.post('/v1/jobs', { command: 'add', topic: 'my-topic', id: 'my-job', body: 1 });
    const ids = (items: Json[]) => items.map((i) => i.id ?? i.name);
    const listed = async (path: string) => ids((await bound.get(path)).body.items);
    expect(await listed('/v1/tickets')).toEqual(['my-1']);
    expect(await listed('/v1/queues')).toEqual(['my-own']);
    expect(await listed('/v1/topics')).toEqual(['my-topic']);
    for (const list of ['courts', 'cases', 'groups', 'tasks']) expect(await listed(`/v1/${list}`), list).toEqual([]);
    expectProblem(await bound.get('/v1/tickets?queue=theirs'), 'named', 'forbidden');
  });

  test('each job command is for its topics only', async () => {
    const ofOne = [{ command: 'finish' }, { command: 'delete' }, { command: 'touch', token: 't' }, { command: 'kick' }];
    const commands = [
      ...[...ofOne, { command: 'peek' }].map((command) => ({ ...command, id: 'some-id' })),
      { command: 'add', topic: 'theirs', id: 'j', body: 1 },
      { command: 'pop', topic: ['my-topic', 'theirs'] },
      { command: 'kick', topic: 'theirs' },
    ];
    for (const command of commands) {
      const { status, body } = await bound.post('/v1/jobs', command);
      expect([status, body.success], JSON.stringify(command)).toEqual([403, false]);
    }
    const mine = { command: 'add', topic: 'my-topic', id: 'mine', body: 1 };
    expect((await bound.post('/v1/jobs', mine)).body.success).toBe(true);
  });

  test('S3.1 a job whose topic or id cannot be fails alone, for this key too', async () => {
    const odd = ['\0', '\ud800', '', 5, null, { toString: 1 }, ['a', null]];
    const jobs = [
      ...odd.map((id) => ({ topic: 'my-topic', id, body: 1 })),
      ...odd.map((topic, n) => ({ topic, id: `odd-topic-${n}`, body: 1 })),
      ...[null, 5, { topic: 'my-topic', id: 'sound', body: 1 }],
    ];
    const { status, body } = await bound.post('/v1/jobs', { command: 'add', jobs });
    expect(status, JSON.stringify(body)).toBe(200);
    expect(body.results.map((r: Json) => r.success)).toEqual(jobs.map((_, n) => n === jobs.length - 1));
  });

  test('S3.1 a job of a batch that is in the topic of others fails alone, and the topic is not named', async () => {
    const batch = async (command: string, ...jobs: unknown[]) => {
      const { status, body } = await bound.post('/v1/jobs', { command, jobs });
      expect([status, JSON.stringify(body).includes('theirs')]).toEqual([200, false]);
      return body.results.map((r: Json) => r.code ?? r.success);
    };
    const mine = (id: unknown) => ({ topic: 'my-topic', id, body: 1 });
    const others = { topic: 'other-topic', id: 'new-id', body: 1 };
    expect(await batch('add', mine('batch-1'), others, mine('some-id'), mine('batch-2'))).toEqual([
      true,
      'forbidden',
      'forbidden',
      true,
    ]);
    const odd = [null, 5, { id: '' }, { id: 'batch-2', token: 5 }];
    expect(await batch('finish', { id: 'some-id' }, ...odd, { id: 'batch-1' }, { id: 'not-there' })).toEqual([
      ...['forbidden', ...odd.map(() => 'invalid_request')],
      ...[true, 'not_found'],
    ]);
  });

  test('where it is at home it does what its role does', async () => {
    await configure(bound, 'mine', { maxHeld: 5 });
    await add(bound, 'mine', { id: 'mine-1' });
    const [held] = (await claim(bound, 'mine', 'anna')).tickets;
    const { token } = held.lease;
    const transfer = await bound.post('/v1/tickets/mine-1/transfer', { token, queue: 'theirs' });
    expectProblem(transfer, 'to another queue', 'forbidden');
    const decided = await bound.post('/v1/tickets/mine-1/decide', { token, decision: 1 });
    expect(decided.body.ticket.state).toBe('decided');
    expectProblem(await bound.post('/v1/queues/mine/explain', { reviewer: 'a', ticket: 'some-id' }), 'explain', 403);
  });

  test('its tickets call URLs, and write into no review', async () => {
    const review = { text: { status: 0 }, pictures: [], replies: [] };
    expect((await api.put('/v1/reviews/of-all', review)).status).toBe(201);
    const ticket = { body: 1, callback: { review: 'of-all', kind: 'text' } };
    expectProblem(await bound.post('/v1/queues/my-calls/tickets', ticket), 'one', 'forbidden');
    const tickets = [ticket, { id: 'plain', body: 1 }];
    const { results } = (await bound.post('/v1/queues/my-calls/tickets/batch', { tickets })).body;
    expect(results[0]).toMatchObject({ httpStatus: 403, code: 'forbidden' });
    expect(results[1]).toMatchObject({ id: 'plain', httpStatus: 201 });
    const unbound = await key({ role: 'producer' });
    expect((await unbound.post('/v1/queues/my-calls/tickets', ticket)).status).toBe(201);
  });

  test('a reviewer hears on the stream of the own queues only, and reads tickets of these', async () => {
    const nora = await key({ role: 'reviewer', subject: 'nora', queues: ['mine'] });
    await add(api, 'theirs', { id: 'nora-theirs' });
    await add(api, 'mine', { id: 'nora-mine' });
    await eventually(async () => (await claim(api, 'theirs', 'nora')).tickets.length > 0);
    await claim(nora, 'mine', 'nora');
    const stream = await openStream(nora, '');
    for (const id of ['some-id', 'nora-theirs', 'their-2', 'nora-mine'])
      await api.post(`/v1/tickets/${id}/invalidate`, { reason: 'r' });
    await stream.first('lease_lost', (d) => d.id === 'nora-mine');
    expect(stream.events.map((e) => e.data.id)).toEqual(['nora-mine']);
    expect((await nora.get('/v1/tickets/nora-mine')).status).toBe(200);
    for (const path of ['/v1/queues/theirs', '/v1/queues/theirs/stats'])
      expectProblem(await nora.get(path), path, 'forbidden');
    // of tickets elsewhere a reviewer does not even learn that they are there
    const ask = (id: string) => [
      nora.get(`/v1/tickets/${id}`),
      nora.post(`/v1/tickets/${id}/decide`, { token: 'lt_none', decision: 1 }),
      nora.post('/v1/queues/mine/explain', { ticket: id }),
    ];
    const told = async (id: string) =>
      (await Promise.all(ask(id))).map(({ status, body }) => [status, body.code, body.detail?.replace(id, '')]);
    expect(await told('nora-theirs')).toEqual(await told('nora-nowhere'));
  });
});
