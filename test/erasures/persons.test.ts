import pg from 'pg';
import { expect, test } from 'vitest';
import { eventually, insist, type Json, numbered, repeat } from '../support/client.ts';
import { testDoctor } from '../support/doctor.ts';
import { erased, tablesWith } from '../support/erasures.ts';
import { createKey } from '../support/keys.ts';
import { expectProblem } from '../support/problems.ts';
import { startTestSystem } from '../support/system.ts';

const system = await startTestSystem();
const { api, running, sql } = system;
const { tickets, jobs, cases, tasks, reviews } = api;
const doctor = testDoctor(system);

/** Waits until a key is refused: each process remembers keys for a second. */
const ended = (key: string) => eventually(async () => (await api.as(key).get('/v1/queues')).status === 401);

/** Erases a person, and looks for the name in all of the database. */
async function gone(person: string): Promise<Json> {
  expect(await tablesWith(system, person)).not.toEqual({});
  const done = await erased(api, { person }, 40_000);
  expect(await tablesWith(system, person)).toEqual({});
  await eventually(async () => (await doctor.broken({ deep: true })).length === 0);
  return done;
}

test('S0.6 S0.10 a reviewer: what they decided, released and wrote has another name, what they hold ends, their keys go', async () => {
  const name = 'QqReviewerQq';
  await tickets.configure('desk', { maxHeld: 9 });
  for (const id of numbered(6, 'p-')) await tickets.add('desk', { id, body: 1, subject: name });
  const claim = () => tickets.claimOne('desk', name);
  const first = await claim();
  insist(await tickets.decide(first, { ok: true }), 'decide', 200);
  insist(await tickets.withToken(await claim(), 'release', { reason: 'later' }), 'release', 200);
  insist(await tickets.withToken(await claim(), 'release', { skip: true }), 'skip', 200);
  insist(await api.post(`/v1/tickets/${first.id}/notes`, { text: 'hm', reviewer: name }), 'note', 201);
  const held = await claim();
  insist(await api.put(`/v1/tickets/${held.id}/draft`, { token: held.lease.token, draft: { a: 1 } }), 'draft', 204);
  const { key } = await createKey(running.ctx.db, { name, role: 'reviewer', subject: name });
  await api.as(key).put('/v1/views/mine', { filter: { subject: 'x' } });
  await api.as(key).put('/v1/session/defaults', { defaults: { by: name } });
  await api.as(key).put('/v1/queues/desk/macros/own', { decision: name });
  await api.as(key).put('/v1/views/ours', { filter: { decidedBy: name }, shared: true });
  await jobs.job('add', { topic: 'desk', id: 'by-them', body: 1 });
  const done = await gone(name);
  expect(done).toMatchObject({ state: 'done', items: expect.any(Number), events: expect.any(Number) });
  const { decidedBy, subject } = await tickets.ticket(first.id);
  expect(decidedBy).toMatch(/^erased-./);
  expect(subject).toBe(decidedBy);
  expect((await tickets.events(first.id)).filter(({ actor }) => actor === decidedBy).length).toBeGreaterThan(1);
  expect(await tickets.ticket(held.id)).toMatchObject({ state: 'waiting' });
  expect(await tickets.decide(held, 1)).toMatchObject({ status: 409, body: { code: 'lease_lost', reason: 'revoked' } });
  await ended(key);
});

test('S0.10 what events call the server itself is no person; a key that is named for its role is nobody’s', async () => {
  for (const person of ['system', 'anonymous', 'push', 'schedule', 'nexus/default', 'erased-1'])
    expectProblem(await api.post('/v1/erasures', { person, reason: 'typo' }), person, 'invalid_request');
  for (const wrong of [
    { role: 'producer', name: 'system' },
    { role: 'consumer', subject: 'anonymous' },
  ])
    expectProblem(await api.post('/v1/keys', wrong), JSON.stringify(wrong), 'invalid_request');
  const roleKey = (await api.post('/v1/keys', { role: 'producer' })).body;
  const { key } = (await api.post('/v1/keys', { role: 'agent', name: 'producer' })).body;
  await erased(api, { person: 'producer' }, 40_000);
  await ended(key);
  expect((await api.as(roleKey.key).get('/v1/queues')).status).toBe(200);
});

