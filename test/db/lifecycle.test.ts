import { describe, expect, test } from 'vitest';
import { KINDS } from '../../contract/kinds.ts';
import type { Command, Kind } from '../../contract/snapshot.ts';
import { kindOf } from '../../domain/kinds.ts';
import { transitionsOf } from '../../domain/lifecycle.ts';
import { carryOut } from '../../services/upkeep/commands.ts';
import { addCase, claimed, court, invitations, jurors, oneCase, vote, voted } from '../support/cases.ts';
import { claimOne, eventually, type Json } from '../support/client.ts';
import { openTestDb } from '../support/database.ts';
import { erased } from '../support/erasures.ts';
import { job as sendJob } from '../support/jobs.ts';
import { startReceiver } from '../support/receiver.ts';
import { startTestSystem } from '../support/system.ts';
import {
  addTask,
  addTemplate,
  complete,
  completed,
  deleteTask,
  handed,
  patchTask,
  putGroup,
} from '../support/tasks.ts';
import { add, configure, decide, withToken } from '../support/tickets.ts';
import { HOUR_MS, inMs } from '../support/times.ts';

// What is due is done by this file alone, so that each step is seen.
const { api, sql, databaseUrl } = await startTestSystem({ DOCKET_PACEMAKER: 'off' });
const db = openTestDb(databaseUrl, 2);

let commands = 0;
const command = (kind: Kind, id: string, sent: Command) => carryOut({ db }, kind, id, `lifecycle-${++commands}`, sent);
const refuse = (kind: Kind, id: string) =>
  command(kind, id, { type: 'refuse', signal: 'jump', reason: 'unknown_signal', detail: '', by: 'olga' });
const happened = (kind: Kind, type: string) =>
  eventually(async () => (await sql('select from event where kind = $1 and type = $2', [kind, type])).length);
const park = (kind: Kind, id: string) => sql('select park_item($1, $2, $3)', [kind, id, 'made to fail']);

/** Lets the time come for an item: its lease, its delay or its deadline has passed. */
async function due(kind: Kind, id: string, what: 'lease' | 'delay' | 'deadline') {
  const column = { lease: 'expires_at', delay: 'available_at', deadline: 'deadline_at' }[what];
  const shared = what === 'lease' && kindOf(kind).leased === 'several';
  if (shared)
    await sql('update lease set expires_at = clock_timestamp() where item_id = $1 and ended_at is null', [id]);
  const passed = shared ? '' : `${column} = clock_timestamp(),`;
  await sql(`update item set ${passed} wake_at = clock_timestamp() where kind = $1 and id = $2`, [kind, id]);
  await sql('select tick_items($1, array[$2])', [kind, id]);
}

async function job(name: string, fields: object): Promise<Json> {
  const answer = await sendJob(api, name, fields);
  expect(answer).toMatchObject({ success: true });
  return answer;
}

