import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { docket } from '../support/cli.ts';
import { type Client, eventually, type Json, repeat } from '../support/client.ts';
import { endsWithinASecond } from '../support/keys.ts';
import { expectProblem } from '../support/problems.ts';
import { startReceiver } from '../support/receiver.ts';
import { startTestSystem, testStores } from '../support/system.ts';
import { addTask, addTemplate, handed } from '../support/tasks.ts';
import { add, addHeld, configure, history, ticket } from '../support/tickets.ts';

const stores = await testStores();
const { api, databaseUrl } = await startTestSystem({}, { stores });
const keyOf = async (wanted: object) => {
  const made = await api.post('/v1/keys', wanted);
  expect(made.status).toBe(201);
  return api.as(made.body.key);
};
const sue = await keyOf({ role: 'supervisor', subject: 'sue' });

test('S0.4 S4.9 a supervisor takes a ticket or a task from its holder, without the token', async () => {
  for (const [id, call, body] of [
    ['sv-1', 'release', { reason: 'away' }],
    ['sv-2', 'transfer', { queue: 'sv-next', reason: 'wrong desk' }],
  ] as const) {
    await configure(api, 'sv-next', {});
    const { lease } = await addHeld(api, `sv-${call}`, id);
    expect((await sue.post(`/v1/tickets/${id}/${call}`, body)).status).toBe(200);
    expect((await history(api, id)).at(-1)).toContain('by sue');
    const late = await api.post(`/v1/tickets/${id}/decide`, { token: lease.token, decision: 1 });
    expectProblem(late, call, 'lease_lost');
  }
  await addTemplate(sue, 'plain');
  await addTask(sue, { id: 'sv-task', executor: 'uid_tom' });
  const { logId } = await handed(api, 'tom');
  expect((await sue.post('/v1/clients/tom/release', { reason: 'has left' })).body.logId).toBe(logId);
});

test('S0.11 S3.1 a supervisor changes and ends items, pauses queues, kicks, buries and deletes jobs', async () => {
  await add(sue, 'sv', { id: 'sv-3' });
  expect((await sue.patch('/v1/tickets/sv-3', { priority: 7 })).body.priority).toBe(7);
  expect((await sue.post('/v1/queues/sv/pause')).body.paused).toBe(true);
  expect((await sue.post('/v1/queues/sv/resume')).body.paused).toBe(false);
  const logged = (await api.get('/v1/admin-log?path=/v1/queues/sv/pause')).body.items;
  expect(logged).toMatchObject([{ actor: 'sue', operation: 'pauseQueue', status: 200 }]);
  expect((await sue.post('/v1/tickets/sv-3/resolve', { decision: 1, reason: 'twice there' })).status).toBe(200);
  expect((await ticket(api, 'sv-3')).decidedBy).toBe('sue');
  await sue.jobs.job('add', { topic: 'sv', id: 'sv-job', delay: 600, body: 1 });
  expect((await sue.post('/v1/jobs/sv-job/bury', { reason: 'poison' })).body.state).toBe('buried');
  expect(await sue.jobs.job('kick', { id: 'sv-job' })).toMatchObject({ success: true, value: 1 });
  expect(await sue.jobs.job('bury', { id: 'sv-job', reason: 'again' })).toMatchObject({ success: true });
  for (const command of ['pop', 'finish'])
    expect((await sue.post('/v1/jobs', { command, topic: 'sv', id: 'sv-job' })).status).toBe(403);
  expect(await sue.jobs.job('delete', { id: 'sv-job' })).toMatchObject({ success: true });
});

test('S0.6 a supervisor reads all, but neither tokens nor what callbacks carry, and claims nothing', async () => {
  const { callback } = await startReceiver();
  await configure(api, 'sv-read', { callback: { ...callback, url: `${callback.url}?secret=1` } });
  const { lease } = await addHeld(api, 'sv-read', 'sv-4');
  expect((await sue.get('/v1/tickets/sv-4')).body.lease).toMatchObject({ reviewer: 'anna', token: null });
  const paths = [
    'tickets?queue=sv-read',
    'tickets/sv-4/events',
    'queues/sv-read',
    'queues',
    'topics',
    'courts',
    'tasks',
  ];
  paths.push('dispatch-log', 'reviews', 'deliveries', 'overview', 'feed?limit=500', 'tickets/sv-4/deliveries');
  for (const path of paths) {
    const { status, body } = await sue.get(`/v1/${path}`);
    expect(status, path).toBe(200);
    for (const secret of ['secret=1', callback.secret, lease.token]) expect(JSON.stringify(body)).not.toContain(secret);
  }
  expect((await api.get('/v1/queues/sv-read')).body.callback.url).toContain('secret=1');
  await sue.post('/v1/tickets/sv-4/resolve', { decision: 1, reason: 'late' });
  const urlsFor = async (by: typeof api) =>
    (await by.get('/v1/tickets/sv-4/deliveries')).body.items.map(({ url }: { url: string }) => url);
  await eventually(async () => (await urlsFor(sue)).length === 1);
  expect([await urlsFor(sue), await urlsFor(api)]).toEqual([[callback.url], [`${callback.url}?secret=1`]]);
  const refused = [
    sue.post('/v1/queues/sv-read/claim', { reviewer: 'sue' }),
    sue.put('/v1/queues/sv-read', {}),
    sue.put('/v1/courts/sv/jurors', { jurors: [] }),
    sue.get('/v1/keys'),
    sue.get('/v1/admin-log'),
  ];
  for (const answer of await Promise.all(refused)) expectProblem(answer, 'supervisor', 'forbidden');
});

