import { dice } from '../dice.ts';
import type { Mode } from './network.ts';

export const PROGRAMS = ['api-1', 'api-2', 'worker-1', 'worker-2'] as const;
export type Program = (typeof PROGRAMS)[number];
export type Target = Program | 'postgres' | 'temporal' | 'backend' | 'receiver' | 'machine' | `${Program}:${Wire}`;
/** A line of a program: from its callers, to PostgreSQL, to Temporal. */
export type Wire = 'http' | 'tcp' | 'postgres' | 'temporal';

/** How a receiver of callbacks fails: it handles one and answers no one, answers 500, waits, or is gone after it has handled it. */
export type Ill = 'hangs' | 'fails' | 'slow' | 'forgets';

type What = 'kill' | 'pause' | 'restart' | Exclude<Mode, 'open'> | Ill | OfMachine;
type OfMachine = 'hog' | 'transaction' | 'clock' | 'update' | 'sync' | 'full';

export interface Fault {
  /** Milliseconds since the storm began. */
  at: number;
  what: What;
  target: Target;
  /** How long it lasts; of what was killed, until it is started again. */
  ms: number;
}

interface Sort {
  what: What;
  targets: readonly Target[];
  ms: [number, number];
  /** How often, beside the others. */
  weight: number;
}

const lines = (...wires: Wire[]): Target[] =>
  PROGRAMS.flatMap((program) => wires.map((wire) => `${program}:${wire}` as const));
const toStores = lines('postgres', 'temporal');
const ofCallers: Target[] = ['api-1:http', 'api-2:http', 'api-1:tcp', 'api-2:tcp'];
const anywhere = [...toStores, ...ofCallers];

/** Cheap ones often, those after which a server has to recover seldom: else nothing would be done between them. */
const SORTS: Sort[] = [
  { what: 'cut', targets: anywhere, ms: [100, 4_000], weight: 20 },
  { what: 'frozen', targets: anywhere, ms: [500, 8_000], weight: 12 },
  { what: 'slow', targets: anywhere, ms: [1_000, 5_000], weight: 8 },
  { what: 'deaf', targets: anywhere, ms: [100, 2_000], weight: 16 },
  { what: 'pause', targets: [...PROGRAMS, 'temporal', 'backend'], ms: [300, 9_000], weight: 10 },
  { what: 'kill', targets: PROGRAMS, ms: [0, 3_000], weight: 5 },
  { what: 'restart', targets: PROGRAMS, ms: [0, 500], weight: 3 },
  { what: 'kill', targets: ['backend'], ms: [0, 0], weight: 2 },
  { what: 'kill', targets: ['postgres'], ms: [0, 2_000], weight: 1 },
  { what: 'kill', targets: ['temporal'], ms: [0, 3_000], weight: 1.5 },
  ...(['hangs', 'fails', 'slow', 'forgets'] as const).map(
    (what): Sort => ({ what, targets: ['receiver'], ms: [1_000, 6_000], weight: 4 }),
  ),
  { what: 'hog', targets: ['machine'], ms: [1_000, 4_000], weight: 3 },
  { what: 'transaction', targets: ['postgres'], ms: [5_000, 60_000], weight: 1 },
  { what: 'clock', targets: PROGRAMS, ms: [2_000, 15_000], weight: 4 },
  { what: 'clock', targets: ['postgres'], ms: [2_000, 15_000], weight: 1.5 },
  { what: 'sync', targets: ['machine'], ms: [1_000, 6_000], weight: 2 },
  { what: 'full', targets: ['postgres'], ms: [500, 3_000], weight: 0.5 },
  { what: 'update', targets: ['machine'], ms: [0, 500], weight: 0.5 },
];

/** How far a clock steps, in seconds, by turns; the database's less far, else what waits for it outlasts the storm. */
const STEPS = [3, -3, 300, -300];
const STEPS_OF_POSTGRES = [3, -3, 20, -20];

/** @returns how far the fault's clock is off while it lasts, in seconds: the same of a planned fault and of what it became */
export function stepOf({ target, ms }: Pick<Fault, 'target' | 'ms'>): number {
  const steps = target === 'postgres' ? STEPS_OF_POSTGRES : STEPS;
  return steps[ms % steps.length] as number;
}

/** Before the first one, so that something is under way. */
const CALM_MS = 5_000;

/**
 * The faults of a seed.
 * @param faultsPerSecond how many begin in a second, on average
 */
export function planOf(seed: number, minutes: number, faultsPerSecond: number): Fault[] {
  const roll = dice(seed);
  const between = ([from, to]: [number, number]) => Math.round(from + roll() * (to - from));
  const whole = SORTS.reduce((sum, { weight }) => sum + weight, 0);
  const faults: Fault[] = [];
  for (let at = CALM_MS; ; ) {
    at += Math.round((-Math.log(1 - roll()) * 1000) / faultsPerSecond);
    if (at >= minutes * 60_000) return faults;
    let rest = roll() * whole;
    const sort = SORTS.find(({ weight }) => {
      rest -= weight;
      return rest < 0;
    }) as Sort;
    const target = sort.targets[Math.floor(roll() * sort.targets.length)] as Target;
    faults.push({ at, what: sort.what, target, ms: between(sort.ms) });
  }
}

/** The same with an update of all programs in the middle: of a storm that begins with an earlier release. */
export function withUpdate(plan: Fault[], minutes: number): Fault[] {
  const others = plan.filter(({ what }) => what !== 'update');
  return [...others, { at: minutes * 30_000, what: 'update', target: 'machine', ms: 500 }];
}

/**
 * As few of the faults as possible that still fail (delta debugging): leaves out ever smaller parts while what remains fails.
 * @param fails runs a storm with these faults
 */
export async function shrink(faults: Fault[], fails: (some: Fault[]) => Promise<boolean>): Promise<Fault[]> {
  let left = faults;
  for (let parts = 2; left.length > 1; ) {
    const size = Math.ceil(left.length / parts);
    let smaller: Fault[] | undefined;
    for (let from = 0; from < left.length && !smaller; from += size) {
      const rest = [...left.slice(0, from), ...left.slice(from + size)];
      if (await fails(rest)) smaller = rest;
    }
    if (smaller) [left, parts] = [smaller, Math.max(2, parts - 1)];
    else if (size === 1) break;
    else parts = Math.min(left.length, parts * 2);
  }
  return left;
}
