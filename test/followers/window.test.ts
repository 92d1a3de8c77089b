import { expect, test, vi } from 'vitest';
import type { Lane } from '../../runtime/followers/lanes.ts';
import type { Publication } from '../../runtime/followers/messages.ts';
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

/** Sends 300 twice, the second time before a second is over. @returns when each was sent, by workflow */
async function sentTwice(lane: Lane, row: (n: number) => Partial<Publication['row']>): Promise<number[][]> {
  vi.useFakeTimers({ toFake: ['performance', 'setTimeout', 'clearTimeout'] });
  const times = new Map<string, number[]>();
  const start = async (_type: string, { workflowId }: { workflowId: string }) => {
    times.set(workflowId, [...(times.get(workflowId) ?? []), performance.now()]);
    sender.ran(workflowId);
  };
  const sender = senderTo(start);
  for (let round = 1; round <= 2; round++) {
    for (let n = 0; n < 300; n++) sender.add(lane, publicationOf({ ...row(n), version: round }));
    for (let n = 0; n < 40; n++) {
      sender.pump();
      await vi.advanceTimersByTimeAsync(10);
    }
  }
  await vi.advanceTimersByTimeAsync(2_000);
  vi.useRealTimers();
  return [...times.values()];
}
const betweenMs = (times: number[] = []) => (times[1] ?? 0) - (times[0] ?? 0);

test('S1.2 a review whose run ended at once is not started again within a second, which Temporal refuses', async () => {
  const sent = await sentTwice('reviews', (n) => ({ kind: 'review', id: `r${n}`, telling: false }));
  expect(sent.every((times) => times.length === 2)).toBe(true);
  expect(betweenMs(sent[0])).toBeGreaterThanOrEqual(1_000);
  expect(betweenMs(sent[0])).toBeLessThan(1_100);
  // the last of the first round had no one behind it: its run stays
  expect(betweenMs(sent[299])).toBeLessThan(1_000);
});

test('S0.10 the next message of an item waits for no second, however many outcomes there are', async () => {
  const sent = await sentTwice('outcomes', (n) => ({ id: `t${n}` }));
  expect(sent).toHaveLength(300);
  for (const times of sent) expect(betweenMs(times)).toBeLessThan(1_000);
});
