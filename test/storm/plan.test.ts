import { expect, test } from 'vitest';
import { type Fault, planOf, shrink, stepOf, withUpdate } from '../../bench/storm/plan.ts';
import { unsureOf } from '../../bench/storm/storm.ts';

test('a seed has the same faults each time, and another seed has others', () => {
  expect(planOf(7, 10, 1)).toEqual(planOf(7, 10, 1));
  expect(planOf(8, 10, 1)).not.toEqual(planOf(7, 10, 1));
});

test('ten minutes of a fault a second have each sort of fault, and none after the end', () => {
  const plan = planOf(7, 10, 1);
  expect(plan.length).toBeGreaterThan(450);
  expect(plan.every(({ at }) => at < 600_000)).toBe(true);
  const sorts = new Set(plan.map(({ what, target }) => `${what} ${target.replace(/-\d.*/, '')}`));
  for (const sort of [
    'kill api',
    'kill worker',
    'kill postgres',
    'kill temporal',
    'kill backend',
    'pause api',
    'clock worker',
  ])
    expect(sorts).toContain(sort);
});

test('a storm that begins with an earlier release has one update, in its middle', () => {
  const updates = withUpdate(planOf(7, 10, 1), 10).filter(({ what }) => what === 'update');
  expect(updates.map(({ at }) => at)).toEqual([300_000]);
});

test('a plan that fails by two of its faults is shrunk to these two', async () => {
  const plan = planOf(3, 2, 1);
  const [one, other] = [plan[10], plan[plan.length - 3]] as [Fault, Fault];
  const left = await shrink(plan, async (some) => some.includes(one) && some.includes(other));
  expect(left).toEqual([one, other]);
});

test('S0.9 a step of the database’s clock is known by what was planned, whenever it was made', () => {
  const planned: Fault = { at: 1_000, what: 'clock', target: 'postgres', ms: 2_002 };
  expect(stepOf(planned)).toBe(20);
  const made = { ...planned, at: 1_003, until: 3_005 };
  const [[from = 0, to = 0] = []] = unsureOf({ faults: [made], epoch: 100_000 });
  expect(from).toBeLessThan(101_003);
  expect(to).toBeGreaterThan(103_005 + 20_000);
});
