import type { ItemInput } from '../contract/snapshot.ts';
import { driveItem, ending, type OperatorSignals } from './items.ts';

const signals: OperatorSignals = { cancel: ending };

/** The life of one occurrence of a task (S4). Id `task/<id>/<occurrence>`. */
export function task(input: ItemInput): Promise<void> {
  return driveItem('task', input, signals);
}

/** The life of a rotating task: makes each occurrence when it is due (S4.2). Id `rotation/<id>`. */
export function rotation(input: ItemInput): Promise<void> {
  return driveItem('rotation', input, signals);
}
