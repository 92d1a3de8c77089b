import { expect, test } from 'vitest';
import { chartsIn, type Figures } from '../../web/pages/numbers/charts.ts';
import { timeOf } from '../../web/pages/numbers/wanted.ts';

test('steps begin and end between two samples, the same ones a minute later; one that is not over is not known yet', () => {
  const at = Date.parse('2026-11-22T13:07:42Z');
  expect(timeOf('day', at)).toEqual({ from: '2026-11-21T13:05:30.000Z', to: '2026-11-22T13:07:30.000Z', step: 300 });
  expect(timeOf('day', at + 60_000).from).toBe('2026-11-21T13:05:30.000Z');
  expect(timeOf('week', at)).toMatchObject({ from: '2026-11-15T13:00:30.000Z', step: 3_600 });
  const levels = [0, 2, 3];
  const names = ['delayed', 'waiting', 'held', 'buried', 'oldestWaitingSeconds', 'failedDeliveries'];
  const rates = ['added', 'handedOut', 'settled', 'invalidated', 'expired', 'dead', 'leaseExpiries', 'votes', 'wasted'];
  const series = Object.fromEntries([...names, ...rates].map((name) => [name, levels])) as Figures['series'];
  const known = { kind: 'job', queue: 'q', from: '2026-11-22T12:00:00Z', stepSeconds: 300, series } as const;
  const linesOf = (to: string) =>
    Object.fromEntries(chartsIn('job', { ...known, to }).drawn.map(({ chart, drawn }) => [chart.id, drawn.values[0]]));
  expect(linesOf('2026-11-22T12:13:00Z')).toMatchObject({ backlog: levels, throughput: [0, 2, null] });
  expect(linesOf('2026-11-22T12:15:00Z')).toMatchObject({ backlog: levels, throughput: levels });
});
