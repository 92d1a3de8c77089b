import pg from 'pg';
import { expect, test } from 'vitest';
import { eventually, insist, type Json, repeat } from '../support/client.ts';
import { testDoctor } from '../support/doctor.ts';
import { erased, tablesWith } from '../support/erasures.ts';
import { wholeFeed } from '../support/feed.ts';
import { expectProblem } from '../support/problems.ts';
import { SECRET, startReceiver } from '../support/receiver.ts';
import { startTestSystem } from '../support/system.ts';
import { inMs } from '../support/times.ts';

const system = await startTestSystem();
const { api, sql } = system;
const { tickets, jobs, cases, tasks, reviews } = api;
const doctor = testDoctor(system);

const MARK = 'QqQsecretQqQ';
const said = (what: string) => `${MARK} ${what}`;
const body = { text: said('body'), list: [said('more')] };

/** A receiver that never takes anything, at an address with the mark. */
async function deaf() {
  const { url, received } = await startReceiver(() => 500);
  return { callback: { url: `${url}?q=${MARK}`, secret: SECRET }, received };
}

/** Erases an item, and looks for what was said in all of the database. */
async function gone(kind: string, id: string): Promise<Json> {
  expect(await tablesWith(system, MARK)).not.toEqual({});
  const done = await erased(api, { item: { kind, id } });
  expect(await tablesWith(system, MARK)).toEqual({});
  expect(JSON.stringify(await wholeFeed(api))).not.toContain(MARK);
  // its workflow ends behind it
  await eventually(async () => (await doctor.broken({ deep: true })).length === 0);
  return done;
}

/** A ticket with the mark wherever somebody can write something. */
async function fullTicket(id: string, callback: object): Promise<Json> {
  const more = { subject: MARK, requires: [MARK], exclude: [`x-${MARK}`], callback };
  await tickets.configure('first', { maxHeld: 5 });
  await tickets.configure('second', { maxHeld: 5 });
  await tickets.add('first', { id, body, ...more });
  insist(await api.patch(`/v1/tickets/${id}`, { body: { text: said('patched') }, subject: `${MARK}-2` }), 'patch', 200);
  const skills = { skills: [MARK] };
  const held = await tickets.claimOne('first', 'anna', skills);
  insist(await tickets.withToken(held, 'release', { reason: said('released') }), 'release', 200);
  insist(await tickets.operate(id, 'transfer', { queue: 'second', reason: said('transferred') }), 'transfer', 200);
  insist(await api.post(`/v1/tickets/${id}/notes`, { text: said('note'), reviewer: 'ben' }), 'note', 201);
  const again = await tickets.claimOne('second', 'anna', skills);
  const draft = { token: again.lease.token, draft: { note: said('draft') } };
  insist(await api.put(`/v1/tickets/${id}/draft`, draft), 'draft', 204);
  return again;
}

