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
  type Transition,
  totalOf,
} from '../../bench/capacity/model.ts';

type Some = Partial<Record<Component, number>>;

const cost = (cpu: Some, wal = 0): Cost => ({ cpu: cpuOf((c) => cpu[c] ?? 0), wal });
/** As measured with one caller on idle cores, and with 16 on busy ones. */
const light = (cpu: Some, wal = 0): Point => ({ together: 1, busy: 0, ...cost(cpu, wal) });
const busy = (cpu: Some, wal = 0): Point => ({ together: 16, busy: 1, ...cost(cpu, wal) });
const none = cost({});

function transition(points: Point[], more: Partial<Transition> = {}): Transition {
  return { name: 'life', times: 1, seconds: 0, message: 'none', points, ...more };
}

const noSlots = { seconds: 0, cpu: 1, busy: 0, cores: 2 };

/** Everything on the same cores. */
const shared = (cores: number, pairs = 1): Site => ({ pools: [{ cores, components: [...COMPONENTS] }], pairs });

describe('cost of a transition', () => {
  const points: Point[] = [
    { together: 16, busy: 0.8, ...cost({ api: 1 }) },
    { together: 1, busy: 0.2, ...cost({ api: 4 }) },
  ];
  const at = (busyness: number) => costAt(points, 'busy', busyness, ({ cpu }) => cpu.api);

  test('lies between two measurements in proportion', () => {
    expect([at(0.2), at(0.5), at(0.65), at(0.8)].map((n) => n.toFixed(4))).toEqual([
      '4.0000',
      '2.5000',
      '1.7500',
      '1.0000',
    ]);
    expect(costAt(points, 'together', 6, ({ cpu }) => cpu.api)).toBeCloseTo(3);
  });

  test('is that of the nearest measurement beyond them', () => {
    expect([at(0), at(1.2)]).toEqual([4, 1]);
    const one = [light({ api: 7 })];
    expect(costAt(one, 'busy', 0.9, ({ cpu }) => cpu.api)).toBe(7);
    expect(costAt([...one, ...one], 'busy', 0, ({ cpu }) => cpu.api)).toBe(7);
  });
});

test('a life costs each transition as often as it occurs: calls by how many come together, messages by how busy it is', () => {
  const add = transition([light({ api: 2, temporal: 20 }, 100), busy({ api: 1, temporal: 10 }, 60)], { name: 'add' });
  const vote = transition([light({ postgres: 5, temporal: 7 }, 10)], { name: 'vote', times: 3 });
  const together = ({ name }: Transition) => (name === 'add' ? 16 : 1);
  const life = lifeCost([add, vote], together, (component) => (component === 'temporal' ? 0.5 : 0));
  expect(life).toEqual(cost({ api: 1, postgres: 3 * 5, temporal: 15 + 3 * 7 }, 60 + 3 * 10));
  expect(totalOf(life.cpu)).toBe(52);
});

/** A job takes 20 ms of CPU, of which 5 are the database's; a ticket 40, whatever else goes on. */
const flat: Measured = {
  kinds: {
    job: [transition([light({ postgres: 0.005, temporal: 0.015 }, 3_000)])],
    ticket: [transition([light({ api: 0.008, temporal: 0.012 }, 1_000)], { times: 2 })],
  },
  servers: cost({ postgres: 0.01, temporal: 0.09 }, 50),
  pair: cost({ api: 0.02, worker: 0.03 }, 10),
  slot: noSlots,
};

describe('demand of a site', () => {
  test('is what its lives take, its servers once, and its processes as often as there are', () => {
    const { cpu, wal, busy: used } = demandOf(flat, shared(2, 3), { job: 10, ticket: 5 });
    expect(cpu.postgres).toBeCloseTo(10 * 0.005 + 0.01);
    expect(cpu.temporal).toBeCloseTo(10 * 0.015 + 5 * 2 * 0.012 + 0.09);
    expect(cpu.api).toBeCloseTo(5 * 2 * 0.008 + 3 * 0.02);
    expect(cpu.worker).toBeCloseTo(3 * 0.03);
    expect(cpu.callers).toBe(0);
    expect(wal).toBeCloseTo(10 * 3_000 + 5 * 2_000 + 50 + 3 * 10);
    expect(used[0]).toBeCloseTo(totalOf(cpu) / 2);
  });

  test('finds how busy it is where a message costs less on busy cores', () => {
    // at r lives a second on one core: busy = r × (0.1 − 0.05 × busy)
    const job = [transition([light({ temporal: 0.1 }), busy({ temporal: 0.05 })])];
    const cheaper: Measured = { kinds: { job }, servers: none, pair: none, slot: noSlots };
    const { busy: used, cpu } = demandOf(cheaper, shared(1), { job: 10 });
    expect(used[0]).toBeCloseTo(1 / 1.5);
    expect(cpu.temporal).toBeCloseTo(1 / 1.5);
    // light, half of these lives would take the whole core
    expect(highestRate(cheaper, shared(1), { job: 1 }).rate).toBeCloseTo(20, 3);
  });

  test('knows how many calls come together: rate × time, spread over the API processes', () => {
    const call = transition([light({ api: 16 }), busy({ api: 1 })], { seconds: 0.01, times: 3 });
    const calls: Measured = { kinds: { job: [call] }, servers: none, pair: none, slot: noSlots };
    // 200 lives of three calls of 10 ms: six at once, of which each of two processes has three; a call joins them
    const { cpu } = demandOf(calls, shared(1, 2), { job: 200 });
    expect(cpu.api).toBeCloseTo(200 * 3 * (16 - 3));
  });
});

