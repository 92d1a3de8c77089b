import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { publishing } from '../../runtime/commits.ts';
import { Pace } from '../../runtime/followers/pace.ts';
import { Load } from '../../runtime/load.ts';

beforeEach(() => void vi.useFakeTimers({ toFake: ['performance'] }));
afterEach(() => void vi.useRealTimers());

/** Sends whatever is allowed. @returns messages a second */
function sent(pace: Pace, seconds: number): number {
  let n = 0;
  for (let ms = 0; ms < seconds * 1_000; ms++) {
    vi.advanceTimersByTime(1);
    if (pace.waitMs() > 0) continue;
    pace.spend();
    n++;
  }
  return n / seconds;
}

test('S0.10 beside callers whose statements slow down, publishing halves until it is at its least rate, and comes back', () => {
  const callers: { slowdown: number | undefined } = { slowdown: undefined };
  const pace = new Pace(callers, 10);
  expect(sent(pace, 2)).toBeGreaterThan(500);
  callers.slowdown = 4;
  sent(pace, 5);
  expect(sent(pace, 5)).toBeCloseTo(10, 0);
  // they do not feel it: some more each moment, as long as that is so
  callers.slowdown = 1.2;
  const rising = sent(pace, 5);
  expect(rising).toBeGreaterThan(20);
  expect(sent(pace, 5)).toBeGreaterThan(rising);
  callers.slowdown = undefined;
  sent(pace, 1);
  expect(sent(pace, 2)).toBeGreaterThan(500);
});

test('S0.10 callers are slowed down when their statements take longer than at their best, or when they never pause', () => {
  const load = new Load();
  /** One call every `everyMs`, whose statement takes so long. */
  const calls = (n: number, everyMs: number, tookMs: number) => {
    for (let k = 0; k < n; k++) {
      load.enter();
      vi.advanceTimersByTime(tookMs);
      load.took('claim', tookMs);
      load.leave();
      vi.advanceTimersByTime(everyMs - tookMs);
    }
    return load.slowdown;
  };
  expect(load.slowdown).toBeUndefined();
  expect(calls(100, 50, 2)).toBeCloseTo(1, 1);
  expect(calls(20, 50, 6)).toBeGreaterThan(2);
  expect(calls(40, 50, 2)).toBeLessThan(1.2);
  expect(calls(200, 10, 9)).toBeGreaterThan(50);
  vi.advanceTimersByTime(1_000);
  expect(load.slowdown).toBeUndefined();
  load.hear(3);
  expect(load.slowdown).toBe(3);
});

test('S0.10 processes that tell each other how their callers fare forget a slowdown that is over', () => {
  const loads = [new Load(), new Load()];
  const processes = loads.map((load, n) => {
    const hint = ({ slowdown }: { slowdown?: number }) => {
      if (slowdown !== undefined) loads[1 - n]?.hear(slowdown);
    };
    const parts = { load, follow() {}, feed: { look() {} }, bus: { hint } };
    return { load, publish: publishing(parts as unknown as Parameters<typeof publishing>[0]) };
  });
  /** Each has a call every 100 ms, whose statement takes so long. */
  const calls = (n: number, tookMs: number) => {
    for (let k = 0; k < n; k++)
      for (const { load, publish } of processes) {
        load.enter();
        vi.advanceTimersByTime(tookMs);
        load.took('claim', tookMs);
        publish([]);
        load.leave();
        vi.advanceTimersByTime(50 - tookMs);
      }
    return loads.map(({ slowdown }) => slowdown ?? Number.NaN);
  };
  calls(100, 2);
  for (const slowdown of calls(20, 6)) expect(slowdown).toBeGreaterThan(2);
  for (const slowdown of calls(40, 2)) expect(slowdown).toBeLessThan(1.2);
});