test('S0.6 where no key is asked for, a key that is given counts, and one that is none is refused', async () => {
  const rita = await keyOf({ role: 'reviewer', subject: 'rita' });
  await add(api, 'sv-open');
  expect((await rita.post('/v1/queues/sv-open/claim', {})).body.tickets[0].lease.reviewer).toBe('rita');
  expectProblem(await rita.post('/v1/queues/sv-open/claim', { reviewer: 'bob' }), 'as bob', 'forbidden');
  expectProblem(await rita.put('/v1/queues/sv-open', {}), 'settings', 'forbidden');
  const unknown = `docket_${'0'.repeat(12)}_${'x'.repeat(43)}`;
  for (const key of ['nonsense', unknown]) expectProblem(await api.as(key).get('/v1/queues'), key, 'unauthenticated');
  expect((await rita.get('/v1/session')).body).toMatchObject({ open: false, role: 'reviewer', subject: 'rita' });
  expect((await api.get('/v1/session')).body).toMatchObject({ open: true, role: 'admin' });
});

const calls = (client: Client, n: number) => Promise.all(repeat(n, () => client.get('/v1/session')));
const statuses = async (client: Client, n: number) => (await calls(client, n)).map(({ status }) => status);

test('a key makes as many calls a second as it may, and others go on beside it', async () => {
  const bounded = await keyOf({ role: 'agent', name: 'bounded', callsPerSecond: 10 });
  const free = await keyOf({ role: 'agent', name: 'free' });
  const began = performance.now();
  const [mine, theirs] = await Promise.all([calls(bounded, 50), statuses(free, 50)]);
  const taken = mine.filter(({ status }) => status === 200).length;
  expect(taken).toBeGreaterThanOrEqual(10);
  expect(taken).toBeLessThanOrEqual(10 + Math.ceil((performance.now() - began) / 100));
  const refused = mine.filter(({ status }) => status !== 200);
  expect(refused).toHaveLength(50 - taken);
  for (const reply of refused) {
    expectProblem(reply, 'beyond', 'rate_limited');
    expect([reply.body.retryAfter, reply.headers.get('retry-after')]).toEqual([1, '1']);
  }
  expect(theirs.every((status) => status === 200)).toBe(true);
  await sleep(1_100);
  expect((await bounded.get('/v1/session')).status).toBe(200);
});

test('how many calls a key may make is shown with it', async () => {
  await keyOf({ role: 'agent', name: 'shown', callsPerSecond: 7 });
  const listed = (await api.get('/v1/keys')).body.items.find((k: Json) => k.name === 'shown');
  expect(listed.callsPerSecond).toBe(7);
  for (const callsPerSecond of [0, -1, 1.5, 'many', 1e9])
    expectProblem(await api.post('/v1/keys', { role: 'agent', callsPerSecond }), `${callsPerSecond}`, 422);
});

test('a call of a session counts for its key', async () => {
  const made = (await api.post('/v1/keys', { role: 'agent', callsPerSecond: 2 })).body;
  // a server that asks for no key looks at no cookie
  const asking = (await startTestSystem({ DOCKET_AUTH: 'keys' }, { stores, role: 'api' })).api;
  const signed = await asking.post('/v1/session', { key: made.key });
  const cookie = String(signed.headers.get('set-cookie')).split(';')[0] ?? '';
  const call = () => fetch(`${asking.url}/v1/session`, { headers: { cookie, 'sec-fetch-site': 'same-origin' } });
  // at once, so that they are too many on a slow machine, too
  await eventually(async () => (await Promise.all(repeat(5, call))).some(({ status }) => status === 429));
});

test('docket key create, list and revoke, with its calls a second and its lines in the admin log', async () => {
  const env = { DATABASE_URL: databaseUrl };
  const create = (callsPerSecond: string) => {
    const named = ['--role', 'reviewer', '--subject', 'rita', '--name', 'desk-1'];
    return docket(['key', 'create', ...named, '--calls-per-second', callsPerSecond], env);
  };
  expect((await create('many')).stderr).toContain('--calls-per-second: many is not a whole number');
  const { stdout } = await create('3');
  const key = /^docket_[0-9a-f]{12}_[\w-]{43}$/m.exec(stdout)?.[0] ?? '';
  const id = key.split('_')[1] ?? '';
  expect(stdout).toContain(`Its id is ${id}.`);
  expect(new Set(await statuses(api.as(key), 20))).toEqual(new Set([200, 429]));
  const list = async () => (await docket(['key', 'list'], env)).stdout;
  const listed = await list();
  expect(listed).toMatch(new RegExp(`^${id}  reviewer  rita  desk-1 .* 3 calls a second`, 'm'));
  expect(listed).not.toContain(key);
  expect(await docket(['key', 'revoke', id], env)).toMatchObject({ code: 0, stdout: `${id} is revoked\n` });
  await endsWithinASecond(() => api.as(key).get('/v1/session'));
  expect(await list()).toMatch(new RegExp(`^${id} .* revoked \\S+$`, 'm'));
  const none = await docket(['key', 'revoke', '000000000000'], env);
  expect(none).toMatchObject({ code: 1, stderr: expect.stringContaining('no live key 000000000000') });
  const lines = async (path: string): Promise<Json[]> => (await api.get(`/v1/admin-log?path=${path}`)).body.items;
  const made = (await lines('/v1/keys')).find(({ body }) => body?.name === 'desk-1') as Json;
  expect(made).toMatchObject({ operation: 'addKey', body: { role: 'reviewer', name: 'desk-1' }, status: 201 });
  expect(made.actor).toMatch(/, on the command line$/);
  expect(await lines(`/v1/keys/${id}`)).toMatchObject([{ operation: 'revokeKey', status: 200 }]);
  expect(await lines('/v1/keys/000000000000')).toMatchObject([{ status: 404 }]);
});
