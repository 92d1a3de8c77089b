import { texts } from '../texts/texts.ts';
import { Badge, type Tone } from './badge.tsx';

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
