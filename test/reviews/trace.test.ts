import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import type { Json } from '../support/client.ts';
import { byNight } from '../support/nightly.ts';
import { logOf, put, stores, tell } from '../support/reviews.ts';
import { startTestSystem } from '../support/system.ts';

const { api } = await startTestSystem();
const trace: Json = JSON.parse(readFileSync(new URL('../data/review-callback-trace.json', import.meta.url), 'utf8'));
const ROUNDS = byNight(1_000, 250);
const part = ({ id, status }: Json) => ({ id, status });

test('S1.7 the printed trace leads to exactly its outcomes, statuses and log', async () => {
  const id = trace.reviewId;
  const written = { text: { status: trace.initial.text }, pictures: trace.initial.pictures, replies: [] };
  await put(api, id, written);
  const expected: Json[] = [];
  for (const step of trace.steps) {
    if (step.edit) {
      await put(api, id, written, 200);
      expected.push({ kind: 'edit', outcome: 'edited' });
    } else {
      const { kind, targetId, status, auditTime } = step;
      const answer = await tell(api, id, { kind, targetId, status, auditTime, callbackId: `log-${step.logId}` });
      expect(answer, step.logId).toEqual({ callbackId: `log-${step.logId}`, outcome: step.expected });
      expected.push({ callbackId: `log-${step.logId}`, kind, status, auditTime, outcome: step.expected });
    }
    expect((await stores(api, id)).inStep).toBe(true);
  }
  const { body } = await api.get(`/v1/reviews/${id}`);
  expect(body.status).toBe(trace.final.text);
  expect(body.pictures.map(part)).toEqual(trace.final.pictures);
  const log = await logOf(api, id);
  expect(log).toHaveLength(trace.steps.length);
  log.forEach((line, n) => {
    expect(line).toMatchObject({ seq: n + 1, ...expected[n] });
  });
  expect(log.filter((l) => l.outcome === 'applied')).toHaveLength(trace.applied);
  expect(log.filter((l) => l.outcome === 'expired')).toHaveLength(trace.expired);
});

test(`S1.2 S1.7 the lost update: both pictures are 5, ${ROUNDS} times of ${ROUNDS}`, async () => {
  const { initial, callbacks, final } = trace.lostUpdate;
  const rounds = Array.from({ length: ROUNDS }, (_, n) => n);
  const named = (all: Json[], n: number) => all.map((p) => ({ id: `${p.id}-${n}`, status: p.status }));
  const one = async (n: number) => {
    const id = `lost-${n}`;
    await put(api, id, { text: { status: 1 }, pictures: named(initial.pictures, n), replies: [] });
    const auditTime = new Date().toISOString();
    const sent = callbacks.map((c: Json) => tell(api, id, { ...c, targetId: `${c.targetId}-${n}`, auditTime }));
    expect((await Promise.all(sent)).map((a) => a.outcome)).toEqual(['applied', 'applied']);
    const { body } = await api.get(`/v1/reviews/${id}`);
    expect(body.pictures.map(part)).toEqual(named(final.pictures, n));
    expect((await stores(api, id)).inStep).toBe(true);
  };
  const work = async () => {
    for (let n = rounds.pop(); n !== undefined; n = rounds.pop()) await one(n);
  };
  await Promise.all(Array.from({ length: 16 }, work));
}, 180_000);
