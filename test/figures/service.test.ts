import { expect, test } from 'vitest';
import type { Role } from '../../contract/keys.ts';
import { eventually, type Json } from '../support/client.ts';
import { createKey } from '../support/keys.ts';
import { linesOf, metric } from '../support/metrics.ts';
import { expectProblem } from '../support/problems.ts';
import { startTestSystem, testStores } from '../support/system.ts';

const stores = await testStores();
const { api, sql, running } = await startTestSystem({}, { stores, role: 'api' });
const { tickets } = api;
const { db } = running.runtime;

const ago = (seconds: number) => new Date(Date.now() - seconds * 1000).toISOString();
const service = async (queue: string, query = '') => (await api.get(`/v1/queues/${queue}/service${query}`)).body;
const overdue = async (id: string) => (await tickets.events(id)).filter((e: Json) => e.type === 'overdue');

/** All that happened so far with a queue's tickets happened so much earlier. */
async function earlier(queue: string, seconds: number): Promise<void> {
  const of = `from item i where i.kind = e.kind and i.id = e.item_id and i.queue = $1`;
  await sql(`update event e set at = at - make_interval(secs => $2) ${of}`, [queue, seconds]);
  await sql(
    `update item set ended_at = ended_at - make_interval(secs => $2),
            first_available_at = first_available_at - make_interval(secs => $2) where queue = $1`,
    [queue, seconds],
  );
}

/** What maintenance does in a minute. */
async function sampled(queue: string): Promise<void> {
  await eventually(async () => {
    await sql(`insert into sample_due (kind, queue) values ('ticket', $1) on conflict do nothing`, [queue]);
    await sql(`update sample_state set sampled_at = '-infinity'`);
    await db.lists.run('sample_queues', { limit: 2_000 });
    return (await sql(`select from sample_due where queue = $1`, [queue])).length === 0;
  });
}

test('S0.5 how long decided tickets took, beside the target: in all and by the hour of the decision', async () => {
  await tickets.configure('care', { serviceSeconds: 60, maxHeld: 9 });
  expect(await service('care')).toMatchObject({ target: 60, tickets: 0, kept: 0, missed: 0, byHour: [], overdue: 0 });
  // two hours ago: one in time
  await tickets.decided('care', { createdAt: ago(20) });
  await earlier('care', 7200);
  // now: handed out twice, resolved without a hand-out, and not decided at all
  const first = await tickets.addHeld('care', { id: 'twice', createdAt: ago(100) });
  await sql(`update event set at = at - interval '70 s' where item_id = 'twice' and type = 'claimed'`);
  await tickets.withToken(first, 'release');
  await tickets.decide(await tickets.claimOne('care', 'ben'));
  await tickets.add('care', { id: 'resolved', createdAt: ago(40) });
  await api.post('/v1/tickets/resolved/resolve', { decision: 1, reason: 'r' });
  for (const id of ['over', 'open']) await tickets.add('care', { id, createdAt: ago(500) });
  await api.post('/v1/tickets/over/invalidate', { reason: 'r' });
  await tickets.decided('elsewhere', { createdAt: ago(5000) });

  const all = await service('care');
  expect(all).toMatchObject({ target: 60, tickets: 3, kept: 2, missed: 1, leaseSeconds: 300 });
  expect(all.decided.p50).toBeCloseTo(40, -1);
  expect(all.decided.p99).toBeCloseTo(100, -1);
  // of the two that were handed out
  expect(all.firstClaim.p50).toBeCloseTo((20 + 30) / 2, -1);
  expect(all.lastClaim.p50).toBeCloseTo((20 + 100) / 2, -1);
  expect(all.byHour.reduce((sum: number, { tickets }: Json) => sum + tickets, 0)).toBe(3);
  const [before] = all.byHour;
  expect(before).toMatchObject({ tickets: 1, kept: 1, missed: 0, lastClaim: before.firstClaim });
  expect(before.hour).toMatch(/T\d\d:00:00\.000Z$/);
  expect(Date.parse(before.hour)).toBeLessThan(Date.now() - 3_600_000);

  const past = await service('care', `?from=${ago(9000)}&to=${ago(3600)}`);
  expect(past).toMatchObject({ tickets: 1, kept: 1, missed: 0, firstClaim: { p50: expect.any(Number) } });
  expect(await service('care', `?from=${ago(3600)}`)).toMatchObject({ tickets: 2, kept: 1, missed: 1 });
  await eventually(async () => (await service('care')).overdue === 1);
  await tickets.configure('care', {});
  expect(await service('care')).toMatchObject({ target: null, tickets: 3, kept: null, missed: null, overdue: 0 });
});

