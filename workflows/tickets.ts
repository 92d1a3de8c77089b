import type { ItemInput } from '../contract/snapshot.ts';
import { driveItem } from './items.ts';

/** The life of one moderation ticket (S0). Id `ticket/<id>`. */
export function ticket(input: ItemInput): Promise<void> {
  return driveItem('ticket', input);
}
