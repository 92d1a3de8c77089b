import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { eventually, type Json, numbered, type Reply, repeat } from '../support/client.ts';
import { onDatabase } from '../support/database.ts';
import { byNight } from '../support/nightly.ts';
import { expectProblem } from '../support/problems.ts';
import { startTwoSystems } from '../support/system.ts';
import { inMs } from '../support/times.ts';
import { oracle, type Sent, targetsOf } from './oracle.ts';

const [{ api, databaseUrl, running, sql }, other] = await startTwoSystems();
const { drop, logOf, put, review, stores, tell } = api.reviews;
const plain = (id: string, ...pictures: string[]) => ({
  text: { status: 1 },
  pictures: pictures.map((p) => ({ id: `${id}-${p}`, status: 1 })),
  replies: [{ id: 'r', status: 1 }],
});
const ahead = (seconds: number) => inMs(seconds * 1_000);

test('S1.4 an audit time ahead of its arrival counts as of the arrival: a fast clock makes nothing after it late', async () => {
  await put('fast', plain('fast', 'a'));
  const picture = { kind: 'picture', targetId: 'fast-a' };
  expect((await tell('fast', { ...picture, status: 2, auditTime: ahead(240) })).outcome).toBe('applied');
  expect((await tell('fast', { ...picture, status: 3 })).outcome).toBe('applied');
  const path = '/v1/pictures/fast-a/callbacks';
  expect((await api.post(path, { status: 4, auditTime: ahead(200), waitSeconds: 60 })).body.outcome).toBe('applied');
  expect((await tell('fast', { ...picture, status: 5, auditTime: ahead(-60) })).outcome).toBe('expired');
  const tooFar = await api.post('/v1/reviews/fast/callbacks', { ...picture, status: 6, auditTime: ahead(400) });
  expectProblem(tooFar, 'too far', 422);
  const log = await logOf('fast');
  expect(log.map((l) => `${l.status} ${l.outcome}`)).toEqual(['2 applied', '3 applied', '4 applied', '5 expired']);
  for (const line of log.slice(0, 3)) expect(line.auditTime).toBe(line.receivedAt);
});

test('S1.6 each line of the log has all targets before and after it, with statuses and audit times, and why', async () => {
  const auditTime = '2026-11-01T12:00:00.000Z';
  await put('whole', plain('whole', 'a', 'b'));
  await tell('whole', { kind: 'picture', targetId: 'whole-b', status: 2, auditTime });
  await tell('whole', { kind: 'picture', targetId: 'whole-b', status: 3, auditTime: '2026-10-01T12:00:00.000Z' });
  await put('whole', plain('whole', 'b', 'c'), 200);
  await tell('whole', { kind: 'picture', targetId: 'whole-a', status: 4 });
  await tell('whole', { kind: 'text', status: 5, auditTime, callbackId: 'once' });
  await tell('whole', { kind: 'text', status: 6, callbackId: 'once' });
  await tell('whole', { kind: 'reply', targetId: 'r', status: 7, auditTime });
  const target = (status: number, at: string | null = null) => ({ status, auditTime: at });
  const record = (text: object, pictures: Record<string, object>, reply = target(1)) => ({
    text,
    pictures: Object.entries(pictures).map(([p, t]) => ({ id: `whole-${p}`, ...t })),
    replies: [{ id: 'r', ...reply }],
  });
  const first = record(target(1), { a: target(1), b: target(1) });
  const second = record(target(1), { a: target(1), b: target(2, auditTime) });
  const third = record(target(1), { b: target(2, auditTime), c: target(1) });
  const fourth = record(target(5, auditTime), { b: target(2, auditTime), c: target(1) });
  const last = record(target(5, auditTime), { b: target(2, auditTime), c: target(1) }, target(7, auditTime));
  const expected = [
    ['applied', null, first, second],
    ['expired', 'older', second, second],
    ['edited', null, second, third],
    ['expired', 'removed', third, third],
    ['applied', null, third, fourth],
    ['duplicate', 'repeated', fourth, fourth],
    ['applied', null, fourth, last],
  ];
  expect((await logOf('whole')).map((l) => [l.outcome, l.reason, l.before, l.after])).toEqual(expected);
  // the same from any page on
  for (let limit = 1; limit < expected.length; limit++) {
    const lines = await logOf('whole', limit);
    expect(lines.map((l) => [l.outcome, l.reason, l.before, l.after])).toEqual(expected);
  }
});

