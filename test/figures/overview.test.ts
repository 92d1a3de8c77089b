import { expect, test } from 'vitest';
import type { Role } from '../../contract/keys.ts';
import { addCase, court } from '../support/cases.ts';
import { claimOne, eventually, type Json, walk } from '../support/client.ts';
import { job } from '../support/jobs.ts';
import { createKey } from '../support/keys.ts';
import { expectProblem } from '../support/problems.ts';
import { startTestSystem, testStores } from '../support/system.ts';
import { addTask, addTemplate, putGroup } from '../support/tasks.ts';
import { add, addMany, decide } from '../support/tickets.ts';

const stores = await testStores();
const { api, sql, running } = await startTestSystem({}, { stores });
const { db } = running.runtime;

test('all queues, topics, courts and groups with what is in them, page by page', async () => {
  for (let n = 0; n < 5; n++) await api.put(`/v1/queues/q-${n}`, {});
  await addMany(api, 'q-3', ['t-1', 't-2', 't-3']);
  await api.post('/v1/queues/q-3/pause');
  await api.post('/v1/queues/q-3/resume');
  await decide(api, await claimOne(api, 'q-3', 'anna'));
  await claimOne(api, 'q-3', 'anna');
  await api.post('/v1/queues/q-4/pause');
  for (const id of ['a', 'b']) await job(api, 'add', { topic: 'jobs', id, TTR: 60, body: 1 });
  await court(api, 'court', {});
  await addCase(api, 'court', {});
  await putGroup(api, 'team', ['u-1']);
  await addTemplate(api, 'plain');
  await addTask(api, { id: 'task', executor: 'gid_team' });

  const { status, body } = await api.get('/v1/overview');
  expect(status).toBe(200);
  const named = (page: Json, name: string) => page.items.find((q: Json) => q.name === name);
  expect(named(body.queues, 'q-3')).toMatchObject({
    ...{ paused: false, delayed: 0, waiting: 1, held: 1, settled: 1, invalidated: 0 },
    ...{ handedOutLastMinute: 2, settledLastMinute: 1, leaseExpiries: 0, failedDeliveries: 0 },
    oldestWaitingSeconds: expect.any(Number),
  });
  expect(named(body.queues, 'q-4')).toMatchObject({ paused: true, waiting: 0, oldestWaitingSeconds: null });
  expect(named(body.topics, 'jobs')).toMatchObject({ waiting: 2, held: 0 });
  expect(named(body.courts, 'court')).toMatchObject({ waiting: 1, handedOutLastMinute: null });
  await eventually(async () => named((await api.get('/v1/overview?kind=task')).body.groups, 'team').waiting === 1);

  const seen: string[] = [];
  for (let cursor: string | null = ''; cursor !== null; ) {
    const page: Json = (await api.get(`/v1/overview?kind=ticket&limit=2${cursor && `&cursor=${cursor}`}`)).body;
    expect(Object.keys(page)).toEqual(['queues']);
    seen.push(...page.queues.items.map((q: Json) => q.name));
    cursor = page.queues.nextCursor;
  }
  expect(seen).toEqual(['q-4', 'q-3', 'q-2', 'q-1', 'q-0']);
  await api.raw('DELETE', '/v1/queues/q-0');
  const left = (await api.get('/v1/overview?kind=ticket')).body.queues.items;
  expect(left.map((q: Json) => q.name)).not.toContain('q-0');
  for (const query of ['limit=201', 'limit=0', 'cursor=1', 'kind=rotation'])
    expectProblem(await api.get(`/v1/overview?${query}`), query, 422);
});

