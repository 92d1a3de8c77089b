import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { freePort } from '../../cli/servers/ports.ts';
import { checkAll } from '../../services/doctor/invariants.ts';
import { addCase, claim as claimCase, court, jurors } from '../support/cases.ts';
import { settingsFor, startChild } from '../support/child.ts';
import { claimOne, eventually, numbered, repeat } from '../support/client.ts';
import { useAllKinds } from '../support/doctor.ts';
import { job } from '../support/jobs.ts';
import { alerts, board, type Line, linesOf, metric, metricsIn } from '../support/metrics.ts';
import { startReceiver } from '../support/receiver.ts';
import { startTestSystem, testStores } from '../support/system.ts';
import { addTask, addTemplate, next, putGroup } from '../support/tasks.ts';
import { add, claim, configure, decide, decided } from '../support/tickets.ts';

const { api, running, sql } = await startTestSystem({ METRICS_PORT: '0', LOG_LEVEL: 'silent' });

const scrape = async (): Promise<Line[]> => linesOf((await api.get('/metrics')).body as string);
const own = async (): Promise<Line[]> =>
  linesOf(await (await fetch(`http://${running.metrics?.address}/metrics`)).text());
/** The sums of the counts, which are made every five seconds, have what was committed. */
const summed = (name: string, labels: Record<string, string>, n: number) =>
  eventually(async () => {
    await running.runtime.db.run('compact_tally');
    return metric(await scrape(), name, labels) === n;
  });

/** What is held by these runs out now. */
async function runOut(table: 'item' | 'lease', where: string, items = where): Promise<void> {
  await sql(`update ${table} set expires_at = now() - interval '1 second' where ${where};
    update item set wake_at = now() where ${items}`);
  running.runtime.rearm();
}

test('S0.5 a queue: open items by state, the oldest, what came, was handed out, ended and taken back', async () => {
  const of = { kind: 'ticket', queue: 'line' };
  await configure(api, 'line', { maxHeld: 2, leaseSeconds: 600 });
  for (const id of ['l-1', 'l-2', 'l-3']) await add(api, 'line', { id });
  await add(api, 'line', { id: 'l-4', delaySeconds: 3_600 });
  await decide(api, await claimOne(api, 'line', 'ann'));
  const second = await claimOne(api, 'line', 'ann');
  await sql(`update item set first_available_at = first_available_at - interval '90 seconds' where id = 'l-3'`);
  const lines = await scrape();
  expect(['delayed', 'ready', 'held'].map((state) => metric(lines, 'docket_items', { ...of, state }))).toEqual([
    1, 1, 1,
  ]);
  expect(metric(lines, 'docket_items', { ...of, state: 'buried' }), 'of jobs only').toBeUndefined();
  expect(metric(lines, 'docket_oldest_ready_seconds', of)).toBeGreaterThan(90);
  expect(metric(lines, 'docket_handed_out_total', of)).toBe(2);
  expect(metric(lines, 'docket_hand_over_seconds_count', of)).toBe(2);
  expect(metric(lines, 'docket_hand_over_seconds_bucket', { ...of, le: '600' })).toBe(2);

  await runOut('item', `id = '${second.id}'`);
  await summed('docket_lease_expiries_total', of, 1);
  await summed('docket_added_total', of, 4);
  await summed('docket_ended_total', { ...of, outcome: 'settled' }, 1);
  await api.post('/v1/tickets/l-3/invalidate', { reason: 'over' });
  await summed('docket_ended_total', { ...of, outcome: 'invalidated' }, 1);
  // what retention clears is not taken back from what was counted
  await sql(`insert into tally_line (kind, queue, what, n) values ('ticket', 'line', 'settled', -1)`);
  await summed('docket_ended_total', { ...of, outcome: 'invalidated' }, 1);
  expect(await sql(`select from tally_line where n < 0`)).toEqual([]);
  expect(metric(await scrape(), 'docket_ended_total', { ...of, outcome: 'settled' })).toBe(1);
  // handed out again, it was not made to wait since it was added
  await claimOne(api, 'line', 'ann');
  const again = await scrape();
  expect(metric(again, 'docket_handed_out_total', of)).toBe(3);
  expect(metric(again, 'docket_hand_over_seconds_count', of)).toBe(2);
});

