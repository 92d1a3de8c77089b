import { expect, test } from 'vitest';
import { addCase, claimed, court, jurors, vote, voted } from '../support/cases.ts';
import { claimOne, eventually, type Json } from '../support/client.ts';
import { job } from '../support/jobs.ts';
import { expectProblem } from '../support/problems.ts';
import { startReceiver } from '../support/receiver.ts';
import { startTestSystem } from '../support/system.ts';
import { addMany, decide, decided, withToken } from '../support/tickets.ts';

const { api, sql, running } = await startTestSystem();
const { db } = running.runtime;

/** A minute passes: as maintenance does, the tally is summed up, then queues that have changed are sampled. */
async function sampled(): Promise<void> {
  await sql(`update tally_line set at = at - interval '2 minutes' where at is not null`);
  await eventually(async () => {
    await db.run('compact_tally');
    return (await sql(`select from tally_line`)).length === 0;
  });
  await sql(`update sample_state set sampled_at = '-infinity'`);
  await eventually(async () => {
    await db.lists.run('sample_queues', { limit: 2_000 });
    return (await sql(`select from sample_state where sampled_at > '-infinity'`)).length > 0;
  });
}

/** All samples so far were taken so much earlier. */
async function earlier(minutes: number): Promise<void> {
  await sql(`update sample_state set began_at = now() - interval '1 day'`);
  await sql(`update sample set at = at - make_interval(mins => $1)`, [minutes]);
}

const series = async (query: string) => (await api.get(`/v1/figures?${query}`)).body.series;
const ago = (minutes: number, now = Date.now()) => new Date(now - minutes * 60_000).toISOString();
/** So many minutes exactly, which began so many minutes ago. */
const span = (began: number, minutes: number, now = Date.now()) => [ago(began, now), ago(began - minutes, now)];

/** The sum over the steps of which something is known. */
const total = (values: (number | null)[]) => values.reduce<number>((sum, value) => sum + (value ?? 0), 0);

test('what a queue had and did over time: levels at the end of each step, what came in it', async () => {
  await api.put('/v1/queues/line', { maxHeld: 5 });
  await api.put('/v1/queues/other', {});
  await addMany(api, 'line', ['l-1', 'l-2', 'l-3', 'l-4', { id: 'l-5', delaySeconds: 3600 }]);
  await addMany(api, 'other', ['o-1']);
  for (let n = 0; n < 2; n++) await decide(api, await claimOne(api, 'line', 'anna'));
  await sampled();
  await earlier(30);
  await addMany(api, 'line', ['l-6', 'l-7']);
  await decide(api, await claimOne(api, 'line', 'anna'));
  await claimOne(api, 'line', 'ben');
  await api.post('/v1/tickets/l-5/invalidate', { reason: 'over' });
  await sampled();

  const { status, body } = await api.get(`/v1/figures?kind=ticket&queue=line&from=${ago(59)}&step=600`);
  expect(status).toBe(200);
  expect(body).toMatchObject({ kind: 'ticket', queue: 'line', stepSeconds: 600 });
  const line = body.series;
  for (const values of Object.values(line)) expect(values).toHaveLength(6);
  expect(line.waiting[0], 'before there was anything').toBe(0);
  const [from, to] = span(2900, 20);
  const before = await series(`kind=ticket&queue=line&from=${from}&to=${to}&step=600`);
  expect([before.waiting, before.added], 'before sampling began').toEqual([Array(2).fill(null), Array(2).fill(null)]);
  expect(line.waiting.slice(2)).toEqual([2, 2, 2, 2]);
  expect(line.held.slice(2)).toEqual([0, 0, 0, 1]);
  expect(line.delayed.slice(2)).toEqual([1, 1, 1, 0]);
  expect([total(line.added), total(line.handedOut), total(line.settled)]).toEqual([7, 4, 3]);
  expect([line.handedOut.at(-1), line.settled.at(-1), line.invalidated.at(-1)]).toEqual([2, 1, 1]);
  expect(line.oldestWaitingSeconds.at(-1)).toEqual(expect.any(Number));
  expect(new Set(line.votes)).toEqual(new Set([null]));

  const all = (await api.get(`/v1/figures?kind=ticket&from=${ago(60)}&step=600`)).body;
  expect(all.queue).toBe(null);
  expect(all.series.waiting.at(-1)).toBe(3);
  expect(total(all.series.added)).toBe(8);
  expect((await series('kind=job&queue=nothing')).added.length).toBe(288);
}, 180_000);

