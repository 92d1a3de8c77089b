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

/** A cost as measured under one condition. */
export interface Point extends Cost {
  /** Calls of this sort that one API process had at once. Those that come together share a statement and a commit. */
  together: number;
  /** How busy the cores were, 0 to 1. Messages that come close together share polls and passes of Temporal's queues. */
  busy: number;
}

/** A step of a life, with what it makes happen until its workflow has run. */
export interface Transition {
  name: string;
  /** How often it occurs in one life. */
  times: number;
  /** Seconds from the call to its answer where little else goes on. */
  seconds: number;
  /** How it is published to its workflow: in a follower's slots, at once beside these, or not at all. */
  message: 'slot' | 'urgent' | 'none';
  /** At least one. */
  points: Point[];
}

export interface Measured {
  kinds: Record<string, Transition[]>;
  /** A second of PostgreSQL and Temporal where no process of Docket runs. */
  servers: Cost;
  /** A second of one API process and one worker that have nothing to do, and what they make the servers do. */
  pair: Cost;
  /** Seconds for which a message of that much CPU takes a slot of its follower, on so many cores, as busy as this. */
  slot: { seconds: number; cpu: number; busy: number; cores: number };
}

/** Cores that these components share. */
interface Pool {
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
  /** Messages under way at once in the mean, and how many may be. */
  slots: { used: number; of: number };
}

/** What each call costs by how many come together, and each message by how busy the cores are. */
const BY_CALLS = new Set<Component>(['api', 'postgres', 'callers']);
/** Parts of the log: more workers than that publish nothing (`runtime/followers/shards.ts`). */
const MOST_FOLLOWERS = 4;
/** Of one follower, also within a second after something urgent (`runtime/followers/sender.ts`). */
const SLOTS = 4;
const SLOTS_BESIDE_URGENT = 1;
const STEPS = 200;
/** Of the way to what was found: all of it would swing past where a busy machine's lives cost much less. */
const STRIDE = 0.2;

export const cpuOf = (of: (component: Component) => number): Cpu =>
  Object.fromEntries(COMPONENTS.map((component) => [component, of(component)])) as Cpu;

export const totalOf = (cpu: Cpu): number => COMPONENTS.reduce((sum, component) => sum + cpu[component], 0);

/** What `of` says at a value of `by`: between two measurements in proportion, beyond them as at the nearest. */
export function costAt(points: Point[], by: 'together' | 'busy', value: number, of: (cost: Cost) => number): number {
  const inOrder = points.toSorted((a, b) => a[by] - b[by]);
  const above = inOrder.find((point) => point[by] >= value);
  const below = inOrder.findLast((point) => point[by] <= value);
  if (!above || !below) return of((above ?? below) as Point);
  if (above[by] === below[by]) return of(above);
  const share = (value - below[by]) / (above[by] - below[by]);
  return of(below) + share * (of(above) - of(below));
}

/** What one life takes where so many calls of each transition come together and each component's cores are so busy. */
export function lifeCost(
  transitions: Transition[],
  togetherOf: (transition: Transition) => number,
  busyOf: (component: Component) => number,
): Cost {
  const sum = (one: (transition: Transition) => number) => transitions.reduce((all, t) => all + t.times * one(t), 0);
  return {
    cpu: cpuOf((c) =>
      sum((t) =>
        BY_CALLS.has(c)
          ? costAt(t.points, 'together', togetherOf(t), ({ cpu }) => cpu[c])
          : costAt(t.points, 'busy', busyOf(c), ({ cpu }) => cpu[c]),
      ),
    ),
    wal: sum((t) => costAt(t.points, 'together', togetherOf(t), ({ wal }) => wal)),
  };
}

