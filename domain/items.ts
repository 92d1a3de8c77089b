import type { CoreState, EventLine, Kind, Snapshot } from '../contract/snapshot.ts';
import { wordIn } from './kind.ts';
import { type Kinds, kindOf } from './kinds.ts';

export const OPEN_STATES = ['delayed', 'ready', 'held', 'buried'] as const;
/** An item never leaves a final state. */
export const FINAL_STATES = ['settled', 'invalidated', 'expired', 'dead'] as const;
const FINAL: ReadonlySet<CoreState> = new Set(FINAL_STATES);

const KEPT_EVENTS = 20;

export const isFinal = (state: CoreState) => FINAL.has(state);

type WordOf<K extends Kind> = Kinds[K]['words'][keyof Kinds[K]['words']];

/** The word for a state that users of a kind know. @throws Error for a state that items of that kind never have */
export const stateWord = <K extends Kind>(kind: K, state: CoreState) => wordIn(kindOf(kind).words, state) as WordOf<K>;

/** The state of the core that a kind's word stands for, or undefined. */
export function coreState(kind: Kind, word: string): CoreState | undefined {
  return [...OPEN_STATES, ...FINAL_STATES].find((state) => kindOf(kind).words[state] === word);
}

/**
 * The newer of two snapshots, which may come late, twice or out of order: the higher version, or between equal ones the
 * later arrival, because a renewed lease moves the wake time without a new version. Versions of a later epoch are newer
 * than all before: a restored database assigns versions again.
 */
export function newest(known: Snapshot | undefined, other: Snapshot): Snapshot {
  if (known === undefined) return other;
  const epochs = (other.epoch ?? 0) - (known.epoch ?? 0);
  return epochs > 0 || (epochs === 0 && other.version >= known.version) ? other : known;
}

/** The last few events in order, each once. */
export function lastEvents(known: EventLine[], more: EventLine[]): EventLine[] {
  const bySeq = new Map([...known, ...more].map((e) => [e.seq, e]));
  return [...bySeq.values()].sort((a, b) => a.seq - b.seq).slice(-KEPT_EVENTS);
}

/**
 * The delay of a durable timer after its wake time, in milliseconds, by which the pacemaker has normally done the work:
 * 5 s, and up to 10 s more by a hash of the id, so that items that are due together do not wake together.
 */
export function grace(id: string): number {
  let hash = 0;
  for (let i = 0; i < id.length; i++) hash = (hash * 31 + id.charCodeAt(i)) | 0;
  return 5_000 + (Math.abs(hash) % 10_000);
}