test('S0.6 S2.3 who was excluded stays excluded under a new key of the same name, until the items have ended', async () => {
  const name = 'QqExcludedQq';
  await tickets.configure('hidden', {});
  await tickets.add('hidden', { id: 'x-1', body: 1, exclude: [name] });
  await tickets.add('hidden', { id: 'x-2', body: 1, requires: ['s'], exclude: [name] });
  await cases.court('jury', { options: ['yes', 'no'], votesToWin: 2 });
  await cases.jurors('jury', [name, 'other']);
  await cases.addCase('jury', { id: 'c-party', parties: [{ id: name }] });
  await cases.addCase('jury', { id: 'c-voted' });
  const { id, token } = await cases.claimed('jury', name);
  expect(id).toBe('c-voted');
  await cases.voted(id, token, 'yes');
  const done = await gone(name);
  const byHash = ({ what }: Json) => what.includes('keyed hash');
  expect(done.remains.find(byHash).what).toContain('4 items');
  const [standsFor] = (await tickets.ticket('x-1')).exclude;
  expect(standsFor).toMatch(/^erased-./);
  // the same name comes back
  await cases.jurors('jury', [name, 'other']);
  const skilled = { skills: ['s'] };
  for (const more of [{}, skilled]) expect((await tickets.claim('hidden', name, more)).tickets).toEqual([]);
  expect((await tickets.claim('hidden', name)).reasons).toMatchObject({ excluded: 2 });
  const nothing = await cases.claim('jury', name);
  expect(nothing).toMatchObject({ case: null, reasons: { party: 1, voted: 1 } });
  expect((await tickets.claim('hidden', 'somebody', skilled)).tickets).toHaveLength(1);
  for (const item of ['tickets/x-1', 'tickets/x-2', 'cases/c-party', 'cases/c-voted'])
    insist(await api.post(`/v1/${item}/invalidate`, { reason: 'over' }), 'invalidate', 200);
  const { id: erasure } = insist(await api.post('/v1/erasures', { person: 'Nobody', reason: 'r' }), 'erasure', 202);
  await eventually(async () => (await api.get(`/v1/erasures/${erasure}`)).body.state === 'done');
  await eventually(async () => (await sql('select from erased_name where stands_for = $1', [standsFor])).length === 0);
});

test('S0.8 S0.10 a registered reviewer: the entry goes, other names of the person stay excluded, what was for them is for all', async () => {
  const name = 'QqRegisteredQq';
  const register = async (as: string, entry: object) =>
    insist(await api.put(`/v1/reviewers/${as}`, entry), 'register', 200);
  await register(name, { displayName: `${name} the first`, perDay: 5 });
  await register('their-other', { person: name });
  await tickets.configure('register', { maxHeld: 5, gold: { share: 0 } });
  const gold = { tickets: [{ id: 'about', body: 1, answer: 1, subject: name }] };
  insist(await api.put('/v1/queues/register/gold', gold), 'gold', 200);
  await tickets.addHeld('register', 'r-0', name);
  await tickets.add('register', { id: 'r-1', exclude: [name] });
  expect((await tickets.claim('register', 'their-other')).reasons).toMatchObject({ excluded: 1 });
  await tickets.add('register', { id: 'r-2', for: name });
  insist(await tickets.operate('r-0', 'release', {}), 'release', 200);
  await gone(name);
  expect((await api.get(`/v1/reviewers/${name}`)).status).toBe(404);
  expect((await api.get('/v1/reviewers/their-other')).body.person).toMatch(/^erased-./);
  for (const who of ['their-other', name])
    expect((await api.post('/v1/queues/register/explain', { reviewer: who, ticket: 'r-1' })).body.why).toEqual([
      'excluded',
    ]);
  expect((await tickets.ticket('r-2')).for).toMatch(/^erased-./);
  expect((await api.get('/v1/queues/register/gold')).body.items[0].subject).toMatch(/^erased-./);
  const { tickets: got } = await tickets.claim('register', 'anybody', { count: 3 });
  expect(got.map(({ id }: Json) => id).sort()).toEqual(['r-0', 'r-1', 'r-2']);
});

test('S2.1 S4.3 a juror with an invitation, a user with a dispatch and a queue of their own, an auditor', async () => {
  const name = 'QqJurorQq';
  const assign = { jurors: 1, answerSeconds: 600 };
  await cases.openCourt('called', { votesToWin: 1, mode: 'assign', assign }, [name], ['called-1']);
  await eventually(async () => (await cases.invitations(name)).length === 1);
  await tasks.addTemplate('plain');
  await tasks.putGroup('team', [name, 'mate']);
  await tasks.addTask({ id: 'own', executor: `uid_${name}` });
  await tasks.addTask({ id: 'shared', executor: 'gid_team' });
  await tasks.completed(name, (await tasks.next(name)).logId);
  await tasks.next(name);
  const { key } = await createKey(running.ctx.db, { name, role: 'producer' });
  await reviews.put('told', { text: { status: 1 } });
  insist(
    await api.as(key).post('/v1/reviews/told/callbacks', { kind: 'text', status: 2, waitSeconds: 60 }),
    'call',
    200,
  );
  await gone(name);
  expect(await cases.oneCase('called-1')).toMatchObject({ holds: 0 });
  expect((await tasks.next('mate')).task).toMatchObject({ id: 'shared' });
  await ended(key);
});

