import type { Client } from '@temporalio/client';
import { expect, test } from 'vitest';
import type { Publication } from '../../runtime/followers/messages.ts';
import { Sender } from '../../runtime/followers/sender.ts';
import { eventually } from '../support/client.ts';

const INVALID_ARGUMENT = 3;

interface Mark {
  promise: Promise<void>;
  resolve(): void;
  reject(error: Error): void;
}

function marked(): Mark {
  let [resolve, reject] = [() => {}, (_: Error) => {}];
  const promise = new Promise<void>((done, failed) => {
    [resolve, reject] = [done, failed];
  });
  return { promise, resolve, reject };
}

const publication = {
  row: { kind: 'ticket', id: 't', queue: 'q', state: 'decided', version: 1, wake_at: null, telling: true },
  ...{ now: new Date(), epoch: 0, shard: 0, position: 7, events: [], fresh: true, optional: false },
} as unknown as Publication;

test('S0.9 what Temporal refuses is unacknowledged until it is marked, and sent again where that fails', async () => {
  let starts = 0;
  const start = async () => {
    starts++;
    throw Object.assign(new Error('this is refused'), { code: INVALID_ARGUMENT });
  };
  const client = { workflow: { start }, withDeadline: (_: number, call: () => unknown) => call() };
  const marks: Mark[] = [];
  const sender = new Sender({
    client: client as unknown as Client,
    log: { info() {}, warn() {}, error() {} },
    ...{ pacemaker: true, concurrency: 10, idlePerSecond: 10, busyPerSecond: 10 },
    callers: { slowdown: undefined },
    isNeedless: () => false,
    done: () => {},
    refused: () => {
      const mark = marked();
      marks.push(mark);
      return mark.promise;
    },
  });
  const positions = () => sender.unacknowledged().map(({ position }) => position);
  sender.add('outcomes', publication);
  sender.pump();
  await eventually(async () => marks.length === 1);
  expect([positions(), starts]).toEqual([[7], 1]);
  marks[0]?.reject(new Error('PostgreSQL is away'));
  await eventually(async () => marks.length === 2);
  expect([positions(), starts]).toEqual([[7], 2]);
  marks[1]?.resolve();
  await eventually(async () => positions().length === 0);
  await sender.stop();
  expect(starts).toBe(2);
});
