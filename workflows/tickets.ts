import type { ItemInput } from '../contract/snapshot.ts';
import { byOf, driveItem, ending, type OperatorSignals } from './items.ts';

const signals: OperatorSignals = {
  invalidate: ending,
  release: (arg) => ({ type: 'release', by: byOf(arg) }),
  reprioritize(arg) {
    const priority = Number(arg?.priority);
    if (!Number.isInteger(priority) || Math.abs(priority) > 1_000) return undefined;
    return { type: 'reprioritize', priority, by: byOf(arg) };
  },
};

/** The life of one moderation ticket (S0). Id `ticket/<id>`. */
export function ticket(input: ItemInput): Promise<void> {
  return driveItem('ticket', input, signals);
}
