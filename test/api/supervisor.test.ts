import { expect, test } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { expectProblem } from '../support/problems.ts';
import { startReceiver } from '../support/receiver.ts';
import { startTestSystem } from '../support/system.ts';
import { addTask, addTemplate, handed } from '../support/tasks.ts';
import { add, addHeld, configure, history, ticket } from '../support/tickets.ts';

const { api } = await startTestSystem();
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