test('nothing is written where nothing has changed; what is old is thinned out, and says the same', async () => {
  await addMany(api, 'thin', ['t-1']);
  await sampled();
  const rows = () => sql<{ at: Date }>(`select at from sample where kind = 'ticket' and queue = 'thin' order by at`);
  expect(await rows()).toHaveLength(1);
  await sampled();
  expect(await rows()).toHaveLength(1);
  // an hour of three days ago, with four rows
  const hour = `date_trunc('hour', now() - interval '3 days')`;
  for (const [minutes, ready] of [
    [1, 5],
    [20, 7],
    [40, 9],
    [59, 4],
  ])
    await sql(
      `insert into sample select kind, queue, ${hour} + make_interval(mins => $1), delayed, $2, held, buried, settled, invalidated,
         expired, dead, granted, lease_expired, votes, wasted, failed, oldest from sample where queue = 'thin' limit 1`,
      [minutes, ready],
    );
  await sql(`update sample_state set began_at = ${hour} - interval '1 day', thinned_until = ${hour}`);
  const at = async (minutes: number) => {
    const [{ to } = {}] = await sql(`select ${hour} + make_interval(mins => $1) as to`, [minutes]);
    const until = (to as Date).toISOString();
    const from = new Date((to as Date).getTime() - 60_000).toISOString();
    return series(`kind=ticket&queue=thin&from=${from}&to=${until}&step=60`);
  };
  expect((await at(30)).waiting).toEqual([7]);
  await sampled();
  await eventually(async () => (await rows()).length === 2);
  expect((await at(60)).waiting).toEqual([4]);
  expect((await at(30)).waiting).toEqual([0]);
}, 180_000);

test('deliveries that are given up are counted by queue, until they are sent again', async () => {
  let status = 410;
  const receiver = await startReceiver(() => status);
  await api.put('/v1/queues/calls', { callback: receiver.callback });
  await decided(api, 'calls', { id: 'c-1' });
  await eventually(async () => (await api.get('/v1/deliveries?state=failed&queue=calls')).body.items.length === 1);
  const failed = async () =>
    (await api.get('/v1/overview?kind=ticket')).body.queues.items.find((q: Json) => q.name === 'calls')
      .failedDeliveries;
  expect(await failed()).toBe(1);
  await sampled();
  expect((await series('kind=ticket&queue=calls')).failedDeliveries.at(-1)).toBe(1);
  expect((await api.get('/v1/attention')).body.failedDeliveries).toMatchObject({
    total: 1,
    queues: [{ kind: 'ticket', queue: 'calls', failed: 1 }],
  });
  status = 204;
  expect((await api.post('/v1/deliveries/ticket/c-1/1/redeliver')).status).toBe(202);
  await eventually(async () => (await failed()) === 0);
}, 180_000);

test('what a kind does not count is null, not 0', async () => {
  await earlier(0);
  const isNull = async (kind: string, what: string) =>
    (await series(`kind=${kind}`))[what].every((value: unknown) => value === null);
  for (const kind of ['case', 'task'])
    for (const what of ['handedOut', 'leaseExpiries']) expect(await isNull(kind, what), `${kind} ${what}`).toBe(true);
  for (const kind of ['ticket', 'job']) expect(await isNull(kind, 'leaseExpiries'), kind).toBe(false);
  for (const what of ['votes', 'wasted']) expect(await isNull('ticket', what), what).toBe(true);
}, 60_000);

test('what cannot be drawn is refused', async () => {
  for (const query of [
    'kind=ticket&step=59',
    'kind=ticket&step=86401',
    `kind=ticket&from=${ago(600)}&step=60`,
    `kind=ticket&from=${ago(1)}&to=${ago(2)}`,
    `kind=ticket&from=1970-01-01T00:00:00Z&step=86400`,
    'queue=line',
    'kind=rotation',
    'kind=ticket&from=yesterday',
    'kind=ticket&from=8133-01-01T00:00:00Z',
    'kind=ticket&queue=',
  ])
    expectProblem(await api.get(`/v1/figures?${query}`), query, 422);
});

