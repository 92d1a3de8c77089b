import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, inject, test, vi } from 'vitest';
import * as retention from '../../services/upkeep/retention.ts';
import { addCase, claimed, court, jurors, voted } from '../support/cases.ts';
import { eventually, type Json, repeat } from '../support/client.ts';
import { behind } from '../support/database.ts';
import { testDoctor, useAllKinds } from '../support/doctor.ts';
import { startReceiver } from '../support/receiver.ts';
import { age, byHand, clear, filesOf, linesOf } from '../support/retention.ts';
import { put, tell } from '../support/reviews.ts';
import { startTestSystem, testStores } from '../support/system.ts';
import { decided as addDecided, configure, events } from '../support/tickets.ts';

const dir = mkdtempSync(join(inject('dir'), 'archive-'));
const archive = join(dir, 'archive');
const RULES = 'ticket=10,ticket/legal=forever,ticket/spam=2,job=10,case=10,task=10,review=10';
const stores = await testStores();
const settings = { DOCKET_RETENTION_DAYS: RULES, DOCKET_ARCHIVE: archive };
const system = await startTestSystem(settings, { stores });
const { api, sql, running, databaseUrl } = system;
const { ctx } = running;
const doctor = testDoctor(system);
await byHand(system);

const decided = (queue: string, id: string, more: object = {}) => addDecided(api, queue, { id, ...more });
/** Until nothing is left to do for it. */
const done = (id: string) =>
  eventually(
    async () => (await sql('select is_done(i, published_to()) as done from item i where id = $1', [id]))[0]?.done,
  );
const there = async (...ids: string[]) =>
  Promise.all(ids.map(async (id) => (await api.get(`/v1/tickets/${id}`)).status === 200));

test('S4.10 what has been over for its days is cleared, of all kinds; what is open or younger stays, and all counts agree', async () => {
  await useAllKinds(api, 'old');
  await useAllKinds(api, 'new');
  const before = await sql<{ kind: string; id: string }>('select kind, id from item order by kind, id');
  await age(system, 'old-%', 11);
  const OVER = ['case/old-case', 'job/old-job-finished', 'task/old-once', 'ticket/old-decided'];
  // with the task of that occurrence, and a review
  await clear(system, OVER.length + 2);
  const left = new Set((await sql('select kind, id from item')).map(({ kind, id }) => `${kind}/${id}`));
  const gone = before.map(({ kind, id }) => `${kind}/${id}`).filter((key) => !left.has(key));
  expect(gone.map((key) => key.replace(/^task\/old-once\/.*/, 'task/old-once'))).toEqual(OVER);
  for (const [path, cleared, kept] of [
    ['tickets', 'old-decided', 'old-held'],
    ['jobs', 'old-job-finished', 'old-job-ready'],
    ['cases', 'old-case', 'old-open'],
    ['tasks', 'old-once', 'old-twice'],
    ['reviews', 'old-review', 'new-review'],
  ]) {
    expect(await api.get(`/v1/${path}/${cleared}`)).toMatchObject({ status: 404, body: { code: 'not_found' } });
    expect((await api.get(`/v1/${path}/${kept}`)).status).toBe(200);
  }
  // nothing of them is left anywhere, and nothing is broken
  const ids = ['old-case', 'old-decided', 'old-job-finished', 'old-review'];
  const tables = { event: 'item_id', delivery: 'item_id', lease: 'item_id', vote: 'case_id', exposure: 'case_id' };
  for (const [table, key] of Object.entries(tables))
    expect(await sql(`select 1 from ${table} where ${key} = any ($1)`, [ids]), table).toEqual([]);
  expect(await doctor.broken()).toEqual([]);
  expect((await api.get('/v1/queues/old-tickets/stats')).body).toMatchObject({ decided: 0, held: 1 });
  // nothing more is to be cleared, and an id that was is free again
  await clear(system, 0);
  await decided('old-tickets', 'old-decided');
});