test('S1.6 the log of a review with 10,000 targets comes in pages of a few megabytes', async () => {
  const pictures = repeat(10_000, (n) => ({ id: `pages-${n}`, status: 1 }));
  await put('pages', { text: { status: 1 }, pictures });
  for (let n = 0; n < 12; n++) await tell('pages', { kind: 'picture', targetId: `pages-${n}`, status: n });
  const { body } = await api.get('/v1/reviews/pages/log?limit=500');
  expect(body.items.length).toBeGreaterThan(0);
  expect(body.items.length).toBeLessThan(12);
  const log = await logOf('pages');
  expect(log.map((l) => l.seq)).toEqual(repeat(12, (n) => n + 1));
  for (const [n, line] of log.entries()) {
    expect([line.before.pictures[n].status, line.after.pictures[n].status]).toEqual([1, n]);
    if (n > 0) expect(line.before).toEqual(log[n - 1]?.after);
  }
}, 60_000);

test('S1.4 the day’s counts are those of the log, under 50 callers at once, in /metrics too', async () => {
  const reviews = numbered(10, 'count-');
  for (const id of reviews) await put(id, plain(id, 'a'));
  let sent = 0;
  const caller = async (_: unknown, n: number) => {
    for (let k = 0; k < 5; k++) {
      const server = k % 2 ? api : other.api;
      const id = reviews[(n + k) % reviews.length] ?? '';
      sent++;
      await server.reviews.tell(id, {
        ...{ kind: 'picture', targetId: `${id}-a`, status: k, callbackId: `cb-${(n * k) % 97}` },
        auditTime: new Date(Date.now() - ((n * 7919 + k) % 50_000)).toISOString(),
      });
      if (n === k) await server.reviews.put(id, plain(id, 'a'), 200);
    }
  };
  await Promise.all(numbered(50).map(caller));
  const known = await sql<{ id: string }>('select id from review');
  const logs = await Promise.all(known.map(({ id }) => logOf(id)));
  const lines = logs.flat();
  let total = 0;
  for (const day of new Set(lines.map((line) => line.appliedAt.slice(0, 10)))) {
    const of = (outcome: string) => lines.filter((l) => l.appliedAt.startsWith(day) && l.outcome === outcome).length;
    const [applied, expired, repeated] = [of('applied'), of('expired'), of('duplicate')];
    const { body } = await api.get(`/v1/review-stats?day=${day}`);
    expect(body).toEqual({ day, applied, expired, repeated, edited: of('edited') });
    total += applied + expired + repeated;
  }
  expect(total).toBeGreaterThan(sent);
  const today = (await api.get('/v1/review-stats')).body;
  const metrics = (await api.get('/metrics')).body as string;
  const value = (outcome: string) =>
    Number(new RegExp(`^docket_review_log_lines_today\\{.*outcome="${outcome}".* (\\S+)$`, 'm').exec(metrics)?.[1]);
  for (const outcome of ['applied', 'expired', 'repeated', 'edited']) expect(value(outcome)).toBe(today[outcome]);
  expect((await api.get('/v1/review-stats?day=2016-02-29')).body).toMatchObject({ applied: 0, edited: 0 });
  for (const day of ['2015-02-29', 'today', '2016-1-1', ''])
    expectProblem(await api.get(`/v1/review-stats?day=${day}`), day, 422);
}, 120_000);

const trace: Json = JSON.parse(readFileSync(new URL('../data/review-callback-trace.json', import.meta.url), 'utf8'));
const ROUNDS = byNight(1_000, 12);
const part = ({ id, status }: Json) => ({ id, status });