describe('a scenario for each kind', () => {
  test('tickets', async () => {
    const receiver = await startReceiver((n) => (n === 1 ? 410 : 204));
    await configure(api, 'seen', { callback: receiver.callback });
    await add(api, 'seen', { id: 'one', delaySeconds: 600 });
    await due('ticket', 'one', 'delay');
    for (const skip of [true, false])
      expect((await withToken(api, await claimOne(api, 'seen', `skip-${skip}`), 'release', { skip })).status).toBe(200);
    await claimOne(api, 'seen', 'slow');
    await due('ticket', 'one', 'lease');
    await withToken(api, await claimOne(api, 'seen', 'mover'), 'transfer', { queue: 'others' });
    await api.post('/v1/tickets/one/transfer', { queue: 'seen' });
    await api.patch('/v1/tickets/one', { priority: 3 });
    await park('ticket', 'one');
    const held = await claimOne(api, 'seen', 'anna');
    await decide(api, held);
    await happened('ticket', 'delivery_failed');
    await api.post('/v1/tickets/one/deliveries/1/redeliver');
    await happened('ticket', 'delivered');
    await refuse('ticket', 'one');
    await api.post('/v1/tickets/one/notes', { text: 'seen' });

    await configure(api, 'alike', { sync: 'subject' });
    for (const twin of ['twin-1', 'twin-2']) await add(api, 'alike', { id: twin, subject: 'their subject' });
    const { body } = await decide(api, await claimOne(api, 'alike', 'anna'));
    await api.post(`/v1/tickets/${body.ticket.id}/dispute`, { reviewer: 'anna', reason: 'unclear' });
    const look = async (more: object) => (await api.post('/v1/tickets/twin-1/looks', more)).body;
    for (const by of ['lead', 'chief']) await look({ cause: 'overturn', decision: 'other', by });
    const { id: withdrawn } = await look({ cause: 'check' });
    await api.post(`/v1/tickets/${withdrawn}/invalidate`, { reason: 'gone' });

    const escalations = [{ afterSeconds: 60, priority: 9 }];
    await configure(api, 'short', { maxAttempts: 1, serviceSeconds: 50, escalations });
    for (const id of ['dead', 'late', 'void']) await add(api, 'short', { id, createdAt: inMs(-100_000) });
    const { id } = await claimOne(api, 'short', 'anna');
    await sql(`select tick_items('ticket', array[id]) from item where queue = 'short' and state = 'held'`);
    await due('ticket', id, 'lease');
    const left = ['dead', 'late', 'void'].filter((other) => other !== id);
    await due('ticket', left[0] ?? '', 'deadline');
    await api.post(`/v1/tickets/${left[1]}/invalidate`, { reason: 'gone' });
  });

  test('jobs', async () => {
    await job('add', { topic: 'seen', id: 'one', delay: 600, TTR: 60, body: 1 });
    await due('job', 'one', 'delay');
    let held = await job('pop', { topic: 'seen' });
    await job('release', { id: held.id, token: held.token, delay: 600 });
    await job('kick', { id: 'one' });
    held = await job('pop', { topic: 'seen' });
    await due('job', 'one', 'lease');
    held = await job('pop', { topic: 'seen' });
    await park('job', 'one');
    await job('bury', { id: held.id, token: held.token });
    await job('finish', { id: 'one' });
    await refuse('job', 'one');
    for (const delay of [0, 600]) {
      await job('add', { topic: 'aside', id: `aside-${delay}`, delay, TTR: 60, body: 1 });
      expect((await api.post(`/v1/jobs/aside-${delay}/bury`, { reason: 'later' })).body.state).toBe('buried');
    }
    await job('add', { topic: 'seen', id: 'two', delay: 0, TTR: 60, body: 1 });
    await job('delete', { id: 'two' });
  });

  test('cases', async () => {
    const receiver = await startReceiver((n) => (n === 1 ? 410 : 204));
    const settings = { votesToWin: 1, overbook: 1, callback: receiver.callback };
    await court(api, 'seen', { ...settings, deadlineSeconds: 600, fallback: { queue: 'appeals' } });
    await jurors(api, 'seen', ['ann', 'ben', 'cat', 'dan', 'eve']);
    await addCase(api, 'seen', { id: 'one' });
    for (const skip of [false, true])
      await api.post('/v1/cases/one/release', { token: (await claimed(api, 'seen', 'ann')).token, skip });
    await claimed(api, 'seen', 'ben');
    await due('case', 'one', 'lease');
    await court(api, 'seen', { ...settings, deadlineSeconds: 900, fallback: { queue: 'appeals' } });
    await park('case', 'one');
    const [cat, dan] = [await claimed(api, 'seen', 'cat'), await claimed(api, 'seen', 'dan')];
    await voted(api, 'one', cat.token, 'buyer');
    expect((await vote(api, 'one', dan.token, 'seller')).status).toBe(409);
    await court(api, 'many', { votesToWin: 2 });
    await jurors(api, 'many', ['ann']);
    await addCase(api, 'many', { id: 'open' });
    await voted(api, 'open', (await claimed(api, 'many', 'ann')).token, 'buyer');
    await happened('case', 'delivery_failed');

    for (const [path, body] of [
      ['resolve', { winner: 'buyer', reason: 'r' }],
      ['resolve', { winner: 'seller', reason: 'r' }],
      ['invalidate', { reason: 'r' }],
    ] as const) {
      const second = (await api.post('/v1/cases/one/looks', { cause: 'appeal' })).body;
      expect((await api.post(`/v1/cases/${second.id}/${path}`, body)).status).toBe(200);
    }

    await addCase(api, 'seen', { id: 'hung', deadlineSeconds: 600 });
    await due('case', 'hung', 'deadline');
    await happened('case', 'delivered');
    await addCase(api, 'seen', { id: 'void' });
    await api.post('/v1/cases/void/invalidate', { reason: 'gone' });

    await court(api, 'long', { votesToWin: 1, deadlineSeconds: 600, fallback: { extendSeconds: 600 } });
    await addCase(api, 'long', { id: 'extended', deadlineSeconds: 600 });
    await due('case', 'extended', 'deadline');

    await court(api, 'asking', { votesToWin: 1, mode: 'assign', assign: { jurors: 1, answerSeconds: 600 } });
    await jurors(api, 'asking', ['fay']);
    await addCase(api, 'asking', { id: 'asked' });
    const { token } = await eventually(async () => (await invitations(api, 'fay'))[0]);
    expect((await api.post('/v1/cases/asked/decline', { token })).status).toBe(200);
    expect((await oneCase(api, 'hung')).state).toBe('hung');
  });

  test('occurrences of tasks', async () => {
    const { callback } = await startReceiver((n) => (n === 1 ? 410 : 204));
    await addTemplate(api, 'plain');
    await putGroup(api, 'three', ['ann', 'ben', 'cat']);
    await addTask(api, { id: 'one', executor: 'gid_three', dispatchTimes: 2, answerSeconds: 600, callback });
    const [{ id } = { id: '' }] = await sql<{ id: string }>(`select id from item where kind = 'task'`);
    const slow = await handed(api, 'ann');
    await due('task', id, 'lease');
    expect((await complete(api, 'ann', slow.logId)).status).toBe(409);
    await patchTask(api, 'one', { lookbackSeconds: 40_000 });
    await park('task', id);
    for (const uid of ['ben', 'cat']) await completed(api, uid, (await handed(api, uid)).logId);
    await happened('task', 'delivery_failed');
    await refuse('task', id);

    await addTask(api, { id: 'two', executor: 'uid_flo', callback });
    await completed(api, 'flo', (await handed(api, 'flo')).logId);
    await happened('task', 'delivered');

    const [soon, later] = [inMs(HOUR_MS), inMs(2 * HOUR_MS)];
    await addTask(api, { id: 'shift', executor: 'uid_dan', startTime: soon });
    await patchTask(api, 'shift', { startTime: later });
    await patchTask(api, 'shift', { startTime: soon });
    await due('task', `shift/${soon}`, 'delay');
    await due('task', `shift/${soon}`, 'deadline');
  });

  test('rotating tasks', async () => {
    await addTask(api, { id: 'turn', type: 'rotate', executor: 'uid_eve', everyMinutes: 60, startTime: inMs(HOUR_MS) });
    await park('rotation', 'turn');
    await patchTask(api, 'turn', { endTime: inMs(HOUR_MS / 2 + HOUR_MS) });
    await sql(`update task set end_time = start_time - interval '1 minute' where id = 'turn'`);
    await due('rotation', 'turn', 'delay');
    await refuse('rotation', 'turn');
    await patchTask(api, 'turn', { endTime: null });
    await deleteTask(api, 'turn');
  });

  test('erasures', async () => {
    for (const kind of ['ticket', 'job', 'case', 'task']) await erased(api, { item: { kind, id: 'one' } });
    await erased(api, { item: { kind: 'task', id: 'turn' } });
  });
});

