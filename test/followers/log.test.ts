import { expect, test } from 'vitest';
import { addCase, claimed, court, jurors, vote } from '../support/cases.ts';
import { claimOne, eventTypes, eventually, type Json, numbered } from '../support/client.ts';
import { changedLate } from '../support/database.ts';
import { job } from '../support/jobs.ts';
import { published, unpublished } from '../support/published.ts';
import { SECRET, startReceiver } from '../support/receiver.ts';
import { put, tell } from '../support/reviews.ts';
import { startTestSystem } from '../support/system.ts';
import { addTask, addTemplate, complete, handed } from '../support/tasks.ts';
import { add, addMany, decide, decided, ticket } from '../support/tickets.ts';

const { api, running, sql, databaseUrl } = await startTestSystem();
const workflow = async (id: string, kind = 'tickets'): Promise<Json> =>
  (await api.get(`/v1/${kind}/${id}/workflow`)).body;
const isRunning = (id: string) => eventually(async () => (await workflow(id)).status === 'running');

/** How many runs and signals its workflow has had. */
async function received(id: string): Promise<{ runs: number; signals: number }> {
  const { client } = running.runtime;
  let [runs, signals] = [0, 0];
  for await (const { runId } of client.workflow.list({ query: `WorkflowId = '${id}'` })) {
    runs++;
    const { events } = await client.workflow.getHandle(id, runId).fetchHistory();
    signals += (events ?? []).filter((e) => e.workflowExecutionSignaledEventAttributes).length;
  }
  return { runs, signals };
}

test('S0.9 a transaction that has drawn its number and commits much later is published, and holds up nobody meanwhile', async () => {
  await add(api, 'slow', { id: 'slow', delaySeconds: 3600 });
  await isRunning('slow');
  const commit = await changedLate(databaseUrl, 'slow');
  await addMany(api, 'quick', [
    { id: 'quick-1', delaySeconds: 3600 },
    { id: 'quick-2', delaySeconds: 3600 },
  ]);
  for (const id of ['quick-1', 'quick-2']) await isRunning(id);
  expect(await sql('select from log_shard where rest >= (select max(id) from event)')).toEqual([]);
  await commit();
  const { version } = await ticket(api, 'slow');
  await eventually(async () => (await workflow('slow')).snapshot?.version === version);
  await published(running);
});

test('S0.9 a ticket that is claimed and decided at once is one start and no signal', async () => {
  await published(running);
  // on a busy machine some are read between their calls
  const ids = numbered(10, 'brief-');
  for (const id of ids) await decided(api, 'brief', { id });
  for (const id of ids) {
    await eventually(async () => (await workflow(id)).status === 'completed');
    expect((await workflow(id)).snapshot.events.map((e: Json) => e.type)).toEqual(['created', 'claimed', 'decided']);
    await eventually(async () => (await received(`ticket/${id}`)).runs === 1);
  }
  const signals = await Promise.all(ids.map(async (id) => (await received(`ticket/${id}`)).signals));
  expect(Math.min(...signals)).toBe(0);
});

test('S0.9 what its own workflow did is not published to it again', async () => {
  await add(api, 'own', { id: 'own' });
  await claimOne(api, 'own', 'anna');
  await isRunning('own');
  await published(running);
  const before = await received('ticket/own');
  await running.runtime.client.workflow.getHandle('ticket/own').signal('release', { by: 'olga' });
  await eventually(async () => (await workflow('own')).snapshot?.state === 'waiting');
  await published(running);
  expect(await received('ticket/own')).toEqual({ ...before, signals: before.signals + 1 });
});

test('S0.9 after a restore to an older state, workflows take what the database says, though its versions are lower', async () => {
  await add(api, 'restored', { id: 'restored', delaySeconds: 3600 });
  await isRunning('restored');
  await sql(
    `create table kept as select i.version, i.priority, v.last_value from item i, item_version v where i.id = 'restored'`,
  );
  for (const priority of [1, 2, 3]) await api.patch('/v1/tickets/restored', { priority });
  const newer = await ticket(api, 'restored');
  await eventually(async () => (await workflow('restored')).snapshot?.version === newer.version);
  await published(running);

  // as a restore does: rows, the log and the numbers given out are what they were
  await sql(`alter table item disable trigger user;
    update item set version = k.version, priority = k.priority, event_seq = 1, last_event = 'created' from kept k where id = 'restored';
    alter table item enable trigger user;
    delete from event where item_id = 'restored' and seq > 1;
    select setval('item_version', last_value) from kept`);
  await api.patch('/v1/tickets/restored', { priority: 9 });
  const now = await ticket(api, 'restored');
  expect(now.version).toBeLessThan(newer.version);
  await sql(`insert into reconciliation (store, stage) values ('', 'schedules')
    on conflict (one) do update set stage = 'schedules', epoch = reconciliation.epoch + 1`);
  await eventually(async () => (await workflow('restored')).snapshot?.version === now.version, 60_000);
  await running.runtime.client.workflow.getHandle('ticket/restored').signal('invalidate', { by: 'olga' });
  await eventually(async () => (await workflow('restored')).status === 'completed');
  expect(await eventTypes(api, 'restored')).toEqual(['created', 'changed', 'invalidated']);
});

