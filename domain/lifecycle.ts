import type { CoreState, Kind } from '../contract/snapshot.ts';
import type { EventIn } from './kind.ts';
import { type Kinds, kindOf } from './kinds.ts';

/** The events of a kind. */
export type EventOf<K extends Kind> = EventIn<Kinds[K]['lifecycle']>;

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

/** The states that an event may lead to; empty: it cannot happen to an item in that state. */
export function statesAfter<K extends Kind>(kind: K, from: CoreState | 'none', event: EventOf<K>): CoreState[] {
  return transitionsOf(kind)
    .filter((t) => t.from === from && t.event === event)
    .map((t) => t.to);
}
