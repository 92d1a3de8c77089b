import type { ItemInput } from '../contract/snapshot.ts';
import { driveItem, ending, type OperatorSignals } from './items.ts';

const signals: OperatorSignals = { invalidate: ending };

/** The life of one case (S2), its rounds of invitations included. Id `case/<id>`. */
export function courtCase(input: ItemInput): Promise<void> {
  return driveItem('case', input, signals);
}