test('who decided how much, how long they held it, what they skipped and let run out', async () => {
  await api.put('/v1/queues/people', { leaseSeconds: 600, maxHeld: 1 });
  await addMany(api, 'people', ['p-1', 'p-2', 'p-3', 'p-4', 'p-5']);
  for (let n = 0; n < 2; n++) await decide(api, await claimOne(api, 'people', 'anna'));
  for (const skip of [true, false]) await withToken(api, await claimOne(api, 'people', 'ben'), 'release', { skip });
  // what was claimed ahead and never seen was not given back by anyone
  await withToken(api, await claimOne(api, 'people', 'ben'), 'release', { unseen: true });
  await api.put('/v1/queues/people', { leaseSeconds: 0.1, maxHeld: 1 });
  const { id } = await claimOne(api, 'people', 'carl');
  await eventually(async () => (await api.get(`/v1/tickets/${id}`)).body.state === 'waiting');
  await api.put('/v1/queues/people', { leaseSeconds: 600, maxHeld: 1 });
  const held = await claimOne(api, 'people', 'dora');
  await api.post(`/v1/tickets/${held.id}/resolve`, { decision: 1, reason: 'by an operator' });

  const { body } = await api.get('/v1/figures/people?queue=people');
  const lines = Object.fromEntries(body.reviewers.map((r: Json) => [r.person, r]));
  const none = { decisions: 0, skips: 0, releases: 0, expiries: 0 };
  expect(lines.anna).toMatchObject({ ...none, decisions: 2, medianHandlingSeconds: expect.any(Number) });
  expect(lines.ben).toMatchObject({ ...none, skips: 1, releases: 1, medianHandlingSeconds: null });
  expect(lines.carl).toMatchObject({ ...none, expiries: 1 });
  expect(lines.dora).toMatchObject(none);
  expect(body).toMatchObject({ partial: false, jurors: [] });
  expect((await api.get('/v1/figures/people?queue=people&person=ben')).body.reviewers).toEqual([lines.ben]);
  expect((await api.get(`/v1/figures/people?queue=people&to=${ago(5)}`)).body.reviewers).toEqual([]);
  expect((await api.get('/v1/figures/people?queue=elsewhere')).body.reviewers).toEqual([]);
});

test('who voted with the outcome, whose votes were wasted', async () => {
  await court(api, 'judges', { votesToWin: 2, overbook: 2, lateVotes: 'refuse' });
  await jurors(api, 'judges', ['j-1', 'j-2', 'j-3', 'j-4']);
  await addCase(api, 'judges', { id: 'case-1' });
  const holds = [];
  for (const juror of ['j-1', 'j-2', 'j-3']) holds.push(await claimed(api, 'judges', juror));
  await voted(api, 'case-1', holds[0]?.token ?? '', 'seller');
  const last = await claimed(api, 'judges', 'j-4');
  await voted(api, 'case-1', holds[1]?.token ?? '', 'buyer');
  await voted(api, 'case-1', holds[2]?.token ?? '', 'buyer');
  expect((await vote(api, 'case-1', last.token, 'buyer')).status).toBe(409);

  const { body } = await api.get('/v1/figures/people?kind=case&queue=judges');
  const lines = Object.fromEntries(body.jurors.map((r: Json) => [r.person, r]));
  const line = { votes: 1, wasted: 0, judged: 1, gold: { judged: 0, agreed: 0 } };
  expect(lines['j-1']).toMatchObject({ ...line, agreed: 0, agreement: 0 });
  expect(lines['j-2']).toMatchObject({ ...line, agreed: 1, agreement: 1 });
  expect(lines['j-4']).toMatchObject({ votes: 0, wasted: 1, judged: 0, agreement: null });
  expectProblem(await api.get('/v1/figures/people?kind=case'), 'no court', 422);
});

test('how late jobs are handed out, each once', async () => {
  for (const id of ['late-1', 'late-2', 'late-3']) await job(api, 'add', { topic: 'late', id, TTR: 60, body: 1 });
  const { jobs } = await job(api, 'pop', { topic: 'late', count: 2 });
  expect(jobs).toHaveLength(2);
  await job(api, 'release', { id: jobs[0].id, token: jobs[0].token });
  await job(api, 'pop', { topic: 'late' });
  const { body } = await api.get('/v1/figures/lateness?kind=job&queue=late');
  expect(body.handedOut, 'a job that is handed out again counts once').toBe(2);
  expect(body.buckets.reduce((sum: number, { count }: Json) => sum + count, 0)).toBe(2);
  expect(body.buckets[0].fromSeconds).toBe(0);
  expect(body.buckets.at(-1)).toMatchObject({ fromSeconds: 86_400, toSeconds: null, count: 0 });
  expect(body.max).toBeGreaterThanOrEqual(body.p50);
  expect((await api.get('/v1/figures/lateness?kind=ticket&queue=late')).body.handedOut).toBe(0);
});
