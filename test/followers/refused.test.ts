import { expect, test } from 'vitest';
import { eventually } from '../support/client.ts';
import { publicationOf, senderTo } from '../support/sender.ts';

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

test('S0.9 what Temporal refuses is unacknowledged until it is marked, and sent again where that fails', async () => {
  let starts = 0;
  const start = async () => {
    starts++;
    throw Object.assign(new Error('this is refused'), { code: INVALID_ARGUMENT });
  };
  const marks: Mark[] = [];
  const sender = senderTo(start, {
    refused: () => {
      const mark = marked();
      marks.push(mark);
      return mark.promise;
    },
  });
  const positions = () => sender.unacknowledged().map(({ position }) => position);
  sender.add('outcomes', publicationOf());
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