test('S0.4 tickets that a decision decided with it count as decided', async () => {
  await tickets.configure('alike', { serviceSeconds: 60, sync: 'subject' });
  for (const createdAt of [ago(100), ago(10)]) await tickets.add('alike', { subject: 'u', createdAt });
  await tickets.decide(await tickets.claimOne('alike', 'anna'));
  expect(await service('alike')).toMatchObject({ tickets: 2, kept: 1, missed: 1 });
});

test('S0.5 a second look counts as any ticket, gold does not', async () => {
  await tickets.configure('looked', { serviceSeconds: 60 });
  const { id } = await tickets.decided('looked', { createdAt: ago(100) });
  expect((await api.post(`/v1/tickets/${id}/looks`, { cause: 'check' })).status).toBe(201);
  const look = await tickets.claimOne('looked', 'ben');
  // its target passes
  await sql(`update item set overdue_at = now(), first_available_at = now() - interval '61 s' where id = $1`, [
    look.id,
  ]);
  await sql(`select tick_items('ticket', array[$1])`, [look.id]);
  expect(await overdue(look.id)).toHaveLength(1);
  expect(await service('looked')).toMatchObject({ tickets: 1, overdue: 1 });
  await tickets.decide(look);
  expect(await service('looked')).toMatchObject({ tickets: 2, missed: 2, overdue: 0 });
  for (const gold of ['gold-open', 'gold-decided']) await tickets.add('looked', { id: gold, createdAt: ago(100) });
  await api.post('/v1/tickets/gold-decided/resolve', { decision: 1, reason: 'r' });
  await eventually(async () => (await service('looked')).overdue === 1);
  await sql(`update item set look = '{"gold": {}}' where id like 'gold-%'`);
  expect(await service('looked')).toMatchObject({ tickets: 2, overdue: 0 });
});

test('S0.5 an open ticket has one event when it passes the target, however the settings and its queue change', async () => {
  await tickets.configure('old', {});
  await tickets.add('old', { id: 'late', createdAt: ago(100) });
  await tickets.add('old', { id: 'soon', createdAt: ago(10) });
  await tickets.configure('old', { serviceSeconds: 60 });
  await eventually(async () => (await overdue('late')).length === 1);
  expect(await overdue('late')).toMatchObject([{ actor: 'system', data: { serviceSeconds: 60 } }]);
  expect(await tickets.ticket('late')).toMatchObject({ state: 'waiting' });
  expect(await overdue('soon')).toEqual([]);
  const { overdue: n, waitingTooLong } = (await api.get('/v1/attention')).body;
  expect(n).toBeGreaterThanOrEqual(1);
  expect(waitingTooLong).toContainEqual(expect.objectContaining({ name: 'old', targetSeconds: 60 }));
  const lines = linesOf((await api.get('/metrics')).body as string);
  expect(metric(lines, 'docket_overdue_tickets', { queue: 'old' })).toBe(1);
  // a longer target: not beyond it any more, and its history stays
  await tickets.configure('old', { serviceSeconds: 3600 });
  expect((await service('old')).overdue).toBe(0);
  await tickets.configure('old', { serviceSeconds: 5 });
  await eventually(async () => (await overdue('soon')).length === 1);
  // no target there, then one
  await tickets.configure('without', {});
  await tickets.add('without', { id: 'moved', createdAt: ago(100) });
  for (const id of ['late', 'moved']) await api.post(`/v1/tickets/${id}/transfer`, { queue: 'without' });
  for (const id of ['late', 'moved']) await api.post(`/v1/tickets/${id}/transfer`, { queue: 'old' });
  await eventually(async () => (await overdue('moved')).length === 1);
  expect(await overdue('late')).toHaveLength(1);
  expect((await service('old')).overdue).toBe(3);
});

