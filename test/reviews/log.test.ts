import { expect, test } from 'vitest';

import { numbered, repeat } from '../support/client.ts';
import { expectProblem } from '../support/problems.ts';
import { startTwoSystems } from '../support/system.ts';
import { inMs } from '../support/times.ts';

const [{ api, sql }, other] = await startTwoSystems();
const { logOf, put, tell } = api.reviews;
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
    for (let k = 0; k < 12; k++) {
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