/** Erases a person, who does something in the middle of it: an item of a queue is locked until then. */
async function meanwhile(person: string, queue: string, act: () => Promise<unknown>): Promise<void> {
  const other = new pg.Client({ connectionString: system.databaseUrl });
  await other.connect();
  await other.query('begin');
  await other.query('select from item where queue = $1 for update', [queue]);
  const { id } = insist(await api.post('/v1/erasures', { person, reason: 'r' }), 'erasure', 202);
  const waits = 'select from erasure where id = $1 and passes > 3';
  await eventually(async () => (await sql(waits, [id])).length === 1, 40_000);
  await act();
  await other.end();
  await eventually(async () => (await api.get(`/v1/erasures/${id}`)).body.state === 'done', 40_000);
  expect(await tablesWith(system, person)).toEqual({});
}

/** The counts of all queues of tasks together, and the sum of each, as of a minute that passes now. */
async function taskCounts(): Promise<unknown[]> {
  await running.runtime.db.run('compact_tally');
  await sql(`update sample_state set sampled_at = '-infinity'`);
  await running.runtime.db.lists.run('sample_queues', { limit: 2_000 });
  return sql(`select sum(delayed + ready + held + settled)::integer as n from (
    select distinct on (queue) * from sample where kind = 'task' order by queue, at desc) newest group by queue = ''`);
}

test('S0.10 S4.8 a user whose tasks are counted while they are erased: it ends, and the figures of all are right', async () => {
  const name = 'QqCountedQq';
  const add = (id: string) => tasks.addTask({ id, executor: `uid_${name}`, templateId: 'counted' });
  await tasks.addTemplate('counted');
  await add('counted-1');
  await meanwhile(name, `uid_${name}`, async () => {
    await add('counted-2');
    await taskCounts();
  });
  const [each, all] = await taskCounts();
  expect(all).toEqual(each);
});

test('S4.3 S2.3 what a person is handed in the middle of their erasure ends, too', async () => {
  const name = 'QqBusyQq';
  await tasks.addTemplate('busy');
  await tasks.putGroup('busy', [name, 'colleague']);
  await tasks.addTask({ id: 'busy', executor: 'gid_busy', templateId: 'busy' });
  await cases.openCourt('busy', { votesToWin: 1, leaseSeconds: 600 }, [name], ['busy']);
  await tickets.add('locked', { id: 'busy', exclude: [name] });
  await meanwhile(name, 'locked', async () => {
    await tasks.putGroup('busy', [name, 'colleague']);
    await tasks.handed(name);
    await cases.jurors('busy', [name]);
    await cases.claimed('busy', name);
  });
  expect((await tasks.next('colleague')).task).toMatchObject({ id: 'busy' });
  expect(await cases.oneCase('busy')).toMatchObject({ holds: 0 });
});

test('S0.6 a reviewer who goes on claiming all the time keeps no lease, and the erasure ends', async () => {
  const name = 'QqRestlessQq';
  await tickets.configure('restless', { maxHeld: 20 });
  await tickets.addMany('restless', numbered(100, 'restless-'));
  let over = false;
  const claiming = repeat(4, async () => {
    while (!over) {
      const { tickets: got } = await tickets.claim('restless', name, { count: 20 });
      const [some] = got.filter(() => Math.random() < 0.2);
      if (some) await tickets.withToken(some, 'release');
    }
  });
  const { id } = insist(await api.post('/v1/erasures', { person: name, reason: 'r' }), 'erasure', 202);
  await eventually(async () => (await api.get(`/v1/erasures/${id}`)).body.state === 'done', 40_000).finally(() => {
    over = true;
  });
  await Promise.all(claiming);
  const { items } = (await api.get('/v1/tickets?queue=restless&state=held&limit=500')).body;
  expect(items.filter(({ lease }: Json) => lease.reviewer !== name)).toEqual([]);
});

test('S0.10 fifty at once are one erasure, and the request drops the name', async () => {
  const name = 'QqManyQq';
  await tickets.add('desk', { id: 'many', body: 1, exclude: [name] });
  const all = await Promise.all(
    numbered(50, '').map(async () =>
      insist(await api.post('/v1/erasures', { person: name, reason: 'r' }), 'erase', 202),
    ),
  );
  await eventually(async () => Object.keys(await tablesWith(system, name)).length === 0, 40_000);
  // those that came when it was done are another
  expect(new Set(all.map(({ id }) => id)).size).toBeLessThanOrEqual(2);
  for (const bad of [{ reason: 'r' }, { item: { kind: 'ticket', id: 'x' }, person: name, reason: 'r' }])
    expectProblem(await api.post('/v1/erasures', bad), 'invalid_request', 422);
});