test('S0.7 an adaptive lease lasts twice what decisions take, from a quarter to twice the setting', async () => {
  const settings = { leaseSeconds: 100, lease: 'adaptive', maxHeld: 40 };
  expect(await tickets.configure('pace', settings)).toMatchObject({ lease: 'adaptive' });
  const lasts = async () => {
    const { lease } = await tickets.addHeld('pace', {}, `r-${Math.random()}`);
    return (Date.parse(lease.expiresAt) - Date.parse(lease.grantedAt)) / 1000;
  };
  const decideAll = async (n: number, seconds: number) => {
    for (let i = 0; i < n; i++) await tickets.decided('pace', { id: `pace-${seconds}-${i}` });
    await sql(`update event set at = at - make_interval(secs => $1) where type = 'claimed' and item_id like $2`, [
      seconds,
      `pace-${seconds}-%`,
    ]);
    await sampled('pace');
  };
  await decideAll(19, 40);
  expect(await lasts()).toBe(100);
  await tickets.decided('pace', { id: 'pace-40-x' });
  await sql(`update event set at = at - interval '40 s' where type = 'claimed' and item_id = 'pace-40-x'`);
  await sampled('pace');
  expect(await lasts()).toBeCloseTo(80, -1);
  expect((await service('pace')).leaseSeconds).toBeCloseTo(80, -1);
  // a renewal gives the same
  const held = await tickets.addHeld('pace', {}, 'renews');
  const { expiresAt } = (await tickets.withToken(held, 'renew')).body;
  expect((Date.parse(expiresAt) - Date.now()) / 1000).toBeLessThan(90);
  await decideAll(20, 900);
  expect(await lasts()).toBe(200);
  await sql(`update event e set at = g.at + interval '1 s' from event g
              where e.type = 'decided' and g.item_id = e.item_id and g.seq = e.ends`);
  await sampled('pace');
  expect(await lasts()).toBe(25);
  // another setting: as long as that, until it is computed
  await tickets.configure('pace', { ...settings, leaseSeconds: 200 });
  expect(await lasts()).toBe(200);
  await sampled('pace');
  expect(await lasts()).toBe(50);
  await tickets.configure('pace', { ...settings, lease: 'fixed' });
  expect(await lasts()).toBe(100);
  await sampled('pace');
  expect(await lasts()).toBe(100);
});

test('S0.5 who may read it, and what is refused', async () => {
  await tickets.configure('mine', {});
  const keyed = (await startTestSystem({ DOCKET_AUTH: 'keys' }, { stores, role: 'api' })).api;
  const asked = async (role: Role, subject: string | null = null, queues: string[] | null = null) => {
    const { key } = await createKey(db, { name: role, role, subject, queues });
    return (await keyed.as(key).get('/v1/queues/mine/service')).status;
  };
  for (const role of ['producer', 'agent', 'supervisor'] as const) expect(await asked(role), role).toBe(200);
  expect(await asked('supervisor', null, ['mine'])).toBe(200);
  expect(await asked('supervisor', null, ['other'])).toBe(403);
  expect(await asked('reviewer', 'anna')).toBe(403);
  expectProblem(await api.get('/v1/queues/nowhere/service'), 'nowhere', 404);
  for (const query of [`from=x`, 'step=3'])
    expectProblem(await api.get(`/v1/queues/mine/service?${query}`), query, 422);
  for (const bad of [{ serviceSeconds: 0 }, { lease: 'long' }])
    expectProblem(await api.put('/v1/queues/mine', bad), JSON.stringify(bad), 422);
});