/** What a site uses at these rates. How busy it is and what a life costs depend on each other: both are iterated. */
export function demandOf(measured: Measured, { pools, pairs }: Site, rates: Rates): Demand {
  const { kinds, servers, pair } = measured;
  let busy = pools.map(() => 0.5);
  let cost: Cost = servers;
  for (let step = 0; step < STEPS; step++) {
    const busyOf = (component: Component) => busy[poolOf(pools, component)] ?? 0;
    const lives = Object.entries(rates).map(([kind, rate]) => {
      // one call, and those that it finds there
      const togetherOf = ({ times, seconds }: Transition) => 1 + (rate * times * seconds) / pairs;
      return { rate, cost: lifeCost(kinds[kind] ?? [], togetherOf, busyOf) };
    });
    const sum = (of: (cost: Cost) => number) =>
      lives.reduce((total, life) => total + life.rate * of(life.cost), of(servers) + pairs * of(pair));
    cost = { cpu: cpuOf((component) => sum(({ cpu }) => cpu[component])), wal: sum(({ wal }) => wal) };
    const used = pools.map(({ cores, components }) => components.reduce((s, c) => s + cost.cpu[c], 0) / cores);
    busy = used.map((share, n) => (busy[n] ?? share) + STRIDE * (share - (busy[n] ?? share)));
  }
  return { ...cost, busy, slots: slotsOf(measured, { pools, pairs }, rates, busy) };
}

/**
 * A message takes a slot for as long as its own CPU is more than that of those that were measured, and longer the busier
 * the cores are, as in a queue in front of them: time ÷ (1 − busy^cores).
 */
function slotsOf({ kinds, slot }: Measured, { pools, pairs }: Site, rates: Rates, busy: number[]): Demand['slots'] {
  const sum = (message: Transition['message'], of: (transition: Transition) => number) =>
    Object.entries(rates).reduce((total, [kind, rate]) => {
      const published = (kinds[kind] ?? []).filter((transition) => transition.message === message);
      return total + rate * published.reduce((all, transition) => all + transition.times * of(transition), 0);
    }, 0);
  const place = poolOf(pools, 'temporal');
  const free = 1 - Math.min(1, busy[place] ?? 0) ** (pools[place]?.cores ?? 1);
  const seconds = slot.seconds * (1 - slot.busy ** slot.cores);
  const work = sum('slot', (transition) => messageCpu(transition) / slot.cpu);
  const followers = Math.min(MOST_FOLLOWERS, pairs);
  // the share of time that is less than a second after something urgent
  const beside = 1 - Math.exp(-sum('urgent', () => 1) / followers);
  return {
    used: work === 0 ? 0 : (work * seconds) / free,
    of: followers * (SLOTS - beside * (SLOTS - SLOTS_BESIDE_URGENT)),
  };
}

/** What a transition's message takes of the worker and of Temporal on cores that have little to do. */
export const messageCpu = ({ points }: Transition): number =>
  costAt(points, 'busy', 0, ({ cpu }) => cpu.worker + cpu.temporal);

/** The highest rate of lives of all kinds together, in these shares, and what there is no more of at it. */
export function highestRate(measured: Measured, site: Site, shares: Rates): { rate: number; limit: string } {
  const whole = Object.values(shares).reduce((sum, share) => sum + share, 0);
  const at = (rate: number) =>
    demandOf(
      measured,
      site,
      Object.fromEntries(Object.entries(shares).map(([k, share]) => [k, (rate * share) / whole])),
    );
  const isTooMuch = ({ busy, slots }: Demand) => busy.some((share) => share > 1) || slots.used > slots.of;
  if (isTooMuch(at(0))) throw new Error('its processes alone take more than its cores');
  let [low, high] = [0, 1];
  while (!isTooMuch(at(high))) {
    [low, high] = [high, high * 2];
    if (high > 1e9) throw new Error('these lives cost nothing');
  }
  for (let step = 0; step < STEPS && high - low > high / 1e6; step++) {
    const middle = (low + high) / 2;
    if (isTooMuch(at(middle))) high = middle;
    else low = middle;
  }
  const { busy } = at(high);
  const full = site.pools.find((_, n) => (busy[n] ?? 0) > 1);
  return { rate: low, limit: full ? `cores of ${full.components.join(', ')}` : 'slots of the followers' };
}

function poolOf(pools: Pool[], component: Component): number {
  const found = pools.findIndex(({ components }) => components.includes(component));
  if (found < 0) throw new Error(`${component} is in no pool`);
  return found;
}