test('S3.3 a topic: the same of jobs, and what is buried', async () => {
  const of = { kind: 'job', queue: 'mail' };
  for (const id of ['m-1', 'm-2']) await job(api, 'add', { topic: 'mail', id, TTR: 600, body: 1 });
  const { id } = await job(api, 'pop', { topic: 'mail' });
  await api.post(`/v1/jobs/${id}/bury`, { reason: 'broken' });
  const lines = await scrape();
  expect(metric(lines, 'docket_items', { ...of, state: 'ready' })).toBe(1);
  expect(metric(lines, 'docket_items', { ...of, state: 'buried' })).toBe(1);
  expect(metric(lines, 'docket_handed_out_total', of)).toBe(1);
  expect(metric(lines, 'docket_hand_over_seconds_count', of)).toBe(1);
  await summed('docket_added_total', of, 2);
});

test('S2.5 a court: holds that run out are counted, too', async () => {
  const of = { kind: 'case', queue: 'court' };
  await court(api, 'court', { options: ['yes', 'no'], votesToWin: 2 });
  await jurors(api, 'court', ['ann', 'bob']);
  await addCase(api, 'court', { id: 'c-1' });
  await claimCase(api, 'court', 'ann');
  await runOut('lease', `item_id = 'c-1'`, `id = 'c-1'`);
  await summed('docket_lease_expiries_total', of, 1);
  await summed('docket_added_total', of, 1);
  const lines = await scrape();
  expect(metric(lines, 'docket_handed_out_total', of)).toBe(1);
  expect(metric(lines, 'docket_items', { ...of, state: 'ready' })).toBe(1);
});

test('S4.3 a group; users are together, because they are as many as there are people', async () => {
  await addTemplate(api, 'plain');
  await putGroup(api, 'team', ['kim']);
  await addTask(api, { id: 'for-team', executor: 'gid_team' });
  await addTask(api, { id: 'for-kim', executor: 'uid_kim' });
  await addTask(api, { id: 'for-lee', executor: 'uid_lee', answerSeconds: 600 });
  await next(api, 'lee');
  await runOut('lease', `holder like '%lee'`, `id like 'for-lee/%'`);
  const others = { kind: 'task', queue: '(others)' };
  await summed('docket_lease_expiries_total', others, 1);
  await summed('docket_added_total', { kind: 'task', queue: 'gid_team' }, 1);
  await summed('docket_added_total', others, 2);
  const lines = await scrape();
  expect(metric(lines, 'docket_items', { kind: 'task', queue: 'gid_team', state: 'ready' })).toBe(1);
  expect(metric(lines, 'docket_handed_out_total', others)).toBe(1);
  expect(lines.filter(({ labels }) => labels.queue?.startsWith('uid_'))).toEqual([]);
});

test('S0.5 empty answers by the first reason that applies', async () => {
  const empty = async (kind: string, queue: string, reason: string) =>
    metric(await scrape(), 'docket_empty_answers_total', { kind, queue, reason });
  await claim(api, 'nothing', 'ann');
  expect(await empty('ticket', 'nothing', 'none')).toBe(1);
  await add(api, 'skilled', { requires: ['german'] });
  await claim(api, 'skilled', 'ann');
  await claim(api, 'skilled', 'ann');
  expect(await empty('ticket', 'skilled', 'skills')).toBe(2);
  await api.post('/v1/queues/skilled/pause');
  await claim(api, 'skilled', 'ann');
  expect(await empty('ticket', 'skilled', 'paused')).toBe(1);
  await job(api, 'pop', { topic: 'silence' });
  expect(await empty('job', 'silence', 'none')).toBe(1);
  await claimCase(api, 'court', 'stranger');
  expect(await empty('case', 'court', 'notEligible')).toBe(1);
  await putGroup(api, 'idle', ['max']);
  await next(api, 'max');
  expect(await empty('task', 'gid_idle', 'none')).toBe(1);
});

test('S0.10 pending deliveries by host, with the oldest', async () => {
  const { callback } = await startReceiver(() => 500);
  const { host } = new URL(callback.url);
  await decided(api, 'callbacks', { id: 'cb-1', callback });
  await eventually(async () => metric(await scrape(), 'docket_delivery_host_pending', { host }) === 1);
  await sql(`update delivery set created_at = created_at - interval '1 hour' where item_id = 'cb-1'`);
  expect(metric(await scrape(), 'docket_delivery_host_oldest_seconds', { host })).toBeGreaterThan(3_500);
});

test('S0.3 without PostgreSQL what the process sees itself is shown, and that PostgreSQL is away', async () => {
  const away = vi.spyOn(running.runtime.db.lists.pool, 'connect').mockRejectedValue(new Error('away') as never);
  const lines = await scrape();
  away.mockRestore();
  expect(metric(lines, 'docket_postgres_up')).toBe(0);
  expect(metric(lines, 'docket_handed_out_total', { kind: 'ticket', queue: 'line' })).toBe(3);
  const names = new Set(lines.map(({ name }) => name));
  for (const name of ['docket_items', 'docket_added_total', 'docket_deliveries', 'docket_parked_items'])
    expect(names.has(name), name).toBe(false);
  expect(metric(await scrape(), 'docket_postgres_up')).toBe(1);
});