test('S1.7 the printed trace leads to exactly its outcomes, statuses and log', async () => {
  const id = trace.reviewId;
  const written = { text: { status: trace.initial.text }, pictures: trace.initial.pictures, replies: [] };
  await put(id, written);
  const expected: Json[] = [];
  for (const step of trace.steps) {
    if (step.edit) {
      await put(id, written, 200);
      expected.push({ kind: 'edit', outcome: 'edited' });
    } else {
      const { kind, targetId, status, auditTime } = step;
      const answer = await tell(id, { kind, targetId, status, auditTime, callbackId: `log-${step.logId}` });
      expect(answer, step.logId).toEqual({ callbackId: `log-${step.logId}`, outcome: step.expected });
      expected.push({ callbackId: `log-${step.logId}`, kind, status, auditTime, outcome: step.expected });
    }
    expect((await stores(id)).inStep).toBe(true);
  }
  const body = await review(id);
  expect(body.status).toBe(trace.final.text);
  expect(body.pictures.map(part)).toEqual(trace.final.pictures);
  const log = await logOf(id);
  expect(log).toHaveLength(trace.steps.length);
  log.forEach((line, n) => {
    expect(line).toMatchObject({ seq: n + 1, ...expected[n] });
  });
  expect(log.filter((l) => l.outcome === 'applied')).toHaveLength(trace.applied);
  expect(log.filter((l) => l.outcome === 'expired')).toHaveLength(trace.expired);
});

test(`S1.2 S1.7 the lost update: both pictures are 5, ${ROUNDS} times of ${ROUNDS}`, async () => {
  const { initial, callbacks, final } = trace.lostUpdate;
  const rounds = repeat(ROUNDS, (n) => n);
  const named = (all: Json[], n: number) => all.map((p) => ({ id: `${p.id}-${n}`, status: p.status }));
  const one = async (n: number) => {
    const id = `lost-${n}`;
    await put(id, { text: { status: 1 }, pictures: named(initial.pictures, n), replies: [] });
    const auditTime = new Date().toISOString();
    const sent = callbacks.map((c: Json) => tell(id, { ...c, targetId: `${c.targetId}-${n}`, auditTime }));
    expect((await Promise.all(sent)).map((a) => a.outcome)).toEqual(['applied', 'applied']);
    const body = await review(id);
    expect(body.pictures.map(part)).toEqual(named(final.pictures, n));
    expect((await stores(id)).inStep).toBe(true);
  };
  const work = async () => {
    for (let n = rounds.pop(); n !== undefined; n = rounds.pop()) await one(n);
  };
  await Promise.all(Array.from({ length: 16 }, work));
}, 180_000);

const START = '2026-11-01T12:00:00.000Z';
let made = 0;

/** Callbacks that come at once, and whether the one after waits for them. */
const callback = fc.record({
  name: fc.integer({ min: 0, max: 25 }),
  target: fc.constantFrom('text/', 'picture/0', 'picture/1', 'picture/2', 'reply/0'),
  status: fc.integer({ min: -3, max: 9 }),
  // hosts' clocks differ by up to 3 s; a coarse step makes equal times common
  skewMs: fc.integer({ min: -6, max: 6 }).map((n) => n * 500),
});
type Callback = { name: number; target: string; status: number; skewMs: number };
const rounds = fc.array(fc.array(callback, { minLength: 1, maxLength: 12 }), { minLength: 1, maxLength: 6 });

async function run(all: Callback[][]): Promise<void> {
  const id = `any-${made++}`;
  const own = (target: string) =>
    target.startsWith('picture') ? `${id}-${target.split('/')[1]}` : target.split('/')[1];
  const pictures = [0, 1, 2].map((n) => ({ id: `${id}-${n}`, status: 0 }));
  await put(id, { text: { status: 0 }, pictures, replies: [{ id: '0', status: 0 }] });
  for (const round of all) {
    const sent = round.map(({ name, target, status, skewMs }, n) => {
      const [kind] = target.split('/');
      const auditTime = inMs(Math.floor(n / 3) * 1_000 + skewMs, START);
      return tell(id, { kind, targetId: own(target) || undefined, status, auditTime, callbackId: `c${name}` });
    });
    await Promise.all(sent);
    expect((await stores(id)).inStep).toBe(true);
  }
  await agrees(id, all.flat().length);
}

