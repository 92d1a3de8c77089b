import { sleep } from '@temporalio/workflow';
import type { ItemInput, ReviewInput } from '../../contract/snapshot.ts';
import { courtCase as unalteredCase } from '../../workflows/cases.ts';
import { review as unalteredReview } from '../../workflows/reviews.ts';
import { rotation as unalteredRotation, task as unalteredTask } from '../../workflows/tasks.ts';
import { ticket as unalteredTicket } from '../../workflows/tickets.ts';

// The control: workflows with one timer too many. Their replay must be rejected.

export async function ticket(input: ItemInput): Promise<void> {
  await sleep(1);
  await unalteredTicket(input);
}

export async function review(input: ReviewInput): Promise<void> {
  await sleep(1);
  await unalteredReview(input);
}

export async function courtCase(input: ItemInput): Promise<void> {
  await sleep(1);
  await unalteredCase(input);
}

export async function task(input: ItemInput): Promise<void> {
  await sleep(1);
  await unalteredTask(input);
}

export async function rotation(input: ItemInput): Promise<void> {
  await sleep(1);
  await unalteredRotation(input);
}