describe('slots of followers', () => {
  const told = (message: Transition['message']) => [transition([light({ temporal: 0.001 })], { message, times: 2 })];
  const measured = (seconds: number, busyness: number): Measured => ({
    kinds: { job: told('slot'), review: told('urgent'), plain: told('none') },
    ...{ servers: none, pair: none, slot: { seconds, cpu: 0.001, busy: busyness, cores: 2 } },
  });

  test('are four of each worker, of four workers at most, and one where audits always come', () => {
    const of = (pairs: number, review = 0) =>
      demandOf(measured(0.02, 0), shared(1_000, pairs), { job: 1, review }).slots.of;
    expect([of(1), of(3), of(4), of(9)]).toEqual([4, 12, 16, 16]);
    expect(of(2, 1_000)).toBeCloseTo(2);
    // one audit a second at each of two workers: 63 % of the time
    expect(of(2, 1)).toBeCloseTo(2 * (4 - 3 * (1 - Math.exp(-1))));
  });

  test('are taken for longer on busy cores, and only by messages that want one', () => {
    const used = (cores: number, slot: Measured) =>
      demandOf(slot, shared(cores), { job: 50, review: 100, plain: 100 }).slots.used;
    // 500 ms of CPU a second
    expect(used(1_000, measured(0.02, 0))).toBeCloseTo(100 * 0.02);
    expect(used(1, measured(0.02, 0))).toBeCloseTo((100 * 0.02) / (1 - 0.5));
    expect(used(0.5 / 0.6, measured(0.02, 0.6))).toBeCloseTo((100 * 0.02 * (1 - 0.6 ** 2)) / (1 - 0.6 ** (0.5 / 0.6)));
  });

  test('are taken for longer by messages of more CPU', () => {
    const slow = [transition([light({ worker: 0.001, temporal: 0.004, api: 1 })], { message: 'slot' })];
    const { slots } = demandOf({ ...measured(0.02, 0), kinds: { job: slow } }, shared(1e9), { job: 10 });
    expect(slots.used).toBeCloseTo(10 * 0.02 * 5);
  });

  test('limit the rate before the cores do', () => {
    const { rate, limit } = highestRate(measured(0.04, 0), shared(1_000, 2), { job: 1 });
    // eight at once, two messages of 40 ms for each life
    expect(rate).toBeCloseTo(8 / 0.08, 3);
    expect(limit).toBe('slots of the followers');
  });
});

describe('highest rate', () => {
  const most = (measured: Measured, site: Site, shares: Record<string, number>) =>
    highestRate(measured, site, shares).rate;

  test('leaves no core where all share them, and falls by what idle processes take', () => {
    expect(most(flat, shared(2), { job: 1 })).toBeCloseTo((2 - 0.15) / 0.02, 3);
    expect(most(flat, shared(2, 5), { job: 1 })).toBeCloseTo((2 - 0.35) / 0.02, 3);
    // three jobs to a ticket: 25 ms for each of the four
    expect(most(flat, shared(2), { job: 75, ticket: 25 })).toBeCloseTo((2 - 0.15) / 0.025, 3);
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
    expect(few.rate).toBeCloseTo((1 - 0.01) / 0.005, 2);
    expect(few.limit).toBe('cores of postgres');
    const many = highestRate(flat, apart(16, 1), { job: 1 });
    expect(many.rate).toBeCloseTo((1 - 0.09) / 0.015, 2);
    expect(many.limit).toBe('cores of temporal');
  });

  test('does not exist where the processes alone take all cores, where lives cost nothing, and without a pool', () => {
    expect(() => highestRate(flat, shared(0.1), { job: 1 })).toThrow('alone');
    const free = { kinds: {}, servers: none, pair: none, slot: noSlots };
    expect(() => highestRate(free, shared(1), { job: 1 })).toThrow('nothing');
    expect(() => demandOf(flat, { pools: [], pairs: 1 }, { job: 1 })).toThrow('no pool');
  });
});