test('S3.2 jobs of a topic whose workflows are only made when needed: those that wait, retry or call back', async () => {
  await api.put('/v1/topics/thrifty', { workflow: 'when-needed' });
  expect((await api.get('/v1/topics')).body.items.find((t: Json) => t.name === 'thrifty').workflow).toBe('when-needed');
  const ids = numbered(10, 'over-');
  for (const id of ids) {
    await job(api, 'add', { topic: 'thrifty', id, body: 1 });
    const { token } = await job(api, 'pop', { topic: 'thrifty' });
    expect((await job(api, 'finish', { id, token })).success).toBe(true);
  }
  await job(api, 'add', { topic: 'thrifty', id: 'waits', body: 1 });
  await job(api, 'add', { topic: 'thrifty', id: 'later', body: 1, delay: 3600 });
  for (const id of ['waits', 'later']) await eventually(async () => (await workflow(id, 'jobs')).status === 'running');
  await published(running);
  // on a busy machine some may take longer than the second after which a workflow is started
  const statuses = await Promise.all(ids.map(async (id) => (await workflow(id, 'jobs')).status));
  expect(statuses).toContain('not_started');
});

test('S0.9 of items that only wait, no more have a workflow than the setting allows; the others get it when touched', async () => {
  const few = await startTestSystem({}, { limits: { waitingWorkflows: 5 } });
  const statusOf = async (id: string) => (await few.api.get(`/v1/tickets/${id}/workflow`)).body.status;
  const ids = await addMany(few.api, 'many', numbered(30, 'many-'));
  // the number of those that wait is looked at every few seconds
  await eventually(async () => (await unpublished(few.running)) === 0);
  await new Promise((resolve) => setTimeout(resolve, 6_000));
  await addMany(few.api, 'many', [{ id: 'beyond' }]);
  await published(few.running);
  expect(await statusOf('beyond')).toBe('not_started');
  const held = await claimOne(few.api, 'many', 'anna');
  expect(held.id).toBe(ids[0]);
  await eventually(async () => (await statusOf(held.id)) === 'running');
  await few.api.patch('/v1/tickets/beyond', { deadlineAt: new Date(Date.now() + 3_600_000).toISOString() });
  await eventually(async () => (await statusOf('beyond')) === 'running');
});

/** Stands in every content that callers send. */
const CONTENT = 'confidential-7f3a';
const body = { text: CONTENT };
const CALLS = 5;

/** All texts in a message of Temporal's API, its payloads read as they are stored. */
function textsIn(value: unknown, into: string[] = []): string[] {
  if (value instanceof Uint8Array) into.push(Buffer.from(value).toString('utf8'));
  else if (typeof value === 'string') into.push(value);
  else if (typeof value === 'object' && value !== null) for (const inner of Object.values(value)) textsIn(inner, into);
  return into;
}

/** What Temporal keeps of all workflows: histories, and what is shown beside them. */
async function kept(): Promise<string> {
  const { workflow } = running.runtime.client;
  const texts: string[] = [];
  for await (const { raw, workflowId, runId } of workflow.list()) {
    textsIn(raw, texts);
    textsIn(await workflow.getHandle(workflowId, runId).fetchHistory(), texts);
  }
  return texts.join('\n');
}

test('S0.9 Temporal keeps ids, names and states, and nothing of what callers send in items', async () => {
  const { callback, received } = await startReceiver();
  await add(api, 'q', { id: 'a-ticket', body, callback });
  await api.post('/v1/tickets/a-ticket/notes', { text: CONTENT, reviewer: 'anna' });
  const held = await claimOne(api, 'q', 'anna');
  await decide(api, held, body);
  await add(api, 'q', { id: 'invalid', body, callback });
  await api.post('/v1/tickets/invalid/invalidate', { reason: CONTENT });

  await job(api, 'add', { topic: 't', id: 'a-job', TTR: 60, body: CONTENT });
  await job(api, 'finish', { id: 'a-job', token: (await job(api, 'pop', { topic: 't' })).token });
  expect((await api.put('/v1/topics/t/schedules/often', { everySeconds: 1, body, TTR: 60 })).status).toBeLessThan(300);

  await put(api, 'a-review', { text: { status: 1 }, pictures: [{ id: 'pic', status: 1 }], body, callback });
  await tell(api, 'a-review', { kind: 'text', status: 2 });

  await court(api, 'c', { votesToWin: 1, callback });
  await jurors(api, 'c', ['juno']);
  await addCase(api, 'c', { id: 'a-case', body });
  await vote(api, 'a-case', (await claimed(api, 'c', 'juno')).token, 'buyer', { comment: CONTENT });

  await addTemplate(api, 'plain', { text: { type: 'string' } });
  await addTask(api, { id: 'a-task', executor: 'uid_ulla', params: body, callback });
  await complete(api, 'ulla', (await handed(api, 'ulla', { waitSeconds: 20 })).logId, body);

  await eventually(async () => received.length >= CALLS, 60_000);
  await eventually(async () => (await api.get('/v1/topics/t/stats')).body.ready > 0, 45_000);
  await published(running);
  const ids = ['ticket/a-ticket', 'job/a-job', 'review/a-review', 'case/a-case', 'task/a-task', 'periodic/'];
  const all = await eventually(async () => {
    const texts = await kept();
    return ids.every((id) => texts.includes(id)) && texts;
  });
  expect(all).toContain('anna');
  for (const secret of [CONTENT, SECRET, held.lease.token, callback.url]) expect(all).not.toContain(secret);
  // the same texts are found where they are
  expect(received.map((r) => r.body).join('\n')).toContain(CONTENT);
}, 120_000);