test('a port of its own has the metrics of the SDK beside ours, and nothing else', async () => {
  // the SDK has its metrics once for a process, which this one has chosen without a port
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  await startChild('start', settingsFor(await testStores(), { METRICS_PORT: String(port) }));
  const lines = await eventually(async () => {
    const found = linesOf(await (await fetch(`${url}/metrics`)).text());
    const isFollowing = metric(found, 'docket_followed') === 1;
    return isFollowing && found.some(({ name }) => name === 'temporal_worker_task_slots_available') ? found : undefined;
  });
  expect(metric(lines, 'docket_temporal_down')).toBe(0);
  expect((await fetch(`${url}/v1/queues`)).status).toBe(404);
});

test('every metric that alerts and board name is there, and no label changes with a restart', async () => {
  await useAllKinds(api, 'x');
  // one metric is of queues with a target only
  await api.put('/v1/queues/promised', { serviceSeconds: 60 });
  expect((await api.get('/v1/tickets/none')).status).toBe(404);
  await checkAll(running.ctx);
  const lines = await own();
  const there = new Set(['up', ...lines.map(({ name }) => name)]);
  // what appears with the first failure only is known to the SDK's library
  const sdk = readFileSync(sdkLibrary());
  const isKnown = (name: string) =>
    there.has(name) || sdk.includes(name.replace(/^temporal_/, '').replace(/(_seconds)?(_total|_bucket)?$/, ''));
  const exprs = [...alerts(), ...board().panels.flatMap(({ targets = [] }) => targets)].map(({ expr }) => expr);
  const named = [...new Set(exprs.flatMap(metricsIn))];
  expect(named.length).toBeGreaterThan(30);
  expect(named.filter((name) => (name.startsWith('temporal_') ? !isKnown(name) : !there.has(name)))).toEqual([]);
  expect(lines.filter(({ labels }) => Object.values(labels).includes(running.runtime.node))).toEqual([]);
});

/** The library of this platform in which the SDK's metrics are named. */
function sdkLibrary(): string {
  const folder = dirname(createRequire(import.meta.url).resolve('@temporalio/core-bridge/package.json'));
  const platform = { x64: 'x86_64', arm64: 'aarch64' }[process.arch as 'x64' | 'arm64'];
  const system = process.platform === 'darwin' ? 'apple-darwin' : 'unknown-linux-gnu';
  return join(folder, 'releases', `${platform}-${system}`, 'index.node');
}

test('S0.3 whatever the number of queues, a thousand have a line of their own', async () => {
  const { api, running, sql } = await startTestSystem({}, { role: 'api' });
  const { db } = running.runtime;
  // with what maintenance does every five seconds, and once a minute
  const scrapeNow = async () => {
    await db.run('compact_tally');
    await db.lists.run('sample_queues', { limit: 2_000 });
    return linesOf((await api.get('/metrics')).body as string);
  };
  const work = numbered(1_010, 'queue-')[Symbol.iterator]();
  const claimAll = async () => {
    for (const queue of work) {
      await add(api, queue);
      await claimOne(api, queue, 'ann');
    }
  };
  await Promise.all(repeat(16, claimAll));
  const others = { kind: 'ticket', queue: '(others)' };
  await eventually(async () => metric(await scrapeNow(), 'docket_added_total', others) === 10);
  // the counts of others are those of the newest samples
  await sql(`update sample_state set sampled_at = '-infinity'`);
  await eventually(async () => metric(await scrapeNow(), 'docket_items', { ...others, state: 'held' }) === 10);
  const lines = await scrapeNow();
  const named = (name: string) => lines.filter((line) => line.name === name && line.labels.queue !== '(others)').length;
  expect(named('docket_handed_out_total')).toBe(1_000);
  expect(metric(lines, 'docket_handed_out_total', others)).toBe(10);
  expect(named('docket_hand_over_seconds_count')).toBe(200);
  expect(metric(lines, 'docket_hand_over_seconds_count', others)).toBe(810);
  expect(named('docket_added_total')).toBe(1_000);
  expect(named('docket_oldest_ready_seconds')).toBe(1_000);
  const total = lines.filter(({ name }) => name === 'docket_added_total').reduce((sum, { value }) => sum + value, 0);
  expect(total).toBe(1_010);
}, 180_000);