test('S0.10 of a decided ticket nothing is left but a skeleton, its undelivered outcome is given up, and its id is spent', async () => {
  const { callback, received } = await deaf();
  const held = await fullTicket('t-1', callback);
  insist(await tickets.decide(held, { verdict: said('decision') }), 'decide', 200);
  await eventually(async () => received.length > 0);
  const done = await gone('ticket', 't-1');
  expect(done).toMatchObject({ state: 'done', items: 1, events: expect.any(Number) });
  expect(done.remains[0]).toEqual({ what: expect.stringContaining('Temporal'), until: expect.any(String) });
  const ticket = await tickets.ticket('t-1');
  expect(ticket).toMatchObject({ state: 'decided', erased: true, body: null, decision: null, decidedBy: 'anna' });
  expect(ticket).toMatchObject({ subject: null, requires: [], exclude: [], attempts: 2 });
  const events = await tickets.events('t-1');
  expect(events.at(-1)).toMatchObject({ type: 'erased', actor: 'anonymous', data: { reason: 'asked for' } });
  expect(events.slice(0, -1).every(({ data }) => data === null)).toBe(true);
  expect(events.map(({ type }) => type)).toContain('noted');
  expect((await api.get('/v1/tickets/t-1/notes')).body).toEqual({ items: [], nextCursor: null });
  const [delivery] = await tickets.deliveries('t-1');
  expect(delivery).toMatchObject({ state: 'failed', error: 'erased', url: `${new URL(callback.url).origin}/` });
  const sent = received.length;
  for (const again of [
    api.post('/v1/queues/first/tickets', { id: 't-1', body: 'new' }),
    api.post('/v1/tickets/t-1/notes', { text: said('late'), reviewer: 'ben' }),
    api.post('/v1/tickets/t-1/deliveries/1/redeliver'),
  ])
    expectProblem(await again, 'erased', 409);
  const { results } = (await api.post('/v1/queues/first/tickets/batch', { tickets: [{ id: 't-1', body: 1 }] })).body;
  expect(results).toMatchObject([{ httpStatus: 409, code: 'erased' }]);
  // whatever was under way has been told by now
  await eventually(async () => (await api.get('/v1/tickets/t-1/workflow')).body.status === 'completed');
  expect(received.length).toBe(sent);
  expect(await tablesWith(system, MARK)).toEqual({});
});

test('B.2 of a decision that was overturned goes what was decided then, and why, too', async () => {
  const { id } = await tickets.decided('first', { id: 't-over' });
  const overturn = { cause: 'overturn', by: 'lead', decision: said('instead'), reason: said('why') };
  insist(await api.post(`/v1/tickets/${id}/looks`, overturn), 'overturn', 201);
  await gone('ticket', id);
  const { standing } = await tickets.ticket(id);
  expect(standing).toMatchObject({ decision: null, by: 'lead' });
  expect(standing).not.toHaveProperty('reason');
});

test('S0.10 a look that is asked for in the middle of an erasure: there is none, as the ticket is erased', async () => {
  const { id } = await tickets.decided('first', { id: 't-looked' });
  const other = new pg.Client({ connectionString: system.databaseUrl });
  await other.connect();
  await other.query('begin');
  await other.query('select from item where id = $1 for update', [id]);
  const waiting = (n: number) =>
    eventually(async () => (await sql('select from pg_locks where not granted')).length >= n, 20_000);
  const erasure = insist(await api.post('/v1/erasures', { item: { kind: 'ticket', id }, reason: 'r' }), 'erasure', 202);
  await waiting(1);
  const asked = api.post(`/v1/tickets/${id}/looks`, { cause: 'appeal' });
  await waiting(2);
  await other.end();
  expectProblem(await asked, 'erased', 409);
  await eventually(async () => (await api.get(`/v1/erasures/${erasure.id}`)).body.state === 'done');
  expect(await tickets.ticket(id)).toMatchObject({ erased: true, looks: [] });
});

test('S0.7 a held ticket is invalidated first, its holder loses it, and nobody is told the outcome', async () => {
  const { callback, received } = await deaf();
  const held = await fullTicket('t-2', callback);
  await gone('ticket', 't-2');
  expect(await tickets.ticket('t-2')).toMatchObject({
    ...{ state: 'invalidated', erased: true, lease: null, body: null },
    invalidation: { reason: 'erased', by: 'anonymous', at: expect.any(String) },
  });
  const late = await tickets.decide(held, said('late'));
  expect(late).toMatchObject({ status: 409, body: { code: 'not_open', reason: 'erased', by: 'anonymous' } });
  await eventually(async () => (await api.get('/v1/tickets/t-2/workflow')).body.status === 'completed');
  expect(received).toEqual([]);
  expect(await tablesWith(system, MARK)).toEqual({});
});

