import type { CoreState, Kind } from '../contract/snapshot.ts';
import { kindOf } from './kinds.ts';

/** One entry of a kind's lifecycle. */
export interface Transition {
  from: CoreState | 'none';
  event: string;
  to: CoreState;
}

/** Every transition that an item of a kind can make. */
export function transitionsOf(kind: Kind): Transition[] {
  return Object.entries(kindOf(kind).lifecycle).flatMap(([from, events]) =>
    Object.entries(events).flatMap(([event, to]) =>
      [to].flat().map((state) => ({ from: from as Transition['from'], event, to: state })),
    ),
  );
}
