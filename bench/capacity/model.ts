/** Who uses CPU. `callers` are the load itself; `kernel` is what its threads and interrupts take. */
export const COMPONENTS = ['api', 'postgres', 'worker', 'temporal', 'callers', 'kernel'] as const;
export type Component = (typeof COMPONENTS)[number];

/** Seconds of CPU. */
export type Cpu = Record<Component, number>;

/** What one of something takes: a transition, a life, or a second of being there. */
export interface Cost {
  cpu: Cpu;
  /** Bytes of write-ahead log, without pages that are written whole after a checkpoint. */
  wal: number;
}

/** A cost as measured on a machine whose cores were busy to this share (0 to 1). */
export interface Point extends Cost {
  busy: number;
}

/** A step of a life, with what it makes happen until its workflow has run. */
export interface Transition {
  name: string;
  /** How often it occurs in one life. */
  times: number;
  /** At least one. */
  points: Point[];
}

export interface Measured {
  kinds: Record<string, Transition[]>;
  /** A second of PostgreSQL and Temporal where no process of Docket runs. */
  servers: Cost;
  /** A second of one API process and one worker that have nothing to do, and what they make the servers do. */
  pair: Cost;
}

/** Cores that these components share. */
export interface Pool {
  cores: number;
  components: Component[];
}

export interface Site {
  /** Each component is in one of them. */
  pools: Pool[];
  /** Of an API process and a worker. */
  pairs: number;
}

/** Whole lives a second, by kind. */
export type Rates = Record<string, number>;

export interface Demand {
  /** Seconds a second. */
  cpu: Cpu;
  /** Bytes a second. */
  wal: number;
  /** By pool, in the site's order: which share of its cores is used; more than 1: it cannot be. */
  busy: number[];
}

const STEPS = 200;
/** Of the way to what was found: all of it would swing past where a busy machine's lives cost much less. */
const STRIDE = 0.2;

export const cpuOf = (of: (component: Component) => number): Cpu =>
  Object.fromEntries(COMPONENTS.map((component) => [component, of(component)])) as Cpu;

export const totalOf = (cpu: Cpu): number => COMPONENTS.reduce((sum, component) => sum + cpu[component], 0);

/**
 * What `of` says of a transition on a machine that is busy to this share: between two measurements in proportion,
 * beyond them as at the nearest. Less busy costs more, because fewer calls share a statement, a commit or a poll.
 */
export function costAt(points: Point[], busy: number, of: (cost: Cost) => number): number {
  const inOrder = points.toSorted((a, b) => a.busy - b.busy);
  const above = inOrder.find((point) => point.busy >= busy);
  const below = inOrder.findLast((point) => point.busy <= busy);
  if (!above || !below) return of((above ?? below) as Point);
  if (above.busy === below.busy) return of(above);
  const share = (busy - below.busy) / (above.busy - below.busy);
  return of(below) + share * (of(above) - of(below));
}

/** What one life of a kind takes where each component's cores are busy to this share. */
export function lifeCost(transitions: Transition[], busyOf: (component: Component) => number): Cost {
  const sum = (busy: number, of: (cost: Cost) => number) =>
    transitions.reduce((total, { times, points }) => total + times * costAt(points, busy, of), 0);
  return {
    cpu: cpuOf((component) => sum(busyOf(component), ({ cpu }) => cpu[component])),
    wal: sum(busyOf('postgres'), ({ wal }) => wal),
  };
}

/** What a site uses at these rates. How busy it is and what a life costs depend on each other: both are iterated. */
export function demandOf({ kinds, servers, pair }: Measured, { pools, pairs }: Site, rates: Rates): Demand {
  let demand: Demand = { cpu: cpuOf(() => 0), wal: 0, busy: pools.map(() => 0.5) };
  for (let step = 0; step < STEPS; step++) {
    const { busy } = demand;
    const busyOf = (component: Component) => busy[poolOf(pools, component)] ?? 0;
    const lives = Object.entries(rates).map(([kind, rate]) => ({ rate, cost: lifeCost(kinds[kind] ?? [], busyOf) }));
    const sum = (of: (cost: Cost) => number) =>
      lives.reduce((total, { rate, cost }) => total + rate * of(cost), of(servers) + pairs * of(pair));
    const cpu = cpuOf((component) => sum((cost) => cost.cpu[component]));
    const used = pools.map(({ cores, components }) => components.reduce((s, c) => s + cpu[c], 0) / cores);
    const next = used.map((u, n) => (busy[n] ?? u) + STRIDE * (u - (busy[n] ?? u)));
    demand = { cpu, wal: sum(({ wal }) => wal), busy: next };
  }
  return demand;
}

/** The highest rate of lives of all kinds together, in these shares, and the pool that has no core left at it. */
export function highestRate(measured: Measured, site: Site, shares: Rates): { rate: number; bottleneck: Pool } {
  const whole = Object.values(shares).reduce((sum, share) => sum + share, 0);
  const at = (rate: number) =>
    demandOf(
      measured,
      site,
      Object.fromEntries(Object.entries(shares).map(([k, share]) => [k, (rate * share) / whole])),
    );
  const isTooMuch = (rate: number) => at(rate).busy.some((busy) => busy > 1);
  if (isTooMuch(0)) throw new Error('its processes alone take more than its cores');
  let [low, high] = [0, 1];
  while (!isTooMuch(high)) {
    [low, high] = [high, high * 2];
    if (!Number.isFinite(high)) throw new Error('these lives cost nothing');
  }
  for (let step = 0; step < STEPS; step++) {
    const middle = (low + high) / 2;
    if (isTooMuch(middle)) high = middle;
    else low = middle;
  }
  const { busy } = at(low);
  return { rate: low, bottleneck: site.pools[busy.indexOf(Math.max(...busy))] as Pool };
}

function poolOf(pools: Pool[], component: Component): number {
  const found = pools.findIndex(({ components }) => components.includes(component));
  if (found < 0) throw new Error(`${component} is in no pool`);
  return found;
}
