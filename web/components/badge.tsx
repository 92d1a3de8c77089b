import type { ComponentChildren } from 'preact';
import { texts } from '../texts/texts.ts';

export type Tone = 'neutral' | 'good' | 'warn' | 'bad' | 'info';

/** A word about a state. Its colour repeats what the word says, and never says it alone. */
export function Badge({ tone = 'neutral', children }: { tone?: Tone; children: ComponentChildren }) {
  return <span class={`badge ${tone}`}>{children}</span>;
}

const TONES: Record<string, Tone> = {
  waiting: 'info',
  ready: 'info',
  due: 'info',
  open: 'info',
  active: 'info',
  applied: 'good',
  held: 'warn',
  reserved: 'warn',
  pending: 'warn',
  decided: 'good',
  finished: 'good',
  completed: 'good',
  delivered: 'good',
  expired: 'bad',
  dead: 'bad',
  hung: 'bad',
  buried: 'bad',
  failed: 'bad',
};

/** The state of an item or a delivery, in the chosen language. */
export function State({ state }: { state: string }) {
  return <Badge tone={TONES[state] ?? 'neutral'}>{texts.value.items.states[state] ?? state}</Badge>;
}