test('S3.2 jobs: a reserved one is deleted, a finished one stays finished, and their ids are spent', async () => {
  // an earlier run, with another body
  await jobs.job('add', { topic: 'work', id: 'j-1', body: said('earlier'), key: MARK });
  await jobs.job('delete', { id: 'j-1' });
  await jobs.job('add', { topic: 'work', id: 'j-1', body });
  await jobs.job('add', { topic: 'work', id: 'j-2', body });
  const first = await jobs.job('pop', { topic: 'work' });
  await jobs.job('finish', { id: 'j-1', token: first.token });
  const { token } = await jobs.job('pop', { topic: 'work' });
  insist(await jobs.bury('j-2', said('buried')), 'bury', 200);
  await erased(api, { item: { kind: 'job', id: 'j-1' } });
  await gone('job', 'j-2');
  expect(await jobs.oneJob('j-1')).toMatchObject({ state: 'finished', erased: true, body: null });
  expect(await jobs.oneJob('j-2')).toMatchObject({ state: 'deleted', erased: true, body: null });
  expect(await jobs.job('finish', { id: 'j-2', token })).toMatchObject({ success: false, code: 'not_open' });
  for (const id of ['j-1', 'j-2'])
    expect(await jobs.job('add', { topic: 'work', id, body: 1 })).toMatchObject({ success: false, code: 'erased' });
});

test('S2.3 cases: parties and comments go, votes and tally stay; an open one ends, gold leaves the admin log', async () => {
  const { callback } = await deaf();
  await cases.court('court', { options: ['yes', 'no'], votesToWin: 1 });
  await cases.jurors('court', ['a', 'b']);
  const parties = [{ id: `p-${MARK}`, person: `q-${MARK}` }];
  await cases.addCase('court', { id: 'c-1', body, parties, callback });
  const { token } = await cases.claimed('court', 'a');
  insist(await cases.vote('c-1', token, 'yes', { comment: said('comment') }), 'vote', 200);
  await cases.addCase('court', { id: 'c-2', body, parties, callback });
  const held = await cases.claimed('court', 'b');
  await erased(api, { item: { kind: 'case', id: 'c-1' } });
  await gone('case', 'c-2');
  const one = await cases.oneCase('c-1');
  expect(one).toMatchObject({ state: 'decided', erased: true, winner: 'yes', tally: { yes: 1, no: 0 }, parties: [] });
  expect(await cases.votes('c-1')).toMatchObject([{ juror: 'a', option: 'yes', comment: null }]);
  expect(await cases.oneCase('c-2')).toMatchObject({ state: 'invalidated', erased: true, endReason: 'erased' });
  expect(await cases.vote('c-2', held.token, 'yes')).toMatchObject({ status: 409, body: { code: 'not_open' } });
  expectProblem(await api.post('/v1/courts/court/cases', { id: 'c-1', body: 1 }), 'erased', 409);
  const putGold = (said: unknown) =>
    api.put('/v1/courts/court/gold', { cases: [{ id: 'g-1', body: said, answer: 'yes' }] });
  insist(await putGold(body), 'gold', 200);
  await gone('case', 'g-1');
  expectProblem(await putGold('again'), 'erased', 409);
});

