import { expect, test } from 'vitest';
import { readConfig } from '../../runtime/config.ts';

test.each([
  [undefined, { publishIdlePerSecond: 50, publishBusyPerSecond: 2, waitingWorkflows: 50_000 }],
  ['localhost:7233', { publishIdlePerSecond: 50, waitingWorkflows: Number.MAX_SAFE_INTEGER }],
  ['[::1]:7233', { publishIdlePerSecond: 50, waitingWorkflows: Number.MAX_SAFE_INTEGER }],
  ['temporal.internal', { publishIdlePerSecond: 1_000, publishBusyPerSecond: 10 }],
])('how much is published follows from where Temporal runs: %s', (TEMPORAL_ADDRESS, limits) => {
  expect(readConfig({ TEMPORAL_ADDRESS })).toMatchObject(limits);
});

test('a measurement gives its own limits, and leaves the others', () => {
  expect(readConfig({}, { maxCalls: 2 })).toMatchObject({ maxCalls: 2, publishIdlePerSecond: 50 });
});
