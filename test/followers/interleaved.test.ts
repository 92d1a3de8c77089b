import { Client } from '@temporalio/client';
import { NativeConnection } from '@temporalio/worker';
import { afterAll, expect, inject, onTestFinished, test } from 'vitest';
import type { Db } from '../../db/pool.ts';
import { Follower } from '../../runtime/followers/follower.ts';
import { Lanes } from '../../runtime/followers/lanes.ts';
import type { Publication } from '../../runtime/followers/messages.ts';
import { eventually } from '../support/client.ts';
import { changedLate } from '../support/database.ts';
import { job } from '../support/jobs.ts';
import { startTestSystem } from '../support/system.ts';
import { add, addMany } from '../support/tickets.ts';

// Followers of the log read in pieces, by lanes, beside commits and each other. No worker runs: what reaches a workflow is
// asked of Temporal itself.

const UNAVAILABLE = 14;

const { api, running, sql, databaseUrl, namespace } = await startTestSystem({}, { role: 'api' });
const { db, node, log } = running.runtime;
const connection = await NativeConnection.connect({ address: inject('temporal') });
const client = new Client({ connection, namespace });
afterAll(() => connection.close());

/** All that a workflow was started with and told; not there: it fails. */
async function told(workflow: string): Promise<string> {
  const { events } = await client.workflow.getHandle(workflow).fetchHistory();
  const inputs = (events ?? []).map(
    (e) => (e.workflowExecutionStartedEventAttributes ?? e.workflowExecutionSignaledEventAttributes)?.input,
  );
  return inputs
    .flatMap((input) => input?.payloads ?? [])
    .map((p) => Buffer.from(p.data ?? []).toString())
    .join('\n');
}
const started = (id: string) => eventually(() => told(`ticket/${id}`));

const following = (on: Db, waitingWorkflows = Number.MAX_SAFE_INTEGER) =>
  new Follower({
    ...{ db: on, node, log, pacemaker: true, callers: { slowdown: undefined } },
    ...{ publishConcurrency: 10, publishIdlePerSecond: 1_000, publishBusyPerSecond: 1_000 },
    ...{ waitingWorkflows, skipEndedSeconds: 3_600 },
  });

/** The same, but something happens before a statement runs, each time that it does. */
function watched(happens: (statement: string) => Promise<unknown> | undefined): Db {
  const run = async (name: never, params: never) => {
    await happens(name);
    return db.run(name, params);
  };
  return { ...db, run } as unknown as Db;
}

/** Something happens before the log is read for the n-th time. */
function atReading(all: Record<number, () => Promise<unknown>>): Db {
  let n = 0;
  return watched((name) => (name === 'follow_log' ? all[++n]?.() : undefined));
}

const isReconciled = async () => (await db.run('is_reconciled'))[0]?.done;

function follow(follower: Follower): void {
  follower.start(client);
  onTestFinished(() => follower.stop());
}

/** What came before does not count. */
const allIsPublished = () =>
  sql(
    'update log_shard set idle = last, outcomes = last, rest = last from (select coalesce(max(id), 0) as last from event) e',
  );
/** As after a takeover: one lane is far behind the others. */
const onlyIdleIsBehind = () =>
  sql('update log_shard set outcomes = last, rest = last from (select max(id) as last from event) e');
/** More than are read at once. */
async function addBacklog(): Promise<void> {
  for (let n = 0; n < 2; n++) await addMany(api, 'behind', Array<object>(750).fill({}));
}

// the pass is over all that is there, so this one is first
test('S0.9 numbers that a server failed over to gives out again are read by a follower that had read them before', async () => {
  await allIsPublished();
  await db.run('notice_store', { store: 'primary' });
  await add(api, 'kept', { id: 'before' });
  const [{ last } = { last: 0 }] = await sql<{ last: number }>('select max(id)::integer as last from event');
  const follower = following(db);
  follow(follower);
  await add(api, 'lost', { id: 'lost', delaySeconds: 3600 });
  await started('lost');
  // it lacks the latest commits
  await sql(`delete from event where item_id = 'lost'`);
  await sql(`select setval(pg_get_serial_sequence('event', 'id'), $1)`, [last]);
  await db.run('notice_store', { store: 'replica' });
  follower.keep();
  // the pass over all rows would bring it, too
  await eventually(isReconciled);
  await add(api, 'found', { id: 'again', delaySeconds: 3600 });
  const [again] = await sql<{ id: number }>(`select id::integer from event where item_id = 'again'`);
  expect(again?.id).toBe(last + 1);
  await eventually(() => {
    // as a worker says, for the pass has sent both again
    for (const id of ['before', 'lost']) follower.ran(`ticket/${id}`);
    return told('ticket/again');
  });
});

