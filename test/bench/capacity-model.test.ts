import { describe, expect, test } from 'vitest';
import {
  COMPONENTS,
  type Component,
  type Cost,
  costAt,
  cpuOf,
  demandOf,
  highestRate,
  lifeCost,
  type Measured,
  type Point,
  type Site,
  totalOf,
} from '../../bench/capacity/model.ts';

const cost = (cpu: Partial<Record<Component, number>>, wal = 0): Cost => ({ cpu: cpuOf((c) => cpu[c] ?? 0), wal });
const point = (busy: number, cpu: Partial<Record<Component, number>>, wal = 0): Point => ({ busy, ...cost(cpu, wal) });
const none = cost({});
const api = ({ cpu }: Cost) => cpu.api;

/** Everything on the same cores. */
const shared = (cores: number, pairs = 1): Site => ({ pools: [{ cores, components: [...COMPONENTS] }], pairs });

describe('cost of a transition', () => {
  const points = [point(0.8, { api: 1 }), point(0.2, { api: 4 })];

  test('lies between two measurements in proportion', () => {
    expect(costAt(points, 0.2, api)).toBe(4);
    expect(costAt(points, 0.5, api)).toBeCloseTo(2.5);
    expect(costAt(points, 0.65, api)).toBeCloseTo(1.75);
    expect(costAt(points, 0.8, api)).toBe(1);
  });

  test('is that of the nearest measurement beyond them', () => {
    expect(costAt(points, 0, api)).toBe(4);
    expect(costAt(points, 1.2, api)).toBe(1);
    expect(costAt([point(0.3, { api: 7 })], 0.9, api)).toBe(7);
    expect(costAt([point(0.3, { api: 7 }), point(0.3, { api: 7 })], 0.3, api)).toBe(7);
  });
});

test('a life costs each of its transitions as often as it occurs, each component as busy as its own cores', () => {
  const transitions = [
    {
      name: 'add',
      times: 1,
      points: [point(0, { api: 1, postgres: 2 }, 100), point(1, { api: 0.5, postgres: 1 }, 60)],
    },
    { name: 'vote', times: 3, points: [point(0.5, { postgres: 5, temporal: 7 }, 10)] },
  ];
  const life = lifeCost(transitions, (component) => (component === 'postgres' ? 1 : 0));
  expect(life).toEqual(cost({ api: 1, postgres: 1 + 3 * 5, temporal: 3 * 7 }, 60 + 3 * 10));
  expect(totalOf(life.cpu)).toBe(38);
});

/** A job takes 20 ms of CPU, of which 5 are the database's; a ticket 40, whatever else goes on. */
const flat: Measured = {
  kinds: {
    job: [{ name: 'life', times: 1, points: [point(0.5, { postgres: 0.005, temporal: 0.015 }, 3_000)] }],
    ticket: [{ name: 'life', times: 2, points: [point(0.5, { api: 0.008, temporal: 0.012 }, 1_000)] }],
  },
  servers: cost({ postgres: 0.01, temporal: 0.09 }, 50),
  pair: cost({ api: 0.02, worker: 0.03 }, 10),
};

describe('demand of a site', () => {
  test('is what its lives take, its servers once, and its processes as often as there are', () => {
    const { cpu, wal, busy } = demandOf(flat, shared(2, 3), { job: 10, ticket: 5 });
    expect(cpu.postgres).toBeCloseTo(10 * 0.005 + 0.01);
    expect(cpu.temporal).toBeCloseTo(10 * 0.015 + 5 * 2 * 0.012 + 0.09);
    expect(cpu.api).toBeCloseTo(5 * 2 * 0.008 + 3 * 0.02);
    expect(cpu.worker).toBeCloseTo(3 * 0.03);
    expect(cpu.callers).toBe(0);
    expect(wal).toBeCloseTo(10 * 3_000 + 5 * 2_000 + 50 + 3 * 10);
    expect(busy[0]).toBeCloseTo(totalOf(cpu) / 2);
  });

  test('finds how busy it is where a life costs less on busy cores', () => {
    // at r lives a second on one core: busy = r × (0.1 − 0.05 × busy)
    const cheaper: Measured = {
      kinds: { job: [{ name: 'life', times: 1, points: [point(0, { api: 0.1 }), point(1, { api: 0.05 })] }] },
      ...{ servers: none, pair: none },
    };
    const { busy, cpu } = demandOf(cheaper, shared(1), { job: 10 });
    expect(busy[0]).toBeCloseTo(1 / 1.5);
    expect(cpu.api).toBeCloseTo(1 / 1.5);
    // light, the same lives would have taken the whole core
    expect(highestRate(cheaper, shared(1), { job: 1 }).rate).toBeCloseTo(20);
  });
});

describe('highest rate', () => {
  test('leaves no core where all share them, and falls by what idle processes take', () => {
    expect(highestRate(flat, shared(2), { job: 1 }).rate).toBeCloseTo((2 - 0.15) / 0.02);
    expect(highestRate(flat, shared(2, 5), { job: 1 }).rate).toBeCloseTo((2 - 0.35) / 0.02);
    // three jobs to a ticket: 25 ms for each of the four
    expect(highestRate(flat, shared(2), { job: 75, ticket: 25 }).rate).toBeCloseTo((2 - 0.15) / 0.025);
  });

  test('is bounded by the pool that has no core left first', () => {
    const others: Component[] = ['api', 'worker', 'callers', 'kernel'];
    const apart = (postgres: number, temporal: number): Site => ({
      pools: [
        { cores: postgres, components: ['postgres'] },
        { cores: temporal, components: ['temporal'] },
        { cores: 4, components: others },
      ],
      pairs: 1,
    });
    const few = highestRate(flat, apart(1, 16), { job: 1 });
    expect(few.rate).toBeCloseTo((1 - 0.01) / 0.005);
    expect(few.bottleneck.components).toEqual(['postgres']);
    const many = highestRate(flat, apart(16, 1), { job: 1 });
    expect(many.rate).toBeCloseTo((1 - 0.09) / 0.015);
    expect(many.bottleneck.components).toEqual(['temporal']);
  });

  test('does not exist where the processes alone take all cores, where lives cost nothing, and without a pool', () => {
    expect(() => highestRate(flat, shared(0.1), { job: 1 })).toThrow('alone');
    expect(() => highestRate({ kinds: {}, servers: none, pair: none }, shared(1), { job: 1 })).toThrow('nothing');
    expect(() => demandOf(flat, { pools: [], pairs: 1 }, { job: 1 })).toThrow('no pool');
  });
});
