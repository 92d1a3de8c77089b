import { expect, test, vi } from 'vitest';
import { publicationOf, senderTo } from '../support/sender.ts';

const CONCURRENCY = 16;
/** As long as a claim may wait for its decision, and the pace takes to look at callers. */
const MOMENT_MS = 500;

/** Messages to a Temporal that takes each and whose worker does nothing. @returns how many are sent */
async function sentBeside(slowdown: number | undefined, urgent = false): Promise<number> {
  vi.useFakeTimers({ toFake: ['performance', 'setTimeout', 'clearTimeout'] });
  let sent = 0;
  const start = () => {
    sent++;
    return new Promise<void>(() => {});
  };
  const many = { concurrency: CONCURRENCY, busyPerSecond: 1_000 };
  const sender = senderTo(start, { ...many, callers: { slowdown } });
  for (let n = 0; n < 100; n++)
    sender.add('rest', publicationOf({ id: `t${n}`, state: 'held', telling: false, wake_at: new Date() }));
  if (urgent) sender.add('outcomes', publicationOf({ id: 'urgent' }));
  for (let n = 0; n < 20; n++) {
    sender.pump();
    await vi.advanceTimersByTimeAsync(MOMENT_MS / 20);
  }
  vi.useRealTimers();
  return sent;
}

test('S0.10 where no one calls, as many messages wait for the worker as it may have; beside callers four, beside outcomes one', async () => {
  expect(await sentBeside(undefined)).toBe(CONCURRENCY);
  expect(await sentBeside(1.1)).toBe(4);
  // the outcome itself, and one of the rest
  expect(await sentBeside(undefined, true)).toBe(2);
});

test('S1.2 a review whose run ended at once is not started again within a second, which Temporal refuses; the others are', async () => {
  vi.useFakeTimers({ toFake: ['performance', 'setTimeout', 'clearTimeout'] });
  const starts = new Map<string, number[]>();
  const start = async (_type: string, { workflowId }: { workflowId: string }) => {
    const times = starts.get(workflowId) ?? [];
    starts.set(workflowId, [...times, performance.now()]);
    sender.ran(workflowId);
  };
  const sender = senderTo(start);
  const review = (n: number) => publicationOf({ kind: 'review', id: `r${n}`, telling: false });
  for (let round = 0; round < 2; round++) {
    for (let n = 0; n < 300; n++) sender.add('reviews', review(n));
    for (let n = 0; n < 40; n++) {
      sender.pump();
      await vi.advanceTimersByTimeAsync(10);
    }
  }
  await vi.advanceTimersByTimeAsync(2_000);
  vi.useRealTimers();
  const [first, last] = [0, 299].map((n) => starts.get(`review/r${n}`) ?? []);
  expect([...starts.values()].every((times) => times.length === 2)).toBe(true);
  const betweenMs = (times: number[] = []) => (times[1] ?? 0) - (times[0] ?? 0);
  expect(betweenMs(first)).toBeGreaterThanOrEqual(1_000);
  expect(betweenMs(first)).toBeLessThan(1_100);
  // the last of the first round had no one behind it: its run stays
  expect(betweenMs(last)).toBeLessThan(1_000);
});
