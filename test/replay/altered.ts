import { sleep } from '@temporalio/workflow';
import type { ItemInput } from '../../contract/snapshot.ts';
import { driveItem } from '../../workflows/items.ts';

/** The control: a ticket's workflow with one timer too many. Its replay must be rejected. */
export async function ticket(input: ItemInput): Promise<void> {
  await sleep(1);
  await driveItem('ticket', input);
}