test('S4.5 tasks: with all occurrences, dispatches and results; who has one loses it, and no more are made', async () => {
  const { callback } = await deaf();
  await tasks.addTemplate('told', { text: { type: 'string' } });
  const params = { text: said('parameter') };
  const plain = { executor: 'gid_crew', templateId: 'told', params, callback, dispatchTimes: 2 };
  await tasks.putGroup('crew', ['u1', 'u2', 'u3']);
  const times = { startTime: inMs(-3 * 60_000), everyMinutes: 1, lookbackSeconds: 600 };
  await tasks.addTask({ ...plain, id: 'k-1', type: 'rotate', ...times });
  await tasks.patchTask('k-1', { params: { text: said('changed') } });
  const [first, second] = [await tasks.handed('u1'), await tasks.handed('u2')];
  await tasks.completed('u1', first.logId, { note: said('result') });
  const returned = await tasks.handed('u3');
  const release = { logId: returned.logId, reason: said('released') };
  insist(await api.post('/v1/clients/u3/release', release), 'release', 200);
  const done = await gone('task', 'k-1');
  expect(done.items).toBeGreaterThan(3);
  expect((await api.get('/v1/tasks/k-1')).body).toMatchObject({ state: 'deleted', erased: true, params: {} });
  expectProblem(await tasks.complete('u2', second.logId, said('late')), 'not the last', 409);
  const log = await tasks.dispatchLog('taskId=k-1');
  expect(log.map(({ uid, type }) => `${uid} ${type}`).sort()).toEqual(
    ['u1 completed', 'u1 dispatched', 'u2 dispatched', 'u2 returned', 'u3 dispatched', 'u3 returned'].sort(),
  );
  expect(await tasks.next('u3')).toMatchObject({ task: null });
  expectProblem(await tasks.sendTask({ ...plain, id: 'k-1' }), 'erased', 409);
  expect(await sql("select 1 from item where kind = 'task' and id like 'k-1/%' and not erased")).toEqual([]);
});

test('S1.9 reviews: texts, pictures and replies go, the log keeps its lines, and nothing comes any more', async () => {
  const { callback, received } = await deaf();
  const part = (what: string) => [{ id: `${what}-${MARK}`, status: 0 }];
  const sent = { text: { status: 0 }, pictures: part('picture'), replies: part('reply'), body, callback };
  await reviews.put('r-1', sent);
  for (const [kind, status] of Object.entries({ picture: 1, reply: 2, text: 3 })) {
    const target = kind === 'text' ? {} : { targetId: `${kind}-${MARK}` };
    await reviews.tell('r-1', { kind, status, ...target, callbackId: `${kind}-${MARK}` });
  }
  await reviews.put('r-1', { ...sent, body: { text: said('edited') }, pictures: part('other') }, 200);
  await eventually(async () => received.length > 0);
  await gone('review', 'r-1');
  expect(await reviews.review('r-1')).toMatchObject({ erased: true, status: 3, body: null, pictures: [], replies: [] });
  expect((await reviews.stores('r-1')).inStep).toBe(true);
  const log = await reviews.logOf('r-1');
  expect(log.map(({ outcome }) => outcome)).toEqual(['applied', 'applied', 'applied', 'edited', 'edited']);
  expect((await wholeFeed(api)).filter((e) => e.itemId === 'r-1').at(-1)).toMatchObject({ type: 'erased' });
  expectProblem(await api.put('/v1/reviews/r-1', sent), 'erased', 409);
  expectProblem(await api.post('/v1/reviews/r-1/callbacks', { kind: 'text', status: 9 }), 'erased', 409);
  // its pictures may be in another review
  await reviews.put('r-2', { ...sent, body: 1, callback: null });
  await gone('review', 'r-2');
});

test('50 at once are one erasure, of what is not there none, and repeated it is the same', async () => {
  await tickets.add('crowd', { id: 'many', body });
  const calls = repeat(50, () => api.post('/v1/erasures', { item: { kind: 'ticket', id: 'many' }, reason: 'r' }));
  const answers = await Promise.all(calls);
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([202]));
  const { id } = await erased(api, { item: { kind: 'ticket', id: 'many' } });
  expect(new Set(answers.map((answer) => answer.body.id))).toEqual(new Set([id]));
  expect(await tickets.eventTypes('many')).toEqual(['created', 'invalidated', 'erased']);
  expect((await erased(api, { item: { kind: 'ticket', id: 'many' } })).id).toBe(id);
  expectProblem(await api.post('/v1/erasures', { item: { kind: 'job', id: 'many' }, reason: 'r' }), 'no job', 404);
  expectProblem(await api.get('/v1/erasures/none'), 'no erasure', 404);
});
