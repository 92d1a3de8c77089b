import { sleep } from '@temporalio/workflow';
import type { Awaited, ItemInput, Outcome, ReviewInput } from '../../contract/snapshot.ts';
import { awaiting as unalteredAwaiting } from '../../workflows/awaiting.ts';
import unalteredItem from '../../workflows/kinds.ts';
import { review as unalteredReview } from '../../workflows/reviews.ts';

// The control: workflows with one timer too many. Their replay must be rejected.

export default async function item(input: ItemInput): Promise<void> {
  await sleep(1);
  await unalteredItem(input);
}

export async function review(input: ReviewInput): Promise<void> {
  await sleep(1);
  await unalteredReview(input);
}

export async function awaiting(awaited: Awaited): Promise<Outcome> {
  await sleep(1);
  return unalteredAwaiting(awaited);
}
