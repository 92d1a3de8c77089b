import type { CaseItem, Completion, Item } from '../contract/items.ts';
import type { Command, CoreState } from '../contract/snapshot.ts';

type Moves<State extends CoreState> = { readonly [event: string]: State | readonly State[] };

/**
 * The lifecycle of a kind: for each of its states the events that an item may have there, and the state after each; several
 * where that depends on more: a delay, a number of attempts, other dispatches. `none`: before the item is added. Events are
 * those of its log; a transition has exactly one. `parked`: its transition failed and is tried again in a minute. `refused`:
 * a call or a command came too late, or makes no sense.
 */
type Lifecycle<State extends CoreState> = Readonly<Record<State | 'none', Moves<State>>>;

type EventIn<Life> = { [From in keyof Life]: keyof Life[From] }[keyof Life] & string;

/** The workflow of a kind. */
export interface Workflow {
  /** The name of its type, as operators know it. */
  type: string;
  /** Whether it may come back after its workflow has completed. */
  reopens: boolean;
  /** Callers wait for it, and it seldom runs: it is published before all others, and started at once. */
  urgent: boolean;
}

/** The properties of a kind that other files depend on. */
export interface KindOf {
  /** Its plural, as a heading. */
  title: string;
  /** The API's words for its states. */
  words: { readonly [S in CoreState]?: string };
  lifecycle: { readonly [From in CoreState | 'none']?: Moves<CoreState> };
  /** `one`: it is `held` by one at a time. `several`: holders share its capacity. */
  leased: 'one' | 'several' | 'never';
  workflow: Workflow;
  /** The signals that operators may send to its workflow, with their commands. */
  signals: Readonly<Record<string, Exclude<Command['type'], 'refuse'>>>;
  /** Its queues are courts: their settings are applied to cases one by one, and jurors are invited to them. */
  court: boolean;
  /** The function of db/functions that applies the effects of time to it. */
  clock: `advance_${string}`;
  /** The state after the last attempt has run out; null: attempts are not counted. */
  exhausted: 'dead' | 'buried' | null;
  /** The state after the deadline; null: its clock decides. */
  overdue: 'expired' | 'invalidated' | null;
  /** Its order in its queue: the lowest number first, or the longest waiting first, with a bonus by priority. */
  order: 'number' | 'age';
  /** Events that do not concern a holder. */
  quiet: readonly string[];
  /** Number of waiters that may find work after an event that left it ready. */
  frees(row: Pick<Item, 'last_event' | 'capacity'>): number;
  /** As the receiver of its outcome sees it; null: its outcome has no receiver. */
  outcome: ((item: Item | CaseItem, completions: Completion[]) => object) | null;
}

/** A kind; its lifecycle must have a row for each state that has a word. */
export const defineKind = <Words extends KindOf['words'], Life extends Lifecycle<keyof Words & CoreState>>(
  kind: Omit<KindOf, 'words' | 'lifecycle' | 'quiet'> & {
    words: Words;
    lifecycle: Life;
    quiet: readonly EventIn<Life>[];
  },
) => kind;

/** Events that leave the state as it is. */
export function stays<State extends CoreState, Event extends string>(state: State, ...events: Event[]) {
  return Object.fromEntries(events.map((event) => [event, state])) as Record<Event, State>;
}

export const untilItsEnd = (type: string): Workflow => ({ type, reopens: false, urgent: false });
export const reopened = (type: string): Workflow => ({ type, reopens: true, urgent: false });

/** @throws Error for a state that items of that kind never have */
export function wordIn<Word extends string>(words: { readonly [S in CoreState]?: Word }, state: CoreState): Word {
  const word = words[state];
  if (word === undefined) throw new Error(`no item of this kind is ever ${state}, only ${Object.keys(words)}`);
  return word;
}
