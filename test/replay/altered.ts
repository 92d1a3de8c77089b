import { sleep } from '@temporalio/workflow';
import type { ItemInput } from '../../contract/snapshot.ts';
import { ticket as unaltered } from '../../workflows/tickets.ts';

/** The control: a ticket's workflow with one timer too many. Its replay must be rejected. */
export async function ticket(input: ItemInput): Promise<void> {
  await sleep(1);
  await unaltered(input);
}