/** The log's order is the order of arrival; the outcomes and the end must follow from it. */
async function agrees(id: string, lines: number): Promise<void> {
  const log = await logOf(id);
  expect(log).toHaveLength(lines);
  const initial = new Map([...targetsOf(await review(id)).keys()].map((key) => [key, 0]));
  const { outcomes, targets } = oracle(
    initial,
    log.map((l) => ({ ...l, targetId: l.targetId ?? undefined })) as Sent[],
  );
  expect(log.map((l) => l.outcome)).toEqual(outcomes);
  expect(targetsOf(await review(id))).toEqual(targets);
  const { record, index, base, inStep } = await stores(id);
  expect(inStep).toBe(true);
  expect(base.status).toBe(record.text.status);
  const all = [record.text, ...record.replies, ...record.pictures];
  expect(index.map((x: Json) => x.status)).toEqual(all.map((x: Json) => x.status));
}

test('S1.2 S1.3 any interleaving of any callbacks ends as the oracle says', async () => {
  await fc.assert(fc.asyncProperty(rounds, run), { numRuns: byNight(40, 6), endOnFailure: true });
}, 180_000);

test('S1.2 200 at once on one review: each has its outcome, in the order of arrival', async () => {
  const [all] = fc.sample(fc.array(callback, { minLength: 200, maxLength: 200 }), { numRuns: 1, seed: 7 });
  await run([(all ?? []).map((c, n) => ({ ...c, name: n % 150 }))]);
}, 60_000);

const CALLERS = 64;

const p99 = (times: number[]) => times.sort((a, b) => a - b)[Math.floor(times.length * 0.99)] ?? 0;

test('S1.8 while one review is locked by a long edit, others’ callbacks and edits are as fast as ever; its own wait, and none is lost', async () => {
  const others = numbered(CALLERS, 'free-');
  for (const id of ['locked', ...others]) await put(id, plain(id, 'p'));
  const round = async (): Promise<number> => {
    const times: number[] = [];
    const caller = async (id: string, n: number) => {
      for (let k = 0; k < 3; k++) {
        const began = performance.now();
        const reply =
          n % 2
            ? await api.post(`/v1/reviews/${id}/callbacks`, { kind: 'text', status: k })
            : await api.post(`/v1/pictures/${id}-p/callbacks`, { status: k });
        times.push(performance.now() - began);
        expect(reply.status).toBe(202);
      }
    };
    await Promise.all(others.map(caller));
    return p99(times);
  };
  const idle = await round();

  await onDatabase(databaseUrl, async (editor) => {
    await editor.query("begin; select 1 from review where id = 'locked' for update");
    const waiting: Promise<Reply>[] = numbered(CALLERS).map((_, n) =>
      api.post('/v1/reviews/locked/callbacks', { kind: 'text', status: n, callbackId: `w-${n}`, waitSeconds: 60 }),
    );
    let answered = 0;
    for (const one of waiting) void one.then(() => answered++);
    const beside = await round();
    for (const id of others.slice(0, 5)) await put(id, { ...plain(id, 'p'), body: 'edited' }, 200);
    expect((await tell('free-0', { kind: 'text', status: 99 })).outcome).toBe('applied');
    expect(answered).toBe(0);
    // behind the lock they would wait for its end; a busy machine makes both slow
    expect(beside).toBeLessThan(Math.max(1_000, idle * 5));
    await editor.query('commit');
    for (const { status, body } of await Promise.all(waiting)) expect([status, body.outcome]).toEqual([200, 'applied']);
  });
  expect(await logOf('locked')).toHaveLength(CALLERS);
}, 240_000);

const { client } = running.runtime;

test('S1.2 a review whose run makes no progress gets a new one, which applies all that has come', async () => {
  await put('stuck', { text: { status: 0 } });
  await put('works', { text: { status: 0 } });
  // no worker knows this type: its first workflow task fails again and again
  const options = { workflowId: 'review/stuck', taskQueue: 'docket-urgent', args: [] };
  const run = await client.workflow.start('unknown', options);
  for (const n of [1, 2]) await drop('stuck', { kind: 'text', status: n });
  await eventually(async () => ((await run.describe()).raw.pendingWorkflowTask?.attempt ?? 0) >= 3, 60_000);
  expect((await logOf('stuck')).length).toBe(0);
  await sql(`update review_callback set received_at = received_at - interval '1 minute'`);
  await eventually(async () => (await logOf('stuck')).length === 2, 60_000);
  expect((await review('stuck')).status).toBe(2);
  await tell('works', { kind: 'text', status: 1, waitSeconds: 20 });
}, 150_000);