test('items of all kinds by the beginning of their ids', async () => {
  await addMany(api, 'find', ['find-1', 'find-2', 'fin', 'finer']);
  await job(api, 'add', { topic: 'finds', id: 'find-1', TTR: 60, body: 1 });
  await job(api, 'add', { topic: 'finds', id: 'find 漢字/%', delay: 9, TTR: 60, body: 1 });
  await addCase(api, 'court', { id: 'find-3' });
  await api.put('/v1/courts/court/gold', { cases: [{ id: 'find-gold', body: 1, answer: 'buyer' }] });
  const all = await walk(api, '/v1/items?id=find', 2);
  expect(all.map((i) => [i.kind, i.id, i.state])).toEqual([
    ['job', 'find 漢字/%', 'delayed'],
    ['job', 'find-1', 'ready'],
    ['ticket', 'find-1', 'waiting'],
    ['ticket', 'find-2', 'waiting'],
    ['case', 'find-3', 'open'],
  ]);
  const one = (await api.get('/v1/items?id=find-1&kind=ticket')).body;
  expect(one).toMatchObject({
    items: [{ kind: 'ticket', queue: 'find', heldBy: null, endedAt: null }],
    nextCursor: null,
  });
  expect((await api.get('/v1/items?id=nothing')).body.items).toEqual([]);
  for (const query of ['', 'id=', 'id=a&kind=review', 'id=a&cursor=x', 'id=a%00'])
    expectProblem(await api.get(`/v1/items?${query}`), query, 422);
});

test('what has been handed out is counted on when its minute is over', async () => {
  await add(api, 'old', { id: 'old-1' });
  await claimOne(api, 'old', 'anna');
  await sql(`update tally_line set at = at - interval '2 minutes' where queue = 'old' and at is not null`);
  // as maintenance does
  await eventually(async () => {
    await db.run('compact_tally');
    return (await sql(`select from tally where queue = 'old' and at is not null`)).length === 0;
  });
  const granted = sql(`select sum(n)::integer as n from tally where queue = 'old' and what = 'granted'`);
  expect(await granted).toEqual([{ n: 1 }]);
  const { body } = await api.get('/v1/queues/old/stats');
  expect(body).toMatchObject({ held: 1, waiting: 0, claimsPerMinute: 0 });
  const { queues } = (await api.get('/v1/overview?kind=ticket')).body;
  expect(queues.items.find((q: Json) => q.name === 'old')).toMatchObject({ held: 1, handedOutLastMinute: 0 });
});

test('what needs attention: who waits beyond the target or behind a pause, what is parked or held back, what the doctor warns of, engines', async () => {
  const callback = { url: 'http://receiver.test/', secret: 'sealed:0123abcd:none' };
  await sql(`insert into queue (kind, name, callback) values ('ticket', 'sealed', $1)`, [callback]);
  const calm = (await api.get('/v1/attention')).body;
  const warned = (check: string, example: RegExp) => ({ check, examples: [expect.stringMatching(example)], count: 1 });
  expect(calm.warnings).toMatchObject([
    // PostgreSQL of the tests syncs nothing
    { check: 'settings', count: 3 },
    warned('secrets', /sealed with the key 0123abcd/),
  ]);
  expect(calm).toMatchObject({ waitingTooLong: [], parked: { total: 0, items: [] }, failedDeliveries: { total: 0 } });
  await eventually(async () => {
    const { engines } = (await api.get('/v1/attention')).body;
    return engines.temporal === 'ok' && engines.worker === 'ok' && engines.nodes === 1 && engines.unpublished === 0;
  });
  await api.put('/v1/queues/slow', { escalations: [{ afterSeconds: 60, priority: 5 }] });
  await api.put('/v1/queues/due', { deadlineSeconds: 100 });
  await api.put('/v1/queues/calm', { escalations: [{ afterSeconds: 600, priority: 5 }] });
  const createdAt = new Date(Date.now() - 90_000).toISOString();
  for (const queue of ['slow', 'due', 'calm']) await add(api, queue, { id: `${queue}-1`, createdAt });
  const { waitingTooLong } = (await api.get('/v1/attention')).body;
  expect(waitingTooLong.map((q: Json) => [q.name, q.targetSeconds])).toEqual([
    ['slow', 60],
    ['due', 75],
  ]);
  expect(waitingTooLong[0].oldestWaitingSeconds).toBeGreaterThanOrEqual(90);
  await api.put('/v1/queues/stopped', {});
  await api.post('/v1/queues/stopped/pause');
  const stopped = async () => (await api.get('/v1/attention')).body.pausedWithWork;
  expect(await stopped()).toEqual([]);
  await add(api, 'stopped', { id: 'stopped-1' });
  for (const id of ['stopped-1', 'stopped-2']) await job(api, 'add', { topic: 'stopped', id, body: 1 });
  await api.put('/v1/topics/stopped', { paused: true });
  expect(await stopped()).toEqual([
    { kind: 'job', name: 'stopped', waiting: 2 },
    { kind: 'ticket', name: 'stopped', waiting: 1 },
  ]);
  await api.post('/v1/queues/stopped/resume');
  expect((await stopped()).map((q: Json) => q.kind)).toEqual(['job']);
  await sql(`insert into parked values ('ticket', 'slow-1', clock_timestamp() + interval '1 minute', 'it breaks')`);
  expect((await api.get('/v1/attention')).body.parked).toMatchObject({
    total: 1,
    items: [{ kind: 'ticket', id: 'slow-1', error: 'it breaks' }],
  });
  await sql('delete from parked');
  await sql(`update item set rules_due_at = clock_timestamp() + interval '1 minute' where id = 'calm-1'`);
  const { parked, heldBack } = (await api.get('/v1/attention')).body;
  expect([parked.total, heldBack]).toEqual([0, [{ queue: 'calm', tickets: 1 }]]);
});

