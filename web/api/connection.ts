import { computed, signal } from '@preact/signals';

/** `polling`: no live events for this session, so pages ask again now and then. `paused`: the tab is hidden. */
type State = 'lost' | 'connecting' | 'paused' | 'polling' | 'live';
export type Connection = State | 'idle';

const WORST_FIRST: readonly State[] = ['lost', 'connecting', 'paused', 'polling', 'live'];

const states = signal<Readonly<Record<string, State>>>({});

/** For the header: whether the page shows what is happening; `idle` where nothing on it changes by itself. */
export const connection = computed<Connection>(() => {
  const all = Object.values(states.value);
  return WORST_FIRST.find((state) => all.includes(state)) ?? 'idle';
});

/** Says how one source of live events is doing; undefined: no one needs it any more. */
export function report(source: string, state: State | undefined): void {
  const { [source]: _, ...others } = states.peek();
  states.value = state === undefined ? others : { ...others, [source]: state };
}