test('S4.10 the archive has each of them with its history, and nothing that is secret', async () => {
  const lines = linesOf(archive);
  expect(lines.map(({ kind, id }) => `${kind}/${id.split('/')[0]}`).sort()).toEqual([
    'case/old-case',
    'job/old-job-finished',
    'review/old-review',
    'rotation/old-once',
    'task/old-once',
    'ticket/old-decided',
  ]);
  const of = (kind: string) => lines.find((line) => line.kind === kind);
  const types = (kind: string) => of(kind).events.map((event: Json) => event.type);
  const ended = { state: 'decided', result: 'ok', attempts: 1, endedBy: 'ann' };
  expect(of('ticket')).toMatchObject({ queue: 'old-tickets', ...ended });
  expect(types('ticket')).toEqual(['created', 'claimed', 'decided']);
  expect(of('case').case).toMatchObject({ tally: { yes: 2 }, winner: 'yes' });
  expect(of('case').case.votes.map((vote: Json) => vote.juror)).toEqual(['old-a', 'old-b']);
  expect(of('review').events.at(-1)).toMatchObject({ type: 'edited' });
  expect(types('task')).toContain('completed');
  expect(types('job')).toEqual(['created', 'reserved', 'finished']);
  const text = JSON.stringify(lines);
  for (const { token } of await sql(`select encode(token, 'hex') as token from event where token is not null`))
    expect(text).not.toContain(token);
  expect(text).not.toMatch(/whsec_|"secret"/);
  for (const file of filesOf(archive))
    expect(file).toMatch(/^(case|job|review|rotation|task|ticket)\/\d{4}-\d\d-\d\d\/[^/]+\.ndjson\.gz$/);
});

test('S4.10 each queue has its own time, or none', async () => {
  for (const queue of ['legal', 'spam', 'other']) await decided(queue, `rule-${queue}`);
  await age(system, 'rule-%', 3);
  await clear(system, 1);
  expect(await there('rule-legal', 'rule-spam', 'rule-other')).toEqual([true, false, true]);
  await age(system, 'rule-%', 1_000);
  await clear(system, 1);
  expect(await there('rule-legal', 'rule-spam', 'rule-other')).toEqual([true, false, false]);
});

test('S0.10 what has something left to be done for it is kept: a callback that was not delivered, or is sent again', async () => {
  let status = 500;
  const receiver = await startReceiver(() => status);
  await configure(api, 'called', { callback: receiver.callback });
  await decided('called', 'called');
  await eventually(async () => receiver.received.length > 0);
  await age(system, 'called', 11);
  expect(await retention.clear(ctx)).toBe(0);
  // chosen, and then something began
  expect(await sql(`select forget_items('ticket', '{called}') as n`)).toEqual([{ n: 0 }]);
  expect(await there('called')).toEqual([true]);
  status = 204;
  await eventually(async () => (await events(api, 'called')).at(-1)?.type === 'delivered', 60_000);
  await age(system, 'called', 11);
  await clear(system, 1);

  status = 500;
  await put(api, 'called-review', { text: { status: 1 }, callback: receiver.callback });
  await tell(api, 'called-review', { kind: 'text', status: 2 });
  await age(system, 'called-review', 11);
  expect(await retention.clear(ctx)).toBe(0);
  // nor when the rest has been done
  expect(await sql(`select nothing_pends('review', 'called-review') as done`)).toEqual([{ done: false }]);
  status = 204;
  const deliveries = () => api.get('/v1/reviews/called-review/deliveries');
  await eventually(async () => (await deliveries()).body.items.every((d: Json) => d.state === 'delivered'), 60_000);
  await age(system, 'called-review', 11);
  await clear(system, 1);
});

test('S0.10 a delivery that is sent again while its item is being cleared keeps it', async () => {
  const receiver = await startReceiver();
  await configure(api, 'resent', { callback: receiver.callback });
  await decided('resent', 'resent');
  await eventually(async () => (await events(api, 'resent')).at(-1)?.type === 'delivered', 60_000);
  await done('resent');
  const reopen = `update delivery set state = 'pending' where kind = 'ticket' and item_id = 'resent'`;
  const clearing = () => sql(`select forget_items('ticket', '{resent}') as n`);
  expect(await behind(databaseUrl, [reopen], clearing, [])).toEqual([{ n: 0 }]);
  expect((await api.post('/v1/tickets/resent/deliveries/1/redeliver', {})).status).toBe(202);
  await eventually(async () => receiver.received.length === 2);
});

