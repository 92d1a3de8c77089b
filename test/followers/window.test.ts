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