test('S0.9 a line that was drawn before such a failover and is committed after it is published', async () => {
  await add(api, 'kept', { id: 'slow', delaySeconds: 3600 });
  const commit = await changedLate(databaseUrl, 'slow');
  await add(api, 'kept', { id: 'behind-it', delaySeconds: 3600 });
  // as far as the server before had come
  await sql('update log_shard set outcomes = 1000000, rest = 1000000, idle = 1000000');
  await db.run('notice_store', { store: 'another replica' });
  const follower = following(db);
  follow(follower);
  // as a worker says, of all that the pass sends
  const ran = () => {
    for (const id of ['before', 'again', 'slow', 'behind-it']) follower.ran(`ticket/${id}`);
  };
  await eventually(() => {
    ran();
    return isReconciled();
  });
  await started('slow');
  await commit();
  follower.look(true);
  await eventually(async () => {
    ran();
    return (await told('ticket/slow')).includes('"changed"');
  });
});

test('S0.9 a line that is committed late is published, also while another lane has still to read what is before it', async () => {
  await addBacklog();
  await add(api, 'late', { id: 'late', delaySeconds: 3600 });
  await onlyIdleIsBehind();
  const commit = await changedLate(databaseUrl, 'late');
  await add(api, 'late', { id: 'next', delaySeconds: 3600 });
  // the first reading is of the lane that is behind, the second of the others, which finds the gap
  follow(following(atReading({ 3: () => commit() }), 0));
  await started('next');
  await started('late');
});

test('S0.9 the end of what waits for its first message is published, though another lane reads it first', async () => {
  await allIsPublished();
  await add(api, 'first', { id: 'first' });
  await addBacklog();
  await onlyIdleIsBehind();
  const close = () => api.post('/v1/tickets/first/invalidate', { reason: 'spam' });
  // it is read as it waits; the others read that it has ended; it is sent before its own lane comes to that
  follow(following(atReading({ 2: close, 3: () => started('first') })));
  await eventually(async () => (await told('ticket/first')).includes('"invalidated"'));
});

test('S0.9 what was not sent before a stop of which the database did not hear is sent after the next start', async () => {
  await allIsPublished();
  let isAway = false;
  const follower = following(
    watched((name) =>
      isAway && /leave_shards|move_cursors/.test(name) ? Promise.reject(new Error('away')) : undefined,
    ),
  );
  const away = () => Promise.reject(Object.assign(new Error('away'), { code: UNAVAILABLE }));
  const cut = { withDeadline: (_: number, call: () => unknown) => call(), workflow: { start: away } };
  follower.start(cut as unknown as Client);
  await add(api, 'kept', { id: 'kept', delaySeconds: 3600 });
  await eventually(async () => follower.down && follower.pending > 0);
  isAway = true;
  await follower.stop();
  isAway = false;
  follow(follower);
  await started('kept');
});

test('S3.2 a job that needs no workflow and has one from an earlier follower is told its end', async () => {
  await allIsPublished();
  await api.put('/v1/topics/thrifty', { workflow: 'when-needed' });
  const addJob = (id: string) => job(api, 'add', { topic: 'thrifty', id, body: 1 });
  const finishNext = async () => {
    const { id, token } = await job(api, 'pop', { topic: 'thrifty' });
    expect(await job(api, 'finish', { id, token })).toMatchObject({ success: true });
  };
  const first = following(db);
  first.start(client);
  await addJob('waits');
  await eventually(() => told('job/waits'));
  await first.stop();
  await sql('update log_shard set idle = (select max(id) - 1 from event)');
  await finishNext();
  await addJob('brief');
  await finishNext();
  const second = following(db);
  follow(second);
  await eventually(async () => (await told('job/waits')).includes('"settled"'));
  await eventually(async () => second.pending === 0);
  await expect(told('job/brief')).rejects.toThrow();
});

test('S0.9 after a restore what is older by its version replaces what waits of the time before', () => {
  const lanes = new Lanes(
    () => 10,
    undefined as never,
    () => false,
  );
  const at = (version: number, epoch: number) =>
    ({ row: { kind: 'ticket', version }, events: [], epoch }) as unknown as Publication;
  for (const publication of [at(10, 0), at(7, 1), at(9, 0)]) lanes.add('ticket/t', 'rest', publication);
  expect(lanes.entries().map(({ epoch, row }) => [epoch, row.version])).toEqual([[1, 7]]);
});