test('S4.10 where the archive cannot be written nothing is cleared', async () => {
  await decided('spam', 'unwritten');
  await age(system, 'unwritten', 11);
  const folder = join(archive, 'ticket');
  expect(linesOf(archive).length).toBeGreaterThan(0);
  rmSync(folder, { recursive: true });
  writeFileSync(folder, 'in the way');
  await eventually(async () => (await retention.clear(ctx).catch((error) => error.code)) === 'ENOTDIR');
  expect(await there('unwritten')).toEqual([true]);
  rmSync(folder);
  await clear(system, 1);
  expect(linesOf(archive).map(({ id }) => id)).toContain('unwritten');
});

test('S4.10 S0.10 one that cannot be cleared holds up no other, and large ones are archived page by page', async () => {
  const ids = repeat(24, (n) => `large-${n}`);
  for (const id of ids) await decided('spam', id, { body: { text: randomBytes(100_000).toString('hex') } });
  await decided('spam', 'large-behind');
  await age(system, 'large-%', 11);
  await sql(`create function refuse() returns trigger language plpgsql as $$
    begin raise exception 'too much of it' using errcode = '54000'; end $$;
    create trigger refuse before delete on item for each row when (old.id = 'large-7') execute function refuse()`);
  const files = filesOf(archive).length;
  await clear(system, ids.length);
  expect(await there('large-6', 'large-7', 'large-8', 'large-behind')).toEqual([false, true, false, false]);
  expect(filesOf(archive).length - files).toBeGreaterThan(1);
  expect(linesOf(archive).map(({ id }) => id)).toEqual(expect.arrayContaining([...ids, 'large-behind']));
  await sql('drop trigger refuse on item');
  await clear(system, 1);
});

test('S4.10 what has changed since it was archived is not cleared', async () => {
  await decided('spam', 'changed');
  const seq = (await events(api, 'changed')).at(-1)?.seq;
  const forget = async (at: number) => (await sql(`select forget_items('ticket', '{changed}', $1) as n`, [[at]]))[0]?.n;
  await done('changed');
  expect(await forget(seq - 1)).toBe(0);
  expect(await forget(seq)).toBe(1);
});

test('S2.4 S4.10 a case is kept while it counts in the windows of its jurors', async () => {
  const day = 86_400;
  await court(api, 'windows', { votesToWin: 1, window: { cases: 3, seconds: 20 * day } });
  await jurors(api, 'windows', ['ann']);
  await addCase(api, 'windows', { id: 'window-case' });
  const { id, token } = await claimed(api, 'windows', 'ann');
  await voted(api, id, token, 'buyer');
  await age(system, 'window-case', 11);
  expect(await retention.clear(ctx)).toBe(0);
  await age(system, 'window-case', 10);
  await clear(system, 1);
});

test('S4.10 it stops after the batch at which it is told to', async () => {
  for (const queue of ['stop-a', 'stop-b']) await decided(queue, queue);
  await age(system, 'stop-%', 11);
  const goesOn = vi.fn(() => false);
  await retention.clear(ctx, goesOn);
  expect(goesOn).toHaveBeenCalledTimes(1);
  await clear(system, 2);
});

test('S4.10 a worker that cannot write to the archive does not start', async () => {
  const file = join(dir, 'a-file');
  writeFileSync(file, '');
  const start = startTestSystem({ DOCKET_ARCHIVE: join(file, 'inside') }, { role: 'worker', stores });
  await expect(start).rejects.toThrow(/DOCKET_ARCHIVE: cannot write to .*set DOCKET_ARCHIVE to a folder/);
});

test('S4.10 it happens by itself, in one of the processes', async () => {
  const second = await startTestSystem(settings, { role: 'worker', stores });
  const leaders = () => [running, second.running].filter(({ runtime }) => runtime.follower?.leads).length;
  await eventually(async () => leaders() === 1);
  await decided('spam', 'by-itself');
  await age(system, 'by-itself', 11);
  await system.stop();
  await eventually(async () => leaders() === 1, 60_000);
  const gone = "select from item where id = 'by-itself'";
  await eventually(async () => (await second.sql(gone)).length === 0, 90_000);
}, 180_000);
