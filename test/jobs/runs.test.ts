import { mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { expect, inject, test } from 'vitest';
import { carryOut } from '../../services/upkeep/commands.ts';
import { clear } from '../../services/upkeep/retention.ts';
import { Wire } from '../beanstalkd/wire.ts';
import { eventually, type Json, repeat } from '../support/client.ts';
import { testDoctor } from '../support/doctor.ts';
import { wholeFeed } from '../support/feed.ts';
import { byHand, linesOf } from '../support/retention.ts';
import { startTestSystem } from '../support/system.ts';

const archive = mkdtempSync(join(inject('dir'), 'archive-'));
const settings = { BEANSTALKD_PORT: '0', DOCKET_RETENTION_DAYS: 'job=30', DOCKET_ARCHIVE: archive };
const system = await startTestSystem(settings);
const { api, running, sql } = system;
const { job, oneJob, events, eventTypes, workflow, stats } = api.jobs;
await byHand(system);

const add = (id: string, more: object = {}) => job('add', { topic: 'runs', id, TTR: 60, body: 1, ...more });

/** Begins a run and ends it. @returns its token */
async function once(id: string, topic = 'runs'): Promise<string> {
  await add(id, { topic });
  const { token } = await job('pop', { topic });
  expect(await job('finish', { id, token })).toMatchObject({ success: true });
  return token;
}

test('S3.1 without a token a job that is added meanwhile is finished, and one that was deleted is said to be, with a code', async () => {
  await once('beside', 'aside');
  for (let n = 0; n < 60; n++) {
    const [added, finished] = await Promise.all([add('beside', { topic: 'aside' }), job('finish', { id: 'beside' })]);
    expect([added.success, finished]).toEqual([true, { success: true, error: null, id: 'beside', value: null }]);
  }
  await add('removed', { topic: 'aside' });
  await job('delete', { id: 'removed' });
  expect(await job('finish', { id: 'removed' })).toMatchObject({ success: false, code: 'not_open' });
});

test('S3.1 S3.2 added again when it is over, a job runs again', async () => {
  await once('twice');
  const { number, createdAt } = await oneJob('twice');
  expect(await add('twice')).toMatchObject({ success: true, id: 'twice', already: false, run: 2 });
  expect(await add('twice')).toMatchObject({ success: true, already: true, run: 2 });
  const next = await oneJob('twice');
  expect(next).toMatchObject({ state: 'ready', run: 2, attempts: 0 });
  expect(next.number).toBeGreaterThan(number);
  expect(next.createdAt >= createdAt).toBe(true);
  expect(await job('pop', { topic: 'runs' })).toMatchObject({ id: 'twice', attempt: 1 });
  expect(await job('finish', { id: 'twice' })).toMatchObject({ success: true });
  expect(await eventTypes('twice')).toEqual(['created', 'reserved', 'finished', 'created', 'reserved', 'finished']);
  expect((await events('twice')).map((e) => e.seq)).toEqual([1, 2, 3, 4, 5, 6]);
  expect((await events('twice'))[3]?.data).toMatchObject({ run: 2 });
  expect(await stats('runs')).toMatchObject({ finished: 1, total: 1 });
});

test('S3.1 S3.2 deleted, it is added again with another delay: that is how a time-out is postponed', async () => {
  await add('order', { delay: 3600 });
  for (const delay of [1800, 0.2, 0.2]) {
    expect(await job('delete', { id: 'order' })).toMatchObject({ success: true });
    expect(await add('order', { delay })).toMatchObject({ success: true, already: false });
  }
  expect(await oneJob('order')).toMatchObject({ run: 4, delay: 0.2, state: 'delayed' });
  expect(await job('pop', { topic: 'runs', wait: 10 })).toMatchObject({ id: 'order', attempt: 1 });
  expect(await job('delete', { id: 'order' })).toMatchObject({ success: true });
});

test('S3.2 in another topic, with another body: the next run has what it was added with', async () => {
  await once('moved');
  expect(await add('moved', { topic: 'elsewhere', body: { new: true }, priority: 7 })).toMatchObject({ run: 2 });
  expect(await oneJob('moved')).toMatchObject({ topic: 'elsewhere', body: { new: true }, priority: 7, state: 'ready' });
  expect(await stats('elsewhere')).toMatchObject({ ready: 1, total: 1 });
  expect(await add('moved')).toMatchObject({ success: false, code: 'id_conflict' });
  expect(await job('delete', { id: 'moved' })).toMatchObject({ success: true });
});

test('S3.2 a topic may take each id once and for all', async () => {
  expect((await api.put('/v1/topics/spent', { ids: 'once' })).body).toMatchObject({ ids: 'once' });
  await once('only', 'spent');
  const again = await add('only', { topic: 'spent' });
  expect(again).toMatchObject({ success: false, id: 'only', code: 'id_conflict' });
  expect(again.error).toMatch(/finished at 20/);
  expect(await add('only', { topic: 'runs' })).toMatchObject({ success: false });
  expect((await api.put('/v1/topics/spent', { ids: 'twice' })).status).toBe(422);
});

test('S3.2 a retried add with its key is one run, whatever happened meanwhile', async () => {
  const first = { key: 'a', body: 'k' };
  expect(await add('keyed', first)).toMatchObject({ success: true, already: false, run: 1 });
  expect(await add('keyed', { ...first, key: 'b' })).toMatchObject({ already: true, run: 1 });
  expect(await add('keyed', { body: 'other', key: 'c' })).toMatchObject({ code: 'id_conflict' });
  await job('delete', { id: 'keyed' });
  // both met the first run, and so does `b` with any content
  for (const key of ['a', 'b']) expect(await add('keyed', { key })).toMatchObject({ already: true, run: 1 });
  expect(await oneJob('keyed')).toMatchObject({ state: 'deleted', run: 1 });
  expect(await add('keyed', { key: 'c' })).toMatchObject({ already: false, run: 2 });
  await job('delete', { id: 'keyed' });
  expect(await add('keyed', { key: 'd' })).toMatchObject({ already: false, run: 3 });
  for (const [key, run] of Object.entries({ a: 1, c: 2, d: 3 }))
    expect(await add('keyed', { key }), key).toMatchObject({ success: true, run });
  await job('delete', { id: 'keyed' });
  // before all else, also before `once`
  await api.put('/v1/topics/kept', { ids: 'once' });
  await add('held', { topic: 'kept', key: 'x' });
  await job('finish', { id: 'held' });
  expect(await add('held', { topic: 'kept', key: 'x' })).toMatchObject({ success: true, already: true, run: 1 });
  expect(await add('held', { topic: 'kept', key: 'y' })).toMatchObject({ success: false });
  expect(await add('held', { key: '' })).toMatchObject({ success: false, code: 'invalid_request' });
});

test.each([
  ['with one key', (_: number) => ({ key: 'same' })],
  ['without keys', (_: number) => ({})],
  ['with keys of their own', (n: number) => ({ key: `own-${n}` })],
])('S3.2 fifty adds at once of a job that is over, %s, begin one run', async (title, more) => {
  await once(title);
  const all = await Promise.all(repeat(50, (n) => add(title, more(n))));
  expect(all.map(({ success, run }) => ({ success, run }))).toEqual(repeat(50, () => ({ success: true, run: 2 })));
  expect(all.filter(({ already }) => !already)).toHaveLength(1);
  await job('delete', { id: title });
});

test('S3.2 a batch begins runs, adds new jobs, and refuses what it must', async () => {
  for (const id of ['b1', 'b2', 'b3']) await add(id, { body: id });
  for (const id of ['b1', 'b2']) await job('delete', { id });
  const jobs = ['b1', 'b2', 'b3', 'b4'].map((id) => ({ topic: 'runs', id, TTR: 60, body: id, key: 'batch' }));
  const sent = [...jobs, { ...jobs[2], body: 'other', key: 'z' }];
  for (let time = 0; time < 2; time++) {
    const { results } = await job('add', { jobs: sent });
    expect(results.map((r: Json) => r.run ?? r.code)).toEqual([2, 2, 1, 1, 'id_conflict']);
    expect(results.map((r: Json) => r.already)).toEqual([time > 0, time > 0, true, time > 0, undefined]);
  }
  for (const { id } of jobs) await job('delete', { id });
});

test('S3.2 S3.3 a token or number of an earlier run touches no later one, and its finish has its first answer', async () => {
  const wire = await Wire.open(running.beanstalkd?.port ?? 0);
  const token = await once('fenced');
  const { number } = await oneJob('fenced');
  await add('fenced');
  const held = await job('pop', { topic: 'runs' });
  expect(await job('finish', { id: 'fenced', token })).toMatchObject({ success: true });
  for (const command of ['touch', 'release', 'bury'])
    expect(await job(command, { id: 'fenced', token }), command).toMatchObject({ success: false, code: 'lease_lost' });
  for (const command of [
    `delete ${number}`,
    `kick-job ${number}`,
    `peek ${number}`,
    `reserve-job ${number}`,
    `stats-job ${number}`,
  ])
    expect(await wire.ask(command), command).toBe('NOT_FOUND\r\n');
  expect(await oneJob('fenced')).toMatchObject({ state: 'reserved', run: 2 });
  expect(await job('finish', { id: 'fenced', token: held.token })).toMatchObject({ success: true });
  await add('fenced');
  for (const finished of [token, held.token])
    expect(await job('finish', { id: 'fenced', token: finished })).toMatchObject({ success: true });
  expect(await oneJob('fenced')).toMatchObject({ state: 'ready', run: 3 });
  // what ended a reservation otherwise is no finish of it
  const lost = await job('pop', { topic: 'runs' });
  await job('delete', { id: 'fenced' });
  await add('fenced');
  expect(await job('finish', { id: 'fenced', token: lost.token })).toMatchObject({ code: 'lease_lost' });
  expect(await wire.ask(`stats-job ${(await oneJob('fenced')).number}`)).toContain('reserves: 0');
  await job('delete', { id: 'fenced' });
  wire.close();
});

test('S3.2 each run has its workflow, and an operator who means an earlier one does not meet a later', async () => {
  await add('driven', { delay: 3600 });
  const of = (run: number) =>
    eventually(async () => (await workflow('driven')).status === 'running' && (await oneJob('driven')).run === run);
  await of(1);
  const [{ version }] = (await sql("select version from item where id = 'driven'")) as [{ version: number }];
  await job('delete', { id: 'driven' });
  await eventually(async () => (await workflow('driven')).status === 'completed');
  await add('driven', { delay: 3600 });
  await of(2);
  await carryOut(running.ctx, 'job', 'driven', 'late', { type: 'invalidate', reason: 'old', by: 'olga', version });
  expect(await oneJob('driven')).toMatchObject({ state: 'delayed', run: 2 });
  expect((await events('driven')).at(-1)).toMatchObject({ type: 'refused', actor: 'olga' });
  await running.ctx.client.workflow.getHandle('job/driven').signal('cancel', { by: 'olga' });
  await eventually(async () => (await oneJob('driven')).state === 'deleted');
});

test('S3.2 S4.8 no two runs share the id of an event in the feed', async () => {
  await once('fed');
  await once('fed');
  const ids = (await wholeFeed(api)).filter((e) => e.itemId === 'fed').map((e) => e.id);
  const { number } = await oneJob('fed');
  expect(ids).toHaveLength(6);
  expect(new Set(ids).size).toBe(6);
  expect(ids.at(-1)).toBe(`job/fed/${number}/6`);
});

test('S3.1 a release or burial may say why, and the job shows it', async () => {
  await add('why');
  for (const [command, reason] of [
    ['release', 'the bank is closed'],
    ['release', undefined],
    ['bury', 'no such order'],
  ]) {
    const { token } = await job('pop', { topic: 'runs' });
    expect(await job(command ?? '', { id: 'why', token, reason })).toMatchObject({ success: true });
    expect((await oneJob('why')).lastReason).toBe(reason ?? 'the bank is closed');
  }
  expect((await events('why')).at(-1)?.data).toMatchObject({ reason: 'no such order' });
  await job('delete', { id: 'why' });
});

test('S4.10 retention clears earlier runs with their events, and the newest run goes on', async () => {
  await once('old');
  await add('old', { key: 'second' });
  await job('delete', { id: 'old' });
  await add('old', { key: 'third', delay: 3600 });
  expect(await clear(running.ctx)).toBe(0);
  await sql("update job_run set ended_at = ended_at - interval '31 days' where id = 'old' and run = 1");
  await eventually(async () => (await clear(running.ctx)) === 1);
  expect(linesOf(archive)).toMatchObject([
    { kind: 'job', id: 'old', run: 1, state: 'finished', body: 1, events: [{ seq: 1 }, { seq: 2 }, { seq: 3 }] },
  ]);
  expect(await eventTypes('old')).toEqual(['created', 'deleted', 'created']);
  expect(await add('old', { key: 'second' })).toMatchObject({ run: 2, already: true });
  await sql("update job_run set ended_at = ended_at - interval '31 days' where id = 'old'");
  await eventually(async () => (await clear(running.ctx)) === 1);
  expect((await events('old')).map((e) => e.seq)).toEqual([6]);
  await job('delete', { id: 'old' });
  expect(await add('old', { key: 'second' })).toMatchObject({ run: 4, already: false });
  expect(await testDoctor(system).broken({ deep: true })).toEqual([]);
});