test('who may see it: all who add or claim for others; a reviewer their own line, a consumer jobs, a bound key its own', async () => {
  const keyed = (await startTestSystem({ DOCKET_AUTH: 'keys' }, { stores, role: 'api' })).api;
  const as = async (role: Role, subject: string | null = null, queues: string[] | null = null) =>
    keyed.as((await createKey(db, { name: role, role, subject, queues })).key);
  const status = async (client: typeof keyed, path: string) => (await client.get(path)).status;
  const [reviewer, consumer, producer] = [await as('reviewer', 'anna'), await as('consumer'), await as('producer')];
  for (const path of ['/v1/overview', '/v1/attention', '/v1/figures?kind=ticket', '/v1/figures/lateness?kind=ticket']) {
    expect(await status(producer, path), path).toBe(200);
    expect(await status(reviewer, path), path).toBe(403);
    expect(await status(consumer, path), path).toBe(403);
  }
  expect(await status(consumer, '/v1/figures?kind=job&queue=jobs')).toBe(200);
  expect(await status(consumer, '/v1/figures/lateness?kind=job')).toBe(200);
  const own = await reviewer.get('/v1/figures/people?queue=q-3');
  expect(own.body.reviewers.map((r: Json) => r.person)).toEqual(['anna']);
  expectProblem(await reviewer.get('/v1/figures/people?queue=q-3&person=ben'), 'another', 403);

  const bound = await as('producer', null, ['q-3', 'team']);
  const { queues, topics, groups } = (await bound.get('/v1/overview')).body;
  expect(queues.items.map((q: Json) => q.name)).toEqual(['q-3']);
  expect(topics.items).toEqual([]);
  expect(groups.items.map((q: Json) => q.name)).toEqual(['team']);
  // whatever else there is, its pages are full: names and prefixes, taken as they are written
  for (const [queues, name, next] of [
    ['q-1', 'q-1', null],
    ['q-0* q-2*', 'q-2', null],
    ['q-*', 'q-4', expect.any(String)],
    ['q_1 q% Q-*', undefined, null],
  ] as const) {
    const client = await as('producer', null, queues.split(' '));
    const page = (await client.get('/v1/overview?kind=ticket&limit=1')).body.queues;
    expect([page.items[0]?.name, page.nextCursor], queues).toEqual([name, next]);
  }
  expect(await status(bound, '/v1/figures?kind=ticket&queue=q-3')).toBe(200);
  for (const path of ['figures?kind=ticket', 'figures?kind=ticket&queue=q-4', 'attention', 'figures/people'])
    expect(await status(bound, `/v1/${path}`), path).toBe(403);
});
