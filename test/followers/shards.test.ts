import { expect, test } from 'vitest';
import { settingsFor, startChild } from '../support/child.ts';
import { claimOne, eventTypes, eventually, type Json, repeat } from '../support/client.ts';
import { published } from '../support/published.ts';
import { startTestSystem, testStores } from '../support/system.ts';
import { add, addMany, decide } from '../support/tickets.ts';

const stores = await testStores();
const { api, sql, running } = await startTestSystem({ LOG_LEVEL: 'silent' }, { role: 'api', stores });
const worker = () => startChild('worker', settingsFor(stores));
const owners = async () =>
  (await sql<{ owner: string | null }>('select owner from log_shard order by shard')).map((r) => r.owner);
/** Each has its share, and nothing is nobody's. */
const areShared = () =>
  eventually(async () => {
    const all = await owners();
    return !all.includes(null) && new Set(all).size === 2;
  }, 60_000);
const statusOf = async (id: string) => (await api.get(`/v1/tickets/${id}/workflow`)).body.status;
const settled = (ids: string[], status: string) =>
  eventually(async () => (await Promise.all(ids.map(statusOf))).every((s) => s === status), 60_000);
const many = (name: string) => repeat(40, (n) => ({ id: `${name}-${n}`, delaySeconds: 3600 }));

test('S0.9 without a worker calls go on and readiness says degraded; with one, what was committed is published', async () => {
  await eventually(async () => (await api.get('/readyz')).body.temporal === 'ok');
  expect((await api.get('/readyz')).body.status).toBe('degraded');
  const ids = await addMany(api, 'alone', many('alone'));
  await add(api, 'alone', { id: 'over' });
  await decide(api, await claimOne(api, 'alone', 'anna'));
  expect(await statusOf('over')).toBe('not_started');
  const one = await worker();
  await eventually(async () => (await api.get('/readyz')).body.status === 'ok', 40_000);
  await settled(ids, 'running');
  await settled(['over'], 'completed');

  // it has sent everything, and is killed before it has kept how far
  await sql('update log_shard set outcomes = 0, rest = 0, idle = 0');
  await one.end('SIGKILL');
  const ended = await api.post('/v1/tickets/alone-0/resolve', { decision: 1, reason: 'meanwhile' });
  expect(ended.status).toBe(200);
  const two = await worker();
  await published(running, 60_000);
  await settled(['alone-0'], 'completed');
  await settled(ids.slice(1), 'running');
  expect(await eventTypes(api, 'alone-1')).toEqual(['created']);
  await two.end('SIGTERM');
  expect(await owners()).toEqual([null, null, null, null]);
}, 240_000);

test('S0.9 two workers share the log; one that is stopped loses its parts, and moves nothing when it wakes up again', async () => {
  const [one, two] = [await worker(), await worker()];
  await areShared();
  one.process.kill('SIGSTOP');
  const ids = await addMany(api, 'shared', many('shared'));
  await settled(ids, 'running');
  const [taken] = await sql<{ epochs: number }>('select sum(epoch)::integer as epochs from log_shard');
  const cursors = await sql<Json>('select shard, rest, idle from log_shard order by shard');
  one.process.kill('SIGCONT');
  await areShared();
  const [after] = await sql<{ epochs: number }>('select sum(epoch)::integer as epochs from log_shard');
  expect(after?.epochs).toBeGreaterThan(taken?.epochs ?? 0);
  for (const [n, { rest, idle }] of (
    await sql<Json>('select shard, rest, idle from log_shard order by shard')
  ).entries()) {
    expect(Number(rest)).toBeGreaterThanOrEqual(Number(cursors[n].rest));
    expect(Number(idle)).toBeGreaterThanOrEqual(Number(cursors[n].idle));
  }
  const more = await addMany(api, 'shared', many('more'));
  await settled(more, 'running');
  await Promise.all([one.end('SIGTERM'), two.end('SIGTERM')]);
}, 240_000);
