import type { Workload } from '../workload.ts';

const REVIEWS = 40;
const BASE = Date.parse('2026-01-01T00:00:00Z');

const pictureOf = (review: string, n: number): string => `${review}-picture-${n}`;

/** Reviews: audits that arrive out of order, repeated, and from two sides at once (S1). */
export async function reviews(w: Workload): Promise<void> {
  const names = Array.from({ length: REVIEWS }, () => w.name('r'));
  for (const id of names) {
    const pictures = [0, 1].map((n) => ({ id: pictureOf(id, n), status: 1 }));
    const body = { text: { status: 1 }, pictures, callback: w.callback };
    await w.insist('author', 'review.put', { id }, `PUT /v1/reviews/${id}`, body);
  }
  w.produce(5, async () => {
    const id = w.pick(names);
    const target = w.chance(0.5)
      ? { kind: 'text' }
      : { kind: 'picture', targetId: pictureOf(id, w.chance(0.5) ? 0 : 1) };
    const auditTime = new Date(BASE + Math.floor(w.roll() * 1e9)).toISOString();
    const args = { callbackId: w.name('a'), ...target, status: Math.floor(w.roll() * 100), auditTime };
    const body = { ...args, waitSeconds: w.chance(0.5) ? 1 : 0 };
    await w.insist('auditor', 'review.callback', { id, ...args }, `POST /v1/reviews/${id}/callbacks`, body);
  });
}
