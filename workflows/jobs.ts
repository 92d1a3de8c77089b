import type { ItemInput } from '../contract/snapshot.ts';
import { byOf, driveItem, ending, type OperatorSignals } from './items.ts';

const signals: OperatorSignals = {
  cancel: ending,
  kick: (arg) => ({ type: 'kick', by: byOf(arg) }),
};

/** The life of one delayed job (S3). Id `job/<id>`. */
export function job(input: ItemInput): Promise<void> {
  return driveItem('job', input, signals);
}
