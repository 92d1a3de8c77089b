import type { Client } from '@temporalio/client';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { publishing } from '../../runtime/commits.ts';
import type { Lane } from '../../runtime/followers/lanes.ts';
import type { Publication } from '../../runtime/followers/messages.ts';
import { Pace } from '../../runtime/followers/pace.ts';
import { Sender, type SenderOptions } from '../../runtime/followers/sender.ts';
import { Load } from '../../runtime/load.ts';
import { deferred, eventually } from '../support/client.ts';

const ROW = {
  kind: 'ticket',
  id: 't',
  queue: 'q',
  state: 'decided',
  version: 1,
  wake_at: null,
  delivery_pending: true,
};

/** Of a decided ticket whose callback is pending, but for what is given. */
const publicationOf = (row: Partial<Publication['row']> = {}) =>
  ({
    row: { ...ROW, ...row },
    ...{ now: new Date(), epoch: 0, shard: 0, position: 7, events: [], fresh: true, optional: false },
  }) as unknown as Publication;

type Start = (type: string, options: { workflowId: string }) => Promise<void>;

/** A sender whose Temporal answers a start, and a signal, as `start` does, and says of each that it has not run. */
function senderTo(start: Start, options: Partial<SenderOptions> = {}): Sender {
  const getHandle = (workflowId: string) => ({ signal: (type: string) => start(type, { workflowId }) });
  const describeWorkflowExecution = async () => ({ pendingWorkflowTask: { attempt: 1 } });
  const client = {
    ...{ workflow: { start, getHandle }, workflowService: { describeWorkflowExecution }, options: { namespace: '' } },
    withDeadline: (_: number, call: () => unknown) => call(),
  };
  return new Sender({
    client: client as unknown as Client,
    log: { debug() {}, info() {}, warn() {}, error() {} },
    ...{ pacemaker: true, publishConcurrency: 10, publishIdlePerSecond: 10, publishBusyPerSecond: 10 },
    callers: { slowdown: undefined },
    isNeedless: () => false,
    done: () => {},
    refused: async () => {},
    ...options,
  });
}

const INVALID_ARGUMENT = 3;

test('S0.9 what Temporal refuses is unacknowledged until it is marked, and sent again where that fails', async () => {
  const start = vi.fn(() => Promise.reject(Object.assign(new Error('this is refused'), { code: INVALID_ARGUMENT })));
  const marks: ReturnType<typeof deferred<void>>[] = [];
  const refused = () => {
    marks.push(deferred());
    return marks.at(-1)?.promise as Promise<void>;
  };
  const sender = senderTo(start, { refused });
  const positions = () => sender.unacknowledged().map(({ position }) => position);
  sender.add('outcomes', publicationOf());
  sender.pump();
  await eventually(async () => marks.length === 1);
  expect([positions(), start.mock.calls.length]).toEqual([[7], 1]);
  marks[0]?.reject(new Error('PostgreSQL is away'));
  await eventually(async () => marks.length === 2);
  expect([positions(), start.mock.calls.length]).toEqual([[7], 2]);
  marks[1]?.resolve();
  await eventually(async () => positions().length === 0);
  await sender.stop();
  expect(start).toHaveBeenCalledTimes(2);
});

const CONCURRENCY = 16;
/** As long as a claim may wait for its decision, and the pace takes to look at callers. */
const MOMENT_MS = 500;

/** Messages to a Temporal that accepts each and whose worker does nothing. @returns how many are sent */
async function sentBeside(
  slowdown: number | undefined,
  urgent = false,
  state: Publication['row']['state'] = 'held',
): Promise<number> {
  vi.useFakeTimers({ toFake: ['performance', 'setTimeout', 'clearTimeout'] });
  const start = vi.fn(async () => {});
  const many = { publishConcurrency: CONCURRENCY, publishBusyPerSecond: 1_000 };
  const sender = senderTo(start, { ...many, callers: { slowdown } });
  for (let n = 0; n < 100; n++)
    sender.add('rest', publicationOf({ id: `t${n}`, state, delivery_pending: false, wake_at: new Date() }));
  if (urgent) sender.add('outcomes', publicationOf({ id: 'urgent' }));
  for (let n = 0; n < 20; n++) {
    sender.pump();
    await vi.advanceTimersByTimeAsync(MOMENT_MS / 20);
  }
  vi.useRealTimers();
  await sender.stop();
  return start.mock.calls.length;
}

test('S0.10 where no one calls, as many messages wait for the worker as it may have; beside callers four, beside outcomes one', async () => {
  expect(await sentBeside(undefined)).toBe(CONCURRENCY);
  expect(await sentBeside(1.1)).toBe(4);
  // the outcome itself, and one of the rest
  expect(await sentBeside(undefined, true)).toBe(2);
});

test('S0.10 what ended many at once waits for the worker as all else does: beside outcomes one', async () => {
  expect(await sentBeside(undefined, false, 'invalidated')).toBe(CONCURRENCY);
  expect(await sentBeside(undefined, true, 'invalidated')).toBe(2);
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

test('S0.4 what ended many at once is sent as fast as Temporal takes it where no one has called for ten seconds, else at its rate', async () => {
  const sentIn = async (slowdown: number | undefined) => {
    vi.useFakeTimers({ toFake: ['performance', 'setTimeout', 'clearTimeout'] });
    const start = vi.fn(async (_type: string, { workflowId }: { workflowId: string }) => sender.ran(workflowId));
    const rates = { publishBusyPerSecond: 1_000, publishIdlePerSecond: 10 };
    const sender = senderTo(start, { ...rates, callers: { slowdown } });
    for (let n = 0; n < 500; n++)
      sender.add('idle', publicationOf({ id: `t${n}`, state: 'invalidated', delivery_pending: false }));
    const counts: number[] = [];
    for (let second = 0; second < 14; second++) {
      const before = start.mock.calls.length;
      for (let n = 0; n < 20; n++) {
        sender.pump();
        await vi.advanceTimersByTimeAsync(50);
      }
      counts.push(start.mock.calls.length - before);
    }
    vi.useRealTimers();
    return { first: Math.max(...counts.slice(1, 9)), last: counts.slice(10).reduce((sum, n) => sum + n, 0) };
  };
  const [quiet, beside] = [await sentIn(undefined), await sentIn(1.1)];
  expect(Math.max(quiet.first, beside.first)).toBeLessThanOrEqual(12);
  expect(beside.last).toBeLessThanOrEqual(60);
  expect(quiet.last).toBeGreaterThan(300);
});

test('S1.2 a review whose run ended at once is not started again within a second, which Temporal refuses', async () => {
  const sent = await sentTwice('reviews', (n) => ({ kind: 'review', id: `r${n}`, delivery_pending: false }));
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