test.each(KINDS)('%s: every event of its lifecycle has come', async (kind) => {
  const seen = await sql<{ type: string }>('select distinct type from event where kind = $1', [kind]);
  const events = new Set(transitionsOf(kind).map(({ event }) => event));
  expect(seen.map(({ type }) => type).sort()).toEqual([...events].sort());
});

test('a transition outside of the lifecycle is refused when it is written, and so is a state without an event', async () => {
  await add(api, 'strict', { id: 'strict' });
  const set = (text: string) => sql(`update item set ${text} where id = 'strict'`);
  const line = (event: string) => `event_seq = event_seq + 1, last_event = '${event}'`;
  await expect(set(`state = 'buried', ${line('changed')}`)).rejects.toThrow(
    'a ticket that was ready cannot be buried by changed',
  );
  await expect(set(line('reclaimed'))).rejects.toThrow('cannot be ready by reclaimed');
  await expect(set(`state = 'delayed'`)).rejects.toThrow('cannot be delayed by nothing');
  await set(line('changed'));
});

test.each([
  ["update item set for_until = 'infinity' where id = 'firm'", 'for whom'],
  ["update item set lease_seconds = 0, event_seq = 2, last_event = 'noted' where id = 'firm'", 'lease lasts'],
  ["update item set state = 'held', event_seq = 2, last_event = 'claimed' where id = 'firm'", 'held has lease'],
  ["update item set state = 'settled', event_seq = 2, last_event = 'decided' where id = 'firm'", 'settled has result'],
  [
    `insert into item select (jsonb_populate_record(i, '{"id": "other", "seq": 0, "state": "lost"}')).*
       from item i where id = 'firm'`,
    'known state',
  ],
])('S0.9 an item that cannot be is refused, whoever writes it: %s', async (statement, invariant) => {
  await api.post('/v1/queues/firm/tickets', { id: 'firm', body: {} });
  await expect(sql(statement)).rejects.toThrow(`breaks the invariant "${invariant}"`);
});
