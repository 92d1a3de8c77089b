import fc from 'fast-check';
import { expect, test } from 'vitest';
import { logOf, put, stores } from '../support/reviews.ts';
import { startTestSystem } from '../support/system.ts';
import { oracle, type Sent, targetsOf } from './oracle.ts';

const { api } = await startTestSystem();
const START = Date.parse('2026-11-01T12:00:00.000Z');
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
  await put(api, id, { text: { status: 0 }, pictures, replies: [{ id: '0', status: 0 }] });
  for (const round of all) {
    const sent = round.map(({ name, target, status, skewMs }, n) => {
      const [kind] = target.split('/');
      const at = new Date(START + Math.floor(n / 3) * 1_000 + skewMs).toISOString();
      const body = {
        kind,
        targetId: own(target) || undefined,
        status,
        auditTime: at,
        callbackId: `c${name}`,
        waitSeconds: 60,
      };
      return api.post(`/v1/reviews/${id}/callbacks`, body);
    });
    const answers = await Promise.all(sent);
    expect(answers.map((a) => a.status)).toEqual(answers.map(() => 200));
    expect((await stores(api, id)).inStep).toBe(true);
  }
  await agrees(id, all.flat().length);
}

/** The log's order is the order of arrival; the outcomes and the end must follow from it. */
async function agrees(id: string, lines: number): Promise<void> {
  const log = await logOf(api, id);
  expect(log).toHaveLength(lines);
  const initial = new Map([...targetsOf((await api.get(`/v1/reviews/${id}`)).body).keys()].map((key) => [key, 0]));
  const { outcomes, targets } = oracle(
    initial,
    log.map((l) => ({ ...l, targetId: l.targetId ?? undefined })) as Sent[],
  );
  expect(log.map((l) => l.outcome)).toEqual(outcomes);
  expect(targetsOf((await api.get(`/v1/reviews/${id}`)).body)).toEqual(targets);
  const { record, index, base, inStep } = await stores(api, id);
  expect(inStep).toBe(true);
  expect(base.status).toBe(record.text.status);
  expect(index.map((x: { status: number }) => x.status)).toEqual([
    record.text.status,
    ...record.replies.map((r: { status: number }) => r.status),
    ...record.pictures.map((p: { status: number }) => p.status),
  ]);
}

test('S1.2 S1.3 any interleaving of any callbacks ends as the oracle says', async () => {
  await fc.assert(fc.asyncProperty(rounds, run), { numRuns: 40, endOnFailure: true });
}, 180_000);

test('S1.2 200 at once on one review: each has its outcome, in the order of arrival', async () => {
  const [all] = fc.sample(fc.array(callback, { minLength: 200, maxLength: 200 }), { numRuns: 1, seed: 7 });
  await run([(all ?? []).map((c, n) => ({ ...c, name: n % 150 }))]);
}, 60_000);
