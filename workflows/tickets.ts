import type { ItemInput } from '../contract/snapshot.ts';
import { byOf, driveItem, ending, type OperatorSignals, shown } from './items.ts';

const signals: OperatorSignals = {
  invalidate: ending,
  release: (arg) => ({ type: 'release', by: byOf(arg) }),
  reprioritize(arg) {
    const given = arg?.priority;
    const priority = Number(given);
    const detail = `priority must be an integer from -1000 to 1000, not ${shown(given)}`;
    if (!Number.isInteger(priority) || Math.abs(priority) > 1_000) return detail;
    // null, true and '' once passed for numbers: a command in recorded runs, so it has to be one here
    if (typeof given !== 'number' && !(typeof given === 'string' && given.trim() !== ''))
      return { type: 'refuse', signal: 'reprioritize', reason: 'invalid_argument', detail, by: byOf(arg) };
    return { type: 'reprioritize', priority, by: byOf(arg) };
  },
};

/** The life of one moderation ticket (S0). Id `ticket/<id>`. */
export function ticket(input: ItemInput): Promise<void> {
  return driveItem('ticket', input, signals);
}
